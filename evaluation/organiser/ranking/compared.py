"""Differences of tables of the same cases in one metric: the one procedure of phase, table, library, plan."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.intervals import area_components, value_of
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling, joined, values_under
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.differences import (
    AREAS,
    OF_BOOTSTRAP,
    PAIRED_T,
    area_difference,
    detectable,
    paired_difference,
    student_difference,
    with_unseen,
)
from evaluation.organiser.ranking.rank_tests import (
    published_difference,
    rank_sum_difference,
    signed_rank_difference,
)
from evaluation.stats.areas import Components, area_variance
from evaluation.stats.bootstrap import bootstrap_of
from evaluation.stats.figure import Difference, Figure
from evaluation.stats.intervals import standard_error
from evaluation.stats.unseen import of_units

Pair = tuple[str, str]
TestOfMeans = Literal["means", "signed-rank", "rank-sum"]
"""What is tested of a mean over cases: the means, or the ranks as some papers do."""

_FEWEST_UNITS = 2


class Compared:
    """The results of teams on the same cases in a metric, to be compared by one procedure.

    tables: of the metric's task, by team. resampling: whose clusters are units, and whose choice of the first
    interval decides. figures: of the teams, whose bounds with unseen failures the second interval of a
    difference needs; a team without one has none. means: the test of a mean over cases.

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
        self._metric, self._resampling, self._means = metric, resampling, means
        self._level = resampling.level
        self._figures = figures or {}
        self._strata = np.empty(0, dtype=np.int64)
        units, names = None, tuple[str, ...]()
        for table in tables.values():
            names = table.names
            self._strata = metric.estimator.strata(table)
            units = joined(resampling.units(names), metric.estimator.groups(table))
            break
        entering = np.flatnonzero(self._strata >= 0)
        self._strata = self._strata[entering]
        self._clustered = units is not None
        of_case = np.arange(len(names)) if units is None else units
        self._unit_of_case = np.unique(of_case[entering], return_inverse=True)[1].reshape(-1)
        self._tables = {team: table.take(entering) for team, table in tables.items()}
        self._values = {team: value_of(metric, table) for team, table in self._tables.items()}
        self._of_units: dict[str, Floats | None] = {}

    @property
    def units(self) -> int:
        """The number of independent units that enter."""
        return int(self._unit_of_case.max(initial=-1)) + 1

    def difference(self, first: str, second: str) -> Difference:
        """Return the difference of two teams, first minus second; it does not depend on other teams."""
        found = self._difference(first, second)
        figures = self._figures
        if found.standard_error is not None and first in figures and second in figures:
            errors = self._error(first), self._error(second)
            found = with_unseen(found, figures[first], figures[second], errors, self._level)
        span = abs(self._metric.best - self._metric.worst)
        return replace(
            self._first(found),
            first=figures.get(first),
            second=figures.get(second),
            detectable=detectable(found, span),
        )

    def to_number(self, team: str, number: float) -> Difference:
        """Return the difference of a team to a number, such as what an annotator reached."""
        value = float(published_difference(self._values[team], number))
        error, freedom, method = self._error(team), self.units - 1.0, PAIRED_T
        if self._is_area:
            freedom, method = area_variance(self._parts(team)).degrees_of_freedom, AREAS
        elif self._contributions(team) is None:
            freedom, method = self._decisive - 1.0, OF_BOOTSTRAP
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
        column = self._metric.estimator.mean_column
        if column and self._means != "means":
            columns = [self._tables[team][column] for team in (first, second)]
            if self._means == "rank-sum":
                return rank_sum_difference(columns[0], columns[1], value)
            if not self._clustered:
                return signed_rank_difference(published_difference(columns[0], columns[1]), value)
        if self._is_area:
            return area_difference(self._parts(first), self._parts(second), self._level)
        of_first, of_second = self._contributions(first), self._contributions(second)
        if of_first is not None and of_second is not None:
            return paired_difference(*values, of_first - of_second, self._level)
        if (drawn := self._resampled) is None:
            return Difference(value, n=self.units, reason="no resamples were asked for")
        error = _spread(drawn[first] - drawn[second])
        return student_difference(value, error, self._decisive - 1, OF_BOOTSTRAP, self.units, self._level)

    def _error(self, team: str) -> float:
        """Return the standard error of a team's figure."""
        if self._is_area:
            return float(np.sqrt(area_variance(self._parts(team)).variance))
        if (contributions := self._contributions(team)) is not None:
            return standard_error(contributions)
        return 0.0 if self._resampled is None else _spread(self._resampled[team])

    @cached_property
    def _resampled(self) -> dict[str, Floats] | None:
        """The values of all teams in the same resamples, by team; None without resamples."""
        if not self._resampling.resamples:
            return None
        strata = self._strata if not self._metric.estimator.drawn_together else np.zeros_like(self._strata)
        units = self._unit_of_case if self._clustered else None
        drawn = bootstrap_of(strata, units, self._resampling.seed, self._resampling.resamples)
        blocks = drawn.unit_weights(range(drawn.resamples))
        found = values_under({"": self._metric}, list(self._tables.values()), blocks)[""]
        return dict(zip(self._tables, found.T, strict=True))

    @cached_property
    def _is_area(self) -> bool:
        """Whether the metric is an area under a curve, and both classes have the units for its variance."""
        curve = self._metric.estimator.curve
        if curve is None or not curve.is_area:
            return False
        positive = next(iter(self._tables.values()))[curve.label] > 0
        return all(np.unique(self._unit_of_case[of]).size >= _FEWEST_UNITS for of in (positive, ~positive))

    @cached_property
    def _decisive(self) -> int:
        """The number of units that decide, such as those of the positive class."""
        decisive = self._metric.estimator.decisive(next(iter(self._tables.values())))
        chosen: NDArray[np.intp] = self._unit_of_case if decisive is None else self._unit_of_case[decisive]
        return max(_FEWEST_UNITS, np.unique(chosen).size)

    def _parts(self, team: str) -> Components:
        return area_components(self._metric, self._tables[team], self._unit_of_case)

    def _contributions(self, team: str) -> Floats | None:
        if team not in self._of_units:
            ends = self._metric.worst, self._metric.best
            found = self._metric.estimator.influence(self._tables[team], *ends)
            usable = found is not None and bool(np.isfinite(found).all())
            self._of_units[team] = (
                of_units(found, self._unit_of_case) if found is not None and usable else None
            )
        return self._of_units[team]


def _spread(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.std(ddof=1)) if defined.size > 1 else 0.0
