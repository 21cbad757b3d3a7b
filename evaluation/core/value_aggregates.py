"""Aggregates of predicted numbers against true ones: errors, correlations, limits of agreement, concordance.

NaN in a column of true values leaves a case out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from evaluation.core.case_table import CaseTable, FloatArray, WeightedCases
from evaluation.core.labelled_cases import strata_of_labels
from evaluation.core.metric import Aggregate, Strata
from evaluation.metrics.averages import weighted_deviation, weighted_mean
from evaluation.metrics.ratio import ratio_or_nan
from evaluation.metrics.survival import concordance_index

Figure = Callable[[ArrayLike, ArrayLike, ArrayLike], FloatArray]

_LIMIT = 1.96
_MAX_PAIRED_CASES = 2000  # for figures whose time is quadratic in the cases


def root_mean_square_of(column: str) -> Aggregate:
    """Return the root of the mean square of a column over the cases for which it is defined."""
    return Aggregate(
        values=lambda cases: np.sqrt(weighted_mean(cases.table[column] ** 2, cases.weights)),
        strata=lambda table: _defined(table, column),
    )


def ratio_of_sums(numerator: str, denominator: str) -> Aggregate:
    """Return the ratio of the sums of two columns, over the cases for which both are defined."""

    def values(cases: WeightedCases) -> FloatArray:
        above, below = (weighted_mean(cases.table[name], cases.weights) for name in (numerator, denominator))
        return ratio_or_nan(above, below)

    return Aggregate(values, strata=lambda table: _defined(table, numerator))


def limit_of_agreement_of(difference: str, upper: bool) -> Aggregate:
    """Return the mean of a column of differences, plus or minus 1.96 standard deviations (ddof = 1).

    Source: Bland and Altman 1986, Lancet 327:307.
    """

    def values(cases: WeightedCases) -> FloatArray:
        column, weights = cases.table[difference], cases.weights
        number = weights @ ~np.isnan(column)
        variance = weighted_deviation(column, weights) ** 2 * ratio_or_nan(number * 1.0, number - 1.0)
        width = _LIMIT * np.sqrt(variance)
        return weighted_mean(column, weights) + (width if upper else -width)

    return Aggregate(values, strata=lambda table: _defined(table, difference))


def agreement_of(predicted: str, true: str, figure: Figure) -> Aggregate:
    """Return a correlation or agreement of two columns; −1 if a case with weight has no result.

    Values below −1, possible for an intraclass correlation of few cases, count as −1.
    """

    def values(cases: WeightedCases) -> FloatArray:
        made, wanted = cases.table[predicted], cases.table[true]
        missing = cases.weights @ (np.isnan(made) & ~np.isnan(wanted)) > 0
        value = np.maximum(figure(made, wanted, cases.weights), -1.0)
        if not missing.any():
            return value
        # Whether the figure exists depends on the true values alone.
        exists = ~np.isnan(figure(wanted, wanted, cases.weights))
        return np.where(missing, np.where(exists, -1.0, np.nan), value)

    return Aggregate(values, strata=lambda table: _defined(table, true))


def concordance_of(predicted: str, time: str, event: str, risk: bool) -> Aggregate:
    """Return Harrell's concordance index; with ``risk`` a higher prediction means an earlier event."""

    def values(cases: WeightedCases) -> FloatArray:
        table = cases.table
        order = -table[predicted] if risk else table[predicted]
        return concordance_index(order, table[time], table[event], cases.weights)

    return Aggregate(values, strata=lambda table: strata_of_labels(table, event), max_cases=_MAX_PAIRED_CASES)


def _defined(table: CaseTable, column: str) -> Strata:
    return np.where(np.isnan(table[column]), -1, 0)
