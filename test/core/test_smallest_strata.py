"""Strata of the bootstrap of several metrics that have as many units as a stratum needs, or one fewer."""

import numpy as np
import pytest

from evaluation.core.resampling import Resampling, joint_weights


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(("minimum", "apart"), [(4, True), (5, True), (6, False)])
def test_a_combination_of_as_many_units_as_the_minimum_is_drawn_by_itself(minimum, apart, clustered):
    # Two classes of five units. Drawn apart, each has five of them in every draw.
    label = np.repeat([0, 1], 5)
    units = None
    if clustered:
        label, units = np.repeat(label, 2), np.arange(20) // 2
    blocks = joint_weights(label[np.newaxis], units, Resampling(1, 200, interval_minimum=minimum))
    weights = np.concatenate(list(blocks))
    of_class = weights[:, label == 1].sum(axis=1) / (2 if clustered else 1)
    assert (len(set(of_class.tolist())) == 1) == apart
    assert len(weights) == 200
