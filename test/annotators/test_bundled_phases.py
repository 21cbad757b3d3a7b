"""Every challenge's own samples: equal annotators give the reference that each drew, copies the ensemble."""

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest

from evaluation.annotators.annotations import open_annotators
from evaluation.annotators.ensemble import write_ensemble
from evaluation.annotators.masks import Rules
from evaluation.annotators.reference import fuse_annotators
from evaluation.core.aggregation import metric_values
from evaluation.core.fault import PhaseError
from evaluation.evaluate import Result, evaluate
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase
from test.repository import REPOSITORY

COMBINABLE = {
    "refuge-onsite": None,
    "adam-onsite": None,
    "cysts": None,
    "justraigs-phase1": None,
    "edd2020": ["segmentation"],
}


def phase_of(name: str, folder: Path):
    """Return a sealed copy of a bundled phase, of those tasks that can be combined."""
    copied = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, folder / "phase"))
    if (tasks := COMBINABLE[name]) is not None:
        lines = (copied / "phase.toml").read_text().splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith(("tasks", "score", "columns"))]
        (copied / "phase.toml").write_text(f"tasks = {tasks}\n" + "".join(kept))
        for path in copied.iterdir():
            if path.is_dir() and "mask" not in path.name:
                shutil.rmtree(path)
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


@pytest.mark.parametrize("name", COMBINABLE)
def test_an_ensemble_of_copies_scores_like_the_submission(name, tmp_path):
    phase = phase_of(name, tmp_path)
    given = REPOSITORY / "test" / "input" / name
    write_ensemble(phase.form, phase.tasks, {"a": given, "b": given}, tmp_path / "ensemble", Rules())
    assert metrics(phase, tmp_path / "ensemble") == pytest.approx(metrics(phase, given), nan_ok=True)


def test_risks_of_adam_are_averaged_as_they_are(tmp_path):
    phase = phase_of("adam-onsite", tmp_path)
    given = REPOSITORY / "test" / "input" / "adam-onsite"
    other = Path(shutil.copytree(given, tmp_path / "other"))
    rows = risks(given)
    table = "".join(f"{name},0.25\n" for name in rows)
    (other / "classification_results.csv").write_text(f"FileName,AMD Risk\n{table}")
    write_ensemble(phase.form, phase.tasks, {"a": given, "b": other}, tmp_path / "ensemble", Rules())
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
    shutil.copy(phase.folder / "phase.toml", folder)
    # The labels stay, the rest is the annotators'.
    columns = [column for column in phase.cases.columns if not column.startswith("fovea")]
    rows = [[row.cells[column] for column in columns] for row in phase.rows]
    lines = [",".join(cells) for cells in ([*columns], *rows)]
    (folder / "cases.csv").write_text("\n".join(lines) + "\n")
    fused = fuse_annotators(open_annotators(folder), tmp_path / "fused", Rules(method=method), workers=0)
    seal(tmp_path / "fused", scan(tmp_path / "fused"))
    found = metrics(load_phase(tmp_path / "fused"), REPOSITORY / "test" / "input" / name)
    perfect = {
        key: value
        for key, value in found.items()
        if key.endswith(("dice", "dice_cup", "dice_disc", ".score_s"))
    }
    assert perfect
    assert all(np.isnan(value) or value == 1.0 for value in perfect.values())
    assert found.get("fovea.distance", 0.0) == 0.0
    pairs = [agreement.value for agreement in fused.agreement if agreement.measure.endswith("Dice")]
    assert pairs
    assert set(pairs) == {1.0}


def test_boxes_are_told_to_be_left_out(tmp_path):
    copied = Path(shutil.copytree(REPOSITORY / "ground-truth" / "edd2020", tmp_path / "phase"))
    phase = load_phase(copied, scan(copied))
    given = REPOSITORY / "test" / "input" / "edd2020"
    with pytest.raises(
        PhaseError, match="task detection: Bounding boxes: values of this kind cannot be combined"
    ):
        write_ensemble(phase.form, phase.tasks, {"a": given, "b": given}, tmp_path / "ensemble", Rules())
    assert not (tmp_path / "ensemble").exists()
