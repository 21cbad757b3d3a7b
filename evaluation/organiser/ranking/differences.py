"""Differences of two figures on the same cases: interval and p of one procedure, and Holm's correction."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.intervals import area_components
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling, joined, units_of, values_under
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.rank_tests import (
    published_difference,
    rank_sum_difference,
    signed_rank_difference,
)
from evaluation.stats.areas import area_variance
from evaluation.stats.bootstrap import bootstrap_of
from evaluation.stats.figure import LEVEL, Difference, Figure
from evaluation.stats.intervals import standard_error
from evaluation.stats.student import student_quantile
from evaluation.stats.unseen import joint_distance, of_units

PAIRED_T, AREAS, OF_BOOTSTRAP = "paired t", "DeLong", "bootstrap t"
NULLS = {
    PAIRED_T: "the figures are equal",
    AREAS: "the areas are equal",
    OF_BOOTSTRAP: "the figures are equal",
}
_UPPER = 0.975
_ROUNDING = 1e-12


def student_difference(
    value: float,
    error: float,
    degrees_of_freedom: float,
    method: str,
    n: int | None = None,
    level: float = LEVEL,
) -> Difference:
    """Return a difference with Student's interval and the two-sided p of the same distribution.

    error: its standard error. Without any spread p is 1 where the difference is 0, else 0.
    """
    from scipy.special import stdtr  # 0.2 s that only comparisons need

    freedom = max(1.0, degrees_of_freedom)
    half = student_quantile((1 + level) / 2, freedom) * error
    p_value = 2 * float(stdtr(freedom, -abs(value) / error)) if error > 0 else float(value == 0)
    return Difference(
        value,
        value - half,
        value + half,
        p_value,
        method,
        n,
        null=NULLS[method],
        standard_error=error,
        degrees_of_freedom=freedom,
    )


def with_unseen(
    found: Difference, first: Figure, second: Figure, errors: Sequence[float], level: float = LEVEL
) -> Difference:
    """Return a difference with the bounds that allow for a failure that neither sample shows.

    Each figure's bounds with unseen failures reach beyond the spread of the sample; this excess is added to
    the spread of the difference on either side, see `joint_distance`. p takes the side towards 0. errors: the
    standard errors of the two figures. Without such bounds the reason is given.
    """
    ends = [one.with_unseen_failures for one in (first, second)]
    bare = replace(found, with_unseen_failures=None)
    for one in ends:
        if one is None or one.lower is None or one.upper is None:
            reason = (one.reason if one else None) or "no interval of one of the figures"
            none = replace(bare, lower=None, upper=None, p_value=None, reason=reason, method="MOVER")
            return replace(found, with_unseen_failures=none)
    if found.standard_error is None or found.degrees_of_freedom is None:
        return found
    from scipy.special import stdtr  # 0.2 s that only comparisons need

    of_first, of_second = (one.interval for one in ends if one)
    assert of_first is not None
    assert of_second is not None
    down = first.value - of_first.lower, of_second.upper - second.value
    up = of_first.upper - first.value, second.value - of_second.lower
    tail = NormalDist().inv_cdf((1 + level) / 2)
    below, above = (joint_distance(found.standard_error, reach, errors, tail) / tail for reach in (down, up))
    quantile = student_quantile((1 + level) / 2, found.degrees_of_freedom)
    towards = float(below if found.value > 0 else above)
    p_value = 1.0 if found.value == 0 else 0.0
    if towards > 0:
        p_value = 2 * float(stdtr(found.degrees_of_freedom, -abs(found.value) / towards))
    lower, upper = found.value - quantile * float(below), found.value + quantile * float(above)
    unseen = replace(bare, lower=lower, upper=upper, p_value=p_value, method="MOVER")
    return replace(found, with_unseen_failures=unseen)


def detectable(found: Difference, span: float = math.inf) -> float | None:
    """Return the true difference that the test finds at 5 % with 80 % power, in the figure's unit.

    About 2.80 standard errors. None without a standard error, and where the difference exceeds the span, the
    length of the figure's range.
    """
    if not found.standard_error or found.degrees_of_freedom is None:
        return None
    size = shown_difference(found.standard_error, found.degrees_of_freedom)
    return size if size <= span else None


def shown_difference(error: float, degrees_of_freedom: float, power: float = 0.8) -> float:
    """Return the true difference that Student's test at 5 % finds with a power; error: its standard error."""
    return (student_quantile(_UPPER, degrees_of_freedom) + NormalDist().inv_cdf(power)) * error


