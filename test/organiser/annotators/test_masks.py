"""Votes by hand and against SimpleITK, region by region."""

import itertools

import numpy as np
import pytest
import SimpleITK
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.io.kinds.masks import LabelMask
from evaluation.metrics.agreement import staple
from evaluation.metrics.crops import crop
from evaluation.organiser.annotators import combine as masks_module
from evaluation.organiser.annotators.combine import CombinationRules, combine, majority_vote
from test.faults import faulted

NESTED = LabelMask({0: "cup", 128: "disc"}, 255, nested="column_count")
APART = LabelMask({1: "one", 2: "two"}, 0)


def combine_label_masks(kind, masks, case, rules, left_out=()):
    return kind.writable(combine(kind, masks, case, rules, left_out), case)


SMALL, DOT = CaseForm("V1", 5, 4), CaseForm("V1", 1, 1)
grey = arrays(np.uint8, (4, 5), elements=st.sampled_from([0, 128, 255]))


@pytest.mark.parametrize(
    ("votes", "tie_is_foreground", "expected"),
    [
        ([1, 1, 0], False, True),
        ([1, 0, 0], False, False),
        ([1, 0], False, False),
        ([1, 0], True, True),
        ([0, 0], True, False),
        ([1], False, True),
        ([1, 1, 1, 0, 0, 0, 0], True, False),
    ],
)
def test_majority_by_hand(votes, tie_is_foreground, expected):
    assert majority_vote(np.array(votes, dtype=bool)[:, np.newaxis], tie_is_foreground).tolist() == [expected]


def test_nobody_cannot_vote():
    with pytest.raises(ValueError, match=r"^votes:"):
        majority_vote(np.zeros((0, 2), dtype=bool))


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


def test_regions_are_voted_and_grey_values_are_not():
    # One annotator says cup, one disc, one neither: no value has a majority, but the disc has.
    annotators = [
        np.array([[0, 0]], np.uint8),
        np.array([[128, 0]], np.uint8),
        np.array([[255, 255]], np.uint8),
    ]
    found = combine_label_masks(
        NESTED, [crop(image, 255) for image in annotators], CaseForm("V1", 2, 1), CombinationRules()
    )
    assert found.tolist() == [[128, 0]]


@pytest.mark.parametrize(
    ("tie", "expected"), [("background", [[255, 255, 0]]), ("foreground", [[0, 128, 0]])]
)
def test_the_tie_rule(tie, expected):
    annotators = [np.array([[0, 128, 0]], np.uint8), np.array([[255, 255, 0]], np.uint8)]
    found = combine_label_masks(
        NESTED, [crop(image, 255) for image in annotators], CaseForm("V1", 3, 1), CombinationRules(tie=tie)
    )
    assert found.tolist() == expected


def test_of_regions_that_exclude_each_other_the_last_has_a_tied_pixel():
    annotators = [np.array([[1]], np.uint8), np.array([[2]], np.uint8)]
    masks = [crop(image, 0) for image in annotators]
    assert combine_label_masks(APART, masks, DOT, CombinationRules()).tolist() == [[0]]
    assert combine_label_masks(APART, masks, DOT, CombinationRules(tie="foreground")).tolist() == [[2]]


@settings(max_examples=30)
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
