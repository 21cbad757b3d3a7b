"""Declared landmarks against SciPy's distances, alone and by name."""

import json
import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import evaluation
from evaluation.challenges.declared.landmark_rates import IdentificationRate
from evaluation.core.fault import PhaseError
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase, write_table
from test.challenges.declared.phases import figures_of as scored_figures
from test.faults import faulted
from test.oracles import checked

METRICS = """\
[tasks.location.metrics]
mean_radial_error = { worst = 20 }
close = { metric = "success_detection_rate", radius = 4 }
"""
FOVEA = '[fields.fovea]\nkind = "point"\n' + METRICS
NAMES = ["nose", "left-ear"]
FACE = (
    f'[fields.face]\nkind = "keypoints"\naxes = 2\nunit = "pixels"\nnames = {json.dumps(NAMES)}\n' + METRICS
)
COUNT = 12


@pytest.fixture(scope="module")
def points():
    """Reference and prediction, shape (cases, landmarks, axes)."""
    random = np.random.default_rng(3)
    true = random.uniform(30, 60, (COUNT, 2, 3)).round(2)
    return true, (true + random.normal(0, 3, true.shape)).round(2)


def errors(true, found):
    """Return the distance of every landmark, shape (cases, landmarks)."""
    return np.array([np.diag(cdist(*of_case)) for of_case in zip(true, found, strict=True)])


def names():
    return [f"c{number:02d}" for number in range(COUNT)]


def figures_of(phase, folder):
    result = evaluation.evaluate(phase, folder / "submission", workers=0).to_dict()
    return {name: entry["value"] for name, entry in result["aggregates"]["location"].items()}


def write_fovea(folder, points, keys="", found=COUNT):
    true, guess = (side[:, 0] for side in points)
    columns = {f"fovea_{axis}": true[:, number].tolist() for number, axis in enumerate("xyz")}
    phase = declared_phase(folder / "phase", FOVEA, {"name": names(), **columns}, keys=keys)
    evaluation.seal(phase)
    submitted = {axis: guess[:found, number].tolist() for number, axis in enumerate("xyz")}
    write_table(folder / "submission" / "predictions.csv", {"case": names()[:found], **submitted})
    return phase


@checked(
    mean_radial_error="scipy.spatial.distance.cdist",
    success_detection_rate="scipy.spatial.distance.cdist",
)
def test_one_point(tmp_path, points):
    phase = write_fovea(tmp_path, points)
    distances = errors(*points)[:, 0]
    assert 0 < (distances <= 4).sum() < COUNT
    assert figures_of(phase, tmp_path) == pytest.approx(
        {"mean_radial_error": distances.mean(), "close": (distances <= 4).mean()}, abs=5e-5
    )
    assert rehearse(load_phase(phase)).problems == ()


def test_a_case_without_a_result(tmp_path, points):
    phase = write_fovea(tmp_path, points, 'missing = "worst"', found=COUNT - 1)
    distances = np.append(errors(*points)[:-1, 0], 20)
    assert figures_of(phase, tmp_path) == pytest.approx(
        {"mean_radial_error": distances.mean(), "close": (distances <= 4).mean()}, abs=5e-5
    )


def write_face(folder, points, submission="archive"):
    true = points[0][..., :2]
    phase = declared_phase(
        folder / "phase",
        FACE,
        {"name": names(), "width": [100] * COUNT, "height": [100] * COUNT},
        submission=submission,
    )
    write_table(phase / "face.csv", rows_of(true))
    return phase


def rows_of(points):
    flat = points.reshape(-1, 2).tolist()
    return {
        "case": [name for name in names() for _ in NAMES],
        "x": [x for x, _ in flat],
        "y": [y for _, y in flat],
        "name": NAMES * COUNT,
    }


def test_named_points(tmp_path, points):
    phase = write_face(tmp_path, points)
    evaluation.seal(phase)
    found = points[1][..., :2].copy()
    found[0, 0] = (99, 99)
    write_table(tmp_path / "submission" / "predictions.csv", rows_of(found))
    distances = np.minimum(errors(points[0][..., :2], found), 20)
    assert distances[0, 0] == 20
    close = distances <= 4
    assert figures_of(phase, tmp_path) == pytest.approx(
        {
            "mean_radial_error": distances.mean(),
            "mean_radial_error_nose": distances[:, 0].mean(),
            "mean_radial_error_left_ear": distances[:, 1].mean(),
            "close": close.mean(),
            "close_nose": close[:, 0].mean(),
            "close_left_ear": close[:, 1].mean(),
        },
        abs=5e-5,
    )
    assert rehearse(load_phase(phase)).problems == ()


