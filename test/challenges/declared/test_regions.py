"""Regions made of labels, and the readings of a mean over labels, through a phase."""

import numpy as np
import pytest
from sklearn.metrics import f1_score
from surface_distance import metrics as oracle

from evaluation.core.fault import PhaseError
from evaluation.core.field import Variant
from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.challenges.declared.images import SPACING_MM, figures_of, volume_phase
from test.challenges.declared.test_lesions import components
from test.oracles import checked

FIELD = """\
[fields.map]
kind = "label_map"
labels = { 1 = "ncr", 2 = "ed", 4 = "et" }
regions = { wt = [1, 2, 4], tc = [1, 4], et = [4] }
"""
TABLES = f"""{FIELD}
[tasks.scans.metrics]
dice = {{}}
oedema = {{ metric = "dice", labels = ["ed", "wt"] }}
surface_dice = {{ tolerance_mm = {{ wt = 0.3, tc = 0.6, et = 2.1 }} }}
hausdorff_95 = {{ metric = "hausdorff_distance", percentile = 95 }}
volume_difference = {{}}
lesion_count_difference = {{}}
"""
REGIONS = {"wt": [1, 2, 4], "tc": [1, 4], "et": [4]}
TOLERANCES_MM = {"wt": 0.3, "tc": 0.6, "et": 2.1}
RANDOM = np.random.default_rng(5)
pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")


def scans(count=3):
    return {
        f"scan{number}": RANDOM.choice(np.array([0, 0, 0, 1, 2, 4], np.uint8), (3, 6, 7))
        for number in range(count)
    }


REFERENCES, PREDICTIONS = scans(), scans()


def figures_of_region(true, found, tolerance_mm):
    distances = oracle.compute_surface_distances(true, found, SPACING_MM[::-1])
    return {
        "dice": f1_score(true.ravel(), found.ravel()),
        "surface_dice": oracle.compute_surface_dice_at_tolerance(distances, tolerance_mm),
        "hausdorff_95": oracle.compute_robust_hausdorff(distances, 95),
        "volume_difference": abs(int(found.sum()) - int(true.sum())) * 0.25,
        "lesion_count_difference": abs(len(components(found, True)) - len(components(true, True))),
    }


def masks(scan, numbers):
    return np.isin(REFERENCES[scan], numbers), np.isin(PREDICTIONS[scan], numbers)


@checked(
    dice="sklearn.metrics.f1_score",
    surface_dice="surface_distance.metrics.compute_surface_dice_at_tolerance",
    hausdorff_distance="surface_distance.metrics.compute_robust_hausdorff",
    lesion_count_difference="SimpleITK.ConnectedComponent",
)
def test_figures_of_overlapping_regions(tmp_path):
    rows = {
        name: [figures_of_region(*masks(scan, numbers), TOLERANCES_MM[name]) for scan in REFERENCES]
        for name, numbers in REGIONS.items()
    }
    expected = {
        f"{metric}_{name}": np.mean([row[metric] for row in of_region])
        for name, of_region in rows.items()
        for metric in of_region[0]
    }
    for metric in rows["wt"][0]:
        expected[metric] = np.mean([expected[f"{metric}_{name}"] for name in REGIONS])
    # One label beside a region, by their names.
    expected["oedema_wt"] = expected["dice_wt"]
    expected["oedema_ed"] = np.mean(
        [f1_score(*(mask.ravel() for mask in masks(scan, [2]))) for scan in REFERENCES]
    )
    expected["oedema"] = (expected["oedema_wt"] + expected["oedema_ed"]) / 2
    phase = volume_phase(tmp_path, TABLES, REFERENCES)
    assert figures_of(phase, tmp_path, PREDICTIONS) == pytest.approx(expected, abs=5e-5)


def test_a_phase_of_regions_is_rehearsed(tmp_path):
    rehearsal = rehearse(load_phase(volume_phase(tmp_path, TABLES, REFERENCES)))
    assert rehearsal.problems == ()
    assert set(rehearsal.figures["scans.dice_tc"]) > set(Variant)


def test_tolerances_are_those_of_the_regions(tmp_path):
    tables = f"{FIELD}[tasks.scans.metrics.surface_dice]\ntolerance_mm = {{ ncr = 1, ed = 1, et = 1 }}\n"
    with pytest.raises(PhaseError) as error:
        volume_phase(tmp_path, tables, REFERENCES)
    assert error.value.problems == (
        "phase.toml: tasks.scans.metrics.surface_dice: tolerance_mm: expected one for each of wt, tc, et, "
        "found ncr, ed, et",
    )


