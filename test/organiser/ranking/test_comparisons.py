"""Which test compares two teams in which metric, margins, and that the figures are right."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm, t, ttest_1samp, wilcoxon

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import AveragePrecision, RocArea, SensitivityAtSpecificity
from evaluation.core.estimator import Mean
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.cli.rank_command import margin_of
from evaluation.organiser.ranking.comparisons import Comparisons, Margin, compare, margin_tests
from evaluation.organiser.ranking.differences import Compared, TestOfMeans
from evaluation.organiser.ranking.resampling import TeamCases, TeamIntervals, intervals_of_teams
from evaluation.stats.figure import Figure
from test.faults import faulted

AUC = Metric("auc", "AUC", RocArea("score", "label"), best=1, worst=0)
DICE = Metric("dice", "Dice", Mean("dice"), best=1, worst=0)
DISTANCE = Metric("distance", "Distance", Mean("dice"), best=0, worst=math.inf)
DRAWN = Resampling(4, 300, 10)


def compared(
    metric: Metric,
    columns: dict[str, dict[str, np.ndarray]],
    clusters: list[str] | None = None,
    resampling: Resampling = DRAWN,
    means: TestOfMeans = "means",
) -> Comparisons:
    """``columns``: by team and column."""
    cases = len(next(iter(next(iter(columns.values())).values())))
    names = [f"C{case:04}" for case in range(cases)]
    rows = {
        team: [dict(zip(of_team, row, strict=True)) for row in zip(*of_team.values(), strict=True)]
        for team, of_team in columns.items()
    }
    tables = {team: CaseTable(names, of_team) for team, of_team in rows.items()}
    resampling = replace(
        resampling, clusters=None if clusters is None else dict(zip(names, clusters, strict=True))
    )
    values = {team: metric_values([metric], table)[metric.name] for team, table in tables.items()}
    teams = TeamCases(tuple(columns), tuple({"t": table} for table in tables.values()))
    figures = intervals_of_teams({"t.x": metric}, teams, resampling).found.get("t.x")
    return compare(values, Compared(metric, tables, resampling, figures, means))


def curves(
    seed: int, cases: int = 120, positives: int = 40, separations: tuple[float, float] = (3.0, 1.2)
) -> dict[str, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    label = (np.arange(cases) < positives).astype(float)
    common = rng.normal(size=cases)
    return {
        team: {"score": common + rng.normal(size=cases) + separation * label, "label": label}
        for team, separation in zip(("good", "poor"), separations, strict=True)
    }


@pytest.mark.parametrize("clusters", [None, [f"P{case}" for case in range(80)]])
def test_means_are_compared_by_students_paired_t(clusters):
    rng = np.random.default_rng(3)
    first = rng.uniform(0.7, 0.9, 80)
    second = first - rng.normal(0.005, 0.02, 80)
    (pair,) = compared(DICE, {"b": {"dice": second}, "a": {"dice": first}}, clusters).pairs
    assert (pair.first, pair.second, pair.favours) == ("a", "b", "a")
    found = pair.difference
    assert (found.method, found.null, found.n) == ("paired t", "the figures are equal", 80)
    expected = ttest_1samp(first - second, 0)
    interval = expected.confidence_interval()
    assert found.value == pytest.approx((first - second).mean())
    assert (found.lower, found.upper) == pytest.approx((interval.low, interval.high))
    assert found.p_value == pytest.approx(expected.pvalue)
    error = (first - second).std(ddof=1) / math.sqrt(80)
    assert found.detectable == pytest.approx((t.ppf(0.975, 79) + norm.ppf(0.8)) * error)
    # A failure that neither shows may reverse the order.
    assert found.with_unseen_failures.lower < 0 < found.with_unseen_failures.upper
    assert pair.holds_with_unseen is False


def columns_of(metric: Metric, seed: int) -> dict[str, dict[str, np.ndarray]]:
    if metric.estimator.mean_column:
        rng = np.random.default_rng(seed)
        first = rng.beta(9, 2, 60)
        return {"a": {"dice": first}, "b": {"dice": first - rng.normal(0.012, 0.05, 60)}}
    return curves(seed, separations=(1.2 + 0.3 * seed, 1.2))


@pytest.mark.parametrize(
    "metric",
    [
        DICE,
        DISTANCE,
        AUC,
        Metric("ap", "", AveragePrecision("score", "label"), 1, 0),
        Metric("at", "", SensitivityAtSpecificity("score", "label", Fraction(85, 100)), 1, 0),
    ],
    ids=lambda metric: metric.name,
)
@pytest.mark.parametrize("first", ["field", "any_distribution"])
def test_an_interval_leaves_out_0_exactly_where_p_is_below_5_percent(metric, first):
    shown = 0
    for seed in range(8):
        resampling = replace(DRAWN, resamples=100, interval=first)
        (pair,) = compared(metric, columns_of(metric, seed), resampling=resampling).pairs
        found = pair.difference
        assert (found.lower > 0 or found.upper < 0) == (found.p_value < 0.05)
        shown += found.p_value < 0.05
    assert first == "any_distribution" or shown > 0


def test_a_star_is_marked_where_it_holds_with_an_unseen_failure():
    rng = np.random.default_rng(5)
    low, high = rng.uniform(0.2, 0.4, 100), rng.uniform(0.8, 0.9, 100)
    (pair,) = compared(DICE, {"low": {"dice": low}, "high": {"dice": high}}).pairs
    assert (pair.significant, pair.holds_with_unseen) == (True, True)
    found, unseen = pair.difference, pair.difference.with_unseen_failures
    assert unseen.lower < found.lower < found.upper < unseen.upper


def test_a_distance_is_better_where_it_is_smaller_and_other_cases_are_refused():
    columns = {"far": {"dice": np.arange(20.0) + 5}, "near": {"dice": np.arange(20.0)}}
    (pair,) = compared(DISTANCE, columns).pairs
    assert (pair.first, pair.second, pair.difference.value) == ("near", "far", -5.0)
    tables = tuple({"t": CaseTable([name], [{"dice": 0.5}])} for name in ("C1", "C2"))
    with faulted(PhaseError, "b: task t", "a"):
        TeamCases(("a", "b"), tables).task_tables("t")


@pytest.mark.parametrize(
    ("means", "method", "oracle"),
    [("signed-rank", "Wilcoxon signed-rank", wilcoxon), ("rank-sum", "Mann–Whitney U", mannwhitneyu)],
)
def test_tests_of_ranks_on_request(means, method, oracle):
    first, second = np.random.default_rng(3).uniform(size=(2, 50))
    (pair,) = compared(DICE, {"a": {"dice": first}, "b": {"dice": second}}, means=means).pairs
    found = pair.difference
    assert (found.method, found.n) == (method, 50)
    assert (found.lower > 0 or found.upper < 0) == (found.p_value < 0.05)
    assert found.p_value == pytest.approx(oracle(first, second).pvalue)


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
    found = compared(DICE, columns, means="signed-rank")
    (pair,) = found.pairs
    assert (pair.first, pair.favours, pair.significant) == ("steady", "often", True)
    assert found.tiers == (("steady", "often"),)
    assert note in pair.note


@pytest.mark.parametrize("means", get_args(TestOfMeans))
def test_a_test_of_means_tells_how_many_cases_enter(means):
    columns = {team: {"dice": np.random.default_rng(8).uniform(size=40)} for team in "ab"}
    for of_team in columns.values():
        of_team["dice"][28:] = np.nan
    (pair,) = compared(DICE, columns, means=means).pairs
    assert pair.difference.n == 28


def test_an_area_with_a_missing_likelihood_is_compared_as_any():
    columns = curves(11, cases=200, positives=80)
    for of_team in columns.values():
        of_team["score"][0] = -math.inf
    (pair,) = compared(AUC, columns).pairs
    assert pair.difference.method == "DeLong"
    assert pair.difference.p_value < 0.02


def test_duplicated_cases_in_clusters_add_no_evidence():
    columns = curves(7, cases=80, positives=30)
    doubled = {
        team: {name: np.repeat(values, 2) for name, values in of_team.items()}
        for team, of_team in columns.items()
    }
    (single,) = compared(AUC, columns).pairs
    (clustered,) = compared(AUC, doubled, clusters=[f"P{case // 2}" for case in range(160)]).pairs
    assert (single.difference.n, clustered.difference.n) == (80, 80)
    assert clustered.difference.detectable == pytest.approx(single.difference.detectable)
    assert clustered.difference.p_value == pytest.approx(single.difference.p_value)


def test_one_team_or_one_case_gives_no_comparison():
    alone = compared(DICE, {"a": {"dice": np.full(12, 0.5)}})
    assert (alone.pairs, alone.tiers) == ((), (("a",),))
    found = compared(DICE, {"a": {"dice": np.array([0.9])}, "b": {"dice": np.array([0.1])}})
    assert found.tiers is None
    assert found.pairs[0].note == "fewer than two cases"


NAMES = ("t.dice", "t.other")


def results_of(columns, margins, better=DICE, reach=None):
    """Return the tests of teams whose means over cases are given by metric and team.

    reach: how far below and above its value the interval of a team with unseen failures lies, None: none.
    """
    cases = len(next(iter(columns[NAMES[0]].values())))
    teams = tuple(columns[NAMES[0]])
    names = [f"C{case}" for case in range(cases)]
    tables = []
    for team in teams:
        of_metrics = {name.partition(".")[2]: of_teams[team].tolist() for name, of_teams in columns.items()}
        rows = [dict(zip(of_metrics, row, strict=True)) for row in zip(*of_metrics.values(), strict=True)]
        tables.append(CaseTable(names, rows))
    values = {name: {team: of[team].mean() for team in teams} for name, of in columns.items()}
    metrics = {name: replace(better, estimator=Mean(name.partition(".")[2])) for name in columns}

    def figure(value):
        unseen = reach and Figure(value, value - reach[0], value + reach[1])
        return Figure(value, value - 0.01, value + 0.01, with_unseen_failures=unseen)

    ends = {name: {team: figure(value) for team, value in of.items()} for name, of in values.items()}
    of_teams = dict(zip(teams, tables, strict=True))
    compared = {name: Compared(metric, of_teams, DRAWN, ends[name]) for name, metric in metrics.items()}
    return margin_tests(margins, compared, TeamIntervals(ends, {}))


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
        value, unseen = found.difference.value, found.difference.with_unseen_failures
        assert value - unseen.lower == pytest.approx(down, rel=0.1)
        assert unseen.upper - value == pytest.approx(up, rel=0.1)
        assert found.p_not_inferior > plain.p_not_inferior


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_a_paired_difference_is_tested_as_by_the_t_test(lower_is_better):
    columns = paired(-0.004)
    better = replace(DICE, best=0, worst=1) if lower_is_better else DICE
    (found,) = results_of({"t.dice": columns}, [Margin("t.dice", 0.015, "expert")], better=better)
    gained = (columns["team"] - columns["expert"]) * (-1 if lower_is_better else 1)
    worse = ttest_1samp(gained, -0.015, alternative="greater")
    better_by_more = ttest_1samp(gained, 0.015, alternative="less")
    assert found.difference.value == pytest.approx(gained.mean())
    interval = ttest_1samp(gained, 0).confidence_interval()
    assert (found.difference.lower, found.difference.upper) == pytest.approx((interval.low, interval.high))
    assert found.p_not_inferior == pytest.approx(worse.pvalue)
    assert found.p_equivalent == pytest.approx(max(worse.pvalue, better_by_more.pvalue))
    assert found.conclusion == "equivalent"


@pytest.mark.parametrize(
    ("shift", "margin", "conclusion"),
    [(0.05, 0.02, "not inferior"), (-0.05, 0.02, "not shown"), (0, 0, "not shown")],
)
def test_conclusions_against_a_team(shift, margin, conclusion):
    (found,) = results_of({"t.dice": paired(shift)}, [Margin("t.dice", margin, "expert")])
    assert (found.team, found.conclusion) == ("team", conclusion)


def test_several_primary_metrics_are_corrected():
    columns = {"t.dice": paired(-0.008, seed=2), "t.other": paired(0.0, seed=3)}
    margins = [Margin(name, 0.015, "expert") for name in NAMES]
    first, second = results_of(columns, margins)
    assert second.p_not_inferior < first.p_not_inferior < 0.1
    assert first.p_not_inferior_corrected == first.p_not_inferior
    # By Holm the smaller p counts twice.
    assert second.p_not_inferior_corrected == pytest.approx(2 * second.p_not_inferior)


def test_what_is_refused_and_what_is_a_reference():
    for margin, told in (
        (Margin("t.dice", 0.02, "nobody"), "nobody"),
        (Margin("t.else", 0.02, "expert"), ""),
    ):
        with faulted(PhaseError, f"margin of {margin.metric}", told):
            results_of({"t.dice": paired(0)}, [margin])
    assert margin_of("t.dice=0.02:0.8") == Margin("t.dice", 0.02, "0.8", 0.8)
    assert margin_of("t.dice=0.02:team") == Margin("t.dice", 0.02, "team", None)
    for text in ("t.dice", "t.dice=0.02", "t.dice=-1:team", "t.dice=x:team", "=0.1:team"):
        with faulted(PhaseError, f"--margin {text}"):
            margin_of(text)
