"""One draw of the cases for metrics of different strata."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.resampling import Resampling, joint_weights


def drawn(strata, units=None, resamples=300, minimum=2, seed=1) -> np.ndarray:
    given_units = None if units is None else np.array(units)
    resampling = Resampling(seed, resamples, minimum)
    return np.concatenate(list(joint_weights(np.array(strata), given_units, resampling)))


def test_large_combinations_are_strata_of_their_own():
    label = np.arange(40) < 15
    weights = drawn([label, np.zeros(40)], minimum=10)
    assert weights.shape == (300, 40)
    assert (weights[:, label].sum(axis=1) == 15).all()
    assert (weights[:, ~label].sum(axis=1) == 25).all()


def test_small_combinations_are_drawn_together_and_no_stratum_is_empty():
    label = (np.arange(40) < 20).astype(int)
    # Four combinations: 18 and 18 large ones, and 2 and 2 with a structure, drawn together.
    structure = np.where(np.isin(np.arange(40), (0, 1, 20, 21)), 0, -1)
    weights = drawn([label, structure], minimum=10)
    rare = structure == 0
    assert (weights[:, rare].sum(axis=1) == 4).all()
    assert len(set(weights[:, :2].sum(axis=1).tolist())) > 2
    assert (weights[:, ~rare & (label == 1)].sum(axis=1) == 18).all()


def test_draws_are_repeated_until_there_are_as_many_as_wanted():
    """A stratum of two cases among others is empty in many draws, which several blocks hold."""
    rare = np.where(np.arange(3000) < 2, 0, -1)
    blocks = list(
        joint_weights(np.array([rare, np.zeros(3000, int)]), None, Resampling(1, 700, interval_minimum=5))
    )
    assert len(blocks) > 1
    assert sum(map(len, blocks)) == 700
    assert all((block[:, :2].sum(axis=1) > 0).all() for block in blocks)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 0)), min_size=8, max_size=20),
    st.integers(0, 99),
    st.booleans(),
)
def test_every_stratum_has_weight_in_every_row(cases, seed, clustered):
    strata = np.array(cases).T
    units = np.arange(strata.shape[1]) // 2 if clustered else None
    weights = drawn(strata, units, 60, 2, seed)
    for row in strata:
        for stratum in set(row[row >= 0].tolist()):
            assert (weights[:, row == stratum].sum(axis=1) > 0).all()
    assert (weights[:, (strata < 0).all(axis=0) & ~_in_a_drawn_unit(strata, units)] == 0).all()
    if clustered:
        pairs = weights[:, : 2 * (weights.shape[1] // 2)].reshape(len(weights), -1, 2)
        assert (pairs[..., 0] == pairs[..., 1])[:, : pairs.shape[1]].all()


def _in_a_drawn_unit(strata: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    entering = (strata >= 0).any(axis=0)
    if units is None:
        return entering
    return np.isin(units, units[entering])


def test_the_order_of_metrics_and_the_numbers_of_clusters_do_not_matter():
    strata = np.array([np.arange(30) % 2, np.arange(30) % 3 - 1])
    units = np.arange(30) // 2
    expected = drawn(strata, units)
    np.testing.assert_array_equal(drawn(strata[::-1], units), expected)
    np.testing.assert_array_equal(drawn(strata, 7 * units + 5), expected)


def test_counts_have_the_variance_of_a_bootstrap():
    weights = drawn([np.zeros(20)], resamples=20_000)
    assert weights.mean() == pytest.approx(1)
    # Binomial(20, 1/20): variance 0.95.
    assert weights.var(axis=0).mean() == pytest.approx(0.95, abs=0.02)
