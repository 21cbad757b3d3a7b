"""How far annotators agree on boxes, by hand."""

import numpy as np
import pytest

from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.organiser.annotators.agreement import FieldAgreement

KIND = BoxList(("BE", "polyp"), with_confidence=False, inclusive_corners=False)
SPACE = Space(axes=2, unit="pixels")


def boxes(*rows):
    return Boxes(
        np.array([(label, 1, *corners) for label, *corners in rows], dtype=np.float64).reshape(-1, 6)
    )


def agreement(kind, *cases):
    collected = FieldAgreement("boxes", kind)
    for number, values in enumerate(cases):
        collected.add(str(number), values)
    return {(a.measure, a.first, a.second): (a.value, a.cases) for a in collected.result()}


def test_boxes_of_two_annotators():
    found = agreement(
        KIND,
        {
            "a": boxes((0, 0, 0, 10, 10), (1, 20, 20, 30, 30), (1, 50, 50, 60, 60)),
            "b": boxes((0, 0, 0, 10, 8), (0, 20, 20, 30, 30)),
        },
        {"a": boxes(), "b": boxes()},
        {"a": boxes((0, 0, 0, 4, 4)), "b": boxes()},
    )
    # One pair of 5 boxes, and none of 1; the image in which neither has a box counts nothing.
    assert found["mean boxes F1", "a", "b"] == (pytest.approx((2 / 5 + 0) / 2), 2)
    assert found["mean BE boxes F1", "a", "b"] == (pytest.approx((2 / 3 + 0) / 2), 2)
    assert found["mean polyp boxes F1", "a", "b"] == (0, 1)
    assert found["mean boxes IoU", "a", "b"] == (pytest.approx(0.8), 1)
    # Whatever the class there are two pairs, one of which has the same class.
    assert found["mean share of boxes with the same class", "a", "b"] == (0.5, 1)
    # Presence of BE: yes yes, no no, yes no. Observed 2/3, by chance (2/3)(1/3) + (1/3)(2/3).
    assert found["BE present: Cohen's kappa", "a", "b"] == (pytest.approx((2 / 3 - 4 / 9) / (5 / 9)), 3)
    # Numbers of polyps: 2 and 0, 0 and 0, 0 and 0.
    assert found["number of polyp: mean difference", "a", "b"][0] == pytest.approx(2 / 3)


def test_pairs_are_as_many_as_possible():
    # The first of a overlaps both of b by at least half, the second only the first of b.
    found = agreement(
        KIND,
        {
            "a": boxes((0, 0, 0, 10, 10), (0, 0, 0, 10, 6)),
            "b": boxes((0, 0, 0, 10, 9), (0, 0, 0, 10, 20)),
        },
    )
    assert found["mean BE boxes F1", "a", "b"] == (1, 1)
    # 6/9 and 10/20, not 9/10 and nothing.
    assert found["mean BE boxes IoU", "a", "b"] == (pytest.approx((6 / 9 + 1 / 2) / 2), 1)


def test_boxes_without_classes():
    kind = BoxesInSpace(SPACE, Attributes())
    found = agreement(kind, {"a": boxes((0, 0, 0, 10, 10)), "b": boxes((0, 0, 0, 10, 8))})
    measures = {measure for measure, *_ in found}
    assert found["mean boxes F1", "a", "b"] == (1, 1)
    assert found["mean boxes IoU", "a", "b"] == (pytest.approx(0.8), 1)
    assert not any("class" in measure or "BE" in measure for measure in measures)


def test_single_boxes_have_an_overlap_however_small():
    kind = BoxesInSpace(SPACE, single=True)
    found = agreement(kind, {"a": boxes((0, 0, 0, 10, 10)), "b": boxes((0, 0, 9, 10, 19))})
    assert found == {("mean IoU", "a", "b"): (pytest.approx(10 / 190), 1)}