def test_the_reference_has_every_name_once(tmp_path, points):
    phase = write_face(tmp_path, points)
    lines = (phase / "face.csv").read_text().splitlines(keepends=True)
    (phase / "face.csv").write_text("".join(lines[:-1]))
    with pytest.raises(PhaseError) as error:
        evaluation.seal(phase)
    assert error.value.problems == ("face.csv: expected the point 'left-ear' of c11 once, found none",)


SPINE = """\
[fields.spine]
kind = "keypoints"
names = ["T1", "T2", "T3"]
partial = true
[tasks.spine.metrics]
mean_radial_error = { worst = 20 }
pooled = { metric = "mean_radial_error", worst = 20, over_cases = "pooled" }
left_out = { metric = "mean_radial_error", worst = 20, unpredicted = "leave_out" }
both = { metric = "mean_radial_error", worst = 20, unpredicted = "leave_out", over_cases = "pooled" }
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
    assert scored_figures(phase, tmp_path, found) == pytest.approx(expected, abs=1e-4)
    assert rehearse(load_phase(phase)).problems == ()


def test_named_points_of_an_algorithm(tmp_path, points):
    phase = write_face(tmp_path, points, "algorithm")
    evaluation.seal(phase)
    jobs = []
    for name, of_case in zip(names(), points[1].tolist(), strict=True):
        value = {
            "type": "Multiple points",
            "points": [
                {"name": of, "point": [x, y, 0]} for of, (x, y, _) in zip(NAMES, of_case, strict=True)
            ],
            "version": {"major": 1, "minor": 0},
        }
        given = {"slug": "photograph", "relative_path": "images/photograph"}
        made = {"slug": "face", "relative_path": "face.json"}
        jobs.append(
            {
                "pk": name,
                "inputs": [{"socket": given, "image": {"name": f"{name}.mha"}}],
                "outputs": [{"socket": made, "value": value}],
            }
        )
    (tmp_path / "submission").mkdir()
    (tmp_path / "submission" / "predictions.json").write_text(json.dumps(jobs))
    distances = errors(points[0][..., :2], points[1][..., :2])
    figures = figures_of(phase, tmp_path)
    assert figures["mean_radial_error"] == pytest.approx(distances.mean(), abs=5e-5)


def test_the_worst_distance_is_a_length_of_each_image(tmp_path):
    tables = """\
[fields.fovea]
kind = "point"
axes = 2
unit = "pixels"

[tasks.position.metrics]
diagonal = { metric = "mean_radial_error", worst = "diagonal" }
side = { metric = "mean_radial_error", worst = "longest_side" }
"""
    cases = {
        "name": ["a", "b"],
        "width": [30, 300],
        "height": [40, 100],
        "fovea_x": [0, 10],
        "fovea_y": [0, 10],
    }
    phase = declared_phase(tmp_path / "phase", tables, cases, keys='missing = "worst"')
    found = scored_figures(phase, tmp_path, {"case": ["a"], "x": [30], "y": [40]})
    # Case a is as far away as may be, case b is missing.
    assert found == pytest.approx(
        {"diagonal": (50 + np.hypot(300, 100)) / 2, "side": (40 + 300) / 2}, abs=5e-4
    )


@pytest.mark.parametrize(
    ("axes", "unit", "spacing", "expected"),
    [
        (2, "mm", "0.5 0.25", [math.hypot(15, 10), 50, 15]),
        (3, "mm", "0.5 0.25 2", [math.hypot(15, 10, 120), math.hypot(30, 40, 60), 120]),
        (3, "pixels", None, [math.hypot(30, 40, 60), math.hypot(30, 40, 60), 60]),
    ],
)
def test_a_length_of_an_image_in_mm_and_of_a_volume(tmp_path, axes, unit, spacing, expected):
    """Of a missing case of 30 × 40 × 60 voxels."""
    lengths = ("diagonal", "shape_norm", "longest_side")
    tables = (
        f'[fields.mark]\nkind = "point"\naxes = {axes}\nunit = "{unit}"\n[tasks.marks.metrics]\n'
        + "".join(f'{of} = {{ metric = "mean_radial_error", worst = "{of}" }}\n' for of in lengths)
    )
    places = {f"mark_{axis}": [3] for axis in "xyz"[:axes]}
    cases = {"name": ["a"], "width": [30], "height": [40], "depth": [60], "spacing_mm": [spacing], **places}
    given = {
        name: cells for name, cells in cases.items() if (name != "depth" or axes == 3) and cells != [None]
    }
    phase = declared_phase(tmp_path / "phase", tables, given, keys='missing = "worst"')
    found = scored_figures(phase, tmp_path, {"case": [], **{axis: [] for axis in "xyz"[:axes]}})
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
