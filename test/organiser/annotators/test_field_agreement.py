"""How far annotators agree on one field, and on which cases not, by kind of value, by hand."""

import math

import numpy as np
import pytest

from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.classes import LABEL
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import PointInImage, point_at
from evaluation.io.kinds.volume import MultilabelMask
from evaluation.metrics.crops import Crop
from evaluation.metrics.regression import intraclass_correlation
from evaluation.organiser.annotators.agreement import FieldAgreement, most_disputed
from test.io.memory import read_image


def agreement(kind, *cases):
    collected = FieldAgreement("field", kind)
    for number, values in enumerate(cases):
        collected.add(str(number), values)
    return {(a.measure, a.first, a.second): (a.value, a.cases) for a in collected.result()}


def test_agreement_on_labels_leaves_out_who_said_nothing():
    found = agreement(LABEL, {"a": 1, "b": 1, "c": 0}, {"a": 0, "b": 0}, {"a": 1, "b": 0})
    # Observed 2/3, by chance (2/3)(1/3) + (1/3)(2/3) = 4/9.
    assert found["Cohen's kappa", "a", "b"] == (pytest.approx((2 / 3 - 4 / 9) / (5 / 9)), 3)
    assert found["Cohen's kappa", "a", "c"] == (pytest.approx(0), 1)
    assert found["Fleiss' kappa", "all", ""][1] == 3


def test_agreement_on_points_where_both_see_one():
    kind = PointInImage(may_be_invisible=True)
    found = agreement(
        kind,
        {"a": point_at(0, 3), "b": point_at(4, 0)},
        {"a": point_at(0, 0), "b": point_at(4, 0)},
        {"a": point_at(0, 0), "b": point_at(0, 0)},
    )
    assert found["mean distance in pixels", "a", "b"] == (5.0, 1)
    # Seen: yes yes, no yes, no no: observed 2/3, by chance (1/3)(2/3) + (2/3)(1/3).
    assert found["visible: Cohen's kappa", "a", "b"] == (pytest.approx((2 / 3 - 4 / 9) / (5 / 9)), 3)


def test_agreement_on_masks_where_somebody_drew_something():
    empty, one, two, four = (read_image(LESION, np.array(rows, np.uint8)) for rows in MASKS)
    found = agreement(LESION, {"a": one, "b": two}, {"a": empty, "b": empty}, {"a": empty, "b": one})
    # 2·1 / (1 + 2), none, 0.
    assert found["mean lesion Dice", "a", "b"] == (pytest.approx((2 / 3 + 0) / 2), 2)
    assert found["lesion present: Cohen's kappa", "a", "b"][1] == 3
    found = agreement(LESION, {"a": one, "b": four}, {"a": four, "b": four})
    assert found["lesion area in pixels: mean difference", "a", "b"] == (-1.5, 2)


LESION = LabelMap({0: "lesion"}, 255, dimensions=2)
MASKS = ([[255, 255], [255, 255]], [[0, 255], [255, 255]], [[0, 0], [255, 255]], [[0, 0], [0, 0]])


def test_agreement_on_numbers():
    # Shrout and Fleiss 1979, Table 2; one more case that one of the judges did not rate.
    judges = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    cases = [dict(zip("abcd", map(float, case), strict=True)) for case in judges]
    collected = FieldAgreement("field", Number(0, 10))
    for number, values in enumerate([*cases, {"a": 1.0, "b": 3.0, "c": 2.0}]):
        collected.add(str(number), values)
    found = {(a.measure, a.first, a.second): a for a in collected.result()}
    first, second = ([of_case[one] for of_case in judges] for one in (0, 3))
    agreeing = found["ICC(2,1)", "a", "d"]
    assert (agreeing.value, agreeing.cases) == (intraclass_correlation(first, second), 6)
    # a − b: 7 5 4 6 5 4 and −2.
    difference = np.array([7, 5, 4, 6, 5, 4, -2])
    assert found["mean difference", "a", "b"].value == pytest.approx(difference.mean())
    upper = found["upper limit of agreement", "a", "b"]
    assert upper.value == pytest.approx(difference.mean() + 1.96 * difference.std(ddof=1))


