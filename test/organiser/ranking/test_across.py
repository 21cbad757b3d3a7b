"""Consensus, agreement and dendrogram of several rankings."""

import pytest
from scipy.stats import kendalltau

from evaluation.organiser.ranking.across import Merge, across_rankings

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


def test_a_ranking_without_an_order_has_no_tau():
    found = across_rankings(["a", "b"], {"one": [1, 1], "two": [1, 2]})
    assert found.tau_b == ((None, None), (None, 1.0))
    assert found.dendrogram[0].distance == 1


@pytest.mark.parametrize("rankings", [{"one": [1, 2]}, {"one": [1, 0], "two": [0, 1]}, {}])
def test_nothing_in_common(rankings):
    assert across_rankings(["a", "b"], rankings) is None
