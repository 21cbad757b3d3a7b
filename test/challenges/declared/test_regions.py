"""Regions made of labels, and the readings of a mean over labels, through a phase."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, jaccard_score, precision_score, recall_score
from surface_distance import metrics as oracle

from test.challenges.declared.images import SPACING_MM, figures_of, volume_phase
from test.challenges.declared.scalars import rehearsed
from test.challenges.declared.test_lesions import components
from test.oracles import BY_HAND, checked

FIELD = """\
[fields.map]
kind = "label_map"
labels = { 1 = "ncr", 2 = "ed", 4 = "et" }
regions = { wt = [1, 2, 4], tc = [1, 4], et = [4] }
"""
TABLES = f"""{FIELD}
[tasks.scans.metrics]
dice = {{}}
jaccard = {{}}
voxel_sensitivity = {{}}
voxel_precision = {{}}
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
        "jaccard": jaccard_score(true.ravel(), found.ravel()),
        "voxel_sensitivity": recall_score(true.ravel(), found.ravel()),
        "voxel_precision": precision_score(true.ravel(), found.ravel()),
        "surface_dice": oracle.compute_surface_dice_at_tolerance(distances, tolerance_mm),
        "hausdorff_95": oracle.compute_robust_hausdorff(distances, 95),
        "volume_difference": abs(int(found.sum()) - int(true.sum())) * 0.25,
        "lesion_count_difference": abs(len(components(found, True)) - len(components(true, True))),
    }


def masks(scan, numbers):
    return np.isin(REFERENCES[scan], numbers), np.isin(PREDICTIONS[scan], numbers)


@checked(
    dice="sklearn.metrics.f1_score",
    jaccard="sklearn.metrics.jaccard_score",
    voxel_sensitivity="sklearn.metrics.recall_score",
    voxel_precision="sklearn.metrics.precision_score",
    volume_difference=BY_HAND,
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
    assert rehearsed(phase).problems == ()


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
    ("options", "whole", "first", "second", "lost"),
    [
        # Absent labels count 1, or 0 where they are predicted, or the scan has no result.
        (
            "",
            ((FIRST + 1) / 2 + (1 + 0) / 2 + 1) / 3,
            (FIRST + 1 + 1) / 3,
            (1 + 0 + 1) / 3,
            ((FIRST + 1) / 2 + 0 + 1) / 3,
        ),
        # Labels that a reference lacks are left out, and with them the third scan.
        ('absent = "exclude"', ((FIRST + 1) / 2 + 1) / 2, (FIRST + 1) / 2, 1, ((FIRST + 1) / 2 + 0) / 2),
        # TopCoW: the labels of either map; a scan without any is as good as can be.
        (
            'absent = "score_predicted"',
            ((FIRST + 1) / 2 + (1 + 0) / 2 + 1) / 3,
            (FIRST + 1) / 2,
            (1 + 0) / 2,
            ((FIRST + 1) / 2 + 0 + 1) / 3,
        ),
        # nnU-Net: the mean of the labels' means.
        (
            'absent = "score_predicted"\nmean = "of_labels"',
            ((FIRST + 1) / 2 + (1 + 0) / 2) / 2,
            (FIRST + 1) / 2,
            (1 + 0) / 2,
            ((FIRST + 0) / 2 + (1 + 0) / 2) / 2,
        ),
    ],
)
def test_readings_of_a_mean_over_labels(tmp_path, options, whole, first, second, lost):
    tables = f"{NAMES}[tasks.scans.metrics.dice]\n{options}\n"
    phase = volume_phase(tmp_path, tables, TRUE, keys='missing = "worst"')
    found = figures_of(phase, tmp_path, FOUND)
    expected = {"dice": whole, "dice_R_PCA": first, "dice_3rd_A2": second}
    assert found == pytest.approx(expected, abs=5e-5)
    # Scan 1 without a result.
    found = figures_of(phase, tmp_path / "lost", {name: FOUND[name] for name in ("scan0", "scan2")})
    assert found["dice"] == pytest.approx(lost, abs=5e-5)


# --- Volumes ---

ORGANS = """\
[fields.map]
kind = "label_map"
labels = { 1 = "liver", 2 = "spleen", 5 = "aorta" }
"""


def one_scan(*labels):
    values = np.zeros((2, 2, 5), np.uint8)
    values.reshape(-1)[: len(labels)] = labels
    return {"scan": values}


@pytest.mark.parametrize(
    ("options", "expected", "missing"),
    [
        # Twenty voxels of ¼ mm³; liver 1 → 3 voxels, spleen 2 → 1, aorta 0 → 1.
        ("", {"liver": 0.5, "spleen": 0.25, "aorta": 0.25}, 5.0),
        ("signed = true", {"liver": 0.5, "spleen": -0.25, "aorta": 0.25}, 5.0),
        ("worst = 0.3", {"liver": 0.3, "spleen": 0.25, "aorta": 0.25}, 0.3),
        ("relative = true\nworst = 4", {"liver": 2, "spleen": 0.5, "aorta": 4}, 4),
        ("relative = true\nsigned = true\nworst = 4", {"liver": 2, "spleen": -0.5, "aorta": 4}, 4),
    ],
)
def test_differences_of_volumes(tmp_path, options, expected, missing):
    tables = f"{ORGANS}\n[tasks.scans.metrics.volume_difference]\n{options}\n"
    tables += '\n[tasks.scans.metrics.dice]\n[ranking]\nmetrics = ["scans.dice"]\n'
    phase = volume_phase(tmp_path, tables, one_scan(1, 2, 2), keys='missing = "worst"')
    found = figures_of(phase, tmp_path, one_scan(1, 1, 1, 2, 5))
    for label, value in expected.items():
        assert found[f"volume_difference_{label}"] == pytest.approx(value)
    assert found["volume_difference"] == pytest.approx(np.mean(list(expected.values())), abs=5e-5)
    without = figures_of(phase, tmp_path / "missing", {})
    assert without["volume_difference"] == without["volume_difference_aorta"] == pytest.approx(missing)