def test_agreement_on_places_and_classes():
    seen = agreement(
        PointInImage(may_be_invisible=True),
        {"a": point_at(1, 5), "b": point_at(2, 5)},
        {"a": point_at(3, 9), "b": point_at(6, 9)},
        {"a": point_at(0, 0), "b": point_at(6, 9)},
    )
    assert seen["x in pixels: mean difference", "a", "b"] == (-2.0, 2)
    assert seen["y in pixels: ICC(2,1)", "a", "b"] == (1.0, 2)
    dot, nothing = Crop(np.ones((1, 1), bool), (0, 0)), Crop(np.zeros((0, 0), bool), (0, 0))
    cases = {"a": (dot, nothing), "b": (dot, nothing)}, {"a": (nothing, dot), "b": (dot, dot)}
    found = agreement(MultilabelMask(("one", "two")), *cases)
    assert found["mean one Dice", "a", "b"] == (0.5, 2)
    assert found["mean two Dice", "a", "b"] == (1.0, 1)
    assert not any(math.isnan(value) for value, _ in found.values())


KIND = BoxList(attributes=Attributes(("BE", "polyp")), inclusive_corners=False)
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
    assert found["mean boxes IoU", "a", "b"] == (pytest.approx(0.8), 1)
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
    assert found["mean boxes F1", "a", "b"] == (1, 1)
    # 6/9 and 10/20, not 9/10 and nothing.
    assert found["mean boxes IoU", "a", "b"] == (pytest.approx((6 / 9 + 1 / 2) / 2), 1)


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


MASK = LabelMap({0: "optic cup", 128: "optic disc"}, 255, dimensions=2, nested="column_count")


def mask(*rows: str):
    signs = {".": 255, "d": 128, "c": 0}
    return read_image(MASK, np.array([[signs[sign] for sign in row] for row in rows], dtype=np.uint8))


def distances(kind, first, second):
    found = FieldAgreement("field", kind).add("A", {"x": first, "y": second})
    return {one.measure: one.mean for one in found}


def test_distances_by_kind():
    # Disc: 3 and 4 pixels, 3 shared; cup: 1 and none.
    assert distances(MASK, mask("dcd."), mask("dddd")) == {
        "1 − optic disc Dice": pytest.approx(1 - 6 / 7),
        "1 − optic cup Dice": 1.0,
        "optic disc present": 0.0,
        "optic cup present": 1.0,
    }
    # One of two boxes of each is shared, by 8 of 10 rows; the others are apart.
    boxes = BoxList(attributes=Attributes(("polyp",)), inclusive_corners=False)
    one, other = (
        Boxes(np.array([[0, 1, 0, 0, 10, height], [0, 1, place, 50, 60, 60]], dtype=float))
        for height, place in ((10, 40), (8, 55))
    )
    assert distances(boxes, one, other) == {
        "1 − boxes F1": 0.5,
        "1 − boxes IoU": pytest.approx(0.2),
        "polyp present": 0.0,
    }
    assert distances(LABEL, 0, 1) == {"label": 1.0}
    assert distances(Number(), 0.25, 1.0) == {"difference": 0.75}
    assert distances(PointInImage(), point_at(0, 0), point_at(3, 4)) == {"distance in pixels": 5.0}


def test_the_most_disputed_case_comes_first_with_who_said_what():
    collected = FieldAgreement("risk", LABEL)
    found = collected.add("A", {"x": 1, "y": 1, "z": 1})
    found += collected.add("B", {"x": 1, "y": 0, "z": 1})
    found += collected.add("C", {"x": 1, "y": 0})
    first, second = most_disputed(found)  # all agree on A
    assert (first.case, first.mean, first.values, first.farthest) == ("C", 1.0, 2, "")
    assert first.votes == "0: y; 1: x"
    # Two of three pairs differ; y differs from both others, x and z from one.
    assert (second.case, second.mean, second.largest) == ("B", pytest.approx(2 / 3), 1.0)
    assert (second.farthest, second.votes) == ("y", "1: x z; 0: y")
    points = {"x": point_at(0, 0), "y": point_at(0, 1), "z": point_at(0, 9)}
    (one,) = FieldAgreement("fovea", PointInImage()).add("A", points)
    assert (one.mean, one.largest, one.farthest) == (pytest.approx((1 + 9 + 8) / 3), 9.0, "z")
