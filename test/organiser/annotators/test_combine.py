"""Flags, classes that overlap, volumes and points combined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.io.kinds.classes import FlagSet
from evaluation.io.kinds.masks import MultilabelMask
from evaluation.io.kinds.number import Label
from evaluation.io.kinds.points import Point, PointInImage
from evaluation.io.kinds.volume import ConfidenceVolume
from evaluation.io.volume_header import UPRIGHT, Geometry, geometry_columns
from evaluation.metrics.crops import Crop, box_of_content
from evaluation.organiser.annotators.combine import CombinationRules, combine, is_combinable

CASE = CaseForm("V01", 4, 3)
FOREGROUND = CombinationRules(tie="foreground")


@pytest.mark.parametrize(
    ("values", "rules", "expected"),
    [
        ([1, 1, 0], CombinationRules(), 1),
        ([1, 0], CombinationRules(), 0),
        ([1, 0], FOREGROUND, 1),
    ],
)
def test_labels(values, rules, expected):
    assert combine(Label(), values, CASE, rules) == expected


def test_flags_are_voted_by_those_who_give_them():
    given = [(True, True, None, None), (True, False, None, False), (False, None, True, None)]
    kind = FlagSet(("a", "b", "c", "d"))
    assert combine(kind, given, CASE, CombinationRules()) == (True, False, True, False)
    assert combine(kind, given, CASE, FOREGROUND) == (True, True, True, False)
    assert combine(kind, [(None,) * 4], CASE, CombinationRules()) == (None,) * 4


def test_classes_that_overlap_are_voted_one_by_one():
    kind = MultilabelMask(("one", "two"))
    square, dot = np.ones((2, 2), bool), np.ones((1, 1), bool)
    nothing = Crop(np.zeros((0, 0), bool), 0, 0)
    annotators = [
        (Crop(square, 0, 0), Crop(dot, 2, 3)),
        (Crop(dot, 1, 1), Crop(dot, 2, 3)),
        (nothing, nothing),
    ]
    found = combine(kind, annotators, CASE, CombinationRules())
    expected = np.zeros((2, 3, 4), bool)
    expected[0, 1, 1] = expected[1, 2, 3] = True
    np.testing.assert_array_equal(kind.writable(found, CASE), expected)


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
    kind = ConfidenceVolume()
    found = kind.writable(combine(kind, [planes(first), planes(second)], case, CombinationRules()), case)
    np.testing.assert_allclose(found.values, (first + second) / 2)
    assert found.geometry == geometry
    back = kind.writable(combine(kind, [planes(second), planes(first)], case, CombinationRules()), case)
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
        combine(Unknown(), [None], CASE, CombinationRules())


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
    rules = FOREGROUND if tie_is_visible else CombinationRules()
    found = combine(kind, [Point(*point) for point in given_points], CASE, rules)
    assert (found.x, found.y) == expected


def test_no_point_has_no_mean():
    with pytest.raises(ValueError, match=r"^values:"):
        combine(ALWAYS, [], CASE, FOREGROUND)


@settings(max_examples=50)
@given(st.lists(points, min_size=1, max_size=5))
def test_within_the_annotators_range_in_any_order(annotators):
    found = combine(ALWAYS, annotators, CASE, FOREGROUND)
    assert min(p.x for p in annotators) <= found.x <= max(p.x for p in annotators)
    assert min(p.y for p in annotators) <= found.y <= max(p.y for p in annotators)
    assert combine(ALWAYS, annotators[::-1], CASE, FOREGROUND) == found
    assert combine(ALWAYS, [annotators[0]] * 3, CASE, FOREGROUND) == annotators[0]
