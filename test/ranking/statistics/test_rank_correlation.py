import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from evaluation.ranking.statistics.rank_correlation import kendall_tau_b


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=8))
def test_against_scipy(pairs):
    first, second = np.array(pairs).T
    expected = kendalltau(first, second, variant="b").statistic
    assert kendall_tau_b(first, [second]).tolist() == pytest.approx([expected], nan_ok=True)


def test_same_reversed_and_all_tied():
    found = kendall_tau_b([1, 2, 3], [[1, 2, 3], [3, 2, 1], [1, 1, 1]])
    assert found.tolist() == pytest.approx([1, -1, math.nan], nan_ok=True)
