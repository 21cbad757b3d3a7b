"""`evaluation.metrics.quantiles` against NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from evaluation.metrics.quantiles import quantiles

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


@given(
    arrays(np.float64, array_shapes(min_dims=1, max_dims=2, max_side=20), elements=NUMBERS),
    st.lists(st.floats(0, 1) | st.sampled_from([0.025, 0.25, 0.5, 0.975]), min_size=1, max_size=4),
)
def test_has_the_digits_of_numpy(values, levels):
    np.testing.assert_array_equal(quantiles(values, levels), np.quantile(values, levels, axis=0))


def test_between_the_values():
    assert quantiles([3, 1, 2], [0, 0.25, 0.5, 1]).tolist() == [1, 1.5, 2, 3]
