"""Predictions that a rehearsal derives from a reference: perfect, near, empty and inverted."""

import math

import numpy as np
import pytest

from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.classes import LABEL, ClassLabel, ClassProbabilities, FlagSet
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.number import ConditionScore, Number
from evaluation.io.kinds.points import PointInImage, point_at
from evaluation.io.kinds.probability_map import DetectionMap, ProbabilityMap
from evaluation.io.kinds.survival import SurvivalPrediction
from evaluation.io.kinds.volume import ConfidenceVolume, MultilabelMask, ReferenceVolume, Volume
from evaluation.io.volume_header import DEPTH, UPRIGHT, Geometry, geometry_columns
from evaluation.metrics.crops import Crop
from test.io.memory import InMemory, read_image

GRADES = ClassLabel((0, 1, 2, 3, 4))
SHARES = ClassProbabilities(("a", "b", "c"))
THIRDS = (1 / 3,) * 3
FLAGS = FlagSet(("a", "b"))
SMALL_VALUES = [
    (GRADES, 0, [0, 0, 0, 4]),
    (GRADES, 1, [1, 1, 0, 4]),
    (GRADES, 2, [2, 2, 0, 4]),
    (GRADES, 3, [3, 3, 0, 0]),
    (GRADES, math.nan, [0, 0, 0, 0]),
    (SHARES, 1, [(0, 1, 0), (1 / 30, 28 / 30, 1 / 30), THIRDS, (0.5, 0, 0.5)]),
    (SHARES, math.nan, [THIRDS] * 4),
    (FLAGS, (True, False), [(1, 0), (1, 0), (0, 0), (0, 1)]),
    # On a flag without a label any prediction is as good.
    (FLAGS, (None, True), [(0, 1), (0, 1), (0, 0), (1, 0)]),
    (FLAGS, None, [(0, 0)] * 4),
    (Number(), 1, [1, 0.95, 0, 0]),
    (Number(), 0, [0, 0.05, 0, 1]),
    (Number(), math.nan, [0, 0.05, 0, 1]),
    (Number(0, 10), 2.0, [2, 2.3, 0, 8]),
    (Number(minimum=1), 4.0, [4, 3.65, 1, 1]),
    (LABEL, 1, [1, 1, 0, 0]),
    (LABEL, 0, [0, 0, 0, 1]),
    (ConditionScore(), 1, [1, 0.95, 0, 0]),
    (ConditionScore(0, 100), 0, [0, 5, 0, 100]),
    (ConditionScore(-4, 4), 0, [-4, -3.6, 0, 4]),
    (ConditionScore(0, 100), math.nan, [0, 5, 0, 100]),
    (SurvivalPrediction(minimum=3.0), None, [3, 3, 3, 3]),
]


@pytest.mark.parametrize(("kind", "reference", "expected"), SMALL_VALUES)
def test_small_values(kind, reference, expected):
    found = [kind.rehearse(reference, CaseForm("A"), variant) for variant in Variant]
    np.testing.assert_allclose(np.array(found, float), np.array(expected, float), rtol=1e-12)


@pytest.mark.parametrize(
    ("point", "near", "inverted"),
    [
        (point_at(10, 5), point_at(11, 5), point_at(100, 50)),
        (point_at(90, 40), point_at(89, 40), point_at(0, 0)),
        (point_at(50.5, 5), point_at(49.5, 5), point_at(0, 50)),
    ],
)
def test_points_in_an_image(point, near, inverted):
    case = CaseForm("A", width=100, height=50)
    derived = [PointInImage().rehearse(point, case, variant).positions.tolist() for variant in Variant]
    assert derived == [of.positions.tolist() for of in (point, near, point_at(50, 25), inverted)]


GEOMETRY = Geometry((3, 4, 5), (0.5, 0.25, 2.0), (0.0, 0.0, 0.0), UPRIGHT)
CASE = CaseForm("V1", 5, 4, geometry_columns(GEOMETRY, DEPTH))
MASK = np.zeros((3, 4, 5), np.bool_)
MASK[1, 1:3, 1:4] = [[1, 1, 0], [0, 0, 1]]
PLANE = MASK[1:2]
FILLED = {"none": np.zeros_like(PLANE), "all": np.ones_like(PLANE)}


def of_labels(mask):
    """Return a label map in which the mask has the first two labels, beside a third one."""
    positions = np.where(mask, 2, 0).astype(np.uint8)
    positions[1, 1, 1], positions[..., 2, 1] = 1, 3
    return LabelMapValue(Crop(positions, (0, 0, 0)), mask.shape, (2.0, 0.25, 0.5))


def of_planes():
    data = ConfidenceVolume().write_file(Volume(np.where(MASK, np.float32(0.5), 0), GEOMETRY), ".mha")
    return ReferenceVolume(0.01, 1, whole=False).read(FileSource("a.mha"), CASE, InMemory({"a.mha": data}))


def of_grey(mask):
    return read_image(GREY, np.where(mask[0], np.uint8(128), np.uint8(255)))


GREY = LabelMap({0: "cup", 128: "disc"}, 255, dimensions=2)
MAPS = {
    "label map": (LabelMap({1: "a"}), LabelMapValue(Crop(np.uint8(MASK), (0, 0, 0)), MASK.shape, None)),
    "probability map": (ProbabilityMap(foreground=2), of_labels(MASK)),
    "detection map": (DetectionMap(foreground=2), of_labels(MASK)),
    "confidences": (ConfidenceVolume(), of_planes()),
    "grey values": (GREY, of_grey(PLANE)),
    "channels": (MultilabelMask(("a",)), (Crop(PLANE[0, 1:3, 1:4], (1, 1)),)),
}


def image_of(kind, value):
    """Return where something is, in the whole image."""
    written = kind.writable(value, CASE)
    values = np.asarray(getattr(written, "values", written))
    return values.reshape(-1, 4, 5) != getattr(kind, "background", 0)


@pytest.mark.parametrize("name", MAPS)
def test_maps(name):
    kind, reference = MAPS[name]
    images = {variant: image_of(kind, kind.rehearse(reference, CASE, variant)) for variant in Variant}
    mask = images[Variant.PERFECT]
    np.testing.assert_array_equal(mask, MASK if len(mask) == 3 else PLANE)
    assert not images[Variant.EMPTY].any()
    np.testing.assert_array_equal(images[Variant.INVERTED], ~mask)
    assert np.argwhere(images[Variant.NEAR] ^ mask).tolist() == [[len(mask) // 2, 1, 3]]


@pytest.mark.parametrize("fill", FILLED)
def test_masks_of_nothing_and_of_everything(fill):
    reference, full = of_grey(FILLED[fill]), FILLED[fill]
    derived = {variant: GREY.rehearse(reference, CASE, variant) for variant in Variant}
    np.testing.assert_array_equal(image_of(GREY, derived[Variant.NEAR]), full)
    np.testing.assert_array_equal(image_of(GREY, derived[Variant.INVERTED]), ~full)


def test_the_further_pixel_has_the_value_beside_it():
    near = ConfidenceVolume().rehearse(of_planes(), CASE, Variant.NEAR)
    assert ConfidenceVolume().writable(near, CASE).values[1, 1, 3] == 0.5
    positions = Crop(np.where(MASK, np.uint8(2), np.uint8(0)), (0, 0, 0))
    kind = LabelMap({1: "a", 2: "b"})
    near = kind.rehearse(LabelMapValue(positions, MASK.shape, None), CASE, Variant.NEAR)
    assert kind.writable(near, CASE).values[1, 1, 3] == 2
