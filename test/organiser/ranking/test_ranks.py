"""Confidence sets of ranks, and the consensus of several rankings."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from evaluation.organiser.ranking.stability import across_rankings, rank_confidence_sets
from evaluation.stats.figure import Figure


def test_a_single_team_has_one_rank():
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
        both = list(zip(means, reaches, strict=True))
        long = [Figure(mean, mean - low, mean + high) for mean, (low, high) in both]
        other = [Figure(mean, mean - high, mean + low) for mean, (low, high) in both]
        assert rank_confidence_sets(means, drawn, better, long).tolist() == [[1, 2], [1, 2]]
        decided = rank_confidence_sets(means, drawn, better, other)
        assert decided.tolist() == rank_confidence_sets(means, drawn, better).tolist()
        assert decided.tolist() in ([[1, 1], [2, 2]], [[2, 2], [1, 1]])


TEAMS = ["a", "b", "c", "d"]


def test_teams_with_a_place_everywhere_enter():
    found = across_rankings(TEAMS, {"one": [1, 2, 3, 4], "two": [1, 3, 0, 2], "three": [1, 2, 3, 4]})
    assert [(team.team, team.place) for team in found.teams] == [("a", 1), ("b", 2), ("d", 3)]
    expected = kendalltau([1, 2, 4], [1, 3, 2]).statistic
    assert found.tau_b[0][1] == pytest.approx(expected)
    assert found.tau_b[0][2] == found.tau_b[1][1] == 1


def test_the_agreement_of_two_rankings_is_none_where_all_tie():
    found = across_rankings(["a", "b"], {"one": [1, 1], "two": [1, 2]})
    assert found.tau_b == ((None, None), (None, 1.0))


@pytest.mark.parametrize("rankings", [{"one": [1, 2]}, {"one": [1, 0], "two": [0, 1]}, {}])
def test_nothing_in_common(rankings):
    assert across_rankings(["a", "b"], rankings) is None


def test_the_mean_place_decides_and_equal_means_share_a_place():
    # The last team is first in the third ranking: its places sum to 9, the others' to 4, 7 and 10.
    found = across_rankings(TEAMS, {"one": [1, 2, 3, 4], "two": [1, 2, 3, 4], "three": [2, 3, 4, 1]})
    places = [(team.team, team.place, team.mean_place) for team in found.teams]
    assert places == [("a", 1, 4 / 3), ("b", 2, 7 / 3), ("d", 3, 3), ("c", 4, 10 / 3)]
    found = across_rankings(["a", "b"], {"one": [1, 2], "two": [2, 1]})
    assert [team.place for team in found.teams] == [1, 1]
