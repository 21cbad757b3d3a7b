"""Estimators of predicted against true values: scores and classes, presence, survival, measured numbers."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core import estimator
from evaluation.core.case_table import CaseTable, Row, WeightedCases
from evaluation.core.estimator import Curve, Decision, Estimator, Strata
from evaluation.core.metric import FixedIntervals, Metric
from evaluation.metrics import classification
from evaluation.metrics.arrays import Bools, Floats, ratio_or_nan
from evaluation.metrics.confusion import Confusion, weighted_confusion
from evaluation.metrics.operating_points import (
    weighted_interpolated_sensitivity,
    weighted_sensitivity_at_specificity,
)
from evaluation.metrics.probabilities import (
    expected_calibration_errors_when_right,
    weighted_expected_calibration_error,
)
from evaluation.metrics.regression import concordance_influence, weighted_concordance_index
from evaluation.stats.areas import UNSEEN_UNITS
from evaluation.stats.bootstrap import UnitWeights
from evaluation.stats.columns import weighted_deviation, weighted_mean
from evaluation.stats.figure import Figure, Interval, IntervalMethod
from evaluation.stats.intervals import correlation_influences, percentile_interval, wilson_interval
from evaluation.stats.unseen import FigureOfSums

# --- Scores against 0/1 labels (NaN: left out); without a result it is −inf of a positive, +inf of others ---

_FARTHEST = {1: -math.inf, 0: math.inf}
Weights = NDArray[np.number] | classification.WeightedCounts
"""Rows of weights of the cases, or what figures of a ROC curve need of them."""


def strata_of_labels(table: CaseTable, label: str) -> Strata:
    """Return one stratum for each class of a 0/1 label column, −1 where it is NaN."""
    labels = table[label]
    return np.where(np.isnan(labels), -1, labels).astype(np.int64)


def roc_table_of(table: CaseTable, score: str, label: str) -> classification.RocTable:
    """Return the sorted cases that have a label, made once for a table."""

    def build(table: CaseTable) -> classification.RocTable:
        labelled = ~np.isnan(table[label])
        return classification.roc_table(table[score][labelled], table[label][labelled] > 0)

    return table.derive(("roc", score, label), build)


def labelled_weights(cases: WeightedCases, label: str) -> NDArray[np.number]:
    """Return the weights of the cases that have a label."""
    labelled = ~np.isnan(cases.table[label])
    return cases.weights if labelled.all() else cases.weights[:, labelled]


def roc_counts_of(cases: WeightedCases, score: str, label: str) -> classification.WeightedCounts:
    """Return the sums of weights that every figure of a ROC curve needs, made once for a table."""

    def count(cases: WeightedCases) -> classification.WeightedCounts:
        table = roc_table_of(cases.table, score, label)
        if not isinstance(cases.given, UnitWeights):
            return classification.weighted_counts(table, labelled_weights(cases, label))
        labelled = ~np.isnan(cases.table[label])
        return classification.weighted_counts(
            table, cases.given if labelled.all() else cases.given.among(labelled)
        )

    return cases.derive(("roc", score, label), count)


@dataclass(frozen=True)
class _OfScores(Estimator):
    """An estimator of a score column against a 0/1 label column."""

    score: str
    label: str

    def strata(self, table: CaseTable, /) -> Strata:
        return strata_of_labels(table, self.label)

    def classes(self, table: CaseTable) -> tuple[int, int]:
        """Return the numbers of positive and of negative cases."""
        labels = table[self.label]
        positives, negatives = (int(np.count_nonzero(labels == value)) for value in (1, 0))
        return positives, negatives

    def missing(self, worst: float, known: Row) -> Row:
        label = known[self.label]
        return {self.score: _FARTHEST.get(label, math.nan), self.label: label}

    def no_unseen(self, worst: float) -> str | None:
        return None

    def figure(self, table: classification.RocTable, weights: Weights) -> Floats:
        """Return the figure of the cases that have a label under each row of weights."""
        raise NotImplementedError

    def values(self, cases: WeightedCases, /) -> Floats:
        table = roc_table_of(cases.table, self.score, self.label)
        return self.figure(table, roc_counts_of(cases, self.score, self.label))

    def with_unseen(self, table: CaseTable, /, size: float = 1.0) -> Sequence[float]:
        # As many negatives above all cases as the sample may lack.
        labelled = ~np.isnan(table[self.label])
        scores = np.append(table[self.score][labelled], np.inf)
        weights = np.ones((1, scores.size))
        weights[:, -1] = UNSEEN_UNITS * size
        positive = np.append(table[self.label][labelled] > 0, False)
        return [float(self.figure(classification.roc_table(scores, positive), weights)[0])]


@dataclass(frozen=True)
class RocArea(_OfScores):
    """The area under the ROC curve."""

    @property
    def curve(self) -> Curve:
        return Curve(self.score, self.label, is_area=True)

    def figure(self, table: classification.RocTable, weights: Weights) -> Floats:
        return classification.weighted_auc(table, weights)

    def interval_method(self, bounded: bool) -> IntervalMethod:
        return "logit-DeLong"

    def possible_values(self, table: CaseTable) -> int:
        # Halves of a pair: 0, ½, 1, … of positives × negatives.
        positives, negatives = self.classes(table)
        return 2 * positives * negatives + 1


@dataclass(frozen=True)
class PartialRocArea(_OfScores):
    """The area under the ROC curve between two specificities."""

    min_specificity: Fraction
    max_specificity: Fraction
    standardised: bool

    def figure(self, table: classification.RocTable, weights: Weights) -> Floats:
        return classification.weighted_partial_auc(
            table, weights, self.min_specificity, self.max_specificity, self.standardised
        )


SpecificityReading = Literal["step", "interpolated"]


@dataclass(frozen=True)
class SensitivityAtSpecificity(_OfScores):
    """The sensitivity at a specificity of at least ``target``.

    reading: "step" (at a threshold) or "interpolated" (on the curve).
    """

    target: Fraction
    reading: SpecificityReading = "step"
    is_share = True

    @property
    def curve(self) -> Curve:
        specificity = self.target if self.reading == "step" else None
        return Curve(self.score, self.label, is_area=False, specificity=specificity)

    def figure(self, table: classification.RocTable, weights: Weights) -> Floats:
        if self.reading == "step":
            return weighted_sensitivity_at_specificity(table, weights, self.target)
        return weighted_interpolated_sensitivity(table, weights, self.target)

    def decisive(self, table: CaseTable, /) -> Bools:
        return table[self.label] > 0

    def possible_values(self, table: CaseTable) -> int | None:
        return self.classes(table)[0] + 1 if self.reading == "step" else None


@dataclass(frozen=True)
class AveragePrecision(_OfScores):
    """The average precision."""

    drawn_together = True

    def values(self, cases: WeightedCases, /) -> Floats:
        table = roc_table_of(cases.table, self.score, self.label)
        return self.figure(table, labelled_weights(cases, self.label))

    def figure(self, table: classification.RocTable, weights: Weights) -> Floats:
        assert isinstance(weights, np.ndarray)
        return classification.weighted_average_precision(table, weights)

    def decisive(self, table: CaseTable, /) -> Bools:
        return np.asarray(table[self.label] == 1)


@dataclass(frozen=True)
class MeanOfClasses(estimator.MeanOfFigures):
    """The mean over classes of the figures that exist, by groups of the means of each over the groups."""

    def no_unseen(self, worst: float) -> str | None:
        return next((why for figure in self.figures if (why := figure.no_unseen(worst))), None)

    def with_unseen(self, table: CaseTable, /, size: float = 1.0) -> Sequence[float]:
        found = np.array([figure.with_unseen(table, size) for figure in self.figures], dtype=np.float64)
        return [float(found[~np.isnan(found)].mean())] if not np.isnan(found).all() else ()

    def by_group(self, column: str) -> Estimator:
        figures = tuple(figure.by_group(column) for figure in self.figures)
        return estimator.MeanOfFigures(figures, self.by_reference)


@dataclass(frozen=True)
class MacroRocArea(Estimator):
    """The mean area of each class against the rest; ``scores`` are the columns of the classes."""

    scores: Sequence[str]
    true: str

    def values(self, cases: WeightedCases, /) -> Floats:
        table = cases.table
        columns = np.column_stack([table[column] for column in self.scores])
        return classification.weighted_macro_auc(columns, table[self.true], cases.weights)

    def strata(self, table: CaseTable, /) -> Strata:
        return strata_of_labels(table, self.true)


def wilson_at_threshold(sensitivity: Estimator, label: str) -> FixedIntervals:
    """Return the Wilson interval of a sensitivity as if its threshold were given, not found on the cases."""

    def intervals(table: CaseTable, seed: int, units: Strata | None) -> dict[str, Figure]:
        positives = int(np.count_nonzero(table[label] == 1))
        detected = round(sensitivity.value(table) * positives)
        interval = Figure.of(detected / positives, wilson_interval(detected, positives), "Wilson")
        return {"wilson_threshold_held_fixed": interval}

    return intervals


# --- Decided classes ---


@dataclass(frozen=True)
class PresenceF1(Estimator):
    """The F1 of a structure's detection from two 0/1 columns, over all cases."""

    predicted: str
    present: str

    @property
    def decision(self) -> Decision:
        return Decision(self.predicted, self.present)

    def values(self, cases: WeightedCases, /) -> Floats:
        sums = self.of_sums(cases.table, worst=0, best=1)
        return sums.figure(cases.weights @ sums.columns.T)

    def missing(self, worst: float, known: Row) -> Row:
        present = known[self.present]
        return {self.predicted: 1 - present, self.present: present}

    def interval_method(self, bounded: bool) -> IntervalMethod:
        return "Wilson"

    def no_unseen(self, worst: float) -> str | None:
        return None

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums:
        predicted, present = table[self.predicted] > 0, table[self.present] > 0

        def figure(sums: Floats) -> Floats:
            found = ratio_or_nan(2 * sums[..., 0], sums[..., 1])
            return np.where(np.isnan(found), 1.0, found)  # nothing to find, and nothing found

        # A false detection lowers the figure as much as one that is missed.
        columns = np.stack([predicted & present, predicted * 1.0 + present])
        lowest, highest = np.array([[0.0, 1.0]]), np.array([[1.0, 2.0]])
        return FigureOfSums(columns, figure, lowest, highest, of_ratio=True)

    def decisive(self, table: CaseTable, /) -> Bools:
        return table[self.present] > 0

    def possible_values(self, table: CaseTable) -> int:
        # The number of predicted structures is the submission's own; only the true positives are not.
        present = table[self.present]
        return min(int(np.count_nonzero(present == value)) for value in (1, 0)) + 1