# --- Means over labels ---

NAMES = """\
[fields.map]
kind = "label_map"
labels = { 1 = "R-PCA", 15 = "3rd-A2" }
"""


def rows_of(*scans):
    return {f"scan{number}": np.array([[row]], np.uint8) for number, row in enumerate(scans)}


# The first label is in scans 0 and 1; the second in scan 0, falsely predicted in scan 1; scan 2 has none.
TRUE = rows_of([1, 1, 0, 15, 15, 15], [1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0])
FOUND = rows_of([1, 0, 0, 15, 15, 15], [1, 1, 1, 15, 0, 0], [0, 0, 0, 0, 0, 0])
FIRST = 2 / 3  # Dice of the first label in scan 0; that of scan 1 is 1


@pytest.mark.parametrize(
    ("options", "whole", "first", "second"),
    [
        # Absent labels count 1, or 0 where they are predicted.
        (
            "",
            ((FIRST + 1) / 2 + (1 + 0) / 2 + 1) / 3,
            (FIRST + 1 + 1) / 3,
            (1 + 0 + 1) / 3,
        ),
        # Labels that a reference lacks are left out, and with them the third scan.
        ('absent = "leave_out"', ((FIRST + 1) / 2 + 1) / 2, (FIRST + 1) / 2, 1),
        ('absent = "leave_out"\nmean = "of_labels"', ((FIRST + 1) / 2 + 1) / 2, (FIRST + 1) / 2, 1),
        # TopCoW: the labels of either map; a scan without any is as good as can be.
        ('absent = "score_predicted"', ((FIRST + 1) / 2 + (1 + 0) / 2 + 1) / 3, (FIRST + 1) / 2, (1 + 0) / 2),
        # nnU-Net: the mean of the labels' means.
        (
            'absent = "score_predicted"\nmean = "of_labels"',
            ((FIRST + 1) / 2 + (1 + 0) / 2) / 2,
            (FIRST + 1) / 2,
            (1 + 0) / 2,
        ),
    ],
)
def test_readings_of_a_mean_over_labels(tmp_path, options, whole, first, second):
    phase = volume_phase(tmp_path, f"{NAMES}[tasks.scans.metrics.dice]\n{options}\n", TRUE)
    found = figures_of(phase, tmp_path, FOUND)
    expected = {"dice": whole, "dice_R_PCA": first, "dice_3rd_A2": second}
    assert found == pytest.approx(expected, abs=5e-5)
    assert rehearse(load_phase(phase)).problems == ()


def test_the_two_means_differ_where_labels_are_left_out(tmp_path):
    tables = f"""{NAMES}
[tasks.scans.metrics]
cases = {{ metric = "dice", absent = "leave_out" }}
labels = {{ metric = "dice", absent = "leave_out", mean = "of_labels" }}
"""
    true = rows_of([1, 1, 0, 15, 15, 15], [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0])
    found = figures_of(
        volume_phase(tmp_path, tables, true),
        tmp_path,
        rows_of([1, 0, 0, 15, 15, 15], [1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0]),
    )
    assert found["cases"] == pytest.approx(((FIRST + 1) / 2 + 1 + 0) / 3, abs=5e-5)
    assert found["labels"] == pytest.approx(((FIRST + 1 + 0) / 3 + 1) / 2, abs=5e-5)


@pytest.mark.parametrize(
    ("options", "whole"),
    [
        # Scan 1 without a result: its absent label is left out, or counts 0 as if it were predicted.
        ('absent = "leave_out"', ((FIRST + 1) / 2 + 0) / 2),
        ('absent = "score_predicted"', ((FIRST + 1) / 2 + 0 + 1) / 3),
        ('absent = "score_predicted"\nmean = "of_labels"', ((FIRST + 0) / 2 + (1 + 0) / 2) / 2),
    ],
)
def test_a_case_without_a_result_in_each_reading(tmp_path, options, whole):
    tables = f"{NAMES}[tasks.scans.metrics.dice]\n{options}\n"
    phase = volume_phase(tmp_path, tables, TRUE, keys='missing = "worst"')
    found = figures_of(phase, tmp_path, {name: FOUND[name] for name in ("scan0", "scan2")})
    assert found["dice"] == pytest.approx(whole, abs=5e-5)
