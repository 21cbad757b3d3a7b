"""Surface distances of labels through a phase, against surface-distance, SciPy and by hand."""

import math

import numpy as np
import pytest
import SimpleITK
from scipy import ndimage
from surface_distance import metrics as oracle

from evaluation.challenges.declared.declarable import METRICS
from evaluation.challenges.declared.instance_maps import InstanceMapField
from evaluation.challenges.declared.label_surfaces import HausdorffDistance
from evaluation.challenges.declared.maps import LabelMapField
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.crops import Crop
from test.challenges.declared.images import SPACING_MM, figures_of, volume_phase
from test.challenges.declared.scalars import rehearsed
from test.oracles import checked

LABELS = {1: "liver", 2: "spleen", 5: "aorta"}
FIELD = """\
[fields.map]
kind = "label_map"
labels = { 1 = "liver", 2 = "spleen", 5 = "aorta" }
"""
TABLES = f"""{FIELD}
[tasks.scans.metrics]
hausdorff_95 = {{ metric = "hausdorff_distance", percentile = 95 }}
average_surface_distance = {{ directions = "directed" }}
surface_dice = {{ tolerance_mm = {{ liver = 0.3, spleen = 0.6, aorta = 2.1 }} }}
near = {{ metric = "surface_dice", tolerance_mm = 0.3, labels = ["aorta"] }}
farthest = {{ metric = "hausdorff_distance", surface = "voxels" }}
symmetric = {{ metric = "average_surface_distance", surface = "voxels" }}
mean_of_both = {{ metric = "average_surface_distance", directions = "mean" }}

[tasks.scans.metrics.linear]
metric = "hausdorff_distance"
surface = "voxels"
percentile = 95
percentile_method = "linear"

[tasks.scans.metrics.together]
metric = "hausdorff_distance"
surface = "voxels"
percentile = 95
percentile_method = "linear"
directions = "pooled"

[tasks.scans.metrics.connected]
metric = "average_surface_distance"
surface = "voxels"
surface_neighbours = "all"
directions = "directed"
"""
TOLERANCES_MM = {"liver": 0.3, "spleen": 0.6, "aorta": 2.1}
ZYX_MM = SPACING_MM[::-1]
RANDOM = np.random.default_rng(7)
pytestmark = pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")


def scans(count=3):
    return {
        f"scan{number}": RANDOM.choice(np.array([0, 0, 0, *LABELS], np.uint8), (3, 6, 7))
        for number in range(count)
    }


REFERENCES, PREDICTIONS = scans(), scans()


def elements_of(true, found, name):
    distances = oracle.compute_surface_distances(true, found, ZYX_MM)
    return {
        "hausdorff_95": oracle.compute_robust_hausdorff(distances, 95),
        "average_surface_distance": max(oracle.compute_average_surface_distance(distances)),
        "mean_of_both": np.mean(oracle.compute_average_surface_distance(distances)),
        "surface_dice": oracle.compute_surface_dice_at_tolerance(distances, TOLERANCES_MM[name]),
        "near": oracle.compute_surface_dice_at_tolerance(distances, 0.3),
    }


def voxels_of(true, found):
    contours = [SimpleITK.BinaryContour(image_of(mask), False, 0, 1) for mask in (true, found)]
    farthest = SimpleITK.HausdorffDistanceImageFilter()
    farthest.Execute(*contours)
    directed, connected = (directed_of(true, found, of) for of in (None, np.ones((3, 3, 3))))
    return {
        "farthest": farthest.GetHausdorffDistance(),
        "linear": max(np.percentile(distances, 95) for distances in directed),
        "together": np.percentile(np.concatenate(directed), 95),
        "symmetric": np.concatenate(directed).mean(),
        "connected": max(distances.mean() for distances in connected),
    }


def directed_of(true, found, neighbours):
    lines = [mask & ~ndimage.binary_erosion(mask, neighbours) for mask in (true, found)]
    to_first, to_second = (ndimage.distance_transform_edt(~line, ZYX_MM) for line in lines)
    return to_second[lines[0]], to_first[lines[1]]


