"""Changes from one phase to another, and gaps by the number of evaluations before."""

import math
from itertools import permutations
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import norm, spearmanr

from evaluation.organiser.ranking.generalisation import (
    change_between,
    exact_spearman_p,
    generalisation,
    notices_of,
)
from evaluation.organiser.ranking.leaderboard_file import (
    BoardOfTeam,
    MetricOfPhase,
    MetricOfTeam,
    PhaseLeaderboard,
    Team,
)
from evaluation.organiser.ranking.results import Submission

ROLES = ("offline", "onsite")
NAME = "task.figure"


def board(values, better="higher", chosen=None, ineligible=()):
    """Return a leaderboard of one metric: value, lower and upper bound by team."""
    teams = tuple(
        Team(
            team,
            team not in ineligible,
            (chosen or {}).get(team, ""),
            1,
            {NAME: MetricOfTeam(value, 1, lower, upper)},
            {"overall": BoardOfTeam()},
        )
        for team, (value, lower, upper) in values.items()
    )
    metric = MetricOfPhase("Figure", better, "", True)
    return PhaseLeaderboard(None, "any", "any", "", 10, {}, {NAME: metric}, teams)


def submissions(values):
    """Return submissions from values by team and name; None: rejected."""
    return [
        Submission(team, name, {} if value is None else {NAME: value})
        for team, of_team in values.items()
        for name, value in of_team.items()
    ]


def test_changes_of_proportions_and_of_symmetric_intervals():
    # Newcombe 1998, Table II, (a): 56/70 − 48/80 has the interval 0.0524 to 0.3339.
    first, second = (MetricOfTeam(k / n, None, *wilson(k, n)) for k, n in ((48, 80), (56, 70)))
    found = change_between(NAME, "a", ROLES, first, second)
    assert found.change == pytest.approx(0.2)
    assert (found.lower, found.upper) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    # Standard errors 0.03 and 0.04 give one of 0.05.
    z = NormalDist().inv_cdf(0.975)
    first, second = (MetricOfTeam(v, None, v - z * e, v + z * e) for v, e in ((0.9, 0.03), (0.8, 0.04)))
    found = change_between(NAME, "a", ROLES, first, second)
    assert (found.lower, found.upper) == pytest.approx((-0.1 - z * 0.05, -0.1 + z * 0.05))
    assert found.p_value == pytest.approx(2 * norm.sf(2))


def wilson(successes, total):
    z = norm.ppf(0.975)
    share = successes / total
    half = z * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    return [(share + z**2 / (2 * total) + side * half) / (1 + z**2 / total) for side in (-1, 1)]


@pytest.mark.parametrize(
    ("first", "second", "p_value"),
    [((0.8, None, None), (0.9, 0.8, 1.0), None), ((0.8, 0.7, 0.9), (0.8, 0.6, 0.9), 1.0)],
)
def test_no_interval_no_test_and_no_change_no_difference(first, second, p_value):
    values = (MetricOfTeam(value, None, *bounds) for value, *bounds in (first, second))
    assert change_between(NAME, "a", ROLES, *values).p_value == p_value


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_ranked_teams_are_corrected_together(better):
    narrow, wide = (lambda v: (v, v - 0.01, v + 0.01)), (lambda v: (v, v - 0.3, v + 0.3))
    before = {"a": narrow(0.9), "b": wide(0.8), "listed": narrow(0.7), "left": narrow(0.5)}
    after = {"a": narrow(0.8), "b": wide(0.7), "listed": narrow(0.8), "new": narrow(0.9)}
    boards = {"offline": board(before, better), "onsite": board(after, better, ineligible=["listed"])}
    found = generalisation(boards, dict.fromkeys(ROLES, ()))
    by_team = {one.team: one for one in found.changes}
    assert {team: round(one.change, 9) for team, one in by_team.items()} == {
        "a": -0.1,
        "b": -0.1,
        "listed": 0.1,
    }
    assert by_team["a"].p_holm == pytest.approx(2 * by_team["a"].p_value)
    assert by_team["listed"].p_holm == by_team["listed"].p_value
    down, up = ("worse", "better") if better == "higher" else ("better", "worse")
    (notice,) = notices_of(found, boards)
    # b changes as much, within its interval.
    assert f"{down}: a;" in f"{notice};".replace(" (of", ";")
    assert f"{up}: listed;" in f"{notice};".replace(" (of", ";")


def test_gaps_follow_the_evaluations_of_a_team_and_over_the_teams():
    offline = {
        "a": {"1": 0.5, "2": None, "3": 0.6, "4": 0.7},
        "b": {"1": 0.8, "2": 0.85},
        "c": {"only": 0.9},
    }
    onsite = {"a": {"1": 0.45, "3": 0.5, "4": 0.55}, "b": {"final": 0.8}, "c": {"only": 0.9}}
    one = (0.5, None, None)
    boards = {
        "offline": board(dict.fromkeys("abc", one), chosen={"a": "4", "b": "2", "c": "only"}),
        "onsite": board(dict.fromkeys("abc", one), chosen={"a": "4", "b": "final", "c": "only"}),
    }
    found = generalisation(boards, {"offline": submissions(offline), "onsite": submissions(onsite)})
    rows = [(g.team, g.submission, g.counts, g.evaluations, round(g.gap, 9)) for g in found.gaps]
    assert rows == [
        ("a", "1", False, 1, 0.05),
        ("a", "3", False, 2, 0.1),
        ("a", "4", True, 3, 0.15),
        ("b", "final", True, 2, 0.05),
        ("c", "only", True, 1, 0.0),
    ]
    # Of the 6 orders of three points, the given one and its reverse are as far from none: p = 2/6.
    trends = {t.team: (t.points, t.correlation, t.p_value) for t in found.trends}
    assert trends == {team: (3, pytest.approx(1), pytest.approx(1 / 3)) for team in (None, "a")}


def test_the_gap_of_a_metric_that_is_better_lower():
    boards = {role: board({"a": (3, None, None)}, "lower") for role in ROLES}
    given = {"offline": submissions({"a": {"": 3.0}}), "onsite": submissions({"a": {"": 4.5}})}
    found = generalisation(boards, given)
    assert [one.gap for one in found.gaps] == [1.5]
    assert list(notices_of(found, boards)) == []  # nothing was tested


def test_the_exact_p_counts_all_orders():
    first, second = np.array([1.0, 2, 2, 4, 5]), np.array([0.1, 0.4, 0.2, 0.2, 0.6])
    value = abs(spearmanr(first, second).statistic)
    orders = [spearmanr(first, order).statistic for order in permutations(second)]
    assert exact_spearman_p(first, second) == pytest.approx(np.mean(np.abs(orders) >= value - 1e-12))