@dataclass(frozen=True)
class ConfusionFigure(Estimator):
    """A figure of the confusion matrix of two columns of class indices; figures share the matrix.

    NaN as a true class leaves a case out; NaN as a prediction is a case without a result, which takes the
    answer that is worst for the figure. of: the index of the class that is meant, if it is one. by_class:
    whether the figure is a mean of shares within the classes, and so the same for any shares of the classes.
    """

    predicted: str
    true: str
    classes: int
    figure: Callable[[Confusion], Floats]
    of: int | None = None
    by_class: bool = False

    @property
    def drawn_together(self) -> bool:
        return not self.by_class

    @property
    def is_share(self) -> bool:
        return self.by_class

    def values(self, cases: WeightedCases, /) -> Floats:
        def count(cases: WeightedCases) -> Confusion:
            columns = (cases.table[self.true], cases.table[self.predicted])
            return weighted_confusion(*columns, cases.weights, self.classes)

        return self.figure(cases.derive(("confusion", self.predicted, self.true), count))

    def strata(self, table: CaseTable, /) -> Strata:
        return strata_of_labels(table, self.true)

    def interval_method(self, bounded: bool) -> IntervalMethod:
        return "Wilson" if bounded else "BCa"

    def no_unseen(self, worst: float) -> str | None:
        return None

    def of_sums(self, table: CaseTable, worst: float, best: float) -> FigureOfSums:
        width = self.classes + 1  # the last answer of a true class: no result
        true, predicted = table[self.true], table[self.predicted]
        cell = true * width + np.where(np.isnan(predicted), self.classes, predicted)
        columns = (cell == np.arange(self.classes * width)[:, np.newaxis]).astype(np.float64)

        def figure(sums: Floats) -> Floats:
            cells = sums.reshape(-1, self.classes, width)
            found = self.figure(Confusion(cells[..., :-1], cells[..., -1])).reshape(sums.shape[:-1])
            return np.where(np.isnan(found), value, found)

        counts = columns.sum(axis=1)
        value = math.nan
        value = float(figure(counts))
        # A case of each class of the reference with each answer.
        present = np.repeat(counts.reshape(-1, width).any(axis=1), width)
        unseen = np.eye(self.classes * width)[present & (np.arange(counts.size) % width < self.classes)]
        order = np.argsort(figure(counts + unseen), kind="stable")
        return FigureOfSums(columns, figure, unseen[order[:1]], unseen[order[-1:]])

    def decisive(self, table: CaseTable, /) -> Bools | None:
        if self.of is not None:
            return np.asarray(table[self.true] == self.of)
        return ~np.isnan(table[self.true]) if self.by_class else None