def margin_test(found: Difference, margin: float) -> tuple[float, float] | None:
    """Return the one-sided p of a difference of −margin or less, and the larger one of both sides.

    Higher is better. By the bounds of the difference; None without any. The standard error on either side is
    the distance of that bound over Student's quantile.
    Source: Schuirmann 1987, J. Pharmacokinet. Biopharm. 15:657.
    """
    from scipy.special import stdtr  # 0.2 s that only comparisons need

    if found.lower is None or found.upper is None or found.degrees_of_freedom is None:
        return None
    quantile = student_quantile(_UPPER, found.degrees_of_freedom)
    least = math.ulp(0.0)
    below = max(least, (found.value - found.lower) / quantile)
    above = max(least, (found.upper - found.value) / quantile)
    not_inferior = float(stdtr(found.degrees_of_freedom, -(found.value + margin) / below))
    not_superior = float(stdtr(found.degrees_of_freedom, (found.value - margin) / above))
    return not_inferior, max(not_inferior, not_superior)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values in the order given; None stays None, but is counted.

    A test without a p-value counts in the family, which can only make the others larger. Source: Holm 1979,
    Scand. J. Stat. 6:65.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 0.0
    computed = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    for done, (p, position) in enumerate(computed):
        smallest = max(smallest, min(1.0, p * (len(p_values) - done)))
        adjusted[position] = smallest
    return adjusted


def holm_in_families(p_values: Sequence[float | None], families: Sequence[Hashable]) -> list[float | None]:
    """Return p-values adjusted within each family, in the order given; see `holm`."""
    members: dict[Hashable, list[int]] = defaultdict(list)
    for position, family in enumerate(families):
        members[family].append(position)
    adjusted: dict[int, float | None] = {}
    for positions in members.values():
        adjusted |= zip(positions, holm([p_values[position] for position in positions]), strict=True)
    return [adjusted[position] for position in range(len(p_values))]


Test = TypeVar("Test", bound=Any)


def corrected(tests: Sequence[Test], family: Callable[[Test], Hashable]) -> tuple[Test, ...]:
    """Return records with a ``difference``, whose p is adjusted as ``p_holm`` within each family.

    family: returns the family of a record.
    """
    adjusted = holm_in_families([test.difference.p_value for test in tests], list(map(family, tests)))
    return tuple(replace(test, p_holm=p_value) for test, p_value in zip(tests, adjusted, strict=True))


def significance_tiers(
    teams: Sequence[str], worse: Callable[[str, str], bool | None]
) -> tuple[tuple[str, ...], ...] | None:
    """Return tiers of teams, best first; None where a test that decides about them could not be computed.

    teams: in the order of their ranks. The best team not yet placed opens a tier; the next ones join until
    the first that is significantly worse than the opener. worse: takes the opener and another team, and
    returns whether the other is significantly worse, or None if that could not be tested.
    """
    tiers: list[list[str]] = []
    for team in teams:
        answer = worse(tiers[-1][0], team) if tiers else True
        if answer is None:
            return None
        if answer:
            tiers.append([team])
        else:
            tiers[-1].append(team)
    return tuple(map(tuple, tiers))


# --- The one procedure of phase, table, library and plan ---

