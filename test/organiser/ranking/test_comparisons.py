"""Which test compares two teams in which metric, margins, and that the figures are right."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, ttest_1samp, wilcoxon

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea, SensitivityAtSpecificity
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.intervals import Interval
from evaluation.organiser.cli.rank_command import margin_of
from evaluation.organiser.ranking.comparisons import Comparisons, Margin, compare, margin_tests
from evaluation.organiser.ranking.pair_tests import TestChoice, TestOfMeans, randomised
from evaluation.organiser.ranking.resampling import TeamCases, TeamIntervals, draw_cases, resample_teams
from evaluation.organiser.ranking.results import RankingError
from test.faults import faulted

AUC = Metric("auc", "AUC", RocArea("score", "label"), best=1, worst=0)
DICE = Metric("dice", "Dice", Mean("dice"), best=1, worst=0)
DISTANCE = Metric("distance", "Distance", Mean("dice"), best=0, worst=math.inf)
CHOICE = TestChoice(seed=4, permutations=999)


def compared(
    metric: Metric,
    columns: dict[str, dict[str, np.ndarray]],
    clusters: list[str] | None = None,
    choice: TestChoice = CHOICE,
    resamples: int = 300,
) -> Comparisons:
    """``columns``: by team and column."""
    cases = len(next(iter(next(iter(columns.values())).values())))
    names = [f"C{case:04}" for case in range(cases)]
    rows = {
        team: [dict(zip(of_team, row, strict=True)) for row in zip(*of_team.values(), strict=True)]
        for team, of_team in columns.items()
    }
    tables = {team: {"t": CaseTable(names, of_team)} for team, of_team in rows.items()}
    units = None if clusters is None else dict(zip(names, clusters, strict=True))
    teams = TeamCases(tuple(columns), tuple(tables.values()), units)
    name = f"t.{metric.name}"
    values = {team: metric_values([metric], table["t"])[metric.name] for team, table in tables.items()}
    draws = draw_cases({name: metric}, teams, Resampling(1, resamples, 10, clusters=units))
    found = resample_teams({name: metric}, teams, draws).values
    by_team = dict(zip(teams.teams, found[name].T, strict=True)) if name in found else {}
    return compare(name, metric, values, teams, by_team, choice)


def curves(seed: int, cases: int = 120, positives: int = 40) -> dict[str, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    label = (np.arange(cases) < positives).astype(float)
    common = rng.normal(size=cases)
    return {
        team: {"score": common + rng.normal(size=cases) + separation * label, "label": label}
        for team, separation in (("good", 3.0), ("poor", 1.2))
    }


def test_means_and_the_detectable_difference():
    rng = np.random.default_rng(3)
    first = rng.uniform(0.7, 0.9, 80)
    second = first - rng.normal(0.005, 0.02, 80)
    columns = {"b": {"dice": second}, "a": {"dice": first}}
    (pair,) = compared(DICE, columns, choice=TestChoice(4, 999, "permutation")).pairs
    assert (pair.first, pair.second, pair.method, pair.favours) == ("a", "b", "permutation of the mean", "a")
    assert "exchangeable" in pair.null
    (plain,) = compared(DICE, columns).pairs
    assert (plain.method, plain.null[:9]) == ("equal means", "the means")
    assert pair.difference == pytest.approx((first - second).mean())
    error = (first - second).std(ddof=1) / math.sqrt(80)
    assert pair.detectable_difference == pytest.approx(2.8016 * error, rel=1e-4)


def test_a_distance_is_better_where_it_is_smaller_and_other_cases_are_refused():
    columns = {"far": {"dice": np.arange(20.0) + 5}, "near": {"dice": np.arange(20.0)}}
    (pair,) = compared(DISTANCE, columns).pairs
    assert (pair.first, pair.second, pair.difference) == ("near", "far", -5.0)
    tables = tuple({"t": CaseTable([name], [{"dice": 0.5}])} for name in ("C1", "C2"))
    with faulted(RankingError, "b: task t", "a"):
        compare("t.dice", DICE, {"a": 0.5, "b": 0.5}, TeamCases(("a", "b"), tables), {}, CHOICE)


@pytest.mark.parametrize(
    ("means", "method", "oracle"),
    [("signed-rank", "Wilcoxon signed-rank", wilcoxon), ("rank-sum", "Mann–Whitney U", mannwhitneyu)],
)
def test_tests_of_ranks_on_request(means, method, oracle):
    first, second = np.random.default_rng(3).uniform(size=(2, 50))
    choice = TestChoice(seed=1, means=means)
    (pair,) = compared(DICE, {"a": {"dice": first}, "b": {"dice": second}}, choice=choice).pairs
    assert (pair.method, pair.cases) == (method, 50)
    assert pair.p_value == pytest.approx(oracle(first, second).pvalue)


STEADY, EVEN = np.random.default_rng(1).uniform(0.7, 0.8, 100), np.full(60, 0.5)


@pytest.mark.parametrize(
    ("steady", "often", "note"),
    [
        # A little better on 95 of 100 cases, and 0 on the other 5: its mean is lower.
        (STEADY, np.where(np.arange(100) < 5, 0, STEADY + 0.01), "the metric is better for steady"),
        # The means are equal, and one team is better on 59 of 60 cases.
        (EVEN, np.where(np.arange(60) < 1, 0.5 - 0.059, 0.501), "the metric is equal"),
    ],
)
def test_no_tier_ends_where_the_order_and_the_test_disagree(steady, often, note):
    columns = {"often": {"dice": often}, "steady": {"dice": steady}}
    found = compared(DICE, columns, choice=TestChoice(1, means="signed-rank"))
    (pair,) = found.pairs
    assert (pair.first, pair.favours, pair.significant) == ("steady", "often", True)
    assert found.tiers == (("steady", "often"),)
    assert note in pair.note


@pytest.mark.parametrize("means", get_args(TestOfMeans))
def test_a_test_of_means_tells_how_many_cases_enter(means):
    columns = {team: {"dice": np.random.default_rng(8).uniform(size=40)} for team in "ab"}
    for of_team in columns.values():
        of_team["dice"][28:] = np.nan
    (pair,) = compared(DICE, columns, choice=TestChoice(1, 199, means), resamples=0).pairs
    assert pair.cases == 28


def test_an_area_with_a_missing_likelihood_is_randomised():
    columns = curves(11, cases=200, positives=80)
    for of_team in columns.values():
        of_team["score"][0] = -math.inf
    (pair,) = compared(AUC, columns).pairs
    assert pair.method == "randomisation"
    assert pair.p_value < 0.02


def test_duplicated_cases_in_clusters_add_no_evidence():
    columns = curves(7, cases=80, positives=30)
    doubled = {
        team: {name: np.repeat(values, 2) for name, values in of_team.items()}
        for team, of_team in columns.items()
    }
    (single,) = compared(AUC, columns).pairs
    (clustered,) = compared(AUC, doubled, clusters=[f"P{case // 2}" for case in range(160)]).pairs
    assert clustered.method == "DeLong, clustered"
    assert clustered.detectable_difference == pytest.approx(single.detectable_difference)
    assert clustered.p_value == pytest.approx(single.p_value)


def test_one_team_or_one_case_gives_no_comparison():
    alone = compared(DICE, {"a": {"dice": np.full(12, 0.5)}})
    assert (alone.pairs, alone.tiers) == ((), (("a",),))
    found = compared(DICE, {"a": {"dice": np.array([0.9])}, "b": {"dice": np.array([0.1])}})
    assert found.tiers is None
    assert found.pairs[0].note == "fewer than two cases enter both means"


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


def paired(shift, cases=80, seed=1):
    rng = np.random.default_rng(seed)
    common = rng.normal(0.8, 0.05, cases)
    return {"expert": common, "team": common + shift + rng.normal(0, 0.03, cases)}


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_what_the_intervals_count_beyond_the_spread_lengthens_the_difference_on_its_side(lower_is_better):
    """The team may be 0.05 lower and the expert 0.02 higher: √(0.05² + 0.02²), beside a short spread."""
    better = replace(DICE, best=0, worst=1) if lower_is_better else DICE
    columns, margin = paired(-0.004), Margin("t.dice", 0.015, "expert")
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
    columns = paired(-0.004)
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
    [(0.05, 0.02, "not inferior"), (-0.05, 0.02, "not shown"), (0, 0, "not shown")],
)
def test_conclusions_against_a_team(shift, margin, conclusion):
    (found,) = results_of({"t.dice": paired(shift)}, [Margin("t.dice", margin, "expert")])
    assert (found.team, found.conclusion) == ("team", conclusion)


@pytest.mark.parametrize("in_fixed_order", [False, True])
def test_several_primary_metrics_are_corrected(in_fixed_order):
    columns = {"t.dice": paired(-0.008, seed=2), "t.other": paired(0.0, seed=3)}
    margins = [Margin(name, 0.015, "expert") for name in NAMES]
    first, second = results_of(columns, margins, in_fixed_order)
    assert second.p_not_inferior < first.p_not_inferior < 0.1
    assert first.p_not_inferior_corrected == first.p_not_inferior
    # By Holm the smaller p counts twice; in the fixed order the second is at least the first.
    wanted = first.p_not_inferior if in_fixed_order else 2 * second.p_not_inferior
    assert second.p_not_inferior_corrected == pytest.approx(wanted)


def test_what_is_refused_and_what_is_a_reference():
    for margin, told in (
        (Margin("t.dice", 0.02, "nobody"), "nobody"),
        (Margin("t.else", 0.02, "expert"), ""),
    ):
        with faulted(RankingError, f"margin of {margin.metric}", told):
            results_of({"t.dice": paired(0)}, [margin])
    assert margin_of("t.dice=0.02:0.8") == Margin("t.dice", 0.02, "0.8", 0.8)
    assert margin_of("t.dice=0.02:team") == Margin("t.dice", 0.02, "team", None)
    for text in ("t.dice", "t.dice=0.02", "t.dice=-1:team", "t.dice=x:team", "=0.1:team"):
        with faulted(RankingError, f"--margin {text}"):
            margin_of(text)


ESTIMATOR = SensitivityAtSpecificity("score", "label", Fraction(85, 100))


def rounded_tables(teams=3, cases=60):
    rng = np.random.default_rng(1)
    label = (rng.random(cases) < 0.4).astype(float)
    label[:3] = np.nan
    found = {}
    for team in range(teams):
        score = (label + rng.normal(size=cases) * (team + 1)).round(1)
        score[5 + team] = -np.inf if label[5 + team] == 1 else np.inf
        score[:3] = 0
        rows = [{"score": s, "label": y} for s, y in zip(score.tolist(), label.tolist(), strict=True)]
        found[2 * team] = CaseTable([f"C{case:02}" for case in range(cases)], rows)
    return found


def all_pairs(estimator, units=None):
    metric = Metric("sensitivity", "Sensitivity", estimator, best=1, worst=0)
    pairs = [(0, 2), (2, 4), (0, 4)]
    errors = {(0, 2): 0.1, (2, 4): None, (0, 4): None}
    return randomised(metric, rounded_tables(), pairs, units, errors, seed=3, permutations=299)


@pytest.mark.parametrize("units", [None, np.arange(60) // 2])
def test_thresholds_and_weights_agree(units):
    class WithoutThreshold(SensitivityAtSpecificity):
        @property
        def curve(self):
            return replace(super().curve, specificity=None)

    found = all_pairs(ESTIMATOR, units)
    assert found == all_pairs(WithoutThreshold("score", "label", ESTIMATOR.target), units)
    assert found[0, 2].standard_error == 0.1
    assert len({test.p_value for test in found.values()}) > 1
