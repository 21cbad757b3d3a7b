"""How far annotators agree on one field, by kind of value, by hand."""

import math

import numpy as np
import pytest

from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.masks import LabelMask, MultilabelMask
from evaluation.io.kinds.number import Label, Number
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import Point, PointInImage
from evaluation.metrics.crops import Crop, crop
from evaluation.organiser.annotators.agreement import FieldAgreement


def agreement(kind, *cases):
    collected = FieldAgreement("field", kind)
    for number, values in enumerate(cases):
        collected.add(str(number), values)
    return {(a.measure, a.first, a.second): (a.value, a.cases) for a in collected.result()}


def test_agreement_on_labels_leaves_out_who_said_nothing():
    found = agreement(Label(), {"a": 1, "b": 1, "c": 0}, {"a": 0, "b": 0}, {"a": 1, "b": 0})
    # Observed 2/3, by chance (2/3)(1/3) + (1/3)(2/3) = 4/9.
    assert found["Cohen's kappa", "a", "b"] == (pytest.approx((2 / 3 - 4 / 9) / (5 / 9)), 3)
    assert found["Cohen's kappa", "a", "c"] == (pytest.approx(0), 1)
    assert found["Fleiss' kappa", "all", ""][1] == 3


def test_agreement_on_points_where_both_see_one():
    kind = PointInImage(may_be_invisible=True)
    found = agreement(
        kind,
        {"a": Point(0, 3), "b": Point(4, 0)},
        {"a": Point(0, 0), "b": Point(4, 0)},
        {"a": Point(0, 0), "b": Point(0, 0)},
    )
    assert found["mean distance in pixels", "a", "b"] == (5.0, 1)
    # Seen: yes yes, no yes, no no: observed 2/3, by chance (1/3)(2/3) + (2/3)(1/3).
    assert found["visible: Cohen's kappa", "a", "b"] == (pytest.approx((2 / 3 - 4 / 9) / (5 / 9)), 3)


def test_agreement_on_masks_where_somebody_drew_something():
    kind = LabelMask({0: "lesion"}, 255)
    empty = np.full((2, 2), 255, np.uint8)
    one, two = empty.copy(), empty.copy()
    one[0, 0] = two[0, 0] = two[0, 1] = 0
    found = agreement(
        kind,
        {"a": crop(one, 255), "b": crop(two, 255)},
        {"a": crop(empty, 255), "b": crop(empty, 255)},
        {"a": crop(empty, 255), "b": crop(one, 255)},
    )
    # 2·1 / (1 + 2), none, 0.
    assert found["mean lesion Dice", "a", "b"] == (pytest.approx((2 / 3 + 0) / 2), 2)
    assert found["lesion present: Cohen's kappa", "a", "b"][1] == 3


def test_agreement_on_numbers():
    # Shrout and Fleiss 1979, Table 2; one more case that one of the judges did not rate.
    judges = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    cases = [dict(zip("abcd", map(float, case), strict=True)) for case in judges]
    collected = FieldAgreement("field", Number(0, 10))
    for number, values in enumerate([*cases, {"a": 1.0, "b": 3.0, "c": 2.0}]):
        collected.add(str(number), values)
    found = {(a.measure, a.first, a.second): a for a in collected.result()}
    agreeing, consistent = (found[f"ICC({number},1)", "all", ""] for number in (2, 3))
    assert (agreeing.value, agreeing.cases) == (pytest.approx(0.290, abs=1e-3), 6)
    assert (consistent.lower, consistent.upper) == pytest.approx((0.342, 0.946), abs=1e-3)
    assert found["Krippendorff's alpha", "all", ""].cases == 7
    # a − b: 7 5 4 6 5 4 and −2.
    difference = np.array([7, 5, 4, 6, 5, 4, -2])
    assert found["mean difference", "a", "b"].value == pytest.approx(difference.mean())
    upper = found["upper limit of agreement", "a", "b"]
    assert upper.value == pytest.approx(difference.mean() + 1.96 * difference.std(ddof=1))
    assert upper.lower < upper.value < upper.upper


def test_agreement_on_areas_places_and_classes():
    kind = LabelMask({0: "lesion"}, 255)
    small, large = np.full((2, 2), 255, np.uint8), np.zeros((2, 2), np.uint8)
    small[0, 0] = 0
    masks = crop(small, 255), crop(large, 255)
    found = agreement(kind, {"a": masks[0], "b": masks[1]}, {"a": masks[1], "b": masks[1]})
    assert found["lesion area in pixels: mean difference", "a", "b"] == (-1.5, 2)
    points = PointInImage(may_be_invisible=True)
    seen = agreement(
        points,
        {"a": Point(1, 5), "b": Point(2, 5)},
        {"a": Point(3, 9), "b": Point(6, 9)},
        {"a": Point(0, 0), "b": Point(6, 9)},
    )
    assert seen["x in pixels: mean difference", "a", "b"] == (-2.0, 2)
    assert seen["y in pixels: ICC(2,1)", "all", ""] == (1.0, 2)
    kind = MultilabelMask(("one", "two"))
    dot, nothing = Crop(np.ones((1, 1), bool), 0, 0), Crop(np.zeros((0, 0), bool), 0, 0)
    found = agreement(
        kind, {"a": (dot, nothing), "b": (dot, nothing)}, {"a": (nothing, dot), "b": (dot, dot)}
    )
    assert found["mean one Dice", "a", "b"] == (0.5, 2)
    assert found["mean two Dice", "a", "b"] == (1.0, 1)
    assert not any(math.isnan(value) for value, _ in found.values())


KIND = BoxList(("BE", "polyp"), with_confidence=False, inclusive_corners=False)
SPACE = Space(axes=2, unit="pixels")


def boxes(*rows):
    return Boxes(
        np.array([(label, 1, *corners) for label, *corners in rows], dtype=np.float64).reshape(-1, 6)
    )


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


def test_boxes_without_classes_and_single_boxes():
    kind = BoxesInSpace(SPACE, Attributes())
    found = agreement(kind, {"a": boxes((0, 0, 0, 10, 10)), "b": boxes((0, 0, 0, 10, 8))})
    measures = {measure for measure, *_ in found}
    assert found["mean boxes F1", "a", "b"] == (1, 1)
    assert found["mean boxes IoU", "a", "b"] == (pytest.approx(0.8), 1)
    assert not any("class" in measure or "BE" in measure for measure in measures)
    kind = BoxesInSpace(SPACE, single=True)
    found = agreement(kind, {"a": boxes((0, 0, 0, 10, 10)), "b": boxes((0, 0, 9, 10, 19))})
    assert found == {("mean IoU", "a", "b"): (pytest.approx(10 / 190), 1)}
