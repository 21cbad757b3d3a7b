"""Superiority and confidence sets of ranks: by hand, invariants, and their coverage by simulation."""

import numpy as np

from evaluation.metrics.intervals import Interval
from evaluation.organiser.ranking.certainty import rank_confidence_sets, superiority


def test_superiority_by_hand_and_a_single_team():
    # a ahead of b in two resamples, tied in one, behind in one: (2 + ½) / 4.
    found = superiority([[1, 2], [1, 2], [1, 1], [2, 1]])
    assert found.tolist() == [[0.5, 0.625], [0.375, 0.5]]
    assert rank_confidence_sets([0.5], np.full((10, 1), 0.5), "higher").tolist() == [[1, 1]]


def bootstrap(values, rng, resamples=200):
    cases = values.shape[1]
    weights = rng.multinomial(cases, np.full(cases, 1 / cases), resamples)
    return weights @ values.T / cases


def test_clear_equal_and_constant_differences():
    rng = np.random.default_rng(1)
    values = np.array([[3.0], [2.0], [1.0]]) + 0.1 * rng.normal(size=(3, 40))
    found = rank_confidence_sets(values.mean(axis=1), bootstrap(values, rng), "higher")
    assert found.tolist() == [[1, 1], [2, 2], [3, 3]]
    assert rank_confidence_sets(values.mean(axis=1), bootstrap(values, rng), "lower").tolist() == [
        [3, 3],
        [2, 2],
        [1, 1],
    ]
    # b is a plus 1 in every case: decided without variance. c equals a: never decided.
    rng = np.random.default_rng(2)
    a = rng.normal(size=30)
    values = np.stack([a, a + 1, a])
    found = rank_confidence_sets(values.mean(axis=1), bootstrap(values, rng), "higher")
    assert found.tolist() == [[2, 3], [1, 1], [2, 3]]


def test_intervals_that_reach_farther_than_the_spread_leave_teams_undecided():
    # A difference of 1 beside bounds that count a failure of up to 1.5, on the side that matters.
    rng = np.random.default_rng(2)
    values = np.array([[2.0], [1.0]]) + 0.1 * rng.normal(size=(2, 40))
    means, drawn = values.mean(axis=1), bootstrap(values, rng)
    for better, of_better, of_worse in (("higher", (1.5, 0), (0, 0.1)), ("lower", (0.1, 0), (0, 1.5))):
        reaches = (of_better, of_worse)
        long = [Interval(mean - low, mean + high) for mean, (low, high) in zip(means, reaches, strict=True)]
        other = [Interval(mean - high, mean + low) for mean, (low, high) in zip(means, reaches, strict=True)]
        assert rank_confidence_sets(means, drawn, better, long).tolist() == [[1, 2], [1, 2]]
        decided = rank_confidence_sets(means, drawn, better, other)
        assert decided.tolist() == rank_confidence_sets(means, drawn, better).tolist()
        assert decided.tolist() in ([[1, 1], [2, 2]], [[2, 2], [1, 1]])
