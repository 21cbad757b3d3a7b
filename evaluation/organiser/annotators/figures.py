"""Figures of agreement: intraclass correlations, limits of agreement."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.figure import Figure
from evaluation.stats.student import student_quantile

_LIMIT = 1.96


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """One figure of agreement; ``second`` is empty for a figure of all annotators together.

    ``lower`` and ``upper`` are its 95 % confidence interval, None where it has none.
    """

    field: str
    measure: str
    first: str
    second: str
    cases: int
    value: float
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class IntraclassCorrelations:
    """Single-rating correlations, at most 1: of absolute agreement, ICC(2,1), of consistency, ICC(3,1)."""

    agreement: Figure
    consistency: Figure


@dataclass(frozen=True)
class LimitsOfAgreement:
    """Mean difference of two annotators and the limits within which 95 % of their differences lie.

    All are in the unit of the ratings.
    """

    bias: Figure
    lower: Figure
    upper: Figure


def intraclass_correlations(ratings: ArrayLike, level: float = 0.95) -> IntraclassCorrelations | None:
    """Return ICC(2,1) and ICC(3,1) of annotators who all rated the same cases.

    ratings: shape (cases, annotators), finite. In ICC(2,1) annotators are a sample of many, and one who is
    always higher lowers it; in ICC(3,1) they are fixed, and such a shift does not count. None with fewer
    than two cases or annotators, where no annotator tells the cases apart, and where ICC(2,1) is a division
    by zero, as for two annotators who exchange the values of two cases; an interval that is one is NaN.
    Raises ValueError for other shapes and NaN.
    Source: Shrout and Fleiss 1979, Psychological Bulletin 86:420; intervals also McGraw and Wong 1996,
    Psychological Methods 1:30.
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError(f"ratings: expected numbers of shape (cases, annotators), found {table.shape}")
    n, k = table.shape
    if n < 2 or k < 2 or (table == table[0]).all():
        return None
    from scipy.special import fdtri

    deviation = table - table.mean()
    cases, annotators = deviation.mean(axis=1), deviation.mean(axis=0)
    residual = deviation - cases[:, np.newaxis] - annotators
    of_cases = float(k * (cases**2).sum() / (n - 1))
    of_annotators = float(n * (annotators**2).sum() / (k - 1))
    error = float((residual**2).sum() / ((n - 1) * (k - 1)))
    quantile = (1 + level) / 2

    total = of_cases + (k - 1) * error + k * (of_annotators - error) / n
    if total <= 0:
        return None
    agreement = (of_cases - error) / total
    consistency = (of_cases - error) / (of_cases + (k - 1) * error)
    if error <= 1e-20 * (of_cases + of_annotators):
        # Without any residual there is nothing that the intervals could be made of.
        return IntraclassCorrelations(_around(agreement, 0), _around(consistency, 0))

    ratio = of_annotators / error
    spread = n * (1 + (k - 1) * agreement) - k * agreement
    squares = (n - 1) * (k * agreement * ratio) ** 2 + spread**2
    freedom = (k - 1) * (n - 1) * (k * agreement * ratio + spread) ** 2 / squares if squares else math.nan
    low, high = float(fdtri(n - 1, freedom, quantile)), float(fdtri(freedom, n - 1, quantile))
    rest = k * of_annotators + (k * n - k - n) * error
    of_agreement = (
        n * (of_cases - low * error) / (low * rest + n * of_cases),
        n * (high * of_cases - error) / (rest + n * high * of_cases),
    )

    within = (n - 1) * (k - 1)
    low = of_cases / error / float(fdtri(n - 1, within, quantile))
    high = of_cases / error * float(fdtri(within, n - 1, quantile))
    of_consistency = (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)
    return IntraclassCorrelations(Figure(agreement, *of_agreement), Figure(consistency, *of_consistency))


def _around(value: float, half_width: float) -> Figure:
    return Figure(value, value - half_width, value + half_width)


def limits_of_agreement(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> LimitsOfAgreement | None:
    """Return the figures of Bland and Altman for two annotators of the same cases, first minus second.

    first, second: shape (cases,), finite. The limits are bias ± 1.96 standard deviations (ddof = 1). None
    with fewer than two cases. Raises ValueError for shapes that differ.
    Source: Bland and Altman 1986, Lancet 327:307; standard errors, 1999, Stat. Methods Med. Res. 8:135.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(f"first and second: expected equal numbers, found shapes {one.shape}, {other.shape}")
    cases = one.size
    if cases < 2:
        return None
    difference = one - other
    bias, deviation = float(difference.mean()), float(difference.std(ddof=1))
    quantile = student_quantile((1 + level) / 2, cases - 1)
    of_bias = quantile * deviation / math.sqrt(cases)
    of_limit = quantile * deviation * math.sqrt(1 / cases + _LIMIT**2 / (2 * (cases - 1)))
    limits = (_around(bias + sign * _LIMIT * deviation, of_limit) for sign in (-1, 1))
    return LimitsOfAgreement(_around(bias, of_bias), *limits)
