"""Every challenge's own samples: equal annotators give the reference that each drew, copies the ensemble."""

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluation.core.aggregation import metric_values
from evaluation.evaluate import Result, evaluate
from evaluation.organiser.annotators.annotations import open_annotators
from evaluation.organiser.annotators.combine import CombinationRules
from evaluation.organiser.annotators.ensemble import write_ensemble
from evaluation.organiser.annotators.reference import fuse_annotators
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.repository import OF_EACH_CHALLENGE, REPOSITORY


def phase_of(name: str, folder: Path):
    """Return a sealed copy of a bundled phase."""
    copied = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, folder / "phase"))
    seal(copied, scan(copied))
    return load_phase(copied)


def metrics(phase, submission):
    result = evaluate(phase, submission, workers=0)
    assert isinstance(result, Result), result
    return {
        f"{task.name}.{name}": value
        for task in result.tasks
        for name, value in metric_values(task.metrics, result.tables[task.name]).items()
    }


@pytest.mark.parametrize("name", OF_EACH_CHALLENGE)
def test_an_ensemble_of_copies_scores_like_the_submission(name, tmp_path):
    phase = phase_of(name, tmp_path)
    given = REPOSITORY / "test" / "input" / name
    write_ensemble(
        phase.form, phase.tasks, {"a": given, "b": given}, tmp_path / "ensemble", CombinationRules()
    )
    assert metrics(phase, tmp_path / "ensemble") == pytest.approx(metrics(phase, given), nan_ok=True)


def test_risks_of_adam_are_averaged_as_they_are(tmp_path):
    phase = phase_of("adam-onsite", tmp_path)
    given = REPOSITORY / "test" / "input" / "adam-onsite"
    other = Path(shutil.copytree(given, tmp_path / "other"))
    rows = risks(given)
    table = "".join(f"{name},0.25\n" for name in rows)
    (other / "classification_results.csv").write_text(f"FileName,AMD Risk\n{table}")
    write_ensemble(
        phase.form, phase.tasks, {"a": given, "b": other}, tmp_path / "ensemble", CombinationRules()
    )
    found = risks(tmp_path / "ensemble")
    assert found == pytest.approx({name: (risk + 0.25) / 2 for name, risk in rows.items()})


def risks(folder: Path) -> dict[str, float]:
    with (folder / "classification_results.csv").open(newline="") as file:
        return {row["FileName"]: float(row["AMD Risk"]) for row in csv.DictReader(file)}


@pytest.mark.parametrize("name", ["refuge-onsite", "adam-onsite", "edd2020"])
@pytest.mark.parametrize("method", ["majority", "staple"])
def test_equal_annotators_give_the_reference_against_which_each_is_perfect(name, method, tmp_path):
    phase = phase_of(name, tmp_path)
    folder = tmp_path / "in"
    for annotator in "abc":
        shutil.copytree(REPOSITORY / "test" / "input" / name, folder / "readers" / annotator)
        for boxes in (folder / "readers" / annotator).glob("*_bbox/*.txt"):
            without_confidence(boxes)
    shutil.copy(phase.folder / "phase.toml", folder)
    # The labels stay, the rest is the annotators'.
    columns = [column for column in phase.cases.columns if not column.startswith("fovea")]
    rows = [[row.cells[column] for column in columns] for row in phase.rows]
    lines = [",".join(cells) for cells in ([*columns], *rows)]
    (folder / "cases.csv").write_text("\n".join(lines) + "\n")
    fused = fuse_annotators(
        open_annotators(folder), tmp_path / "fused", CombinationRules(method=method), workers=0
    )
    seal(tmp_path / "fused", scan(tmp_path / "fused"))
    found = metrics(load_phase(tmp_path / "fused"), REPOSITORY / "test" / "input" / name)
    perfect = {
        key: value
        for key, value in found.items()
        if key.endswith(("dice", "dice_cup", "dice_disc", ".score_s", ".score_d", ".map_d", ".map_g"))
    }
    assert perfect
    assert all(np.isnan(value) or value == 1.0 for value in perfect.values())
    assert found.get("fovea.distance", 0.0) == 0.0
    pairs = [agreement.value for agreement in fused.agreement if agreement.measure.endswith("Dice")]
    assert pairs
    assert set(pairs) == {1.0}
    if name == "adam-onsite":
        # A Dice of drusen is defined for the images in which somebody drew some.
        drawn = [np.asarray(Image.open(path)) for path in (folder / "readers/a").rglob("drusen/*")]
        (cases,) = {score.cases for score in fused.scores if score.metric == "drusen_dice"}
        assert cases == sum(bool((image == 0).any()) for image in drawn) > 0


def without_confidence(path: Path) -> None:
    """Leave out the second cell of every line: annotators are not asked how sure they are."""
    lines = [line.split() for line in path.read_text().splitlines()]
    path.write_text("".join(" ".join((cells[0], *cells[2:])) + "\n" for cells in lines))
