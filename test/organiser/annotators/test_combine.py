"""Flags, classes that overlap, volumes, points and masks combined: by hand and against SimpleITK."""

import itertools

import numpy as np
import pytest
import SimpleITK
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.core.fault import PhaseError
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.io.kinds.classes import FlagSet
from evaluation.io.kinds.masks import LabelMask, MultilabelMask
from evaluation.io.kinds.number import Label
from evaluation.io.kinds.points import Point, PointInImage
from evaluation.io.kinds.volume import ConfidenceVolume
from evaluation.io.volume_header import UPRIGHT, Geometry, geometry_columns
from evaluation.metrics.agreement import staple
from evaluation.metrics.crops import Crop, box_of_content, crop
from evaluation.organiser.annotators import combine as masks_module
from evaluation.organiser.annotators.combine import CombinationRules, combine, is_combinable, majority_vote
from test.faults import faulted

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


NESTED = LabelMask({0: "cup", 128: "disc"}, 255, nested="column_count")
APART = LabelMask({1: "one", 2: "two"}, 0)


def combine_label_masks(kind, masks, case, rules, left_out=()):
    return kind.writable(combine(kind, masks, case, rules, left_out), case)


SMALL, DOT = CaseForm("V1", 5, 4), CaseForm("V1", 1, 1)
grey = arrays(np.uint8, (4, 5), elements=st.sampled_from([0, 128, 255]))


@settings(max_examples=25)
@given(arrays(bool, st.tuples(st.sampled_from([1, 3, 5, 7]), st.just(4), st.just(3))))
def test_majority_is_simpleitks_label_voting(votes):
    images = [SimpleITK.GetImageFromArray(vote.astype(np.uint8)) for vote in votes]
    expected = SimpleITK.GetArrayFromImage(SimpleITK.LabelVoting(images, 255))
    np.testing.assert_array_equal(majority_vote(votes), expected.astype(bool))


def test_staple_that_does_not_converge_names_the_case(monkeypatch):
    monkeypatch.setattr(masks_module, "staple", lambda votes: staple(votes, most_iterations=1))
    readers = [crop(np.eye(4, 5, k, dtype=np.uint8) * 128, 0) for k in range(3)]
    with faulted(PhaseError, "V1", "STAPLE", "1"):
        combine_label_masks(LabelMask({128: "disc"}, 0), readers, SMALL, CombinationRules(method="staple"))


def test_of_regions_that_exclude_each_other_the_last_has_a_tied_pixel():
    annotators = [np.array([[1]], np.uint8), np.array([[2]], np.uint8)]
    masks = [crop(image, 0) for image in annotators]
    assert combine_label_masks(APART, masks, DOT, CombinationRules()).tolist() == [[0]]
    assert combine_label_masks(APART, masks, DOT, CombinationRules(tie="foreground")).tolist() == [[2]]


@settings(max_examples=15)
@given(grey, st.integers(1, 4), st.sampled_from(["majority", "staple"]))
def test_equal_annotators_are_reproduced(image, annotators, method):
    masks = [crop(image, 255)] * annotators
    np.testing.assert_array_equal(
        combine_label_masks(NESTED, masks, SMALL, CombinationRules(method=method)), image
    )


@settings(max_examples=30)
@given(st.lists(grey, min_size=2, max_size=4), st.sampled_from(["background", "foreground"]))
def test_regions_are_the_votes_in_any_order(images, tie):
    rules = CombinationRules(tie=tie)
    masks = [crop(image, 255) for image in images]
    found = combine_label_masks(NESTED, masks, SMALL, rules)
    for region in ([0], [0, 128]):
        votes = np.stack([np.isin(image, region) for image in images])
        np.testing.assert_array_equal(np.isin(found, region), majority_vote(votes, rules.tie_is_foreground))
    for order in itertools.permutations(masks):
        np.testing.assert_array_equal(combine_label_masks(NESTED, order, SMALL, rules), found)
