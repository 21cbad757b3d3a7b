"""Ensembles of submissions."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.aggregation import metric_values
from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.evaluate import Result, evaluate
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.points import point_at
from evaluation.io.kinds.volume import Volume
from evaluation.organiser.annotators.combine import CombinationRules, normalised
from evaluation.organiser.annotators.ensemble import write_ensemble
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import Phase, load_phase
from test.faults import faulted
from test.phases import loaded_phase, refuge_submission
from test.repository import REPOSITORY

CASE = CaseForm("V0001", 4, 4)


def ensemble(phase: Phase, submissions: dict[str, Path], output: Path, **rules: str) -> Path:
    write_ensemble(phase.form, phase.tasks, submissions, output, CombinationRules(**rules))
    return output


def metrics(phase: Phase, submission: Path) -> dict[str, float]:
    result = evaluate(phase, submission, workers=0)
    assert isinstance(result, Result)
    return {
        f"{task.name}.{name}": value
        for task in result.tasks
        for name, value in metric_values(task.metrics, result.tables[task.name]).items()
    }


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (Number(), [2, 4, 3], [0, 1, 0.5]),
        (Number(), [-5, -5], [0.5, 0.5]),
        (Number(), [7], [0.5]),
        (Number(), [], []),
        (Number(), [-1.5e308, 0.0, 1.5e308], [0, 0.5, 1]),
        # Numbers with bounds have a scale already.
        (Number(0, 1), [0.2, 0.4, 0.3], [0.2, 0.4, 0.3]),
        (Number(0, 1), [0.7, 0.7], [0.7, 0.7]),
        (Number(0), [1, 3], [0, 1]),
    ],
)
def test_only_numbers_without_bounds_are_normalised(kind, values, expected):
    assert normalised(kind.numbers, values) == pytest.approx(expected)


def test_by_hand(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 2)
    risks = {"a": [0.0, 10.0], "b": [3.0, 3.0], "c": [5.0, 4.0]}
    foveas = {"a": (6, 4), "b": (8, 4), "c": (10, 10)}

    def submission(name):
        def change(case, values):
            mask = values["segmentation"] if name != "c" else Volume.of_image(np.full_like(case.mask, 255))
            own = {"glaucoma_risk": risks[name][case.number - 1], "fovea": point_at(*foveas[name])}
            return {**values, **own, "segmentation": mask}

        return refuge_submission(tmp_path / name, 2, change=change, extension=".bmp")

    written = ensemble(phase, {name: submission(name) for name in "abc"}, tmp_path / "ensemble")
    # Normalised: a 0, 1; b is constant: ½, ½; c 1, 0. Mean ½ for both.
    assert (written / "classification_results.csv").read_text() == (
        "FileName,Glaucoma Risk\nV0001,0.5\nV0002,0.5\n"
    )
    assert (written / "fovea_location_results.csv").read_text() == (
        "ImageName,Fovea_X,Fovea_Y\nV0001,8.0,6.0\nV0002,8.0,6.0\n"
    )
    # Two of three drew the mask; its format is the first of the field's.
    assert sorted(path.name for path in (written / "segmentation").iterdir()) == ["V0001.bmp", "V0002.bmp"]
    assert metrics(phase, written)["segmentation.dice_cup"] == 1.0


# Several masks, volumes, boxes, flags with decisions.
@pytest.mark.parametrize("name", ["adam-onsite", "cysts", "edd2020", "justraigs-phase1"])
def test_an_ensemble_of_copies_scores_like_the_submission(name, tmp_path):
    copied = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, tmp_path / "phase"))
    seal(copied, scan(copied))
    phase, given = load_phase(copied), REPOSITORY / "test" / "input" / name
    written = ensemble(phase, {"a": given, "b": given}, tmp_path / "ensemble")
    assert metrics(phase, written) == pytest.approx(metrics(phase, given), nan_ok=True)


def test_all_faults_of_all_submissions_at_once_and_nothing_written(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 2)

    def change(case, values):
        return {**values, "fovea": point_at(1e6, 3)}

    bad, worse = (
        refuge_submission(tmp_path / "bad", 2, change=change),
        refuge_submission(tmp_path / "worse", 2),
    )
    (worse / "segmentation" / "V0002.png").write_bytes(b"none")
    with pytest.raises(PhaseError) as error:
        ensemble(phase, {"bad": bad, "worse": worse}, tmp_path / "ensemble")
    assert str(error.value).count("bad: fovea_location_results.csv") == 2
    assert "worse: segmentation/V0002.png" in str(error.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "phase", "worse"]


def test_what_is_no_ensemble(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 2)
    whole, part = refuge_submission(tmp_path / "a", 2), refuge_submission(tmp_path / "b", 1)
    for members, output, *told in (
        ({"a": whole, "b": part}, "ensemble", "b: segmentation/V0002.bmp", "none"),
        ({}, "ensemble", "0"),
        ({"a": whole}, "ensemble", "1"),
        ({"a": whole, "c": whole}, "a", "one that is not empty"),
    ):
        with faulted(PhaseError, *told):
            ensemble(phase, members, tmp_path / output)


def test_where_missing_cases_count_an_ensemble_uses_the_others(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 2, keys={"missing": "worst"})
    fields = ("glaucoma_risk", "segmentation")
    whole, part = (refuge_submission(tmp_path / name, n, fields=fields) for name, n in (("a", 2), ("b", 1)))
    written = ensemble(phase, {"a": whole, "b": part}, tmp_path / "ensemble")
    assert metrics(phase, written)["segmentation.dice_disc"] == 1.0
    # It has the optional tasks of its members.
    assert metrics(phase, written).keys() == metrics(phase, whole).keys()
