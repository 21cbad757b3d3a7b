"""Non-inferiority and equivalence with a stated margin, against a team and against a fixed value."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from evaluation.core.case_table import CaseTable
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric
from evaluation.metrics.intervals import Interval
from evaluation.organiser.cli.rank_command import margin_of
from evaluation.organiser.ranking.comparisons import Margin, margin_tests
from evaluation.organiser.ranking.resampling import TeamCases, TeamIntervals
from evaluation.organiser.ranking.results import RankingError
from test.faults import faulted

DICE = Metric("dice", "Dice", Mean("dice"), 1, 0)
NAMES = ("t.dice", "t.other")


def results_of(columns, margins, in_fixed_order=False, better=DICE, resamples=2000, reach=(0, 0)):
    """Return the tests of teams whose means over cases are given by metric and team.

    reach: how far below and above its value the interval of a team lies.
    """
    rng = np.random.default_rng(4)
    cases = len(next(iter(columns[NAMES[0]].values())))
    weights = rng.multinomial(cases, np.full(cases, 1 / cases), resamples) / cases
    teams = tuple(columns[NAMES[0]])
    table = CaseTable([f"C{case}" for case in range(cases)], [{"dice": 0.0}] * cases)
    team_cases = TeamCases(teams, tuple({"t": table} for _ in teams))
    stacked = {name: np.stack(list(of_teams.values())) for name, of_teams in columns.items()}
    values = {
        name: dict(zip(teams, of_metric.mean(axis=1).tolist(), strict=True))
        for name, of_metric in stacked.items()
    }
    resampled = {name: weights @ of_metric.T for name, of_metric in stacked.items()}
    metrics = dict.fromkeys(columns, better)
    ends = {
        name: {team: Interval(value - reach[0], value + reach[1]) for team, value in of_teams.items()}
        for name, of_teams in values.items()
    }
    given = TeamIntervals(ends, {})
    return margin_tests(margins, metrics, values, team_cases, resampled, given, in_fixed_order)


def dice(shift, cases=80, seed=1):
    rng = np.random.default_rng(seed)
    common = rng.normal(0.8, 0.05, cases)
    return {"expert": common, "team": common + shift + rng.normal(0, 0.03, cases)}


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_what_the_intervals_count_beyond_the_spread_lengthens_the_difference_on_its_side(lower_is_better):
    """The team may be 0.05 lower and the expert 0.02 higher: √(0.05² + 0.02²), beside a short spread."""
    better = replace(DICE, best=0, worst=1) if lower_is_better else DICE
    columns, margin = dice(-0.004), Margin("t.dice", 0.015, "expert")
    for reference in (margin, replace(margin, reference="0.8", value=0.8)):
        (plain,) = results_of({"t.dice": columns}, [reference], better=better)[-1:]
        (found,) = results_of({"t.dice": columns}, [reference], better=better, reach=(0.05, 0.02))[-1:]
        worse, gained = (0.02, 0.05) if lower_is_better else (0.05, 0.02)
        other = 0 if reference.value else 1
        down, up = np.hypot(worse, other * gained), np.hypot(gained, other * worse)
        assert found.difference - found.lower == pytest.approx(down, rel=0.1)
        assert found.upper - found.difference == pytest.approx(up, rel=0.1)
        assert found.p_not_inferior > plain.p_not_inferior


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_a_paired_difference_is_tested_as_by_the_t_test(lower_is_better):
    columns = dice(-0.004)
    better = replace(DICE, best=0, worst=1) if lower_is_better else DICE
    (found,) = results_of({"t.dice": columns}, [Margin("t.dice", 0.015, "expert")], better=better)
    gained = (columns["team"] - columns["expert"]) * (-1 if lower_is_better else 1)
    worse = ttest_1samp(gained, -0.015, alternative="greater")
    better_by_more = ttest_1samp(gained, 0.015, alternative="less")
    assert found.difference == pytest.approx(gained.mean())
    interval = ttest_1samp(gained, 0).confidence_interval()
    # The bootstrap's own error at 2,000 resamples is 2 %, and it divides by n.
    assert found.upper - found.lower == pytest.approx(interval.high - interval.low, rel=0.06)
    assert found.p_not_inferior == pytest.approx(worse.pvalue, rel=0.3, abs=1e-4)
    assert found.p_equivalent == pytest.approx(max(worse.pvalue, better_by_more.pvalue), rel=0.3, abs=1e-4)
    assert found.conclusion == "equivalent"


@pytest.mark.parametrize(
    ("shift", "margin", "conclusion"),
    [
        (0.0, 0.02, "equivalent"),
        (0.05, 0.02, "not inferior"),
        (-0.05, 0.02, "not shown"),
        (0, 0, "not shown"),
    ],
)
def test_conclusions_against_a_team(shift, margin, conclusion):
    (found,) = results_of({"t.dice": dice(shift)}, [Margin("t.dice", margin, "expert")])
    assert (found.team, found.conclusion) == ("team", conclusion)


@pytest.mark.parametrize(
    ("in_fixed_order", "expected"),
    # By Holm the smaller p counts twice; in the fixed order the second is at least the first.
    [(False, [None, 2]), (True, [None, 0])],
)
def test_several_primary_metrics_are_corrected(in_fixed_order, expected):
    columns = {"t.dice": dice(-0.008, seed=2), "t.other": dice(0.0, seed=3)}
    margins = [Margin(name, 0.015, "expert") for name in NAMES]
    first, second = results_of(columns, margins, in_fixed_order)
    assert second.p_not_inferior < first.p_not_inferior < 0.1
    assert first.p_not_inferior_corrected == first.p_not_inferior
    wanted = 2 * second.p_not_inferior if expected[1] else first.p_not_inferior
    assert second.p_not_inferior_corrected == pytest.approx(wanted)


def test_what_is_refused_and_what_is_a_reference():
    with faulted(RankingError, "margin of t.dice", "nobody"):
        results_of({"t.dice": dice(0)}, [Margin("t.dice", 0.02, "nobody")])
    with faulted(RankingError, "margin of t.else"):
        results_of({"t.dice": dice(0)}, [Margin("t.else", 0.02, "expert")])
    assert margin_of("t.dice=0.02:0.8") == Margin("t.dice", 0.02, "0.8", 0.8)
    assert margin_of("t.dice=0.02:team") == Margin("t.dice", 0.02, "team", None)


@pytest.mark.parametrize("text", ["t.dice", "t.dice=0.02", "t.dice=-1:team", "t.dice=x:team", "=0.1:team"])
def test_arguments_that_say_no_margin(text):
    with faulted(RankingError, f"--margin {text}"):
        margin_of(text)
