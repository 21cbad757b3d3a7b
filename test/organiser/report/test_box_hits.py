"""Hits among the boxes of one image."""

import numpy as np

from evaluation.organiser.report.objects import case_hits

REFERENCE = np.array([[0, 1, 0, 0, 10, 10], [0, 1, 20, 20, 30, 30], [1, 1, 0, 0, 10, 10]], float)
PREDICTED = np.array(
    [
        [0, 0.9, 0, 0, 10, 10],  # hits the first
        [0, 0.8, 0, 0, 10, 9],  # the first is taken
        [0, 0.7, 20, 20, 30, 24],  # IoU 0.4
        [1, 0.6, 0, 0, 10, 10],  # hits the third
    ],
    float,
)


def test_hits_among_boxes():
    assert case_hits(PREDICTED, REFERENCE, 0.5, False).tolist() == [True, False, False, True]


def test_a_lower_threshold_finds_more():
    assert case_hits(PREDICTED, REFERENCE, 0.4, False).tolist() == [True, False, True, True]
