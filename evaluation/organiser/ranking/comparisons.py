"""Tests between all pairs of teams in one metric, and the tiers that follow from them."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations
from typing import Literal

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.metric import Metric
from evaluation.metrics.arrays import Floats
from evaluation.metrics.intervals import Interval
from evaluation.metrics.unseen import NORMAL, joint_distance
from evaluation.organiser.ranking.pair_tests import Pair, TestChoice, tests_of_pairs
from evaluation.organiser.ranking.pairwise import holm, null_of, significance_tiers
from evaluation.organiser.ranking.rank_statistics import published_difference
from evaluation.organiser.ranking.resampling import TeamCases, TeamIntervals
from evaluation.organiser.ranking.results import PhaseResults, RankingError

SIGNIFICANT = 0.05
ONE_SIDED = 0.025


@dataclass(frozen=True)
class Comparison:
    """One pair of teams in one metric, the better one first.

    ``difference`` is first minus second. ``favours`` is the team that the test finds better, which can
    contradict the order by the mean. ``significant``: they differ, whichever is better.
    ``detectable_difference`` is the smallest one found with 80 % power at this sample size (two-sided 5 %),
    None where no difference within the metric's range can be; a pair that is not significant is a tie only
    where that is small. ``null``: what the test asks, such as whether the means are equal. ``cases``: the
    number of cases in a test of means, n₁ = n₂ in a rank-sum test. ``p_is_bound``: the exact p is at most
    ``p_value``, a bound of it, see `mean_tests`.
    """

    first: str
    second: str
    difference: float
    method: str
    null: str
    p_value: float | None
    p_holm: float | None
    significant: bool | None
    favours: str | None
    detectable_difference: float | None
    note: str | None = None
    cases: int | None = None
    p_is_bound: bool = False

    @property
    def contradicts_order(self) -> bool:
        """Whether the teams differ significantly, but not in the direction in which they are ordered."""
        return self.significant is True and not (self.difference and self.favours == self.first)

    @property
    def second_is_worse(self) -> bool | None:
        """Whether the second is significantly worse, in the order and in the test; None if not tested."""
        return None if self.significant is None else self.significant and not self.contradicts_order


@dataclass(frozen=True)
class Comparisons:
    """All pairs of one metric, and the tiers of the teams, best first.

    A tier ends before a team that is significantly worse than its first one, by the order and by the test.
    There are no tiers where a test that decides about them could not be computed.
    """

    pairs: tuple[Comparison, ...]
    tiers: tuple[tuple[str, ...], ...] | None


def compare(
    name: str,
    metric: Metric,
    values: Mapping[str, float],
    cases: TeamCases,
    resampled: Mapping[str, Floats],
    choice: TestChoice,
) -> Comparisons:
    """Return the tests between all teams that have the metric and results per case, corrected by Holm.

    values: the metric by team. resampled: its paired bootstrap values by team, shape (resamples,), if any.
    The test of a pair, see `tests_of_pairs`, does not depend on the other teams; its correction for many
    pairs does.
    """
    tables = _tables_of_metric(name, values, cases)
    upwards = 1 if metric.better == "higher" else -1
    order = sorted(tables, key=lambda team: (-upwards * values[team], team))
    pairs = list(combinations(order, 2))
    comparisons = _compare_pairs(metric, values, cases, tables, pairs, resampled, choice)
    tiers = significance_tiers(order, lambda a, b: comparisons[a, b].second_is_worse)
    return Comparisons(tuple(comparisons.values()), tiers)


def _tables_of_metric(name: str, values: Mapping[str, float], cases: TeamCases) -> dict[str, CaseTable]:
    """Return the results per case in a metric's task of each team that has the metric."""
    tables = cases.task_tables(name.partition(".")[0])
    return {team: table for team, table in tables.items() if team in values}


