"""Which classes detections confuse, by hand, and what holds of any boxes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.box_confusion import LabelledBoxes, confuse_boxes
from evaluation.metrics.box_matching import box_iou

CANCER, POLYP, BE = range(3)
ONE, LOW, OTHER = (0, 0, 9, 9), (0, 0, 9, 7), (50, 50, 69, 69)


def labelled(*rows):
    """Return boxes of rows (image, class, confidence, corners)."""
    table = np.array([(image, label, sure, *corners) for image, label, sure, corners in rows], dtype=float)
    table = table.reshape(-1, 7)
    return LabelledBoxes(table[:, 3:], table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2])


def confused(detections, references, threshold=0.5):
    found = confuse_boxes(labelled(*detections), labelled(*references), threshold, inclusive_corners=True)
    return found.hit.tolist(), found.found.tolist(), found.called.tolist()


def test_a_cancer_that_is_called_a_polyp():
    detections = [(0, POLYP, 0.9, LOW), (0, POLYP, 0.8, OTHER), (1, POLYP, 0.7, ONE)]
    references = [(0, CANCER, 1, ONE), (0, POLYP, 1, OTHER), (1, BE, 1, OTHER)]
    assert confused(detections, references) == (
        [False, True, False],
        [False, True, False],
        [POLYP, -1, -1],  # in the second image nothing overlaps
    )
    # 80 of 100 pixels.
    assert confused(detections, references, threshold=0.81)[2] == [-1, -1, -1]
    found = confuse_boxes(labelled(*detections), labelled(*references), 0.5, inclusive_corners=True)
    expected = [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert found.counts(np.array([CANCER, POLYP, BE]), 3).tolist() == expected


def test_the_right_class_comes_first():
    """A cancer within Barrett's oesophagus: both are right, whatever the more confident one overlaps most."""
    detections = [(0, BE, 0.9, ONE), (0, CANCER, 0.5, LOW)]
    references = [(0, CANCER, 1, ONE), (0, BE, 1, LOW)]
    assert confused(detections, references) == ([True, True], [True, True], [-1, -1])


def test_the_most_confident_one_is_what_a_box_is_called():
    detections = [(0, POLYP, 0.5, ONE), (0, BE, 0.9, LOW)]
    assert confused(detections, [(0, CANCER, 1, ONE)])[2] == [BE]


def test_a_second_box_of_the_right_class_is_false_and_no_confusion():
    """It looks at the box that is taken; the free one of its class, which it also overlaps, is missed."""
    detections = [(0, POLYP, 0.9, ONE), (0, POLYP, 0.5, ONE)]
    references = [(0, POLYP, 1, ONE), (0, POLYP, 1, LOW)]
    assert confused(detections, references) == ([True, False], [True, False], [-1, -1])


def test_nothing():
    assert confused([], []) == ([], [], [])
    assert confused([(0, BE, 1, ONE)], []) == ([False], [], [])
    assert confused([], [(0, BE, 1, ONE)]) == ([], [False], [-1])


corners = st.sampled_from([ONE, LOW, OTHER, (0, 0, 9, 5), (50, 50, 69, 60)])
box = st.tuples(st.integers(0, 1), st.integers(0, 2), st.sampled_from([0.1, 0.5, 0.9]), corners)


@settings(max_examples=200, deadline=None)
@given(st.lists(box, max_size=8), st.lists(box, max_size=6))
def test_no_box_counts_twice(detections, references):
    given, true = labelled(*detections), labelled(*references)
    found = confuse_boxes(given, true, 0.5, inclusive_corners=True)
    assert found.hit.sum() == found.found.sum()
    called = found.called >= 0
    assert not (called & found.found).any()
    assert called.sum() <= (~found.hit).sum()
    for position in np.flatnonzero(called):
        near = box_iou(given.corners, true.corners[position], True) >= 0.5
        of_class = (given.classes == found.called[position]) & (given.images == true.images[position])
        assert (near & of_class & ~found.hit).any()
        assert found.called[position] != true.classes[position]
    counts = found.counts(true.classes, 3)
    assert np.trace(counts) == found.hit.sum()
    assert counts.sum() == found.hit.sum() + called.sum()
