import numpy as np

from evaluation.metrics.ratio import ratio_or_nan


def test_a_denominator_of_zero_gives_no_value():
    found = ratio_or_nan(np.array([[1.0], [0.0]]), np.array([2.0, 0.0]))
    np.testing.assert_array_equal(found, [[0.5, np.nan], [0.0, np.nan]])