def _compare_pairs(
    metric: Metric,
    values: Mapping[str, float],
    cases: TeamCases,
    tables: Mapping[str, CaseTable],
    pairs: Sequence[Pair],
    resampled: Mapping[str, Floats],
    choice: TestChoice,
) -> dict[Pair, Comparison]:
    """Return the tests of some pairs of teams, the better one first in each, corrected by Holm."""
    upwards = 1 if metric.better == "higher" else -1
    units = cases.units(next(iter(tables.values())), metric) if tables else None
    tests = tests_of_pairs(metric, tables, pairs, units, resampled, choice)
    adjusted = holm([test.p_value for test in tests])
    of_first, of_second = ([values[pair[side]] for pair in pairs] for side in (0, 1))
    differences = published_difference(of_first, of_second).tolist()
    of_mean, column = None, metric.estimator.mean_column
    if column is not None and tables:  # the reference decides for all teams which cases enter
        of_mean = int(np.count_nonzero(~np.isnan(next(iter(tables.values()))[column])))
    span = abs(metric.best - metric.worst)
    comparisons: dict[Pair, Comparison] = {}
    for (a, b), test, p_holm, difference in zip(pairs, tests, adjusted, differences, strict=True):
        found = Comparison(
            first=a,
            second=b,
            difference=difference,
            method=test.method,
            null=null_of(test.method),
            p_value=test.p_value,
            p_holm=p_holm,
            significant=None if p_holm is None else p_holm < SIGNIFICANT,
            favours={1: a, -1: b}.get(upwards * test.direction),
            detectable_difference=test.detectable_difference(span),
            note=test.note,
            cases=of_mean,
            p_is_bound=test.p_is_bound,
        )
        if found.contradicts_order:
            order = f"the metric is better for {a}" if difference else "the metric is equal"
            note = f"the test favours {found.favours or 'neither'}, but {order}: no break between tiers"
            found = replace(found, note=note)
        comparisons[a, b] = found
    return comparisons


# --- Non-inferiority and equivalence with a stated margin ---


Conclusion = Literal["equivalent", "not inferior", "not shown"]


@dataclass(frozen=True)
class Margin:
    """A primary metric, how much worse is still as good, and the reference: a team or a fixed value."""

    metric: str
    margin: float
    reference: str
    value: float | None = None


@dataclass(frozen=True)
class MarginTest:
    """A team beside a reference in a metric.

    ``difference``: how much better the team is, with its 95 % interval. ``p_not_inferior``: one-sided, that
    it is worse by the margin or more. ``p_equivalent``: the larger one of this and of being better by the
    margin or more (two one-sided tests). ``conclusion``: by the p corrected over a team's primary metrics,
    at 2.5 %.
    """

    metric: str
    team: str
    reference: str
    margin: float
    difference: float
    lower: float
    upper: float
    p_not_inferior: float
    p_equivalent: float
    p_not_inferior_corrected: float = 1.0
    p_equivalent_corrected: float = 1.0
    conclusion: Conclusion = "not shown"


def margin_tests(
    margins: Sequence[Margin],
    metrics: Mapping[str, Metric],
    values: Mapping[str, Mapping[str, float]],
    cases: TeamCases,
    resampled: Mapping[str, Floats],
    intervals: TeamIntervals,
    in_fixed_order: bool,
) -> tuple[MarginTest, ...]:
    """Return the tests of every team with a metric against the reference of each margin.

    values: by metric and team. resampled: paired bootstrap values by metric, shape (resamples, teams). The
    standard error on either side is that of `joint_distance`, from the bootstrap and from what the two
    intervals count that the sample may lack; Student's t with one degree of freedom fewer than units. A fixed
    value has no error. Corrected over the margins by Holm, or in_fixed_order: each metric is tested only if
    all before it succeeded. Raises `RankingError` for a metric without bootstrap values or intervals and an
    unknown reference.
    Source: Schuirmann 1987, J. Pharmacokinet. Biopharm. 15:657; one-sided 2.5 %: ICH E9, section 3.5.
    """
    found: list[MarginTest] = []
    if margins:
        from scipy.special import stdtr, stdtrit  # 0.2 s that not all rankings need
    for one in margins:
        if one.metric not in resampled:
            raise RankingError(f"margin of {one.metric}: this metric has no bootstrap values per case")
        if one.metric not in intervals.found:
            raise RankingError(f"margin of {one.metric}: no interval: {intervals.missing[one.metric]}")
        upwards = 1 if metrics[one.metric].better == "higher" else -1
        tables = _tables_of_metric(one.metric, values[one.metric], cases)
        if one.value is None and one.reference not in tables:
            unknown = "no team with it, annotator or number"
            raise RankingError(f"margin of {one.metric}: {one.reference}: {unknown}")
        table = next(iter(tables.values()))
        units = cases.units(table, metrics[one.metric])
        freedom = (len(table) if units is None else np.unique(units).size) - 1
        columns = dict(zip(cases.teams, resampled[one.metric].T, strict=True))
        of_teams, known, drawn = values[one.metric], one.value, np.zeros_like(columns[cases.teams[0]])
        ends = intervals.found[one.metric]
        reference = Interval(known or 0.0, known or 0.0)
        if known is None:
            known, drawn, reference = of_teams[one.reference], columns[one.reference], ends[one.reference]
        for team in tables:
            if team == one.reference:
                continue
            difference = upwards * (of_teams[team] - known)
            both = columns[team], drawn
            reach = [
                (of_teams[team] - ends[team].lower, reference.upper - known),
                (ends[team].upper - of_teams[team], known - reference.lower),
            ][::upwards]
            error = np.nanstd(columns[team] - drawn, ddof=1)
            errors = [np.nanstd(one_of_both, ddof=1) for one_of_both in both]
            below, above = joint_distance(error, reach, [errors, errors]) / NORMAL
            below, above = (max(float(side), sys.float_info.min) for side in (below, above))
            quantile = float(stdtrit(freedom, 0.975))
            not_inferior = float(stdtr(freedom, -(difference + one.margin) / below))
            not_superior = float(stdtr(freedom, (difference - one.margin) / above))
            bounds = difference - quantile * below, difference + quantile * above
            p_values = not_inferior, max(not_inferior, not_superior)
            beside = one.metric, team, one.reference, one.margin
            found.append(MarginTest(*beside, difference, *bounds, *p_values))
    return _corrected_margins(found, in_fixed_order)