Pair = tuple[str, str]
TestOfMeans = Literal["means", "signed-rank", "rank-sum"]
"""What is tested of a mean over cases: the means, or the ranks as some papers do."""

_FEWEST_UNITS = 2


class Compared:
    """The results of teams on the same cases in a metric, to be compared by one procedure.

    tables: of the metric's task, by team. resampling: whose clusters are units, and whose choice of the first
    interval decides. figures: of the teams, whose bounds with unseen failures the second interval of a
    difference needs; a team without one has none. means: the test of a mean over cases. ``clustered``:
    whether units are more than single cases.

    Areas under a curve: DeLong's variance, Obuchowski's where cases cluster. Figures of sums over cases, such
    as means, shares, F1 or pooled ratios: Student's paired t over units, with what each unit contributes. All
    others, such as a sensitivity at a specificity: the spread of the paired bootstrap, Student's quantile.
    """

    def __init__(
        self,
        metric: Metric,
        tables: Mapping[str, CaseTable],
        resampling: Resampling,
        figures: Mapping[str, Figure] | None = None,
        means: TestOfMeans = "means",
    ) -> None:
        self.metric, self._resampling, self._means = metric, resampling, means
        self._level = resampling.level
        self._figures = figures or {}
        self._strata = np.empty(0, dtype=np.int64)
        units, names = None, tuple[str, ...]()
        for table in tables.values():
            names = table.names
            self._strata = metric.estimator.strata(table)
            units = joined(units_of(resampling.clusters, names), metric.estimator.groups(table))
            break
        entering = np.flatnonzero(self._strata >= 0)
        self._strata = self._strata[entering]
        self.clustered = units is not None
        of_case = np.arange(len(names)) if units is None else units
        self._unit_of_case = np.unique(of_case[entering], return_inverse=True)[1].reshape(-1)
        self._tables = {team: table.take(entering) for team, table in tables.items()}
        self._values = {team: metric.estimator.value(table) for team, table in self._tables.items()}
        self._of_units: dict[str, Floats | None] = {}

    @property
    def teams(self) -> list[str]:
        """The teams."""
        return list(self._tables)

    @property
    def units(self) -> int:
        """The number of independent units that enter."""
        return int(self._unit_of_case.max(initial=-1)) + 1

    def difference(self, first: str, second: str) -> Difference:
        """Return the difference of two teams, first minus second; it does not depend on other teams."""
        found = self._difference(first, second)
        figures = self._figures
        if found.standard_error is not None and first in figures and second in figures:
            errors = [one[1] if (one := self._estimated(team)) else 0.0 for team in (first, second)]
            found = with_unseen(found, figures[first], figures[second], errors, self._level)
        span = abs(self.metric.best - self.metric.worst)
        return replace(
            self._first(found),
            first=figures.get(first),
            second=figures.get(second),
            detectable=detectable(found, span),
        )

    def to_number(self, team: str, number: float) -> Difference:
        """Return the difference of a team to a number, such as what an annotator reached."""
        value, estimated = float(published_difference(self._values[team], number)), self._estimated(team)
        assert estimated is not None
        _, error, freedom, method = estimated
        found = student_difference(value, error, freedom, method, self.units, self._level)
        if team in self._figures:
            fixed = Figure(number, with_unseen_failures=Figure(number, number, number))
            found = with_unseen(found, self._figures[team], fixed, (error, 0.0), self._level)
        return self._first(found)

    def _first(self, found: Difference) -> Difference:
        unseen = found.with_unseen_failures
        if self._resampling.interval == "field" or unseen is None or unseen.p_value is None:
            return found
        return replace(
            found, lower=unseen.lower, upper=unseen.upper, p_value=unseen.p_value, method=unseen.method
        )

    def _difference(self, first: str, second: str) -> Difference:
        values = self._values[first], self._values[second]
        value = float(published_difference(*values))
        if np.isnan(value):
            return Difference(value, reason="the metric does not exist for both teams")
        if self.units < _FEWEST_UNITS:
            return Difference(value, n=self.units, reason="fewer than two cases")
        column = self.metric.estimator.mean_column
        if column and self._means != "means":
            columns = [self._tables[team][column] for team in (first, second)]
            if self._means == "rank-sum":
                return rank_sum_difference(columns[0], columns[1], value)
            if not self.clustered:
                return signed_rank_difference(published_difference(columns[0], columns[1]), value)
        if (found := self._estimated(first, second)) is None:
            return Difference(value, n=self.units, reason="no resamples were asked for")
        return student_difference(*found, self.units, self._level)

    def _estimated(self, first: str, second: str | None = None) -> tuple[float, float, float, str] | None:
        """Return a team's figure, or its difference to another's, with what Student's t takes.

        That is the standard error, its degrees of freedom and the method. None without resamples.
        """
        teams = [first] if second is None else [first, second]
        values = [self._values[team] for team in teams]
        if self._is_area:
            of_teams = [area_components(self.metric, self._tables[one], self._unit_of_case) for one in teams]
            parts = of_teams[0] if second is None else of_teams[0].minus(of_teams[1])
            found = area_variance(parts)
            return parts.area, math.sqrt(found.variance), found.degrees_of_freedom, AREAS
        of_units = [one for team in teams if (one := self._contributions(team)) is not None]
        if len(of_units) == len(teams):
            error = standard_error(of_units[0] if second is None else of_units[0] - of_units[1])
            error = error if error > _ROUNDING * sum(map(abs, values)) else 0.0
            value = values[0] if second is None else values[0] - values[1]
            return value, error, self.units - 1, PAIRED_T
        if (drawn := self._resampled) is None:
            return None
        value = values[0] if second is None else float(published_difference(*values))
        resampled = drawn[first] if second is None else drawn[first] - drawn[second]
        resampled = resampled[~np.isnan(resampled)]
        error = float(resampled.std(ddof=1)) if resampled.size > 1 else 0.0
        return value, error, self._decisive - 1, OF_BOOTSTRAP

    @cached_property
    def _resampled(self) -> dict[str, Floats] | None:
        """The values of all teams in the same resamples, by team; None without resamples."""
        if not self._resampling.resamples:
            return None
        strata = self._strata if not self.metric.estimator.drawn_together else np.zeros_like(self._strata)
        units = self._unit_of_case if self.clustered else None
        drawn = bootstrap_of(strata, units, self._resampling.seed, self._resampling.resamples)
        blocks = drawn.unit_weights(range(drawn.resamples))
        found = values_under({"": self.metric}, list(self._tables.values()), blocks)[""]
        return dict(zip(self._tables, found.T, strict=True))

    @cached_property
    def _is_area(self) -> bool:
        """Whether the metric is an area under a curve, and both classes have the units for its variance."""
        curve = self.metric.estimator.curve
        if curve is None or not curve.is_area:
            return False
        positive = next(iter(self._tables.values()))[curve.label] > 0
        return all(np.unique(self._unit_of_case[of]).size >= _FEWEST_UNITS for of in (positive, ~positive))

    @cached_property
    def _decisive(self) -> int:
        """The number of units that decide, such as those of the positive class."""
        decisive = self.metric.estimator.decisive(next(iter(self._tables.values())))
        chosen: NDArray[np.intp] = self._unit_of_case if decisive is None else self._unit_of_case[decisive]
        return max(_FEWEST_UNITS, np.unique(chosen).size)

    def _contributions(self, team: str) -> Floats | None:
        if team not in self._of_units:
            ends = self.metric.worst, self.metric.best
            found = self.metric.estimator.influence(self._tables[team], *ends)
            usable = found is not None and bool(np.isfinite(found).all())
            self._of_units[team] = (
                of_units(found, self._unit_of_case) if found is not None and usable else None
            )
        return self._of_units[team]
