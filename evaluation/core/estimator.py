"""Estimators over cases: how per-case columns become one number, and everything that is known of that number.

The estimators of columns are here, those of predicted against true values in `class_estimators`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, Row, WeightedCases
from evaluation.core.keys import Key, KeyTable
from evaluation.metrics.arrays import Bools, Floats, mean_of_defined, ratio_or_nan
from evaluation.stats.columns import weighted_deviation, weighted_mean, weighted_quantile
from evaluation.stats.figure import IntervalMethod
from evaluation.stats.unseen import FigureOfSums

if TYPE_CHECKING:
    from evaluation.metrics.detection import DetectionTable
    from evaluation.metrics.free_response import Candidates

Strata = NDArray[np.int64]
# --- Views: what reports, rankings and audits ask of an estimator ---


@dataclass(frozen=True)
class Curve:
    """The columns of a ROC curve: the score, whose order counts, and the 0/1 label (NaN: left out).

    ``is_area``: the figure is the area under the curve, not a point on it. ``specificity``: the lower bound
    at which the point has the highest sensitivity.
    """

    score: str
    label: str
    is_area: bool
    specificity: Fraction | None = None


@dataclass(frozen=True)
class Decision:
    """The 0/1 columns of a decision and of the correct decision (NaN: left out)."""

    predicted: str
    present: str


@dataclass(frozen=True)
class CaseFigure:
    """The difficulty of a case, for a metric that is no mean over cases.

    ``values`` returns a figure of each case, NaN where it has none; higher is better.
    """

    name: str
    values: Callable[[CaseTable], Floats]


@dataclass(frozen=True)
class DetectionCurves:
    """The detections that a figure is computed from, for curves of them.

    ``candidates``: the detections of all classes together; ``hit`` defines a hit in a sentence. ``matched``:
    the detections of each of the ``classes`` at several IoU thresholds, if there are several.
    """

    candidates: Callable[[CaseTable], Candidates]
    hit: str
    matched: Callable[[CaseTable], DetectionTable] | None = None
    classes: tuple[str, ...] = ()


# --- An estimator ---

NOTHING_BOUNDS = "nothing bounds what an unseen case does to this figure"
NO_WORST = "no largest value that a failure could have"


class Estimator:
    """A function of weighted cases to one value for each row of weights, and what follows from it.

    A subclass defines ``values``, and whatever differs from the defaults here. ``max_cases``: above so many
    cases an interval is computed only if the phase asks for it.

    Views are None where an estimator has none. ``detections``: those that it counts. ``case_figure``: the
    difficulty of cases where no column tells it.
    """

    max_cases: int | None = None
    detections: DetectionCurves | None = None
    case_figure: CaseFigure | None = None

    def values(self, cases: WeightedCases, /) -> Floats:
        """Return one value for each row of weights, NaN where it does not exist."""
        raise NotImplementedError

    def value(self, table: CaseTable, /) -> float:
        """Return the value for all cases of a table."""
        return float(self.values(WeightedCases(table, np.ones((1, len(table)), dtype=np.int64)))[0])

    def strata(self, table: CaseTable, /) -> Strata:
        """Return for every case the stratum within which it is resampled, −1 if the case does not enter.

        They follow from the reference alone, so that all teams of a phase have the same resamples.
        """
        return one_stratum(table)

    def missing(self, worst: float, known: Row) -> Row:
        """Return the columns of a case without a result, from the worst value and the columns of its labels.

        None where they do not follow from these: then the task gives them.
        """
        return {}

    @property
    def mean_column(self) -> str | None:
        """The column whose mean this is."""
        return None

    @property
    def is_mean(self) -> bool:
        """Whether it is made of the mean of a figure of each case."""
        return self.case_column is not None

    @property
    def group_column(self) -> str | None:
        """The column of texts that name the group of each case."""
        return None

    @property
    def share_column(self) -> str | None:
        """The column of zeros and ones whose share of ones this is."""
        return None

    @property
    def curve(self) -> Curve | None:
        """The columns of the ROC curve."""
        return None

    @property
    def decision(self) -> Decision | None:
        """The columns of the decision."""
        return None

    @property
    def case_column(self) -> str | None:
        """The column whose mean or share this is: the value of each case."""
        return self.mean_column or self.share_column

    @property
    def label_column(self) -> str | None:
        """The column of 0/1 labels with which predictions are compared."""
        if self.curve:
            return self.curve.label
        return self.decision.present if self.decision else None

    def possible_values(self, table: CaseTable) -> int | None:
        """Return how many values there can be for these labels; None: too many to count."""
        return None

    @property
    def is_share(self) -> bool:
        """Whether it is a mean of shares of cases."""
        return False

    @property
    def drawn_together(self) -> bool:
        """Whether all cases are drawn together, since the shares of the strata are no part of the design."""
        return False

    def interval_method(self, bounded: bool) -> IntervalMethod:
        """Return the method of the field's interval, chosen by coverage and width (docs/intervals.md)."""
        return "Wilson-bootstrap" if bounded else "percentile"

    def groups(self, table: CaseTable) -> Strata | None:
        """Return for every case the group with which it is drawn, −1 for none; None where there are none."""
        return None

    def decisive(self, table: CaseTable, /) -> Bools | None:
        """Return the cases whose number decides how certain the figure is, from the reference alone.

        None: those of the smallest stratum.
        """
        return None

    def corrected(self, table: CaseTable, /) -> Sequence[float]:
        """Return values about which its bootstrap interval is taken, too, since the bootstrap has a bias."""
        return ()

    def with_unseen(self, table: CaseTable, /, size: float = 1.0) -> Sequence[float]:
        """Return values that the figure would have with units that the sample may lack, of so many cases.

        Such as rare false positives. Not of sums, see `of_sums`.
        """
        return ()

    def no_unseen(self, worst: float) -> str | None:
        """Return why no bound allows for an unseen failure; None where one does."""
        return NOTHING_BOUNDS

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums | None:
        """Return the figure as one of sums over cases, with the case that a sample may lack; else None.

        worst, best: of the metric. Where one is infinite, an unseen case lies as far as the farthest seen.
        """
        return None

    def influence(self, table: CaseTable, worst: float, best: float) -> Floats | None:
        """Return what each case contributes, the derivative by its share of the weight; None of steps."""
        sums = self.of_sums(table, worst, best)
        return None if sums is None else sums.influence()

    def of_each(self, other: Callable[[str], Estimator]) -> Estimator:
        """Return the figure with another estimator of each column whose mean it takes. Raises ValueError."""
        raise ValueError("it is no mean over cases")

    def by_group(self, column: str) -> Estimator:
        """Return the mean over the groups of cases that a column names."""
        return ByGroup(self, column)


