"""Tests between all pairs of teams in one metric, and the tiers that follow from them."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.organiser.ranking.differences import (
    PAIRED_T,
    Compared,
    Pair,
    holm,
    holm_in_families,
    margin_test,
    shown_difference,
    significance_tiers,
)
from evaluation.organiser.ranking.rank_tests import published_difference
from evaluation.organiser.ranking.resampling import TeamCases, TeamIntervals
from evaluation.organiser.ranking.results import PhaseResults
from evaluation.stats.figure import SIGNIFICANT, Difference

ONE_SIDED = 0.025


@dataclass(frozen=True)
class Comparison:
    """One pair of teams in one metric, the better one first.

    ``difference``: first minus second; a pair that is not significant is a tie only where what is detectable
    is small. ``favours``: the team that the test finds better, which can contradict the order by the mean.
    ``significant``: they differ, whichever is better, after Holm's correction; ``holds_with_unseen``: also by
    the interval that allows for an unseen failure, None without it.
    """

    first: str
    second: str
    difference: Difference
    p_holm: float | None = None
    significant: bool | None = None
    favours: str | None = None
    note: str | None = None
    holds_with_unseen: bool | None = None

    @property
    def contradicts_order(self) -> bool:
        """Whether the teams differ significantly, but not in the direction in which they are ordered."""
        return self.significant is True and not (self.difference.value and self.favours == self.first)

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
    tiers: tuple[tuple[str, ...], ...] | None = None


def compare(values: Mapping[str, float], compared: Compared) -> Comparisons:
    """Return the tests between all teams that have the metric and results per case, corrected by Holm.

    values: the metric by team. The test of a pair does not depend on the other teams; its correction for many
    pairs does.
    """
    upwards = 1 if compared.metric.better == "higher" else -1
    tested = [team for team in compared.teams if team in values]
    order = sorted(tested, key=lambda team: (-upwards * values[team], team))
    comparisons = _compare_pairs(values, list(combinations(order, 2)), compared)
    tiers = significance_tiers(order, lambda a, b: comparisons[a, b].second_is_worse)
    return Comparisons(tuple(comparisons.values()), tiers)


def _compare_pairs(
    values: Mapping[str, float], pairs: Sequence[Pair], compared: Compared
) -> dict[Pair, Comparison]:
    """Return the tests of some pairs of teams, the better one first in each, corrected by Holm."""
    found = {pair: compared.difference(*pair) for pair in pairs}
    adjusted = holm([one.p_value for one in found.values()])
    further = [one.with_unseen_failures for one in found.values()]
    unseen = holm([one.p_value if one else None for one in further])
    return {
        pair: _comparison(compared.metric, values, pair, one, *corrected)
        for (pair, one), *corrected in zip(found.items(), adjusted, unseen, strict=True)
    }


def _comparison(
    metric: Metric,
    values: Mapping[str, float],
    pair: Pair,
    one: Difference,
    p_holm: float | None,
    unseen_holm: float | None,
) -> Comparison:
    a, b = pair
    value = float(published_difference(values[a], values[b]))
    upwards = 1 if metric.better == "higher" else -1
    significant = None if p_holm is None else p_holm < SIGNIFICANT
    found = Comparison(
        first=a,
        second=b,
        difference=replace(one, value=value, first=None, second=None),
        p_holm=p_holm,
        significant=significant,
        favours={1: a, -1: b}.get(upwards * one.direction) if one.p_value is not None else None,
        note=one.reason,
        holds_with_unseen=None if unseen_holm is None else bool(significant) and unseen_holm < SIGNIFICANT,
    )
    if found.contradicts_order:
        order = f"the metric is better for {a}" if value else "the metric is equal"
        note = f"the test favours {found.favours or 'neither'}, but {order}: no break between tiers"
        found = replace(found, note=note)
    return found


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
    """The tests of a team against the reference of a margin.

    ``difference``: how much better the team is. Its interval with unseen failures decides, where there is
    one. ``p_not_inferior``: one-sided, that it is worse by the margin or more. ``p_equivalent``: the larger
    one of this and of being better by the margin or more (two one-sided tests). ``conclusion``: by the p
    corrected over a team's primary metrics, at 2.5 %.
    """

    metric: str
    team: str
    reference: str
    margin: float
    difference: Difference
    p_not_inferior: float
    p_equivalent: float
    p_not_inferior_corrected: float = 1.0
    p_equivalent_corrected: float = 1.0
    conclusion: Conclusion = "not shown"


def margin_tests(
    margins: Sequence[Margin], compared: Mapping[str, Compared], intervals: TeamIntervals
) -> tuple[MarginTest, ...]:
    """Return the tests of every team with a metric against the reference of each margin.

    compared: the teams with a metric, by metric. Decided by the bounds that allow for unseen failures, see
    `Compared`; by the field's where the metric has no others. A fixed value has no error. Corrected over the
    margins by Holm. Raises `PhaseError` for a metric without intervals and an unknown reference.
    Source: Schuirmann 1987, J. Pharmacokinet. Biopharm. 15:657; one-sided 2.5 %: ICH E9, section 3.5.
    """
    found: list[MarginTest] = []
    for one in margins:
        if one.metric not in intervals.found:
            raise PhaseError(
                f"margin of {one.metric}: no interval: {intervals.missing.get(one.metric, 'not computed')}"
            )
        of_metric = compared[one.metric]
        if one.value is None and one.reference not in of_metric.teams:
            unknown = "no team with it, annotator or number"
            raise PhaseError(f"margin of {one.metric}: {one.reference}: {unknown}")
        for team in of_metric.teams:
            if team == one.reference:
                continue
            difference = (
                of_metric.difference(team, one.reference)
                if one.value is None
                else of_metric.to_number(team, one.value)
            )
            if of_metric.metric.better == "lower":
                difference = difference.reversed()
            unseen = difference.with_unseen_failures
            tested = margin_test(unseen if unseen and unseen.interval else difference, one.margin)
            if tested is None:
                raise PhaseError(f"margin of {one.metric}: {team}: {difference.reason}")
            bare = replace(difference, first=None, second=None)
            found.append(MarginTest(one.metric, team, one.reference, one.margin, bare, *tested))
    return _corrected_margins(found)


def _corrected_margins(tests: Sequence[MarginTest]) -> tuple[MarginTest, ...]:
    teams = [test.team for test in tests]
    not_inferior = holm_in_families([test.p_not_inferior for test in tests], teams)
    equivalent = holm_in_families([test.p_equivalent for test in tests], teams)
    found = []
    for test, *p_values in zip(tests, not_inferior, equivalent, strict=True):
        first, second = (1.0 if p is None else p for p in p_values)
        shown: Conclusion = "not shown"
        if first < ONE_SIDED:
            shown = "equivalent" if second < ONE_SIDED else "not inferior"
        found.append(
            replace(test, conclusion=shown, p_not_inferior_corrected=first, p_equivalent_corrected=second)
        )
    return tuple(found)


# --- Tests of teams without a place, such as an ensemble or a grader, against chosen teams ---

ALL = "*"
"""All ranked teams, in place of their names."""


def compare_unranked(
    values: Mapping[str, float], compared: Compared, against: Mapping[str, Sequence[str]]
) -> tuple[Comparison, ...]:
    """Return the tests of each unranked team against its chosen ones, corrected for each team separately.

    Holm's correction counts only the team's own tests, so that it changes no other team's. values: the metric
    by team. against: the chosen teams by unranked team. A team without the metric, or without results per
    case, is not tested.
    Source: Orlando et al. 2020, Med. Image Anal. 59:101570 (REFUGE), section 4.1: ensembles and members.
    """
    tested = [team for team in compared.teams if team in values]
    at = {team: position for position, team in enumerate(tested)}
    upwards = 1 if compared.metric.better == "higher" else -1
    found: list[Comparison] = []
    for team, others in against.items():
        pairs: list[Pair] = []
        for other in others:
            if {team, other} <= at.keys():
                first, second = sorted((team, other), key=lambda one: (-upwards * values[one], at[one]))
                pairs.append((first, second))
        found += _compare_pairs(values, pairs, compared).values()
    return tuple(found)


def chosen_opponents(results: PhaseResults) -> dict[str, tuple[str, ...]]:
    """Return the opponents of each unranked team, as in `teams.csv`.

    "*" stands for all ranked teams. Raises `PhaseError` for a team that is ranked or unknown, and for an
    opponent that is unknown or the team itself.
    """
    teams = tuple(dict.fromkeys(submission.team for submission in results.submissions))
    ranked = tuple(team for team in teams if team not in results.ineligible)
    problems = []
    found: dict[str, tuple[str, ...]] = {}
    for team, others in results.compare_with.items():
        if team not in results.ineligible:
            why = "is ranked" if team in teams else "is no team of these results"
            problems.append(f"{team}: {why}: only teams that are not eligible are compared with chosen ones")
        named = (one for other in others for one in (ranked if other == ALL else (other,)))
        found[team] = tuple(dict.fromkeys(named))
        impossible = [other for other in found[team] if other not in teams or other == team]
        problems += [f"{team}: cannot be compared with {other}" for other in impossible]
    PhaseError.raise_all(problems)
    return found


# --- How many cases show a difference between two teams, by the test of `rank` ---

_MOST_UNITS = 1 << 40


@dataclass(frozen=True)
class DifferencePlan:
    """How many cases, or clusters where ``clustered``, show a difference at 5 % (two-sided)."""

    metric: str
    difference: float
    method: str
    clustered: bool
    needed: int


def difference_of_pilot(
    results: PhaseResults, teams: Sequence[str], name: str, power: float
) -> DifferencePlan:
    """Return how many units show the difference of two teams' pilot results in a metric.

    Its standard error falls with the square root of their number. Raises `PhaseError` without results per
    case of both teams in the metric, and where they do not differ.
    """
    problems = [] if name in results.metrics else [f"{name}: is no metric of {results.phase}"]
    by_team = {one.team: one for one in results.submissions if one.tables is not None}
    problems += [f"{team}: has no results per case" for team in teams if team not in by_team]
    PhaseError.raise_all(problems)
    assert results.resampling is not None
    values = {team: by_team[team].values[name] for team in teams if name in by_team[team].values}
    task, metric = name.partition(".")[0], results.metrics[name]
    tables = TeamCases.of([by_team[team] for team in teams]).task_tables(task)
    compared = Compared(metric, tables, results.resampling)
    pairs = compare(values, compared).pairs
    if not pairs:
        raise PhaseError(f"{name}: one of the teams has no results in {task}")
    found = pairs[0].difference
    if not found.value or found.standard_error is None or not found.n:
        raise PhaseError(f"{name}: {found.reason or 'the teams do not differ'}")
    needed = _units_needed(found.value, found.standard_error * math.sqrt(found.n), power)
    return DifferencePlan(name, found.value, found.method, compared.clustered, needed)


def difference_of_means(difference: float, spread: float, correlation: float, power: float) -> DifferencePlan:
    """Return how many cases show a difference of two means, such as mean Dice, before there are results.

    spread: the standard deviation of the values over the cases; correlation: between the teams. Raises
    `PhaseError` for numbers out of range.
    """
    if not (difference and spread > 0 and -1 <= correlation < 1):
        raise PhaseError("expected a difference other than 0, a spread above 0 and a correlation below 1")
    needed = _units_needed(difference, spread * math.sqrt(2 * (1 - correlation)), power)
    return DifferencePlan("mean", difference, PAIRED_T, False, needed)


def _units_needed(difference: float, error_of_one: float, power: float) -> int:
    """Return the fewest units of which Student's paired t shows a difference, given the error of one unit."""

    def show(units: int) -> bool:
        error = error_of_one / math.sqrt(units)
        return shown_difference(error, units - 1, power) <= abs(difference)

    units = range(2, _MOST_UNITS)
    return units.start + bisect_left(units, True, key=show)
