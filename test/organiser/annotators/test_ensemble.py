"""Ensembles of submissions: by hand on tiny phases, and better than their members on samples."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.aggregation import metric_values
from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.evaluate import Rejection, Result, evaluate
from evaluation.io.grey_images import read_grey
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.points import Point
from evaluation.metrics.crops import Crop
from evaluation.organiser.annotators.combine import CombinationRules, combine, is_combinable, normalised
from evaluation.organiser.annotators.ensemble import write_ensemble
from evaluation.organiser.submission_writer import ArchiveWriter, SampleCase, write_phase
from evaluation.organiser.synthesis import (
    Quality,
    draw_cases,
    predicted_fovea,
    predicted_mask,
    reference_mask,
)
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.registry import challenge_named
from test.faults import faulted
from test.organiser.annotators.people import CONFIGURATION, FIELDS
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


@settings(max_examples=50)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8), st.floats(0.01, 100), st.floats(-10, 10))
def test_normalisation_keeps_the_order_and_ignores_the_scale(values, factor, shift):
    once = normalised(Number().numbers, values)
    assert all(0 <= value <= 1 for value in once)
    for (a, b), (na, nb) in zip(
        itertools.permutations(values, 2), itertools.permutations(once, 2), strict=True
    ):
        assert not (a < b) or na <= nb
    if max(values) - min(values) > 1:
        moved = normalised(Number().numbers, [factor * value + shift for value in values])
        assert moved == pytest.approx(once, abs=1e-6)


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_the_mean_lies_within_the_range_in_any_order(values):
    found = combine(Number(0, 1), values, CASE, CombinationRules())
    assert min(values) <= found <= max(values)
    assert combine(Number(0, 1), values[::-1], CASE, CombinationRules()) == found
    assert combine(Number(0, 1), [values[0]] * 3, CASE, CombinationRules()) == values[0]


def test_every_kind_of_every_challenge_can_be_combined():
    found = {}
    for name in ("refuge", "adam", "edd2020", "cysts"):
        challenge = challenge_named(name)
        for task in challenge.tasks(challenge.options()):
            for field in task.fields:
                found[type(field.kind).__name__] = is_combinable(field.kind)
    assert all(found.values())
    assert len(found) >= 6


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


def test_an_ensemble_of_copies_is_the_submission_and_the_order_is_irrelevant(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 4)
    submission = refuge_submission(tmp_path / "a", 4)
    same = ensemble(phase, {"x": submission, "y": submission}, tmp_path / "same")
    assert metrics(phase, same) == metrics(phase, submission)
    other = refuge_submission(
        tmp_path / "b", 4, change=lambda case, values: {**values, "fovea": Point(1.1, 2.3)}
    )
    first = ensemble(phase, {"x": submission, "y": other, "z": other}, tmp_path / "first")
    second = ensemble(phase, {"x": other, "y": other, "z": submission}, tmp_path / "second")
    files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert len(files) == 6
    for path in files:
        assert (first / path).read_bytes() == (second / path).read_bytes()


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


def test_an_incomplete_submission_is_told(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 2)
    whole, part = refuge_submission(tmp_path / "a", 2), refuge_submission(tmp_path / "b", 1)
    with faulted(PhaseError, "b: segmentation/V0002.bmp", "none"):
        ensemble(phase, {"a": whole, "b": part}, tmp_path / "ensemble")


def test_where_missing_cases_count_an_ensemble_uses_the_others(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 2, keys={"missing": "worst"})
    whole, part = refuge_submission(tmp_path / "a", 2), refuge_submission(tmp_path / "b", 1)
    written = ensemble(phase, {"a": whole, "b": part}, tmp_path / "ensemble")
    assert metrics(phase, written)["segmentation.dice_disc"] == 1.0


@pytest.mark.parametrize("names", ["", "a"])
def test_fewer_than_two_submissions_are_no_ensemble(tmp_path, names):
    phase = loaded_phase(tmp_path / "phase", 2)
    submissions = {name: refuge_submission(tmp_path / name, 2) for name in names}
    with faulted(PhaseError, str(len(names))):
        ensemble(phase, submissions, tmp_path / "ensemble")


def test_what_stands_in_the_folder_is_not_overwritten(tmp_path):
    phase = loaded_phase(tmp_path / "phase", 2)
    submissions = {name: refuge_submission(tmp_path / name, 2) for name in "ab"}
    with faulted(PhaseError, "one that is not empty"):
        ensemble(phase, submissions, tmp_path / "a")


@pytest.mark.parametrize("method", ["majority", "staple"])
def test_three_noisy_submissions_together_beat_each_of_them(tmp_path, method):
    rng = np.random.Generator(np.random.PCG64(11))
    cases = draw_cases(24, 96, 96, 0.5, rng, "V")
    masks = [reference_mask(case, rng) for case in cases]
    folder = tmp_path / "phase"
    write_phase(
        folder,
        CONFIGURATION,
        FIELDS,
        (
            SampleCase(
                case.name,
                {"width": "96", "height": "96"},
                {
                    "glaucoma_risk": int(case.glaucoma),
                    "segmentation": mask,
                    "fovea": Point(case.fovea_x, case.fovea_y),
                },
            )
            for case, mask in zip(cases, masks, strict=True)
        ),
    )
    seal(folder, scan(folder))
    submissions = {}
    for name in ("first", "second", "third"):
        scores = rng.normal(size=len(cases)) + np.array([case.glaucoma for case in cases])
        risks = (1 / (1 + np.exp(-scores))).tolist()
        writer = ArchiveWriter(tmp_path / name, FIELDS, {"segmentation": ".png"})
        for case, mask, risk in zip(cases, masks, risks, strict=True):
            fovea = predicted_fovea(case, Point(case.fovea_x, case.fovea_y), Quality.POOR, rng)
            drawn = predicted_mask(case, mask, Quality.POOR, rng)
            writer.add(case.name, {"glaucoma_risk": risk, "segmentation": drawn, "fovea": fovea})
        writer.close()
        submissions[name] = tmp_path / name
    phase = load_phase(folder)
    together = metrics(phase, ensemble(phase, submissions, tmp_path / "ensemble", method=method))
    for of_one in (metrics(phase, submission) for submission in submissions.values()):
        for name in ("classification.auc", "segmentation.dice_cup", "segmentation.dice_disc"):
            assert together[name] > of_one[name]
        assert together["fovea.distance"] < of_one["fovea.distance"]


def test_a_rejected_format_would_not_pass(tmp_path):
    """The ensemble of a phase is accepted by it, with every optional task."""
    phase = loaded_phase(tmp_path / "phase", 4)
    submissions = {
        name: refuge_submission(tmp_path / name, 4, fields=("glaucoma_risk", "segmentation")) for name in "ab"
    }
    written = ensemble(phase, submissions, tmp_path / "ensemble")
    result = evaluate(phase, written, workers=0)
    assert not isinstance(result, Rejection)
    assert [task.name for task in result.tasks] == ["classification", "segmentation"]


def test_nested_regions_of_refuge_are_declared():
    (segmentation,) = [field for field in FIELDS if field.name == "segmentation"]
    regions = segmentation.kind.regions
    assert (regions.names, regions.nested) == (("optic cup", "optic disc"), "column_count")
    mask = Crop(np.array([[128, 0, 255]], np.uint8))
    assert [one.values.tolist() for one in regions.of(mask)] == [
        [[[False, True, False]]],
        [[[True, True, False]]],
    ]
