"""Confidence sets of ranks, and the consensus of several rankings."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import kendalltau

from evaluation.organiser.ranking.across import MAX_EXACT, across_rankings, consensus
from evaluation.organiser.ranking.certainty import rank_confidence_sets, superiority
from evaluation.stats.figure import Figure


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
    assert (found.method, found.disagreements, found.orders) == ("Kemeny", 1, 1)
    expected = kendalltau([1, 2, 4], [1, 3, 2]).statistic
    assert found.tau_b[0][1] == pytest.approx(expected)
    assert found.tau_b[0][2] == found.tau_b[1][1] == 1


def test_the_agreement_of_two_rankings_is_none_where_all_tie():
    found = across_rankings(["a", "b"], {"one": [1, 1], "two": [1, 2]})
    assert found.tau_b == ((None, None), (None, 1.0))


@pytest.mark.parametrize("rankings", [{"one": [1, 2]}, {"one": [1, 0], "two": [0, 1]}, {}])
def test_nothing_in_common(rankings):
    assert across_rankings(["a", "b"], rankings) is None


@pytest.mark.parametrize(("teams", "seed"), [(1, 0), (2, 1), (3, 2), (3, 3), (4, 4), (4, 5), (5, 6), (5, 7)])
def test_kemeny_is_the_best_of_all_orders(teams, seed):
    places = np.random.default_rng(seed).integers(1, 6, (seed % 4 + 1, teams)).tolist()

    def disagreements(order):
        return sum(
            ranking[later] < ranking[earlier]
            for ranking in places
            for earlier, later in combinations(order, 2)
        )

    costs = {order: disagreements(order) for order in permutations(range(teams))}
    best = [order for order, cost in costs.items() if cost == min(costs.values())]
    found = consensus(places)
    assert (found.method, found.disagreements, found.orders) == ("Kemeny", min(costs.values()), len(best))
    assert tuple(sorted(range(teams), key=lambda team: found.places[team])) in best
    assert found.best == tuple(min(order.index(team) for order in best) + 1 for team in range(teams))
    assert found.worst == tuple(max(order.index(team) for order in best) + 1 for team in range(teams))


def test_cycles_and_nothing_to_agree_on():
    # a before b before c, b before c before a, c before a before b: three orders are equally good.
    found = consensus([[1, 2, 3], [3, 1, 2], [2, 3, 1]])
    assert (found.places, found.best, found.worst, found.orders) == ((1, 2, 3), (1, 1, 1), (3, 3, 3), 3)
    with pytest.raises(ValueError, match=r"^places:"):
        consensus(np.empty((0, 3)))


def test_borda_beyond_the_exact_limit():
    # Mean places 1.5 and 1.5 for the first two, then 3, 4, …: they share the first place.
    teams = MAX_EXACT + 1
    upward = np.arange(1, teams + 1)
    swapped = upward.copy()
    swapped[:2] = [2, 1]
    found = consensus([upward, swapped])
    assert found.method == "Borda"
    assert found.places == (1, 1, *range(3, teams + 1)) == found.best
    assert found.disagreements == 0
    # The last team is first in a third ranking: its places sum to 27, the others' to 4, 7, …, 25, 28, ….
    # So it comes after eight teams, against one ranking each, and before four, against two rankings each.
    moved = np.concatenate([upward[:-1] + 1, [1]])
    found = consensus([upward, upward, moved])
    assert (found.places[-1], found.disagreements) == (9, 8 * 1 + 4 * 2)
