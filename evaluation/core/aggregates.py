"""Aggregates of classes, scores and numbers against true ones, beside the aggregates of `core.metric`."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core import metric
from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.metrics.arrays import Bools, Floats, ratio_or_nan, weighted_deviation, weighted_mean
from evaluation.metrics.classification import (
    PrecisionReading,
    RocTable,
    WeightedCounts,
    roc_table,
    weighted_average_precision,
    weighted_macro_auc,
    weighted_partial_auc,
    weighted_sensitivity_at_precision,
)
from evaluation.metrics.confusion import Confusion, weighted_confusion
from evaluation.metrics.intervals import percentile_interval
from evaluation.metrics.probabilities import (
    expected_calibration_errors_when_right,
    weighted_expected_calibration_error,
)
from evaluation.metrics.regression import (
    concordance_influence,
    correlation_influences,
    weighted_concordance_index,
)


def confusion_of(
    predicted: str,
    true: str,
    classes: int,
    figure: Callable[[Confusion], Floats],
    of: int | None = None,
    by_class: bool = False,
) -> metric.Aggregate:
    """Return a figure of the confusion matrix of two columns of class indices; figures share the matrix.

    NaN as a true class leaves a case out; NaN as a prediction is a case without a result, which takes the
    answer that is worst for the figure. of: the index of the class that is meant, if it is one. by_class:
    whether the figure is a mean of shares within the classes, and so the same for any shares of the classes.
    """

    def count(cases: WeightedCases) -> Confusion:
        return weighted_confusion(cases.table[true], cases.table[predicted], cases.weights, classes)

    return metric.Aggregate(
        values=lambda cases: figure(cases.derive(("confusion", predicted, true), count)),
        strata=lambda table: metric.strata_of_labels(table, true),
        is_share=by_class,
        decisive=_entering(true) if of is None and by_class else _of_class(true, of),
        drawn_together=not by_class,
    )


def _entering(true: str) -> Callable[[CaseTable], Bools]:
    return lambda table: ~np.isnan(table[true])


def _of_class(true: str, of: int | None) -> Callable[[CaseTable], Bools] | None:
    return None if of is None else lambda table: table[true] == of


def macro_auc_of(scores: Sequence[str], true: str) -> metric.Aggregate:
    """Return the mean AUC of each class against the rest; ``scores`` are the columns of the classes."""

    def values(cases: WeightedCases) -> Floats:
        table = cases.table
        return weighted_macro_auc(
            np.column_stack([table[column] for column in scores]), table[true], cases.weights
        )

    return metric.Aggregate(values, strata=lambda table: metric.strata_of_labels(table, true))


# --- Scores against 0/1 labels; without a result the score is −inf of a positive, +inf of a negative ---


def partial_auc_of(
    score: str, label: str, min_specificity: Fraction, max_specificity: Fraction, standardised: bool
) -> metric.Aggregate:
    """Return the area under the ROC curve between two specificities (NaN labels: left out)."""

    def figure(table: RocTable, weights: ArrayLike | WeightedCounts) -> Floats:
        return weighted_partial_auc(table, weights, min_specificity, max_specificity, standardised)

    return metric.Aggregate(
        lambda cases: figure(
            metric.roc_table_of(cases.table, score, label), metric.roc_counts_of(cases, score, label)
        ),
        strata=lambda table: metric.strata_of_labels(table, label),
        optimism=_of_unseen_negative(score, label, figure, 1.0),
    )


def average_precision_of(score: str, label: str, reading: PrecisionReading = "step") -> metric.Aggregate:
    """Return the average precision of a score column against a 0/1 label column (NaN: left out)."""
    figure = partial(weighted_average_precision, reading=reading)
    of_unseen = _of_unseen_negative(score, label, figure, 0.5)
    return replace(_of_thresholds(score, label, figure), optimism=of_unseen)


def _of_unseen_negative(
    score: str, label: str, figure: Callable[[RocTable, Floats], Floats], weight: float
) -> Callable[[CaseTable], float]:
    """Return by how much a figure falls with one more negative of some weight, above all other cases.

    So rare are such negatives that a sample may hold none. Half a case (Jeffreys' prior) is the least with
    which intervals of average precisions hold, a whole one of partial areas, which rest on few negatives.
    """

    def optimism(table: CaseTable) -> float:
        labelled = ~np.isnan(table[label])
        scores = np.append(table[score][labelled], np.inf)
        weights = np.ones((2, scores.size))
        weights[:, -1] = 0, weight
        found = figure(roc_table(scores, np.append(table[label][labelled] > 0, False)), weights)
        return float(found[0] - found[1])

    return optimism


_HALVES = 50
_BIAS_OF_HALVES = 2.0**0.5 - 1


def _halves(table: CaseTable) -> WeightedCases:
    """Return all cases, then random halves of them and what each leaves; the same for tables of one size."""
    generator, cases = np.random.default_rng(_HALVES), len(table)
    chosen = np.array([generator.permutation(cases) < cases // 2 for _ in range(_HALVES)])
    return WeightedCases(table, np.vstack([np.ones_like(chosen[:1]), chosen, ~chosen]).astype(np.int64))


def optimism_of_envelope(values: Callable[[WeightedCases], Floats]) -> Callable[[CaseTable], float]:
    """Return by how much a figure is too high that reads the highest precision at any higher recall.

    Where precision hardly changes with recall, its maximum is too high in proportion to n^−½ for n cases. So
    the mean of random halves lies above the value by √2 − 1 of its bias; the bootstrap shows less, as its
    curves have the same cases. Source: Bickel, Götze and van Zwet 1997, Stat. Sin. 7:1 (m of n cases).
    """

    def optimism(table: CaseTable) -> float:
        found = values(table.derive("halves", _halves))
        return max(0.0, float(np.nanmean(found[1:]) - found[0])) / _BIAS_OF_HALVES

    return optimism


def sensitivity_at_precision_of(score: str, label: str, target: Fraction) -> metric.Aggregate:
    """Return the sensitivity of a score column at a precision of at least ``target``."""
    return _of_thresholds(score, label, partial(weighted_sensitivity_at_precision, target=target))


def _of_thresholds(
    score: str, label: str, figure: Callable[[RocTable, ArrayLike], Floats]
) -> metric.Aggregate:
    return metric.Aggregate(
        values=lambda cases: figure(
            metric.roc_table_of(cases.table, score, label), metric.labelled_weights(cases, label)
        ),
        strata=lambda table: metric.strata_of_labels(table, label),
        decisive=_of_class(label, 1),
        drawn_together=True,
    )


_CALIBRATED_SETS = 1000


def calibration_metric(
    name: str, title: str, pairs: Sequence[tuple[str, str]], true: str, bins: int
) -> metric.Metric:
    """Return the mean calibration error of pairs of columns, see `mean_calibration_error_of`.

    Beside it stands the range of 95 % of the errors that these probabilities have where they are right: 1,000
    times, the class of each case is drawn with its probabilities. A case without a result counts 1 then, too.
    Source: Bröcker and Smith 2007, Weather Forecast. 22:651 (consistency bars).
    """

    def band(table: CaseTable, seed: int) -> dict[str, metric.MethodInterval]:
        columns = np.column_stack([table[probability] for probability, _ in pairs])
        given = np.where(np.isfinite(columns), columns, np.nan)[~np.isnan(table[true])]
        errors = expected_calibration_errors_when_right(given, bins, _CALIBRATED_SETS, seed)
        return {"under_calibration": metric.MethodInterval(percentile_interval(errors), "calibration-band")}

    return metric.Metric(
        name,
        title,
        mean_calibration_error_of(pairs, true, bins),
        best=0,
        worst=1,
        fixed_intervals=band,
        no_interval="the estimate is biased upwards: see under_calibration",
    )


def calibration_error_of(probability: str, label: str, bins: int) -> metric.Aggregate:
    """Return the expected calibration error of a column of probabilities (NaN labels: left out).

    It is estimated too high, so that no interval about it holds the true value: see `calibration_metric`.
    """
    return mean_calibration_error_of([(probability, label)], label, bins)


def mean_calibration_error_of(pairs: Sequence[tuple[str, str]], true: str, bins: int) -> metric.Aggregate:
    """Return the mean of the calibration errors of pairs of columns, of probabilities and of 0/1 labels.

    ``true`` is the column of the true classes, within which cases are drawn; NaN labels leave a case out.
    """

    def values(cases: WeightedCases) -> Floats:
        errors = np.zeros(len(cases.weights))
        for probability, label in pairs:
            column = cases.table[probability]
            given = np.where(np.isfinite(column), column, np.nan)
            errors += weighted_expected_calibration_error(given, cases.table[label], cases.weights, bins)
        return errors / len(pairs)

    return metric.Aggregate(values, strata=lambda table: metric.strata_of_labels(table, true))


# --- Predicted numbers against true ones; NaN in a column of true values leaves a case out ---

Figure = Callable[[ArrayLike, ArrayLike, ArrayLike], Floats]

_LIMIT = 1.96
_MAX_PAIRED_CASES = 20_000  # for figures whose time is quadratic in the cases


def root_mean_square_of(column: str) -> metric.Aggregate:
    """Return the root of the mean square of a column over the cases for which it is defined."""
    return metric.Aggregate(
        values=lambda cases: np.sqrt(weighted_mean(cases.table[column] ** 2, cases.weights)),
        strata=lambda table: metric.strata_of_column(table, column),
        mean=metric.Mean(lambda table: table[column] ** 2, lambda mean, cases: math.sqrt(max(0.0, mean))),
    )


def mean_of_means(columns: Sequence[str], by_reference: bool) -> metric.Aggregate:
    """Return the mean over columns of the mean of each over the cases for which it is defined.

    ``by_reference``: the reference alone tells for which cases a column is defined. A column that is defined
    for no case is left out.
    """

    def values(cases: WeightedCases) -> Floats:
        means = np.array([weighted_mean(cases.table[column], cases.weights) for column in columns])
        return ratio_or_nan(np.nansum(means, axis=0), (~np.isnan(means)).sum(axis=0) * 1.0)

    def strata(table: CaseTable) -> metric.Strata:
        absent = np.all([np.isnan(table[column]) for column in columns], axis=0)
        return np.where(by_reference & absent, -1, 0)

    def linearised(table: CaseTable) -> Floats:
        given = np.array([column for name in columns if not np.isnan(column := table[name]).all()])
        defined = ~np.isnan(given)
        means = np.nanmean(given, axis=1, keepdims=True)
        shares = np.where(defined, given - means, 0.0) / defined.mean(axis=1, keepdims=True)
        return np.asarray(means.mean() + shares.mean(axis=0))

    return metric.Aggregate(values, strata, mean=metric.Mean(linearised), rare_failures=True)


def ratio_of_sums(
    numerator: str,
    denominator: str,
    of_nothing: float = math.nan,
    is_share: bool = True,
    of_failure: float | None = None,
) -> metric.Aggregate:
    """Return the ratio of the sums of two columns, over the cases for which both are defined.

    ``of_nothing`` is the ratio where the sum of the denominators is 0. ``is_share``: it is a share, from 0 to
    1, not any ratio. ``of_failure``: the numerator of a failed case whose denominator is 0, if failures may
    be so rare that a sample holds none; one whose denominator is 1 has the numerator 0.
    """

    def linearised(table: CaseTable) -> Floats:
        above, below = table[numerator], table[denominator]
        ratio = np.nansum(above) / np.nansum(below)
        return np.asarray(ratio + (above - ratio * below) / np.nanmean(below))

    def unseen(table: CaseTable) -> float:
        ratio = np.nansum(table[numerator]) / np.nansum(table[denominator])
        return float(ratio + min(of_failure or 0.0, -ratio) / np.nanmean(table[denominator]))

    def values(cases: WeightedCases) -> Floats:
        above, below = (weighted_mean(cases.table[name], cases.weights) for name in (numerator, denominator))
        return np.where(below == 0, of_nothing, ratio_or_nan(above, below))

    return metric.Aggregate(
        values,
        strata=lambda table: metric.strata_of_column(table, numerator),
        mean=None if is_share else metric.Mean(linearised, unseen=None if of_failure is None else unseen),
        rare_failures=of_failure is not None,
    )


def limit_of_agreement_of(difference: str, upper: bool) -> metric.Aggregate:
    """Return the mean of a column of differences, plus or minus 1.96 standard deviations (ddof = 1).

    Source: Bland and Altman 1986, Lancet 327:307.
    """

    def values(cases: WeightedCases) -> Floats:
        column, weights = cases.table[difference], cases.weights
        number = weights @ ~np.isnan(column)
        variance = weighted_deviation(column, weights) ** 2 * ratio_or_nan(number * 1.0, number - 1.0)
        width = _LIMIT * np.sqrt(variance)
        return weighted_mean(column, weights) + (width if upper else -width)

    def linearised(table: CaseTable) -> Floats:
        column = table[difference]
        centred, deviation = column - np.nanmean(column), np.nanstd(column, ddof=1)
        width = np.divide(
            centred**2 + deviation**2, 2 * deviation, out=np.zeros_like(column), where=deviation > 0
        )
        return np.asarray(column + (_LIMIT if upper else -_LIMIT) * width)

    return metric.Aggregate(
        values, strata=lambda table: metric.strata_of_column(table, difference), mean=metric.Mean(linearised)
    )


def agreement_of(predicted: str, true: str, figure: Figure, absolute: bool | None = None) -> metric.Aggregate:
    """Return a correlation or agreement of two columns; −1 if a case with weight has no result.

    Values below −1, possible for an intraclass correlation of few cases, count as −1. absolute: see
    `correlation_influences`; None for another figure than these two.
    """

    def values(cases: WeightedCases) -> Floats:
        made, wanted = cases.table[predicted], cases.table[true]
        missing = cases.weights @ (np.isnan(made) & ~np.isnan(wanted)) > 0
        value = np.maximum(figure(made, wanted, cases.weights), -1.0)
        if not missing.any():
            return value
        # Whether the figure exists depends on the true values alone.
        exists = ~np.isnan(figure(wanted, wanted, cases.weights))
        return np.where(missing, np.where(exists, -1.0, np.nan), value)

    def influences(cases: WeightedCases) -> Floats:
        table = cases.table
        return correlation_influences(table[predicted], table[true], cases.weights, bool(absolute))

    return metric.Aggregate(
        values,
        strata=lambda table: metric.strata_of_column(table, true),
        weighted_influence=None if absolute is None else influences,
    )


def concordance_of(predicted: str, time: str, event: str, risk: bool) -> metric.Aggregate:
    """Return Harrell's concordance index; with ``risk`` a higher prediction means an earlier event."""

    def values(cases: WeightedCases) -> Floats:
        table = cases.table
        order = -table[predicted] if risk else table[predicted]
        return weighted_concordance_index(order, table[time], table[event], cases.weights)

    def influence(table: CaseTable) -> Floats:
        order = -table[predicted] if risk else table[predicted]
        return concordance_influence(order, table[time], table[event])

    return metric.Aggregate(
        values,
        strata=lambda table: metric.strata_of_labels(table, event),
        max_cases=_MAX_PAIRED_CASES,
        influence=influence,
        decisive=lambda table: table[event] > 0,
    )