# --- Calibration of probabilities ---

_CALIBRATED_SETS = 1000


@dataclass(frozen=True)
class CalibrationError(Estimator):
    """The mean of the calibration errors of pairs of columns, of probabilities and of 0/1 labels.

    ``true`` is the column of the true classes, within which cases are drawn; NaN labels leave a case out. The
    error is estimated too high, so that no interval about it holds the true value: see `calibration_metric`.
    """

    pairs: Sequence[tuple[str, str]]
    true: str
    bins: int

    def values(self, cases: WeightedCases, /) -> Floats:
        errors = np.zeros(len(cases.weights))
        for probability, label in self.pairs:
            column = cases.table[probability]
            given = np.where(np.isfinite(column), column, np.nan)
            labels = cases.table[label]
            errors += weighted_expected_calibration_error(given, labels, cases.weights, self.bins)
        return errors / len(self.pairs)

    def strata(self, table: CaseTable, /) -> Strata:
        return strata_of_labels(table, self.true)


def calibration_metric(
    name: str, title: str, pairs: Sequence[tuple[str, str]], true: str, bins: int
) -> Metric:
    """Return the mean calibration error of pairs of columns, see `CalibrationError`.

    Beside it stands the range of 95 % of the errors that these probabilities have where they are right: 1,000
    times, the class of each case is drawn with its probabilities. A case without a result counts 1 then, too.
    Cases of a unit may have more or less in common: the upper end is that of cases that are drawn together,
    by one random number, the lower end that of cases drawn alone.
    Source: Bröcker and Smith 2007, Weather Forecast. 22:651 (consistency bars).
    """

    def band(table: CaseTable, seed: int, units: Strata | None) -> dict[str, Figure]:
        columns = np.column_stack([table[probability] for probability, _ in pairs])
        entering = ~np.isnan(table[true])
        given = np.where(np.isfinite(columns), columns, np.nan)[entering]

        def drawn(together: Strata | None) -> Interval:
            errors = expected_calibration_errors_when_right(given, bins, _CALIBRATED_SETS, seed, together)
            return percentile_interval(errors)

        found = drawn(None)
        if units is not None:
            found = Interval(found.lower, max(found.upper, drawn(units[entering]).upper))
        return {"under_calibration": Figure.of(math.nan, found, "calibration-band")}

    return Metric(
        name,
        title,
        CalibrationError(pairs, true, bins),
        best=0,
        worst=1,
        fixed_intervals=band,
        no_interval="the estimate is biased upwards: see under_calibration",
    )


