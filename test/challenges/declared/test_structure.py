"""The structure of labels through a phase, against scikit-image, SciPy and SimpleITK."""

import numpy as np
import pytest
import SimpleITK
from scipy import ndimage
from skimage.measure import euler_number
from skimage.morphology import skeletonize

from evaluation.metrics.components import betti_numbers
from test.challenges.declared.images import figures_of, volume_phase
from test.challenges.declared.scalars import rehearsed
from test.oracles import checked

TABLES = """\
[fields.map]
kind = "label_map"
labels = { 1 = "vessel" }

[tasks.scans.metrics]
components = { metric = "betti_error", worst = 50 }
tunnels = { metric = "betti_error", number = 1, worst = 200 }
centreline_dice = {}
other_order = { metric = "centreline_dice", thinning_axes = "xyz" }
volume_similarity = {}
"""


def vessels(seed):
    """Return smooth structures with loops and gaps, shape (z, y, x)."""
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=(14, 30, 36)), 1.6)
    return (np.abs(noise) > 0.055).astype(np.uint8)


REFERENCES = {f"scan{number}": vessels(number) for number in range(3)}
PREDICTIONS = {f"scan{number}": np.roll(vessels(number), 1, axis=2) for number in range(3)}
PREDICTIONS["scan1"][:, :12] = 0


def plain_betti(mask):
    components = ndimage.label(mask, np.ones((3, 3, 3)))[1]
    cavities = ndimage.label(~np.pad(mask, 1))[1] - 1
    return components, components + cavities - euler_number(mask, connectivity=3)


def centreline_dice(true, found):
    skeletons = skeletonize(true) > 0, skeletonize(found) > 0
    shares = [
        (skeletons[0] & found).sum() / skeletons[0].sum(),
        (skeletons[1] & true).sum() / skeletons[1].sum(),
    ]
    return 2 / (1 / shares[0] + 1 / shares[1])


def expected_of(true, found):
    overlap = SimpleITK.LabelOverlapMeasuresImageFilter()
    overlap.Execute(*(SimpleITK.GetImageFromArray(mask.astype(np.uint8)) for mask in (true, found)))
    return {
        "components": abs(plain_betti(true)[0] - plain_betti(found)[0]),
        "tunnels": abs(plain_betti(true)[1] - plain_betti(found)[1]),
        "centreline_dice": centreline_dice(true, found),
        "other_order": centreline_dice(true.transpose(2, 1, 0), found.transpose(2, 1, 0)),
        # SimpleITK has the signed difference by half of the sum.
        "volume_similarity": 1 - abs(overlap.GetVolumeSimilarity()) / 2,
    }


@checked(
    betti_error=("skimage.measure.euler_number", "scipy.ndimage.label"),
    centreline_dice="skimage.morphology.skeletonize",
    volume_similarity="SimpleITK.LabelOverlapMeasuresImageFilter",
)
def test_figures(tmp_path):
    phase = volume_phase(tmp_path, TABLES, REFERENCES)
    rows = [expected_of(REFERENCES[scan] > 0, PREDICTIONS[scan] > 0) for scan in REFERENCES]
    expected = {name: np.mean([row[name] for row in rows]) for name in rows[0]}
    assert figures_of(phase, tmp_path, PREDICTIONS) == pytest.approx(expected, abs=5e-5)
    assert expected["components"] > 0
    assert expected["centreline_dice"] != pytest.approx(expected["other_order"], abs=5e-5)
    assert expected["tunnels"] > 0
    assert rehearsed(phase).problems == ()


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (np.zeros((3, 3), bool), (0, 0)),
        (np.array([[1, 1, 1, 0], [1, 0, 1, 0], [1, 1, 1, 1]], bool), (1, 1)),
        # Voxels that share a corner are connected, and enclose the one between them.
        (np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool), (1, 1)),
        (np.array([[1, 0], [0, 1]], bool), (1, 0)),
        # A cavity is no tunnel; a ring has one.
        (np.pad(np.zeros((1, 1, 1), bool), 1, constant_values=True), (1, 0)),
        (np.ones((1, 3, 3), bool) & (np.arange(9).reshape(1, 3, 3) != 4), (1, 1)),
        (np.array([[[1, 0, 1]]], bool), (2, 0)),
    ],
)
def test_components_and_tunnels_of_small_masks(mask, expected):
    assert betti_numbers(mask) == expected


CLDICE = TABLES.partition("components")[0] + "centreline_dice = {}\n"


def test_a_region_without_a_skeleton_takes_no_case_out_of_the_mean(tmp_path):
    """Lee's skeleton of this cuboid is empty, so that its share in the other region is 0 / 0."""
    true = np.zeros((12, 20, 24), np.uint8)
    true[6:8, 2:18, 4:6] = true[6, 10, 4:20] = 1
    cuboid, far = np.zeros_like(true), np.zeros_like(true)
    cuboid[6:8, 2:4, 4:13] = 1
    far[0, 0, 20:] = 1
    assert not skeletonize(cuboid).any()
    references = {f"scan{number}": true for number in range(4)}
    phase = volume_phase(tmp_path, CLDICE, references)
    for name, wrong in (("cuboid", cuboid), ("far", far)):
        found = figures_of(phase, tmp_path / name, {**references, "scan3": wrong})
        assert found == {"centreline_dice": 0.75}
    # A reference without a skeleton is one that can be met.
    phase = volume_phase(tmp_path / "reference", CLDICE, {**references, "scan3": cuboid})
    assert figures_of(phase, tmp_path / "met", {**references, "scan3": cuboid}) == {"centreline_dice": 1}
    assert figures_of(phase, tmp_path / "missed", {**references, "scan3": far}) == {"centreline_dice": 0.75}
