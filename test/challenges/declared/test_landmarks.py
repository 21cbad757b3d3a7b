"""Declared landmarks against SciPy's distances, alone and by name."""

import json
import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import evaluation
from evaluation.challenges.declared.landmarks import IdentificationRate
from evaluation.core.fault import PhaseError
from test.challenges.declared.phases import declared_phase, figures_of, write_table
from test.challenges.declared.scalars import rehearsed
from test.faults import faulted
from test.oracles import checked

METRICS = """\
[tasks.location.metrics]
mean_radial_error = { worst = 20 }
close = { metric = "success_detection_rate", radius = 4 }
mean = { metric = "success_detection_rate", radius = [2, 4] }
"""
FOVEA = '[fields.fovea]\nkind = "point"\n' + METRICS
NAMES = ["nose", "left-ear"]
FACE = (
    f'[fields.face]\nkind = "keypoints"\ndimensions = 2\nunit = "pixels"\nclasses = {json.dumps(NAMES)}\n'
    + METRICS
)
COUNT = 12
CASES = [f"c{number:02d}" for number in range(COUNT)]


@pytest.fixture(scope="module")
def points():
    """Reference and prediction, shape (cases, landmarks, axes)."""
    random = np.random.default_rng(3)
    true = random.uniform(30, 60, (COUNT, 2, 3)).round(2)
    return true, (true + random.normal(0, 3, true.shape)).round(2)


def errors(true, found):
    """Return the distance of every landmark, shape (cases, landmarks)."""
    return np.array([np.diag(cdist(*of_case)) for of_case in zip(true, found, strict=True)])


def expected_of(distances):
    close = distances <= 4
    within = {"close": close.mean(), "mean": ((distances <= 2).mean() + close.mean()) / 2}
    return {"mean_radial_error": distances.mean(), **within}


@checked(
    mean_radial_error="scipy.spatial.distance.cdist",
    success_detection_rate="scipy.spatial.distance.cdist",
)
def test_one_point(tmp_path, points):
    true, guess = (side[:, 0] for side in points)
    columns = {f"fovea_{axis}": of for axis, of in zip("xyz", true.T, strict=True)}
    phase = declared_phase(tmp_path / "phase", FOVEA, {"name": CASES, **columns})
    found = figures_of(phase, tmp_path, {"case": CASES, **dict(zip("xyz", guess.T, strict=True))})
    distances = errors(*points)[:, 0]
    assert 0 < (distances <= 4).sum() < COUNT
    assert found == pytest.approx(expected_of(distances), abs=5e-5)


def write_face(folder, true):
    phase = declared_phase(folder, FACE, {"name": CASES, "width": [100] * COUNT, "height": [100] * COUNT})
    write_table(phase / "face.csv", rows_of(true))
    return phase


def rows_of(points):
    x, y = points.reshape(-1, 2).T
    return {"case": np.repeat(CASES, len(NAMES)), "x": x, "y": y, "name": NAMES * COUNT}


def test_named_points(tmp_path, points):
    true, found = (of[..., :2].copy() for of in points)
    phase = write_face(tmp_path / "phase", true)
    found[0, 0] = (99, 99)
    distances = np.minimum(errors(true, found), 20)
    assert distances[0, 0] == 20
    expected = expected_of(distances)
    for number, name in enumerate(("nose", "left_ear")):
        of_name = expected_of(distances[:, number])
        expected |= {f"{figure}_{name}": value for figure, value in of_name.items()}
    assert figures_of(phase, tmp_path, rows_of(found)) == pytest.approx(expected, abs=5e-5)


def test_the_reference_has_every_name_once(tmp_path, points):
    phase = write_face(tmp_path, points[0][..., :2])
    lines = (phase / "face.csv").read_text().splitlines(keepends=True)
    (phase / "face.csv").write_text("".join(lines[:-1]))
    with pytest.raises(PhaseError) as error:
        evaluation.seal(phase)
    assert error.value.problems == ("face.csv: expected the point 'left-ear' of c11 once, found none",)


SPINE = """\
[fields.spine]
kind = "keypoints"
classes = ["T1", "T2", "T3"]
partial = true
[tasks.spine.metrics]
mean_radial_error = { worst = 20 }
pooled = { metric = "mean_radial_error", worst = 20, over_cases = "pooled" }
left_out = { metric = "mean_radial_error", worst = 20, unpredicted = "exclude" }
both = { metric = "mean_radial_error", worst = 20, unpredicted = "exclude", over_cases = "pooled" }
"""


