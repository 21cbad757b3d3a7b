"""Lesion-wise figures through a phase, against components of whole volumes."""

import numpy as np
import pytest
import SimpleITK
from scipy import ndimage
from surface_distance import metrics as oracle

from evaluation.organiser.rehearsal import rehearse
from evaluation.phase.phase import load_phase
from test.challenges.declared.images import SPACING_MM, figures_of, volume_phase
from test.oracles import checked

TABLES = """\
[fields.map]
kind = "label_map"
labels = { 1 = "core", 2 = "rim" }
regions = { whole = [1, 2], core = [1] }

[tasks.scans.metrics]
lesion_wise_dice = { dilations = 1, smallest_volume = 1 }
lesion_wise_hausdorff_distance = { dilations = 1, smallest_volume = 1, worst = 374 }
"""
SHAPE = (6, 16, 18)
pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")


def scans(seed, count=4):
    """Return references with some blocks of two labels, and predictions that move, lose and add some."""
    random = np.random.default_rng(seed)
    references, predictions = {}, {}
    for number in range(count):
        reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
        for _ in range(5):
            z, y, x = (random.integers(0, side - 2) for side in SHAPE)
            block = np.s_[z : z + 2, y : y + 3, x : x + 3]
            reference[block], label = random.integers(1, 3), random.integers(0, 3)
            prediction[block] = label
        references[f"scan{number}"] = reference
        predictions[f"scan{number}"] = np.roll(prediction, 1, 2)
    return references, predictions


def expected_of(prediction, reference):
    """Return Dice and Hausdorff distance of one region of a scan, one lesion at a time."""
    neighbours = ndimage.generate_binary_structure(3, 2)
    numbered = [
        SimpleITK.GetArrayFromImage(
            SimpleITK.ConnectedComponent(SimpleITK.GetImageFromArray(mask.astype(np.uint8)), True)
        )
        for mask in (prediction, ndimage.binary_dilation(reference, neighbours))
    ]
    taken, figures = set(), []
    for number in range(1, numbered[1].max() + 1):
        lesion = reference & (numbered[1] == number)
        found = set(np.unique(numbered[0][ndimage.binary_dilation(lesion, neighbours)])) - {0}
        taken |= found
        if lesion.sum() * 0.25 > 1:
            mask = np.isin(numbered[0], list(found))
            distance = 374
            if found:
                distances = oracle.compute_surface_distances(lesion, mask, SPACING_MM[::-1])
                distance = oracle.compute_robust_hausdorff(distances, 95)
            figures.append((2 * (lesion & mask).sum() / (lesion.sum() + mask.sum()), distance))
    figures += [(0, 374)] * (numbered[0].max() - len(taken))
    return np.mean(figures, axis=0) if figures else (1, 0)


@checked(
    lesion_wise_dice=("SimpleITK.ConnectedComponent", "scipy.ndimage.binary_dilation"),
    lesion_wise_hausdorff_distance="surface_distance.metrics.compute_robust_hausdorff",
)
def test_figures_of_regions(tmp_path):
    references, predictions = scans(3)
    phase = volume_phase(tmp_path, TABLES, references)
    expected = {}
    for region, labels in (("whole", (1, 2)), ("core", (1,))):
        rows = [
            expected_of(np.isin(predictions[name], labels), np.isin(references[name], labels))
            for name in references
        ]
        expected[f"lesion_wise_dice_{region}"], expected[f"lesion_wise_hausdorff_distance_{region}"] = (
            np.mean(rows, axis=0)
        )
    for metric in ("lesion_wise_dice", "lesion_wise_hausdorff_distance"):
        expected[metric] = (expected[f"{metric}_whole"] + expected[f"{metric}_core"]) / 2
    assert 0.1 < expected["lesion_wise_dice"] < 0.9
    assert figures_of(phase, tmp_path, predictions) == pytest.approx(expected, abs=5e-5)


def test_a_phase_is_rehearsed_and_a_missing_scan_is_worst(tmp_path):
    references, _ = scans(4)
    phase = volume_phase(tmp_path, TABLES, references, keys='missing = "worst"')
    assert rehearse(load_phase(phase)).problems == ()
    found = figures_of(phase, tmp_path, {})
    assert (found["lesion_wise_dice_core"], found["lesion_wise_hausdorff_distance"]) == (0, 374)
