"""Ranks under the four rules for ties, against SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from evaluation.phase.places import competition_ranks, mid_ranks, shared_rank, shared_ranks

VALUES = st.lists(st.one_of(st.integers(0, 4), st.just(float("nan"))), min_size=1, max_size=8)


@pytest.mark.parametrize("rule", ["min", "average", "max", "dense"])
@given(values=VALUES)
def test_ranks_are_scipys(rule, values):
    row = np.array(values, dtype=float)
    present = ~np.isnan(row)
    expected = np.zeros(row.size)
    expected[present] = rankdata(row[present], method=rule)
    # A second row shows that rows do not mix.
    ranks = competition_ranks(np.stack([row, np.arange(row.size)]), "lower")
    numerators, denominator = shared_ranks(ranks, rule)
    np.testing.assert_array_equal(numerators[0] / denominator, expected)
    np.testing.assert_array_equal(numerators[1] / denominator, np.arange(1, row.size + 1))
    if rule == "average" and present.all():
        np.testing.assert_array_equal(mid_ranks(row[np.newaxis])[0], expected)
    for team, rank in enumerate(expected):
        assert shared_rank(ranks, team, rule) == (rank or None)


def test_whole_ranks_are_integers():
    ranks = competition_ranks([[3.0, 3.0, 1.0]], "higher")
    assert [repr(shared_rank(ranks, team, "average")) for team in range(3)] == ["1.5", "1.5", "3"]
