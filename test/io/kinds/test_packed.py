"""Every kind's values between processes: the same after unpacking, and refused where they are forged."""

import numpy as np
import pytest

from evaluation.core.form import CaseForm
from evaluation.io.handover import HandoverError, decode, encode
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.classes import ClassLabel, ClassProbabilities, FlagSet
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.masks import LabelMask, MultilabelMask
from evaluation.io.kinds.number import Label, Number, ObservedTime, TimeToEvent
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import Keypoints, Point, PointInImage, Points, PointSet, point_set
from evaluation.io.kinds.probability_map import (
    DetectionMap,
    DetectionMapValue,
    ProbabilityMap,
    ProbabilityMapValue,
)
from evaluation.io.kinds.volume import ConfidenceVolume
from evaluation.metrics.crops import EMPTY, Crop, VolumeCrop

CASE = CaseForm("V1", 5, 4, {"b_scans": "2", "spacing_mm": "1 1 1", "origin_mm": "", "direction": ""})
MASK = LabelMask({0: "cup", 128: "disc"}, 255)
REGIONS = MultilabelMask(("a", "b"))
BOXES = BoxList(("a", "b"), with_confidence=True, max_boxes=3)
FLAGS = FlagSet(("x", "y", "z"))
VOLUME = ConfidenceVolume()
CLASS = ClassLabel(("a", "b", "c"))
SHARES = ClassProbabilities(("a", "b"))
PROBABILITIES, FINDINGS = ProbabilityMap(), DetectionMap()
ORGANS = LabelMap({1: "a", 5: "b"})
SHAPE, SPACING_MM = (2, 4, 5), (1, 1, 1)
SCORED = Attributes(("a", "b"), with_probability=True)
POINTS = Points(Space(2, "pixels"), SCORED, most=3)
POINT = Points(Space(3), single=True)
NAMED = Keypoints(("x", "y"), Space(2, "pixels"))
SPACE_BOXES = BoxesInSpace(Space(3, "pixels"), SCORED, most=3)
BITS = np.array([[True, False, True], [False, True, True]])

GOOD = {
    "mask": (MASK, Crop(np.array([[0, 128], [255, 0]], np.uint8), 2, 3)),
    "empty mask": (MASK, EMPTY),
    "regions": (REGIONS, (Crop(BITS, 1, 2), Crop(np.zeros((0, 0), bool)))),
    "boxes": (BOXES, Boxes(np.array([[1, 0.5, 1, 2, 3, 4], [0, 1.0, 0, 0, 5, 4]]), 1)),
    "no boxes": (BOXES, Boxes(np.zeros((0, 6)))),
    "flags": (FLAGS, (True, None, False)),
    "number": (Number(0, 1), 0.1),
    "label": (Label(), 1),
    "class": (CLASS, 2),
    "probabilities": (SHARES, (0.1, 0.9)),
    "time to an event": (TimeToEvent(), ObservedTime(2.5, 0)),
    "point": (PointInImage(), Point(4.5, 0.0, 5)),
    "points": (POINTS, point_set([(1, 2, 1, 0.5, np.nan), (5, 4, 0, 1, np.nan)], 2)),
    "no points": (POINTS, point_set([], 2)),
    "a point of three axes": (POINT, point_set([(-1, 2.5, 3, 0, 1, np.nan)], 3)),
    "named points": (NAMED, point_set([(1, 2, 0, 1, np.nan), (0, 0, 1, 1, np.nan)], 2)),
    "boxes of three axes": (SPACE_BOXES, Boxes(np.array([[1, 0.5, 1, 2, 3, 4, 2, 9.0]]))),
    "volume": (VOLUME, (Crop(np.array([[0.5, 1.0]], np.float32), 3, 3), EMPTY)),
    "label map": (
        ORGANS,
        LabelMapValue(VolumeCrop(np.array([[[0, 1], [2, 0]]], np.uint8), (1, 2, 3)), SHAPE, SPACING_MM),
    ),
    "empty label map": (
        ORGANS,
        LabelMapValue(VolumeCrop(np.zeros((0, 0, 0), np.uint8), (0, 0, 0)), SHAPE, SPACING_MM),
    ),
    "probability map": (
        PROBABILITIES,
        ProbabilityMapValue(np.array([[[0.5, 1]]], np.float32), (1, 2, 3), SHAPE, SPACING_MM),
    ),
    "detection map": (
        FINDINGS,
        DetectionMapValue(np.array([[[1, 0, 2]]], np.uint16), (1, 2, 2), np.array([0.5, 1.0]), SHAPE),
    ),
    "empty detection map": (
        FINDINGS,
        DetectionMapValue(np.zeros((0, 0, 0), np.uint16), (0, 0, 0), np.zeros(0), SHAPE),
    ),
    "binary volume": (VOLUME, (EMPTY, Crop(np.ones((4, 5), np.uint8)))),
}