def image_of(mask):
    image = SimpleITK.GetImageFromArray(np.pad(mask, 1).astype(np.uint8))
    image.SetSpacing(SPACING_MM)
    return image


def expected_figures():
    figures = {}
    for label, name in LABELS.items():
        masks = [(REFERENCES[scan] == label, PREDICTIONS[scan] == label) for scan in REFERENCES]
        rows = [elements_of(*pair, name) | voxels_of(*pair) for pair in masks]
        figures |= {f"{metric}_{name}": np.mean([row[metric] for row in rows]) for metric in rows[0]}
    metrics = {figure.rpartition("_")[0] for figure in figures}
    means = {metric: np.mean([figures[f"{metric}_{name}"] for name in LABELS.values()]) for metric in metrics}
    near = {"near": figures["near_aorta"]}
    return {key: value for key, value in figures.items() if not key.startswith("near_")} | means | near


@checked(
    hausdorff_distance=(
        "surface_distance.metrics.compute_robust_hausdorff",
        "SimpleITK.HausdorffDistanceImageFilter",
    ),
    average_surface_distance=(
        "surface_distance.metrics.compute_average_surface_distance",
        "scipy.ndimage.distance_transform_edt",
    ),
    surface_dice="surface_distance.metrics.compute_surface_dice_at_tolerance",
)
def test_figures_of_all_labels(tmp_path):
    phase = volume_phase(tmp_path, TABLES, REFERENCES)
    assert figures_of(phase, tmp_path, PREDICTIONS) == pytest.approx(expected_figures(), abs=5e-5)
    assert rehearsed(phase).problems == ()


@pytest.mark.parametrize("spacing_mm", [None, (1.0, 2.0, 0.5)])
def test_an_image_has_a_contour_not_a_surface(spacing_mm):
    table = LabelMapField(
        kind="label_map", labels={"1": "disc"}, dimensions=2, has_spacing=spacing_mm is not None
    )
    images = RANDOM.integers(0, 2, (2, 6, 7)).astype(np.uint8)
    prediction, reference = (
        LabelMapValue(Crop(image[np.newaxis], (0, 1, 2)), (1, 9, 9), spacing_mm) for image in images
    )
    nothing = LabelMapValue(Crop(np.zeros((0, 0, 0), np.uint8), (0, 0, 0)), (1, 9, 9), spacing_mm)
    measure = HausdorffDistance(metric="hausdorff_distance", percentile=95).measure("far", "map", table)

    def far(submitted, true):
        return measure.row(FieldComparison("map", submitted, {"map": true}))["far"]

    step_y, step_x = (1.0, 1.0) if spacing_mm is None else spacing_mm[1:]
    distances = oracle.compute_surface_distances(images[1] > 0, images[0] > 0, (step_y, step_x))
    assert far(prediction, reference) == pytest.approx(oracle.compute_robust_hausdorff(distances, 95))
    assert far(nothing, reference) == pytest.approx(9 * math.hypot(step_y, step_x))
    assert far(nothing, nothing) == 0
    in_voxels = HausdorffDistance(metric="hausdorff_distance", distances="voxels")
    assert in_voxels.measure("far", "map", table).metrics[0].unit == "voxels"


@pytest.mark.parametrize(
    "name",
    [
        "hausdorff_distance",
        "average_surface_distance",
        "lesion_wise_hausdorff_distance",
        "matched_surface_distance",
    ],
)
@pytest.mark.parametrize(
    ("keys", "unit"),
    [({}, "mm"), ({"dimensions": 2}, "pixels"), ({"dimensions": 2, "has_spacing": True}, "mm")],
)
def test_distances_are_from_0_on_in_the_unit_of_the_images(name, keys, unit):
    field = InstanceMapField if name == "matched_surface_distance" else LabelMapField
    table = METRICS.named(name).model_validate({"metric": name, "worst": 7.0})
    kind = "instance_map" if field is InstanceMapField else "label_map"
    metrics = table.measure(
        "far", "map", field.model_validate({"kind": kind, "labels": {"1": "x"}, **keys})
    ).metrics
    assert {(metric.unit, metric.best, metric.worst) for metric in metrics} == {(unit, 0, 7)}
