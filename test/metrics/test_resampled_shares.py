"""Resampled shares against those under the weights of the cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import resampled_shares as module
from evaluation.metrics.bootstrap import bootstrap_of, bootstrap_weights
from evaluation.metrics.resampled_shares import resampled_shares

RESAMPLES = 12


def sample(seed: int, cases: int, clustered: bool, columns: int):
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, max(1, cases // 2), cases) if clustered else None
    return clusters, (rng.random((columns, cases)) < 0.4).astype(float)


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 99), st.integers(1, 30), st.booleans(), st.integers(1, 3)),
        min_size=1,
        max_size=4,
    ),
    st.integers(0, RESAMPLES - 1),
    st.integers(0, RESAMPLES),
    st.sampled_from([1, 7, 64, 1 << 15]),
)
def test_are_those_under_the_weights_of_the_cases(drawn, first, number, at_once):
    rows = range(RESAMPLES)[first : first + number]
    given_samples = [sample(*one) for one in drawn]
    bootstraps = [
        bootstrap_of(np.zeros(columns.shape[1], dtype=int), clusters, 4, RESAMPLES)
        for clusters, columns in given_samples
    ]
    columns_of = [columns for _, columns in given_samples]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_SHARES_AT_ONCE", at_once)
        found = resampled_shares(list(zip(bootstraps, columns_of, strict=True)), rows)
    for (clusters, columns), shares in zip(given_samples, found, strict=True):
        strata = np.zeros(columns.shape[1], dtype=int)
        weights = np.concatenate(list(bootstrap_weights(strata, clusters, 4, RESAMPLES)))[rows]
        expected = weights @ columns.T / weights.sum(axis=1, keepdims=True)
        np.testing.assert_array_equal(shares, expected)


def test_nothing_to_draw():
    assert resampled_shares([], range(10)) == []


@pytest.mark.parametrize(("strata", "seed"), [([0, 1], 3), ([0, 0], 4)])
def test_bootstraps_without_common_numbers_are_refused(strata, seed):
    samples = [(bootstrap_of([0, 0], None, 3, 5), [[0, 1]]), (bootstrap_of(strata, None, seed, 5), [[0, 1]])]
    with pytest.raises(ValueError, match="expected one seed, and one group"):
        resampled_shares(samples, range(5))