def plain(value):
    if isinstance(value, Crop):
        return value.top, value.left, value.values.dtype, value.values.tolist()
    if isinstance(value, Boxes):
        return value.rows.tolist(), value.outside
    if isinstance(value, ProbabilityMapValue | DetectionMapValue):
        values = value.crop.values
        confidences = value.confidences.tolist() if isinstance(value, DetectionMapValue) else value.spacing_mm
        return values.dtype, values.tolist(), value.corner, value.shape, confidences
    if isinstance(value, LabelMapValue):
        return value.positions.dtype, value.positions.tolist(), value.corner, value.shape, value.spacing_mm
    if isinstance(value, PointSet):
        return value.positions.tolist(), value.classes.tolist(), value.probabilities.tolist()
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", GOOD)
def test_a_value_comes_as_it_was_read(name):
    kind, value = GOOD[name]
    found = kind.unpack(decode(b"".join(encode(kind.pack(value)))), CASE)
    assert type(found) is type(value)
    assert plain(found) == plain(value)


U1 = np.uint8
FORGED = {
    "mask outside": (MASK, [3, 0, np.zeros((2, 2), U1)]),
    "mask at a negative place": (MASK, [-1, 0, np.zeros((2, 2), U1)]),
    "mask at a fraction": (MASK, [0.5, 0, np.zeros((2, 2), U1)]),
    "mask of floats": (MASK, [0, 0, np.zeros((2, 2))]),
    "mask of a line": (MASK, [0, 0, np.zeros(2, U1)]),
    "no mask": (MASK, None),
    "too few regions": (REGIONS, [[0, 0, 0, 0, np.zeros(0, U1)]]),
    "region of too few bits": (REGIONS, [[0, 0, 4, 5, np.zeros(2, U1)]] * 2),
    "region outside": (REGIONS, [[1, 0, 4, 5, np.zeros(3, U1)]] * 2),
    "too many boxes": (BOXES, [np.zeros((4, 6)), np.array([[4, 0]])]),
    "fewer boxes than counted": (BOXES, [np.zeros((1, 6)), np.array([[2, 0]])]),
    "boxes of two images": (BOXES, [np.zeros((2, 6)), np.array([[1, 0], [1, 0]])]),
    "a count of boxes below 0": (BOXES, [np.zeros((0, 6)), np.array([[0, -1]])]),
    "boxes of five numbers": (BOXES, [np.zeros((1, 5)), np.array([[1, 0]])]),
    "box of no class": (BOXES, [np.array([[2.0, 1, 0, 0, 1, 1]]), np.array([[1, 0]])]),
    "box of half a class": (BOXES, [np.array([[0.5, 1, 0, 0, 1, 1]]), np.array([[1, 0]])]),
    "box without end": (BOXES, [np.array([[0, 1, 0, 0, np.inf, 1]]), np.array([[1, 0]])]),
    "more boxes outside than boxes": (BOXES, [np.zeros((1, 6)), np.array([[1, 2]])]),
    "too few flags": (FLAGS, np.ones((1, 1), U1)),
    "flags of two cases": (FLAGS, np.ones((2, 3), U1)),
    "a flag of 3": (FLAGS, np.full((1, 3), 3, U1)),
    "a flag that is a text": (FLAGS, ["1", "0", "1"]),
    "a number beyond its range": (Number(0, 1), np.array([1.5])),
    "a number that is none": (Number(), np.array([np.nan])),
    "two numbers": (Number(), np.array([1.0, 2.0])),
    "a text": (Number(), "0.5"),
    "a label that is a boolean": (Label(), np.array([True])),
    "a label of 2": (Label(), np.array([2], U1)),
    "a class beyond the last": (CLASS, 3),
    "a class before the first": (CLASS, -1),
    "a class that is a boolean": (CLASS, True),
    "a class that is a text": (CLASS, "a"),
    "too few probabilities": (SHARES, [1.0]),
    "a probability of 2": (SHARES, [2.0, -1.0]),
    "a probability that is none": (SHARES, [float("nan"), 1.0]),
    "probabilities whose sum is not 1": (SHARES, [0.5, 0.6]),
    "a time before the start": (TimeToEvent(), [-1.0, 1]),
    "an event of 2": (TimeToEvent(), [1.0, 2]),
    "a point outside": (PointInImage(), [6.0, 0.0]),
    "a point of three": (PointInImage(), [0.0, 0.0, 0.0]),
    "a point of another class": (POINTS, np.array([[0, 0, 2.0, 1]])),
    "a point outside the image": (POINTS, np.array([[6.0, 0, 0, 1]])),
    "a point of probability 2": (POINTS, np.array([[0.0, 0, 0, 2]])),
    "a point without coordinates": (POINTS, np.array([[np.nan, 0, 0, 1]])),
    "too many points": (POINTS, np.zeros((4, 4))),
    "points as a list": (POINTS, [[0.0, 0, 0, 1]]),
    "two single points": (POINT, np.zeros((2, 5))),
    "no single point": (POINT, np.zeros((0, 5))),
    "a name twice": (NAMED, np.array([[0.0, 0, 0, 1], [0, 0, 0, 1]])),
    "a name too few": (NAMED, np.array([[0.0, 0, 0, 1]])),
    "a box from right to left": (SPACE_BOXES, np.array([[0, 1, 3, 0, 0, 2.0, 1, 1]])),
    "a box outside": (SPACE_BOXES, np.array([[0, 1, 0, 0, -1, 2.0, 1, 1]])),
    "a box of another class": (SPACE_BOXES, np.array([[2, 1, 0, 0, 0, 2.0, 1, 1]])),
    "a box of two axes": (SPACE_BOXES, np.array([[0, 1, 0, 0, 1, 2.0]])),
    "too few B-scans": (VOLUME, [[0, 0, np.zeros((1, 1), U1)]]),
    "probabilities outside": (PROBABILITIES, [0, 4, 0, np.zeros((1, 1, 1), np.float32)]),
    "a map of the probability 2": (PROBABILITIES, [0, 0, 0, np.full((1, 1, 1), 2, np.float32)]),
    "no number as probability": (PROBABILITIES, [0, 0, 0, np.full((1, 1, 1), np.nan, np.float32)]),
    "findings outside": (FINDINGS, [2, 0, 0, np.ones((1, 1, 1), np.uint16), np.ones(1)]),
    "a finding of no confidence": (FINDINGS, [0, 0, 0, np.full((1, 1, 1), 2, np.uint16), np.ones(1)]),
    "a finding of no voxel": (FINDINGS, [0, 0, 0, np.full((1, 1, 1), 2, np.uint16), np.ones(2)]),
    "a confidence above 1": (FINDINGS, [0, 0, 0, np.ones((1, 1, 1), np.uint16), np.full(1, 1.5)]),
    "no number as a confidence": (FINDINGS, [0, 0, 0, np.ones((1, 1, 1), np.uint16), np.full(1, np.nan)]),
    "too many findings": (
        FINDINGS,
        [0, 0, 0, np.arange(1, 1002, dtype=np.uint16).reshape(1, 1, 1001), np.ones(1001)],
    ),
    "label map outside": (ORGANS, [1, 2, 4, np.zeros((1, 2, 2), U1)]),
    "label map before its volume": (ORGANS, [-1, 0, 0, np.zeros((1, 1, 1), U1)]),
    "label map at no place": (ORGANS, [None, 0, 0, np.zeros((1, 1, 1), U1)]),
    "label map of no third axis": (ORGANS, [0, 0, 0, np.zeros((1, 1), U1)]),
    "label map of a third label": (ORGANS, [0, 0, 0, np.full((1, 1, 1), 3, U1)]),
    "label map of floats": (ORGANS, [0, 0, 0, np.zeros((1, 1, 1), np.float32)]),
    "label map of three parts": (ORGANS, [0, 0, np.zeros((1, 1, 1), U1)]),
    "a confidence of 2": (VOLUME, [[0, 0, np.full((1, 1), 2, U1)]] * 2),
    "a confidence below 0": (VOLUME, [[0, 0, np.full((1, 1), -1, np.float32)]] * 2),
    "no number as confidence": (VOLUME, [[0, 0, np.full((1, 1), np.nan, np.float32)]] * 2),
}


COLUMNS = {"boxes": BOXES, "flags": FLAGS, "number": Number(0, 1), "label": Label()}


@pytest.mark.parametrize("name", COLUMNS)
def test_small_values_of_many_cases_are_packed_together(name):
    kind = COLUMNS[name]
    values = [value for of_kind, value in GOOD.values() if of_kind == kind] * 2
    found = kind.unpack_all(decode(b"".join(encode(kind.pack_all(values)))), len(values))
    assert list(map(plain, found)) == list(map(plain, values))
    assert kind.unpack_all(decode(b"".join(encode(kind.pack_all([])))), 0) == []


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_value_is_refused(name):
    kind, packed = FORGED[name]
    with pytest.raises(HandoverError):
        kind.unpack(packed, CASE)