# --- Predicted numbers against true ones; NaN in a column of true values leaves a case out ---

PairFigure = Callable[[ArrayLike, ArrayLike, ArrayLike], Floats]

_LARGEST = 1e100
_MAX_PAIRED_CASES = 20_000  # for figures whose time is quadratic in the cases


@dataclass(frozen=True)
class Determination(Estimator):
    """The coefficient of determination R² of a column of predicted from one of true values.

    1 − the sum of squared errors by that of the squared deviations of the true values from their mean; NaN
    where these do not differ.
    """

    predicted: str
    true: str

    def values(self, cases: WeightedCases, /) -> Floats:
        predicted, true = cases.table[self.predicted], cases.table[self.true]
        error = weighted_mean((predicted - true) ** 2, cases.weights)
        return 1 - ratio_or_nan(error, weighted_deviation(true, cases.weights) ** 2)


@dataclass(frozen=True)
class Agreement(Estimator):
    """A correlation or agreement of two columns; −1 if a case with weight has no result.

    Values below −1, possible for an intraclass correlation of few cases, count as −1. absolute: see
    `correlation_influences`; None for another figure than these two.
    """

    predicted: str
    true: str
    figure: PairFigure
    absolute: bool | None = None

    def values(self, cases: WeightedCases, /) -> Floats:
        # The squares of larger numbers are infinite, and no figure is left of them.
        made = np.clip(cases.table[self.predicted], -_LARGEST, _LARGEST)
        wanted = cases.table[self.true]
        missing = cases.weights @ (np.isnan(made) & ~np.isnan(wanted)) > 0
        value = np.maximum(self.figure(made, wanted, cases.weights), -1.0)
        if not missing.any():
            return value
        # Whether the figure exists depends on the true values alone.
        exists = ~np.isnan(self.figure(wanted, wanted, cases.weights))
        return np.where(missing, np.where(exists, -1.0, np.nan), value)

    def strata(self, table: CaseTable, /) -> Strata:
        return estimator.strata_of_column(table, self.true)

    def interval_method(self, bounded: bool) -> IntervalMethod:
        return "Fisher" if bounded and self.absolute is not None else super().interval_method(bounded)

    def no_unseen(self, worst: float) -> str | None:
        return "a single gross error may reverse a correlation"

    def corrected(self, table: CaseTable, /) -> Sequence[float]:
        # Cases that are drawn twice are ties, which lower the mean of the bootstrap of ranks.
        return [self.value(table)]

    def influence(self, table: CaseTable, worst: float, best: float) -> Floats | None:
        if self.absolute is None:
            return None
        made = np.clip(table[self.predicted], -_LARGEST, _LARGEST)
        ones = np.ones((1, len(table)))
        found = correlation_influences(made, table[self.true], ones, self.absolute)[0]
        return np.asarray(found / len(table))


@dataclass(frozen=True)
class Concordance(Estimator):
    """Harrell's concordance index; with ``risk`` a higher prediction means an earlier event."""

    predicted: str
    time: str
    event: str
    risk: bool
    max_cases = _MAX_PAIRED_CASES

    def values(self, cases: WeightedCases, /) -> Floats:
        return weighted_concordance_index(*self._columns(cases.table), cases.weights)

    def strata(self, table: CaseTable, /) -> Strata:
        return strata_of_labels(table, self.event)

    def interval_method(self, bounded: bool) -> IntervalMethod:
        return "Wilson" if bounded else super().interval_method(bounded)

    def influence(self, table: CaseTable, worst: float, best: float) -> Floats:
        return concordance_influence(*self._columns(table))

    def decisive(self, table: CaseTable, /) -> Bools:
        return table[self.event] > 0

    def _columns(self, table: CaseTable) -> tuple[Floats, Floats, Floats]:
        predicted = table[self.predicted]
        return -predicted if self.risk else predicted, table[self.time], table[self.event]
