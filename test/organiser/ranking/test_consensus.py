"""Kemeny's consensus against trying every order, Borda's by hand."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.organiser.ranking.across import MAX_EXACT, consensus


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


def test_a_cycle_is_broken_by_the_order_of_the_teams():
    # a before b before c, b before c before a, c before a before b: three orders are equally good.
    found = consensus([[1, 2, 3], [3, 1, 2], [2, 3, 1]])
    assert (found.places, found.best, found.worst, found.orders) == ((1, 2, 3), (1, 1, 1), (3, 3, 3), 3)


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


def test_nothing_to_agree_on():
    with pytest.raises(ValueError, match=r"^places:"):
        consensus(np.empty((0, 3)))