def _corrected_margins(tests: Sequence[MarginTest], in_fixed_order: bool) -> tuple[MarginTest, ...]:
    def corrected(p_values: Sequence[float]) -> list[float]:
        if in_fixed_order:
            return list(accumulate(p_values, max))
        return [1.0 if p is None else p for p in holm(p_values)]

    found: dict[int, MarginTest] = {}
    for team in dict.fromkeys(test.team for test in tests):
        members = [position for position, test in enumerate(tests) if test.team == team]
        not_inferior = corrected([tests[position].p_not_inferior for position in members])
        equivalent = corrected([tests[position].p_equivalent for position in members])
        for position, *p_values in zip(members, not_inferior, equivalent, strict=True):
            shown: Conclusion = "not shown"
            if p_values[0] < ONE_SIDED:
                shown = "equivalent" if p_values[1] < ONE_SIDED else "not inferior"
            test = replace(tests[position], conclusion=shown, p_not_inferior_corrected=p_values[0])
            found[position] = replace(test, p_equivalent_corrected=p_values[1])
    return tuple(found[position] for position in range(len(tests)))


# --- Tests of teams without a place, such as an ensemble or a grader, against chosen teams ---

ALL = "*"
"""All ranked teams, in place of their names."""


def compare_unranked(
    name: str,
    metric: Metric,
    values: Mapping[str, float],
    cases: TeamCases,
    resampled: Mapping[str, Floats],
    choice: TestChoice,
    against: Mapping[str, Sequence[str]],
) -> tuple[Comparison, ...]:
    """Return the tests of each unranked team against its chosen ones, corrected for each team separately.

    Holm's correction counts only the team's own tests, so that it changes no other team's. values: the metric
    by team. against: the chosen teams by unranked team. A team without the metric, or without results per
    case, is not tested.
    Source: Orlando et al. 2020, Med. Image Anal. 59:101570 (REFUGE), section 4.1: ensembles and members.
    """
    tables = _tables_of_metric(name, values, cases)
    at = {team: position for position, team in enumerate(tables)}
    upwards = 1 if metric.better == "higher" else -1
    found: list[Comparison] = []
    for team, others in against.items():
        pairs: list[Pair] = []
        for other in others:
            if {team, other} <= at.keys():
                first, second = sorted((team, other), key=lambda one: (-upwards * values[one], at[one]))
                pairs.append((first, second))
        found += _compare_pairs(metric, values, cases, tables, pairs, resampled, choice).values()
    return tuple(found)


def chosen_opponents(results: PhaseResults, given: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the opponents of each unranked team: as given, else as in `teams.csv`.

    "*" stands for all ranked teams. Raises `RankingError` for a team that is ranked or unknown, and for an
    opponent that is unknown or the team itself.
    """
    teams = tuple(dict.fromkeys(submission.team for submission in results.submissions))
    ranked = tuple(team for team in teams if team not in results.ineligible)
    problems = []
    found: dict[str, tuple[str, ...]] = {}
    for team, others in {**results.compare_with, **given}.items():
        if team not in results.ineligible:
            why = "is ranked" if team in teams else "is no team of these results"
            problems.append(f"{team}: {why}: only teams that are not eligible are compared with chosen ones")
        named = (one for other in others for one in (ranked if other == ALL else (other,)))
        found[team] = tuple(dict.fromkeys(named))
        impossible = [other for other in found[team] if other not in teams or other == team]
        problems += [f"{team}: cannot be compared with {other}" for other in impossible]
    RankingError.raise_all(problems)
    return found
