"""Ensembles of submissions: by hand on tiny phases, and better than their members on samples."""

from pathlib import Path

import numpy as np
import pytest

from evaluation.core.aggregation import metric_values
from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.evaluate import Result, evaluate
from evaluation.io.grey_images import read_grey
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.points import Point
from evaluation.organiser.annotators.combine import CombinationRules, normalised
from evaluation.organiser.annotators.ensemble import write_ensemble
from evaluation.phase.phase import Phase
from test.faults import faulted
from test.phases import loaded_phase, refuge_submission

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

    def change(name):
        def values_of(case, values):
            position = case.number - 1
            return {
                **values,
                "glaucoma_risk": risks[name][position],
                "fovea": Point(*foveas[name]),
                "segmentation": values["segmentation"] if name != "c" else np.full_like(case.mask, 255),
            }

        return values_of

    submissions = {
        name: refuge_submission(tmp_path / name, 2, change=change(name), extension=".bmp") for name in "abc"
    }
    written = ensemble(phase, submissions, tmp_path / "ensemble")
    # Normalised: a 0, 1; b is constant: ½, ½; c 1, 0. Mean ½ for both.
    assert (written / "classification_results.csv").read_text() == (
        "FileName,Glaucoma Risk\nV0001,0.5\nV0002,0.5\n"
    )
    assert (written / "fovea_location_results.csv").read_text() == (
        "ImageName,Fovea_X,Fovea_Y\nV0001,8.0,6.0\nV0002,8.0,6.0\n"
    )
    # Two of three drew the mask; its format is the first submission's.
    assert sorted(path.name for path in (written / "segmentation").iterdir()) == ["V0001.bmp", "V0002.bmp"]
    for case in phase.form.cases:
        data = (written / "segmentation" / f"{case.name}.bmp").read_bytes()
        reference = (phase.folder / "masks" / f"{case.name}.png").read_bytes()
        np.testing.assert_array_equal(
            read_grey(memoryview(data), "a.bmp", None), read_grey(memoryview(reference), "a.png", None)
        )


def test_all_faults_of_all_submissions_at_once_and_nothing_written(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 2)
    bad = refuge_submission(
        tmp_path / "bad", 2, change=lambda case, values: {**values, "fovea": Point(1e6, 3)}
    )
    worse = refuge_submission(tmp_path / "worse", 2)
    (worse / "segmentation" / "V0002.png").write_bytes(b"none")
    with pytest.raises(PhaseError) as error:
        ensemble(phase, {"bad": bad, "worse": worse}, tmp_path / "ensemble")
    text = str(error.value)
    assert text.count("bad: fovea_location_results.csv") == 2
    assert "worse: segmentation/V0002.png" in text
    assert not (tmp_path / "ensemble").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "phase", "worse"]


def test_what_is_no_ensemble(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 2)
    whole, part = refuge_submission(tmp_path / "a", 2), refuge_submission(tmp_path / "b", 1)
    with faulted(PhaseError, "b: segmentation/V0002.bmp", "none"):
        ensemble(phase, {"a": whole, "b": part}, tmp_path / "ensemble")
    for members in ({}, {"a": whole}):
        with faulted(PhaseError, str(len(members))):
            ensemble(phase, members, tmp_path / "ensemble")
    with faulted(PhaseError, "one that is not empty"):
        ensemble(phase, {"a": whole, "c": whole}, tmp_path / "a")


def test_where_missing_cases_count_an_ensemble_uses_the_others(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 2, keys={"missing": "worst"})
    whole, part = refuge_submission(tmp_path / "a", 2), refuge_submission(tmp_path / "b", 1)
    written = ensemble(phase, {"a": whole, "b": part}, tmp_path / "ensemble")
    assert metrics(phase, written)["segmentation.dice_disc"] == 1.0


def test_an_ensemble_has_the_optional_tasks_of_its_members(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 4)
    submissions = {
        name: refuge_submission(tmp_path / name, 4, fields=("glaucoma_risk", "segmentation")) for name in "ab"
    }
    written = ensemble(phase, submissions, tmp_path / "ensemble")
    assert metrics(phase, written).keys() == metrics(phase, submissions["a"]).keys()