def one_stratum(table: CaseTable) -> Strata:
    """Return the same stratum for every case."""
    return np.zeros(len(table), dtype=np.int64)


def strata_of_column(table: CaseTable, column: str) -> Strata:
    """Return one stratum for the cases for which a column is defined, −1 for the others."""
    return np.where(np.isnan(table[column]), -1, 0)


_HALVES = 50
_BIAS_OF_HALVES = 2.0**0.5 - 1


def _halves(table: CaseTable) -> WeightedCases:
    """Return all cases, then random halves of them and what each leaves; the same for tables of one size."""
    generator, cases = np.random.default_rng(_HALVES), len(table)
    chosen = np.array([generator.permutation(cases) < cases // 2 for _ in range(_HALVES)])
    return WeightedCases(table, np.vstack([np.ones_like(chosen[:1]), chosen, ~chosen]).astype(np.int64))


@dataclass(frozen=True)
class FunctionOfCases(Estimator):
    """Any function of weighted cases that no other estimator is.

    ``of_envelope``: it reads the highest precision at any higher recall. Where precision hardly changes with
    recall, its maximum is too high in proportion to n^−½ for n cases. So the mean of random halves lies above
    the value by √2 − 1 of its bias; the bootstrap shows less, as its curves have the same cases.
    Source: Bickel, Götze and van Zwet 1997, Stat. Sin. 7:1 (m of n cases).
    """

    values: Callable[[WeightedCases], Floats]
    strata: Callable[[CaseTable], Strata] = one_stratum
    max_cases: int | None = None
    of_envelope: bool = False
    detections: DetectionCurves | None = None
    case_figure: CaseFigure | None = None

    def corrected(self, table: CaseTable, /) -> Sequence[float]:
        if not self.of_envelope:
            return ()
        found = self.values(table.derive("halves", _halves))
        return [float(found[0]) - max(0.0, float(np.nanmean(found[1:]) - found[0])) / _BIAS_OF_HALVES]


# --- Estimators of columns; NaN in a column leaves a case out ---


@dataclass(frozen=True)
class _OfColumn(Estimator):
    """An estimator of one column, over the cases for which it is defined."""

    column: str

    def strata(self, table: CaseTable, /) -> Strata:
        return strata_of_column(table, self.column)

    def missing(self, worst: float, known: Row) -> Row:
        if self.case_column is None:
            return {}
        return {self.column: known.get(self.column, float(worst))}


class _OfSums(Estimator):
    """A figure of sums over cases."""

    def interval_method(self, bounded: bool) -> IntervalMethod:
        return "BCa"

    def no_unseen(self, worst: float) -> str | None:
        return None if math.isfinite(worst) else NO_WORST


def _reach(values: Floats, worst: float, best: float) -> tuple[float, float]:
    """Return the lowest and the highest value that an unseen case may have, see `Estimator.of_sums`."""
    low, high = sorted((worst, best))
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    return least if math.isinf(low) else min(low, least), most if math.isinf(high) else max(high, most)


def _numbers_of_ones(column: Floats) -> int:
    """Return how many numbers of ones there can be in a column, NaN where a case does not enter."""
    return int(np.count_nonzero(~np.isnan(column))) + 1


def _mean_of(values: Floats, low: float, high: float, figure: Callable[[Floats], Floats]) -> FigureOfSums:
    """Return a figure of the mean of values, NaN where a case does not enter."""
    columns = np.stack([np.nan_to_num(values), ~np.isnan(values)])
    return FigureOfSums(
        columns,
        lambda sums: figure(np.asarray(sums[..., 0] / sums[..., 1])),
        np.array([[low, 1.0]]),
        np.array([[high, 1.0]]),
        of_ratio=True,
    )


class _MeanOfColumn(_OfColumn, _OfSums):
    """The mean of a column, of any numbers or of zeros and ones."""

    def values(self, cases: WeightedCases, /) -> Floats:
        return weighted_mean(cases.table[self.column], cases.weights)

    def influence(self, table: CaseTable, worst: float, best: float) -> Floats:
        """Return the deviations of the cases that enter over their number."""
        values = table[self.column]
        entering = ~np.isnan(values)
        return np.asarray(np.where(entering, values - np.mean(values[entering]), 0.0) / entering.sum())


@dataclass(frozen=True)
class Mean(_MeanOfColumn):
    """The mean of a column."""

    @property
    def mean_column(self) -> str:
        return self.column

    def of_each(self, other: Callable[[str], Estimator]) -> Estimator:
        return other(self.column)

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums:
        values = table[self.column]
        return _mean_of(values, *_reach(values, worst, best), np.asarray)


@dataclass(frozen=True)
class Share(_MeanOfColumn):
    """The share of ones in a column of zeros and ones."""

    is_share = True

    @property
    def share_column(self) -> str:
        return self.column

    def possible_values(self, table: CaseTable) -> int:
        return _numbers_of_ones(table[self.column])

    def interval_method(self, bounded: bool) -> IntervalMethod:
        return "Wilson"

    def no_unseen(self, worst: float) -> str | None:
        return None

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums:
        return _mean_of(table[self.column], 0.0, 1.0, np.asarray)


@dataclass(frozen=True)
class Sum(_OfColumn, _OfSums):
    """The sum of a column; NaN where it is defined for no case."""

    def values(self, cases: WeightedCases, /) -> Floats:
        column = cases.table[self.column]
        if np.isnan(column).all():
            return np.full(len(cases.weights), np.nan)
        return np.asarray(cases.weights @ np.nan_to_num(column), dtype=np.float64)

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums:
        values = table[self.column]
        number = np.count_nonzero(~np.isnan(values))
        return _mean_of(values, *self._ends(values), lambda means: number * means)

    def _ends(self, values: Floats) -> tuple[float, float]:
        return _reach(values, math.inf, -math.inf)

    def no_unseen(self, worst: float) -> str | None:
        return NO_WORST


@dataclass(frozen=True)
class Count(Sum):
    """The number of ones in a column of zeros and ones."""

    def possible_values(self, table: CaseTable) -> int:
        return _numbers_of_ones(table[self.column])

    def _ends(self, values: Floats) -> tuple[float, float]:
        return 0.0, 1.0

    def no_unseen(self, worst: float) -> str | None:
        return None


@dataclass(frozen=True)
class RootMeanSquare(_OfColumn, _OfSums):
    """The root of the mean square of a column."""

    def values(self, cases: WeightedCases, /) -> Floats:
        return np.sqrt(weighted_mean(cases.table[self.column] ** 2, cases.weights))

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums:
        values = table[self.column]
        low, high = _reach(np.abs(values), worst, best)
        return _mean_of(values**2, low**2, high**2, np.sqrt)


_LIMIT = 1.96


@dataclass(frozen=True)
class LimitOfAgreement(_OfColumn, _OfSums):
    """The mean of a column of differences, plus or minus 1.96 standard deviations (ddof = 1).

    ``largest``: the largest size that a difference may have. Source: Bland and Altman 1986, Lancet 327:307.
    """

    upper: bool
    largest: float = math.inf

    def values(self, cases: WeightedCases, /) -> Floats:
        column, weights = cases.table[self.column], cases.weights
        number = weights @ ~np.isnan(column)
        variance = weighted_deviation(column, weights) ** 2 * ratio_or_nan(number * 1.0, number - 1.0)
        width = _LIMIT * np.sqrt(variance)
        return weighted_mean(column, weights) + (width if self.upper else -width)

    def no_unseen(self, worst: float) -> str | None:
        return super().no_unseen(self.largest)

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums:
        centre = float(np.nanmean(table[self.column]))
        values = table[self.column] - centre
        entering = ~np.isnan(values)
        number = float(np.count_nonzero(entering))
        side = _LIMIT if self.upper else -_LIMIT
        low, high = (end - centre for end in _reach(table[self.column], self.largest, -self.largest))
        unseen = np.array([[end, end**2, 1.0] for end in (low, 0.0, high)])

        def figure(sums: Floats) -> Floats:
            mean, square = sums[..., 0] / sums[..., 2], sums[..., 1] / sums[..., 2]
            variance = np.maximum(square - mean**2, 0.0) * (number / max(1.0, number - 1))
            return np.asarray(centre + mean + side * np.sqrt(variance))

        columns = np.stack([np.nan_to_num(values), np.nan_to_num(values) ** 2, entering])
        return FigureOfSums(columns, figure, unseen, unseen)


@dataclass(frozen=True)
class MeanOfFigures(Estimator):
    """The mean of the figures that exist, of each label for example; by_reference: see `MeanOfMeans`."""

    figures: tuple[Estimator, ...]
    by_reference: bool = True

    @property
    def is_mean(self) -> bool:
        return all(figure.is_mean for figure in self.figures)

    @property
    def group_column(self) -> str | None:
        return self.figures[0].group_column

    def groups(self, table: CaseTable) -> Strata | None:
        return self.figures[0].groups(table)

    def of_each(self, other: Callable[[str], Estimator]) -> Estimator:
        return MeanOfFigures(tuple(figure.of_each(other) for figure in self.figures), self.by_reference)

    def values(self, cases: WeightedCases, /) -> Floats:
        return mean_of_defined(np.array([figure.values(cases) for figure in self.figures]), axis=0)

    def strata(self, table: CaseTable, /) -> Strata:
        absent = np.all([figure.strata(table) < 0 for figure in self.figures], axis=0)
        return np.where(self.by_reference & absent, -1, 0)


@dataclass(frozen=True)
class MeanOfMeans(_OfSums):
    """The mean over columns of the mean of each over the cases for which it is defined.

    ``by_reference``: the reference alone tells for which cases a column is defined. A column that is defined
    for no case is left out.
    """

    columns: Sequence[str]
    by_reference: bool

    @property
    def is_mean(self) -> bool:
        return True

    def values(self, cases: WeightedCases, /) -> Floats:
        return self.of_each(Mean).values(cases)

    def strata(self, table: CaseTable, /) -> Strata:
        return self.of_each(Mean).strata(table)

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums:
        given = [column for name in self.columns if not np.isnan(column := table[name]).all()]
        parts = [_mean_of(column, *_reach(column, worst, best), np.asarray) for column in given]

        def figure(sums: Floats) -> Floats:
            pairs = sums.reshape(*sums.shape[:-1], -1, 2)
            return mean_of_defined(ratio_or_nan(pairs[..., 0], pairs[..., 1]), axis=-1)

        lowest, highest = (
            np.concatenate(rows, axis=1)
            for rows in ([one.lowest for one in parts], [one.highest for one in parts])
        )
        return FigureOfSums(np.concatenate([one.columns for one in parts]), figure, lowest, highest)

    def of_each(self, other: Callable[[str], Estimator]) -> Estimator:
        return MeanOfFigures(tuple(map(other, self.columns)), self.by_reference)


@dataclass(frozen=True)
class RatioOfSums(_OfSums):
    """The ratio of the sums of two columns, over the cases for which both are defined.

    ``of_nothing`` is the ratio where the sum of the denominators is 0, unless that of the column ``total`` is
    not: then it is 0. ``is_share``: it is a share, from 0 to 1, of units that are one or a few of each case.
    """

    numerator: str
    denominator: str
    of_nothing: float = math.nan
    is_share: bool = True
    total: str | None = None

    @property
    def _columns(self) -> tuple[str, ...]:
        return (self.numerator, self.denominator, *(() if self.total is None else (self.total,)))

    def _ratio(self, above: Floats, below: Floats, *total: Floats) -> Floats:
        nothing = np.where(total[0] > 0, 0.0, self.of_nothing) if total else self.of_nothing
        return np.where(below == 0, nothing, ratio_or_nan(above, below))

    def values(self, cases: WeightedCases, /) -> Floats:
        return self._ratio(*(weighted_mean(cases.table[name], cases.weights) for name in self._columns))

    def strata(self, table: CaseTable, /) -> Strata:
        return strata_of_column(table, self.numerator)

    def interval_method(self, bounded: bool) -> IntervalMethod:
        return "Wilson" if self.is_share and bounded else "BCa"

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums:
        columns = np.nan_to_num(np.stack([table[name] for name in self._columns]))
        above, below, *total = columns
        # A case of the mean denominator, 1 where all are 0; an infinite end is that of the numerator.
        size = float(below.mean()) or 1.0
        ends = _reach(above, *(end * size if math.isfinite(end) else end for end in (worst, best)))
        lowest, highest = (np.array([[end, size, *(of.mean() for of in total)]]) for end in ends)

        def figure(sums: Floats) -> Floats:
            return self._ratio(*np.moveaxis(sums, -1, 0))

        return FigureOfSums(columns, figure, lowest, highest, of_ratio=not total)


@dataclass(frozen=True)
class Quantile(_OfColumn):
    """A quantile of a column, by linear interpolation: its median at ½."""

    level: float

    @property
    def case_column(self) -> str:
        return self.column

    def values(self, cases: WeightedCases, /) -> Floats:
        return weighted_quantile(cases.table[self.column], cases.weights, self.level)

    def interval_method(self, bounded: bool) -> IntervalMethod:
        return "order-statistics" if 0 < self.level < 1 else super().interval_method(bounded)

    def no_unseen(self, worst: float) -> str | None:
        return None if 0 < self.level < 1 else NOTHING_BOUNDS


class QuantileTable(KeyTable):
    """A quantile of the figures of the cases, in place of their mean."""

    quantile: float = Key(description="From 0 to 1; 0.5 is the median.", gt=0, lt=1)

    def estimator(self, column: str) -> Estimator:
        """Return the estimator of the figures in a column."""
        return Quantile(column, self.quantile)

    @property
    def words(self) -> str:
        """What a title says of it."""
        return "median" if self.quantile == 0.5 else f"{self.quantile:g} quantile"


@dataclass(frozen=True)
class ByGroup(_OfSums):
    """The mean over groups of cases of a figure of each, over the groups that have one.

    ``column`` names the group of each case by a text, empty for a case that does not enter. A group is drawn
    as a whole, and counts as often as it is drawn.
    """

    figure: Estimator
    column: str

    @property
    def group_column(self) -> str:
        return self.column

    @property
    def max_cases(self) -> int | None:  # type: ignore[override]
        return self.figure.max_cases

    @property
    def case_column(self) -> str | None:
        return self.figure.case_column

    @property
    def case_figure(self) -> CaseFigure | None:  # type: ignore[override]
        return self.figure.case_figure

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums:
        # Each group counts once, with its first case.
        values = np.full(len(table), np.nan)
        for members, part in self._parts(table):
            values[members[0]] = self.figure.value(part)
        found = _mean_of(values, *_reach(values, worst, best), np.asarray)
        return replace(found, counted=found.columns[1])

    def _parts(self, table: CaseTable) -> list[tuple[NDArray[np.intp], CaseTable]]:
        def parts(table: CaseTable) -> list[tuple[NDArray[np.intp], CaseTable]]:
            groups = self.groups(table)
            members = (np.flatnonzero(groups == group) for group in range(int(groups.max(initial=-1)) + 1))
            return [(of_group, table.take(of_group)) for of_group in members if of_group.size]

        return table.derive(("tables of groups", self.column), parts)

    def values(self, cases: WeightedCases, /) -> Floats:
        sums = np.zeros((2, len(cases.weights)))
        for members, table in self._parts(cases.table):
            weights = cases.weights[:, members]
            times = weights.max(axis=1)
            values = np.full(len(weights), np.nan)
            # Mostly all members are drawn together: then the figure of the group is the same in each row.
            whole = (weights == times[:, np.newaxis]).all(axis=1)
            values[whole & (times > 0)] = self.figure.value(table)
            if not whole.all():
                values[~whole] = self.figure.values(WeightedCases(table, weights[~whole]))
            defined = ~np.isnan(values)
            sums[0, defined] += values[defined] * times[defined]
            sums[1, defined] += times[defined]
        return ratio_or_nan(*sums)

    def strata(self, table: CaseTable, /) -> Strata:
        return np.where((self.figure.strata(table) >= 0) & (self.groups(table) >= 0), 0, -1)

    def missing(self, worst: float, known: Row) -> Row:
        return self.figure.missing(worst, known)

    def groups(self, table: CaseTable) -> Strata:
        def number(table: CaseTable) -> Strata:
            names = table.objects(self.column)
            numbers = {name: number for number, name in enumerate(sorted(set(names) - {""}))}
            return np.array([numbers.get(name, -1) for name in names], dtype=np.int64)

        return table.derive(("groups", self.column), number)
