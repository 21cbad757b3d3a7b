"""Every kind's values between processes: the same after unpacking, and refused where they are forged."""

import numpy as np
import pytest

from evaluation.core.form import CaseForm
from evaluation.io.handover import HandoverError
from evaluation.io.kinds.boxes import BoxesInSpace, BoxList
from evaluation.io.kinds.classes import LABEL, ClassLabel, ClassProbabilities, FlagSet
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import Keypoints, PointInImage, Points
from evaluation.io.kinds.probability_map import (
    DetectionMap,
    ProbabilityMap,
)
from evaluation.io.kinds.survival import TimeToEvent
from evaluation.io.kinds.volume import ConfidenceVolume, MultilabelMask

CASE = CaseForm("V1", 5, 4, {"b_scans": "2", "spacing_mm": "1 1 1", "origin_mm": "", "direction": ""})
SCORED = Attributes(("a", "b"), with_probability=True)
REGIONS = MultilabelMask(("a", "b"))
BOXES = BoxList(attributes=SCORED, most=3)
FLAGS = FlagSet(("x", "y", "z"))
VOLUME = ConfidenceVolume()
CLASS = ClassLabel(("a", "b", "c"))
SHARES = ClassProbabilities(("a", "b"))
PROBABILITIES, FINDINGS = ProbabilityMap(), DetectionMap()
ORGANS = LabelMap({1: "a", 5: "b"})
SHAPE, SPACING_MM = (2, 4, 5), (1, 1, 1)
POINTS = Points(Space(2, "pixels"), SCORED, most=3)
POINT = Points(Space(3), single=True)
NAMED = Keypoints(("x", "y"), Space(2, "pixels"))
SPACE_BOXES = BoxesInSpace(Space(3, "pixels"), SCORED, most=3)
NONE_LEFT = np.array([0])
BITS = np.array([[True, False, True], [False, True, True]])


def of_one(*rows):
    """Return the rows of one case, packed."""
    return [np.array(rows, float), np.array([len(rows)])]


U1 = np.uint8
FORGED = {
    "too few regions": (REGIONS, [[0, 0, 0, 0, np.zeros(0, U1)]]),
    "region of too few bits": (REGIONS, [[0, 0, 4, 5, np.zeros(2, U1)]] * 2),
    "region outside": (REGIONS, [[1, 0, 4, 5, np.zeros(3, U1)]] * 2),
    "too many boxes": (BOXES, [np.zeros((4, 6)), np.array([4]), NONE_LEFT]),
    "fewer boxes than counted": (BOXES, [np.zeros((1, 6)), np.array([2]), NONE_LEFT]),
    "boxes of two images": (BOXES, [np.zeros((2, 6)), np.array([1, 1]), np.array([0, 0])]),
    "a count of boxes below 0": (BOXES, [np.zeros((0, 6)), np.array([-1]), NONE_LEFT]),
    "box of no class": (BOXES, [np.array([[2.0, 1, 0, 0, 1, 1]]), np.array([1]), NONE_LEFT]),
    "box without end": (BOXES, [np.array([[0, 1, 0, 0, np.inf, 1]]), np.array([1]), NONE_LEFT]),
    "more boxes outside than boxes": (BOXES, [np.zeros((1, 6)), np.array([1]), np.array([2])]),
    "too few flags": (FLAGS, np.ones((1, 1), U1)),
    "a flag of 3": (FLAGS, np.array([[0, 3, 1]], U1)),
    "a number beyond its range": (Number(0, 1), np.array([1.5])),
    "a number below its range": (Number(0, 1), np.array([-0.5])),
    "a number that is none": (Number(), np.array([np.nan])),
    "two numbers": (Number(), np.array([1.0, 2.0])),
    "a label of 2": (LABEL, np.array([2])),
    "a class beyond the last": (CLASS, np.array([3])),
    "too few probabilities": (SHARES, [1.0]),
    "a probability of 2": (SHARES, [2.0, -1.0]),
    "probabilities whose sum is not 1": (SHARES, [0.5, 0.6]),
    "a time before the start": (TimeToEvent(), [-1.0, 1]),
    "an event of 2": (TimeToEvent(), [1.0, 2]),
    "a point of three": (PointInImage(), of_one([0, 1, 0, 0, 0])),
    "a point of another class": (POINTS, of_one([2, 1, 0, 0])),
    "a point outside any image": (POINTS, of_one([0, 1, 1e9, 0])),
    "a point of probability 2": (POINTS, of_one([0, 2, 0, 0])),
    "a point without coordinates": (POINTS, of_one([0, 1, np.nan, 0])),
    "too many points": (POINTS, of_one(*[[0, 1, 0, 0]] * 4)),
    "two single points": (POINT, of_one(*[[0, 1, 0, 0, 0]] * 2)),
    "no single point": (POINT, [np.zeros((0, 5)), np.array([0])]),
    "a name twice": (NAMED, of_one([0, 1, 0, 0], [0, 1, 0, 0])),
    "a name too few": (NAMED, of_one([0, 1, 0, 0])),
    "a box from right to left": (SPACE_BOXES, [*of_one([0, 1, 3, 0, 0, 2, 1, 1]), NONE_LEFT]),
    "a box outside": (SPACE_BOXES, [*of_one([0, 1, 0, 0, -1, 2, 1, 1]), NONE_LEFT]),
    "too few B-scans": (VOLUME, [[0, 0, np.zeros((1, 1), U1)]]),
    "probabilities outside": (PROBABILITIES, [0, 4, 0, np.zeros((1, 1, 1), np.float32)]),
    "a map of the probability 2": (PROBABILITIES, [0, 0, 0, np.array([[[0, 2]]], np.float32)]),
    "no number as probability": (PROBABILITIES, [0, 0, 0, np.full((1, 1, 1), np.nan, np.float32)]),
    "findings outside": (FINDINGS, [2, 0, 0, np.ones((1, 1, 1), np.uint16), np.ones(1)]),
    "a finding of no confidence": (FINDINGS, [0, 0, 0, np.full((1, 1, 1), 2, np.uint16), np.ones(1)]),
    "a finding of no voxel": (FINDINGS, [0, 0, 0, np.full((1, 1, 1), 2, np.uint16), np.ones(2)]),
    "a confidence above 1": (FINDINGS, [0, 0, 0, np.ones((1, 1, 1), np.uint16), np.full(1, 1.5)]),
    "too many findings": (
        FINDINGS,
        [0, 0, 0, np.arange(1, 1002, dtype=np.uint16).reshape(1, 1, 1001), np.ones(1001)],
    ),
    "label map outside": (ORGANS, [1, 2, 4, np.zeros((1, 2, 2), U1)]),
    "label map of no third axis": (ORGANS, [0, 0, 0, np.zeros((1, 1), U1)]),
    "label map of a third label": (ORGANS, [0, 0, 0, np.array([[[1, 3]]], U1)]),
    "label map of floats": (ORGANS, [0, 0, 0, np.zeros((1, 1, 1), np.float32)]),
    "a confidence of 2": (VOLUME, [[0, 0, np.array([[0, 2]], U1)]] * 2),
    "a confidence below 0": (VOLUME, [[0, 0, np.array([[0.5, -1]], np.float32)]] * 2),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_value_is_refused(name):
    kind, packed = FORGED[name]
    with pytest.raises(HandoverError):
        kind.unpack(packed, CASE)
