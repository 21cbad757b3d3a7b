"""Flags, classes that overlap and volumes combined; and how two values compare."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.annotators.combine import combine, combine_points, is_combinable
from evaluation.annotators.comparison import FieldAgreement
from evaluation.annotators.masks import Rules
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.io.kinds.flags import FlagSet
from evaluation.io.kinds.label_mask import LabelMask
from evaluation.io.kinds.multilabel_mask import MultilabelMask
from evaluation.io.kinds.number import Label, Number
from evaluation.io.kinds.point import Point, PointInImage
from evaluation.io.kinds.volume import ConfidenceVolume
from evaluation.io.volumes.case_geometry import geometry_columns
from evaluation.io.volumes.header import UPRIGHT, Geometry
from evaluation.metrics.crop import Crop, box_of_content, crop

CASE = CaseForm("V01", 4, 3)
FOREGROUND = Rules(tie="foreground")


@pytest.mark.parametrize(
    ("values", "rules", "expected"),
    [
        ([1, 1, 0], Rules(), 1),
        ([1, 0], Rules(), 0),
        ([1, 0], FOREGROUND, 1),
    ],
)
def test_labels(values, rules, expected):
    assert combine(Label(), values, CASE, rules) == expected


def test_flags_are_voted_by_those_who_give_them():
    given = [(True, True, None, None), (True, False, None, False), (False, None, True, None)]
    kind = FlagSet(("a", "b", "c", "d"))
    assert combine(kind, given, CASE, Rules()) == (True, False, True, False)
    assert combine(kind, given, CASE, FOREGROUND) == (True, True, True, False)
    assert combine(kind, [(None,) * 4], CASE, Rules()) == (None,) * 4


def test_classes_that_overlap_are_voted_one_by_one():
    kind = MultilabelMask(("one", "two"))
    square, dot = np.ones((2, 2), bool), np.ones((1, 1), bool)
    nothing = Crop(np.zeros((0, 0), bool), 0, 0)
    annotators = [
        (Crop(square, 0, 0), Crop(dot, 2, 3)),
        (Crop(dot, 1, 1), Crop(dot, 2, 3)),
        (nothing, nothing),
    ]
    found = combine(kind, annotators, CASE, Rules())
    expected = np.zeros((2, 3, 4), bool)
    expected[0, 1, 1] = expected[1, 2, 3] = True
    np.testing.assert_array_equal(found, expected)


def planes(values):
    return tuple(
        Crop(plane[box.slices], box.top, box.left) for plane in values for box in [box_of_content(plane)]
    )


def test_confidences_are_averaged_voxel_by_voxel():
    geometry = Geometry((2, 3, 4), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), UPRIGHT)
    columns = geometry_columns(geometry)
    case = CaseForm("V01", 4, 3, columns)
    first, second = np.zeros((2, 3, 4), np.float32), np.zeros((2, 3, 4), np.float32)
    first[0, 0, 0], second[0, 2, 3], second[0, 0, 0] = 0.25, 1.0, 0.75
    found = combine(ConfidenceVolume(), [planes(first), planes(second)], case, Rules())
    np.testing.assert_allclose(found.values, (first + second) / 2)
    assert found.geometry == geometry
    back = combine(ConfidenceVolume(), [planes(second), planes(first)], case, Rules())
    np.testing.assert_array_equal(back.values, found.values)


class Unknown(Kind):
    """A kind of which nothing is known here."""

    def read(self, source, case, files):
        return None

    def describe(self):
        return ""


def test_a_kind_that_is_not_registered_is_not_combined():
    assert not is_combinable(Unknown())
    with pytest.raises(TypeError, match="Unknown cannot be combined"):
        combine(Unknown(), [None], CASE, Rules())


def agreement(kind, *cases):
    collected = FieldAgreement("field", kind)
    for values in cases:
        collected.add(values)
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
    for values in [*cases, {"a": 1.0, "b": 3.0, "c": 2.0}]:
        collected.add(values)
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


def test_agreement_on_areas_and_places():
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


def test_agreement_on_classes():
    kind = MultilabelMask(("one", "two"))
    dot, nothing = Crop(np.ones((1, 1), bool), 0, 0), Crop(np.zeros((0, 0), bool), 0, 0)
    found = agreement(
        kind, {"a": (dot, nothing), "b": (dot, nothing)}, {"a": (nothing, dot), "b": (dot, dot)}
    )
    assert found["mean one Dice", "a", "b"] == (0.5, 2)
    assert found["mean two Dice", "a", "b"] == (1.0, 1)
    assert not any(math.isnan(value) for value, _ in found.values())


ALWAYS, MAY_BE_INVISIBLE = PointInImage(), PointInImage(may_be_invisible=True)
coordinates = st.floats(0, 2000)
points = st.builds(Point, coordinates, coordinates)


@pytest.mark.parametrize(
    ("kind", "given_points", "tie_is_visible", "expected"),
    [
        (ALWAYS, [(10, 20), (20, 40)], False, (15, 30)),
        (ALWAYS, [(0, 0), (20, 40)], False, (10, 20)),
        # Two of three see it: the mean of these two.
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0), (20, 40)], False, (15, 30)),
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0), (0, 0)], False, (0, 0)),
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0)], False, (0, 0)),
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0)], True, (10, 20)),
        (MAY_BE_INVISIBLE, [(0, 0), (0, 0)], True, (0, 0)),
        # On the left border, and visible.
        (MAY_BE_INVISIBLE, [(0, 7), (0, 9)], False, (0, 8)),
    ],
)
def test_by_hand(kind, given_points, tie_is_visible, expected):
    found = combine_points(kind, [Point(*point) for point in given_points], tie_is_visible)
    assert (found.x, found.y) == expected


def test_no_point_has_no_mean():
    with pytest.raises(ValueError, match="at least one"):
        combine_points(ALWAYS, [])


@settings(max_examples=50)
@given(st.lists(points, min_size=1, max_size=5))
def test_within_the_annotators_range_in_any_order(annotators):
    found = combine_points(ALWAYS, annotators)
    assert min(p.x for p in annotators) <= found.x <= max(p.x for p in annotators)
    assert min(p.y for p in annotators) <= found.y <= max(p.y for p in annotators)
    assert combine_points(ALWAYS, annotators[::-1]) == found
    assert combine_points(ALWAYS, [annotators[0]] * 3) == annotators[0]