def test_a_case_has_some_of_the_points_only(tmp_path):
    phase = declared_phase(tmp_path / "phase", SPINE, {"name": ["a", "b"]})
    flat = {"case": ["a", "a", "b"], "y": [0] * 3, "z": [0] * 3}
    write_table(phase / "spine.csv", {**flat, "x": [10, 30, 50], "name": ["T1", "T2", "T3"]})
    # T1 of a is 3 mm away and T2 lacks; b has only a point that its reference lacks.
    found = {**flat, "x": [13, 70, 50], "name": ["T1", "T3", "T1"]}
    of_each = {"T1": 3, "T2": 20, "T3": 20}
    of_all = {
        "mean_radial_error": ((3 + 20) / 2 + 20) / 2,
        "pooled": (3 + 20 + 20) / 3,
        # Of b nothing is left, which counts as the worst.
        "left_out": (3 + 20) / 2,
        "both": (3 + 20) / 2,
    }
    expected = {f"{name}_{of}": error for name in of_all for of, error in of_each.items()} | of_all
    assert figures_of(phase, tmp_path, found) == pytest.approx(expected, abs=1e-4)
    assert rehearsed(phase).problems == ()


@pytest.mark.parametrize(
    ("axes", "unit", "spacing", "expected"),
    [
        (2, "mm", "0.5 0.25", [math.hypot(15, 10), 50]),
        (3, "mm", "0.5 0.25 2", [math.hypot(15, 10, 120), math.hypot(30, 40, 60)]),
        (3, "pixels", None, [math.hypot(30, 40, 60), math.hypot(30, 40, 60)]),
    ],
)
def test_a_length_of_an_image_in_mm_and_of_a_volume(tmp_path, axes, unit, spacing, expected):
    """Of a missing case of 30 × 40 × 60 voxels."""
    lengths = ("diagonal", "shape_norm")
    tables = (
        f'[fields.mark]\nkind = "point"\ndimensions = {axes}\nunit = "{unit}"\n[tasks.marks.metrics]\n'
        + "".join(f'{of} = {{ metric = "mean_radial_error", worst = "{of}" }}\n' for of in lengths)
    )
    places = {f"mark_{axis}": [3] for axis in "xyz"[:axes]}
    cases = {"name": ["a"], "width": [30], "height": [40], "depth": [60], "spacing_mm": [spacing], **places}
    given = {
        name: cells for name, cells in cases.items() if (name != "depth" or axes == 3) and cells != [None]
    }
    phase = declared_phase(tmp_path / "phase", tables, given, keys='missing = "worst"')
    found = figures_of(phase, tmp_path, {"case": [], **{axis: [] for axis in "xyz"[:axes]}})
    assert list(found.values()) == pytest.approx(expected, abs=5e-4)
    wrong = given | ({"spacing_mm": ["0.5"]} if spacing else {"depth": [0]})
    with faulted(PhaseError, "cases.csv, line 2, width, height"):
        evaluation.seal(declared_phase(tmp_path / "wrong", tables, wrong, keys='missing = "worst"'))


NOWHERE = (np.nan, np.nan)


@pytest.mark.parametrize(
    ("found", "identified"),
    [
        (((4, 0), (10, 0)), (True, True)),
        (((5, 0), (10, 0)), (False, True)),  # exactly the radius, and exactly half of the way
        (((3, 4), NOWHERE), (False, False)),
        (((4, 0), (4, 0)), (True, False)),
        (((0, 0), (5.5, 0)), (True, True)),
        (((0, 4.5), (6, 4.5)), (True, False)),
        (((0, 0), NOWHERE), (True, False)),
    ],
)
def test_a_point_is_identified_within_the_radius_where_no_other_is_nearer(found, identified):
    rate = IdentificationRate(metric="identification_rate", radius=5)
    assert tuple(rate.values(np.array(found, float), np.array([(0, 0), (10, 0)], float), 9)) == identified


def test_a_point_between_two_is_identified_and_one_that_is_not_predicted_is_no_candidate():
    rate = IdentificationRate(metric="identification_rate", radius=9)
    true = np.array([(0, 0), (10, 0)], float)
    assert rate.values(np.array([(5, 0), (5, 0)], float), true, 9).tolist() == [1, 1]
    assert rate.values(np.array([(6, 0), (6, 0)], float), true, 9).tolist() == [0, 1]
    assert rate.values(np.array([(6, 0), NOWHERE], float), true, 9).tolist() == [1, 0]
