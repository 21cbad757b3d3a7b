"""Consensus, agreement and dendrogram of several rankings, against trying every order and by hand."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from evaluation.organiser.ranking.across import MAX_EXACT, Merge, across_rankings, consensus

TEAMS = ["a", "b", "c", "d"]


def test_teams_with_a_place_everywhere_enter():
    found = across_rankings(TEAMS, {"one": [1, 2, 3, 4], "two": [1, 3, 0, 2], "three": [1, 2, 3, 4]})
    assert [(team.team, team.place) for team in found.teams] == [("a", 1), ("b", 2), ("d", 3)]
    assert (found.method, found.disagreements, found.orders) == ("Kemeny", 1, 1)
    expected = kendalltau([1, 2, 4], [1, 3, 2]).statistic
    assert found.tau_b[0][1] == pytest.approx(expected)
    assert found.tau_b[0][2] == found.tau_b[1][1] == 1


def test_the_dendrogram_joins_what_agrees_first():
    found = across_rankings(TEAMS, {"one": [1, 2, 3, 4], "two": [4, 3, 2, 1], "three": [1, 2, 4, 3]})
    # τ of one and three is 4/6; of two with them −1 and −4/6, on average −5/6.
    assert found.dendrogram == (
        Merge(("one",), ("three",), pytest.approx(1 / 3)),
        Merge(("two",), ("one", "three"), pytest.approx(11 / 6)),
    )
    found = across_rankings(["a", "b"], {"one": [1, 1], "two": [1, 2]})
    assert found.tau_b == ((None, None), (None, 1.0))
    assert found.dendrogram[0].distance == 1


@pytest.mark.parametrize("rankings", [{"one": [1, 2]}, {"one": [1, 0], "two": [0, 1]}, {}])
def test_nothing_in_common(rankings):
    assert across_rankings(["a", "b"], rankings) is None


@st.composite
def rankings(draw):
    teams = draw(st.integers(1, 5))
    return draw(st.lists(st.lists(st.integers(1, 5), min_size=teams, max_size=teams), min_size=1, max_size=5))


@given(rankings())
def test_kemeny_is_the_best_of_all_orders(places):
    teams = range(len(places[0]))

    def disagreements(order):
        return sum(
            ranking[later] < ranking[earlier]
            for ranking in places
            for position, earlier in enumerate(order)
            for later in order[position + 1 :]
        )

    costs = {order: disagreements(order) for order in permutations(teams)}
    best = [order for order, cost in costs.items() if cost == min(costs.values())]
    found = consensus(places)
    assert (found.method, found.disagreements, found.orders) == ("Kemeny", min(costs.values()), len(best))
    assert tuple(sorted(teams, key=lambda team: found.places[team])) in best
    assert found.best == tuple(min(order.index(team) for order in best) + 1 for team in teams)
    assert found.worst == tuple(max(order.index(team) for order in best) + 1 for team in teams)


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
