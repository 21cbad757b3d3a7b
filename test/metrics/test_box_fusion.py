"""Fusion and suppression of boxes: by hand, and what holds of any boxes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.box_fusion import non_maximum_suppression, weighted_boxes_fusion
from evaluation.metrics.box_matching import box_iou

box = st.tuples(*[st.floats(0, 20)] * 4).map(
    lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
)
given_boxes = st.lists(st.tuples(box, st.sampled_from([0.0, 0.1, 0.5, 0.5, 1.0])), max_size=12)


def arrays(boxes):
    corners = np.array([corners for corners, _ in boxes], dtype=np.float64).reshape(-1, 4)
    return corners, np.array([confidence for _, confidence in boxes], dtype=np.float64)


def test_three_models_by_hand():
    # The first and the third overlap by 10 of 15, the second none of them.
    corners = np.array([[0, 0, 10, 10], [20, 20, 30, 30], [0, 0, 10, 15.0]])
    fused = weighted_boxes_fusion(corners, np.array([0.9, 0.3, 0.6]), 3, 0.55, False)
    # Height (0.9 · 10 + 0.6 · 15) / 1.5 = 12; confidence 0.75 · 2 / 3 and 0.3 · 1 / 3.
    np.testing.assert_allclose(fused.corners, [[0, 0, 10, 12], [20, 20, 30, 30]])
    np.testing.assert_allclose(fused.confidence, [0.5, 0.1])
    assert fused.group.tolist() == [0, 1, 0]


def test_a_box_joins_the_fused_box_not_the_first_one():
    # With the first box its IoU is 10/20, with the mean of the first two, 0 … 15, it is 15/20.
    corners = np.array([[0, 0, 10, 10], [0, 0, 20, 10], [0, 0, 20, 10.0]])
    fused = weighted_boxes_fusion(corners[[0, 1]], np.array([0.5, 0.5]), 2, 0.45, False)
    assert fused.corners.tolist() == [[0, 0, 15, 10]]
    fused = weighted_boxes_fusion(corners, np.array([0.5, 0.5, 0.4]), 3, 0.45, False)
    assert fused.group.tolist() == [0, 0, 0]
    assert len(weighted_boxes_fusion(corners, np.array([0.5, 0.5, 0.4]), 3, 0.5, False).corners) == 2


def test_an_overlap_of_exactly_the_threshold_is_too_small():
    corners = np.array([[0, 0, 10, 10], [0, 0, 20, 10.0]])
    confidence = np.array([0.5, 0.4])
    assert len(weighted_boxes_fusion(corners, confidence, 2, 0.5, False).corners) == 2
    assert len(non_maximum_suppression(corners, confidence, 0.5, False).corners) == 2
    assert len(non_maximum_suppression(corners, confidence, 0.49, False).corners) == 1


def test_more_boxes_than_models():
    corners = np.tile([0, 0, 10, 10.0], (3, 1))
    confidence = np.array([0.9, 0.6, 0.3])
    assert weighted_boxes_fusion(corners, confidence, 2, 0.5, False).confidence[0] == pytest.approx(0.6)
    overflowing = weighted_boxes_fusion(corners, confidence, 2, 0.5, False, allow_overflow=True)
    assert overflowing.confidence[0] == pytest.approx(0.9)


def test_boxes_without_any_confidence_have_the_plain_mean():
    fused = weighted_boxes_fusion(np.array([[0, 0, 8, 8], [0, 0, 9, 9.0]]), np.zeros(2), 2, 0.5, False)
    assert fused.corners.tolist() == [[0, 0, 8.5, 8.5]]
    assert fused.confidence.tolist() == [0]


def test_suppression_by_hand():
    corners = np.array([[0, 0, 10, 10], [0, 0, 10, 9], [20, 20, 30, 30], [0, 0, 0, 0.0]])
    kept = non_maximum_suppression(corners, np.array([0.5, 0.8, 0.7, 0.1]), 0.5, False)
    assert kept.corners.tolist() == [[0, 0, 10, 9], [20, 20, 30, 30], [0, 0, 0, 0]]
    assert kept.confidence.tolist() == [0.8, 0.7, 0.1]
    assert kept.group.tolist() == [0, 0, 1, 2]


def test_boxes_with_three_axes():
    corners = np.array([[0, 0, 0, 2, 2, 2], [0, 0, 0, 2, 2, 4.0]])
    fused = weighted_boxes_fusion(corners, np.array([0.5, 0.5]), 2, 0.45, False)
    assert fused.corners.tolist() == [[0, 0, 0, 2, 2, 3]]


@settings(max_examples=200, deadline=None)
@given(given_boxes, st.integers(1, 4), st.booleans())
def test_fused_boxes_lie_within_their_members(boxes, models, inclusive):
    corners, confidence = arrays(boxes)
    fused = weighted_boxes_fusion(corners, confidence, models, 0.55, inclusive)
    assert sorted(set(fused.group.tolist())) == list(range(len(fused.corners)))
    for place, (middle, score) in enumerate(zip(fused.corners, fused.confidence, strict=True)):
        members = fused.group == place
        assert (corners[members].min(axis=0) <= middle).all()
        assert (middle <= corners[members].max(axis=0)).all()
        assert (middle[:2] <= middle[2:]).all()
        assert 0 <= score <= confidence[members].max()


@settings(max_examples=200, deadline=None)
@given(given_boxes, st.booleans())
def test_kept_boxes_overlap_no_more_than_the_threshold(boxes, inclusive):
    corners, confidence = arrays(boxes)
    kept = non_maximum_suppression(corners, confidence, 0.3, inclusive)
    overlap = box_iou(kept.corners[:, None], kept.corners[None], inclusive)
    assert (overlap[~np.eye(len(overlap), dtype=bool)] <= 0.3).all()
    again = non_maximum_suppression(kept.corners, kept.confidence, 0.3, inclusive)
    np.testing.assert_array_equal(again.corners, kept.corners)
    for given_box, confidence_of_box, place in zip(corners, confidence, kept.group, strict=True):
        assert confidence_of_box <= kept.confidence[place]
        is_kept = (given_box == kept.corners[place]).all()
        assert is_kept or box_iou(given_box, kept.corners[place], inclusive) > 0.3


@settings(max_examples=100, deadline=None)
@given(given_boxes)
def test_equal_models_agree_with_one_of_them(boxes):
    """Copies of boxes that do not overlap each other are those boxes."""
    corners, confidence = arrays(boxes)
    kept = non_maximum_suppression(corners, confidence, 0.0, True)
    copies = np.repeat(kept.corners, 3, axis=0)
    fused = weighted_boxes_fusion(copies, np.repeat(kept.confidence, 3), 3, 0.55, True)
    np.testing.assert_allclose(fused.corners, kept.corners)
    np.testing.assert_allclose(fused.confidence, kept.confidence)
