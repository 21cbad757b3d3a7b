"""Figures of voxels against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, brier_score_loss

from evaluation.metrics.voxel_probabilities import voxel_average_precision, voxel_brier_score

SHAPE = (2, 3, 4)
LEVELS = st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.75, 1.0])


@given(
    st.lists(st.tuples(LEVELS, st.booleans()), min_size=24, max_size=24),
    st.integers(0, 9),
)
def test_figures_of_a_crop_are_those_of_the_whole_image(voxels, around):
    probability = np.array([value for value, _ in voxels], np.float32).reshape(SHAPE)
    positive = np.array([truth for _, truth in voxels]).reshape(SHAPE)
    whole = np.pad(probability.ravel(), (0, around)), np.pad(positive.ravel(), (0, around))
    size = probability.size + around
    brier = voxel_brier_score(probability, positive, size)
    assert brier == pytest.approx(brier_score_loss(whole[1], whole[0], labels=[False, True]))
    average = voxel_average_precision(probability, positive, size)
    if positive.any():
        assert average == pytest.approx(average_precision_score(whole[1], whole[0]))
    else:
        assert math.isnan(average)


def test_nothing_given():
    nothing = np.zeros((0, 0, 0), np.float32)
    assert voxel_brier_score(nothing, nothing > 0, 7) == 0
    assert math.isnan(voxel_average_precision(nothing, nothing > 0, 7))
