"""Confidence intervals of means, shares, bootstraps and quantiles."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.figure import LEVEL, Interval
from evaluation.stats.numbers import Floats, Positions, quantiles
from evaluation.stats.student import check_level, student_quantile

_NO_VARIANCE = 1e-20  # of a figure between 0 and 1: rounding
_NO_SPREAD = 1e-9  # of a standard error beside its figure: rounding


def standard_error(of_units: Floats) -> float:
    """Return the standard error of a figure from what each independent unit contributes to it.

    of_units: shape (units,), the derivatives of the figure by the units' shares of the weight, which sum to
    0; of a mean, the deviations over the number of cases. ddof = 1. Source: Efron 1982, The Jackknife,
    chapter 6 (infinitesimal jackknife).
    """
    units = of_units.size
    return math.sqrt(float(of_units @ of_units) * units / (units - 1)) if units > 1 else 0.0


def bca_interval(value: float, of_units: Floats, level: float = LEVEL) -> Interval:
    """Return the BCa interval of a figure of sums; its shorter side is between it and Student's.

    of_units: see `standard_error`. BCa is in its analytic form (ABC) with Student's quantiles: its ends are
    value + error · w / (1 − a·w)² with w = a ± t and the acceleration a = Σu³ / (6 (Σu²)^1.5), since the bias
    correction of a mean is its acceleration. Without skewness this is Student's t interval. A skewness that
    is estimated moves the end of the shorter tail too far towards the value; so this end lies halfway between
    BCa's and Student's. No draws, and no seed.
    Source: Efron 1987, J. Am. Stat. Assoc. 82:171 (BCa); DiCiccio and Efron 1992, Biometrika 79:231 (ABC);
    halfway: chosen by coverage and width, see `benchmarks.uncertainty`.
    """
    check_level(level)
    error = standard_error(of_units)
    if error <= _NO_SPREAD * abs(value):
        return Interval(value, value)
    squares = float(of_units @ of_units)
    acceleration = float((of_units**3).sum()) / (6 * squares**1.5)
    quantile = student_quantile((1 + level) / 2, max(1, of_units.size - 1))

    def reach(side: float) -> float:
        """Return the standard errors from the value to an end."""
        w = acceleration + side * quantile
        reached: float = w / (1 - acceleration * w) ** 2
        return reached if side * acceleration > 0 else (reached + side * quantile) / 2

    return Interval(value + error * reach(-1), value + error * reach(1))


def correlation_influences(predicted: Floats, truth: Floats, weights: Floats, absolute: bool) -> Floats:
    """Return how Pearson's correlation changes with each case's share of the weight, shape (rows, cases).

    Under each row of weights, for finite columns of shape (cases,). absolute: of absolute agreement instead,
    2·cov / (var + var + difference²), the intraclass correlation of many cases. NaN where nothing varies.
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    mine, true = (column - (shares @ column)[:, np.newaxis] for column in (predicted, truth))
    product, square, true_square = mine * true, mine**2, true**2
    means = [np.einsum("ij,ij->i", shares, one)[:, np.newaxis] for one in (product, square, true_square)]
    covariance, variance, true_variance = means
    with np.errstate(divide="ignore", invalid="ignore"):
        if not absolute:
            scale = np.sqrt(variance * true_variance)
            spread = square / variance + true_square / true_variance
            return np.asarray((product - covariance * spread / 2) / scale)
        apart = (shares @ (predicted - truth))[:, np.newaxis]
        scale = variance + true_variance + apart**2
        spread = square + true_square - variance - true_variance + 2 * apart * (mine - true)
        return np.asarray(2 * (product - covariance - covariance / scale * spread) / scale)


def fisher_interval(value: float, of_units: Floats, level: float = LEVEL) -> Interval:
    """Return `bca_interval` of a correlation between −1 and 1 on Fisher's z scale."""
    found = bca_interval(math.atanh(value), of_units / (1 - value**2), level)
    return Interval(math.tanh(found.lower), math.tanh(found.upper))


def quantile_interval(
    values: Floats, unit_of_case: Positions, share: float, ends: tuple[float, float], level: float = LEVEL
) -> Interval:
    """Return the interval of a quantile between two order statistics, exact for any distribution.

    values: shape (cases,), no NaN. unit_of_case: shape (cases,), from 0. share: of the quantile, in (0, 1).
    ends: the lowest and the highest possible value, infinite where there is none; they are the bounds where
    the sample has no order statistic far enough. Of independent cases the number below the quantile is
    binomial. Where cases belong together, the interval is that of as many independent cases as give the share
    below the quantile its variance over units (Woodruff), fewer where there are few units.
    Source: Thompson 1936, Ann. Math. Stat. 7:122; Woodruff 1952, J. Am. Stat. Assoc. 47:635; Korn and
    Graubard 1998, Surv. Methodol. 24:193 (effective number of cases).
    """
    check_level(level)
    ordered, cases = np.sort(values), values.size
    units = int(unit_of_case.max()) + 1
    number = float(cases)
    if units < cases:
        # As many independent cases as give the variance of the share below the quantile.
        inside = (values <= ordered[min(cases - 1, math.ceil(share * cases) - 1)]) * 1.0
        of_units = np.bincount(unit_of_case, inside - inside.mean()) / cases
        variance = float(of_units @ of_units) * units / (units - 1)
        here = float(inside.mean())
        independent = here * (1 - here) / variance if variance > 0 else float(cases)
        fewer = student_quantile((1 + level) / 2, cases - 1) / student_quantile((1 + level) / 2, units - 1)
        number = min(float(cases), max(1.0, independent * fewer**2))
    tail = (1 - level) / 2
    below = _ranks(number, share, tail)
    above = _ranks(number, 1 - share, tail)
    # The r-th lowest value is a bound where fewer than r cases are below the quantile with so small a chance.
    low = math.floor(below / number * cases) if units < cases else int(below)
    high = math.floor(above / number * cases) if units < cases else int(above)
    return Interval(
        float(ordered[low - 1]) if low >= 1 else ends[0],
        float(ordered[cases - high]) if high >= 1 else ends[1],
    )


def _ranks(number: float, share: float, tail: float) -> float:
    """Return the largest rank r with P(Binomial(number, share) < r) ≤ tail, 0 where there is none."""
    whole = max(1, math.floor(number))
    logs = [
        math.lgamma(whole + 1)
        - math.lgamma(hits + 1)
        - math.lgamma(whole - hits + 1)
        + hits * math.log(share)
        + (whole - hits) * math.log1p(-share)
        for hits in range(whole + 1)
    ]
    return float(bisect_left(np.cumsum(np.exp(logs)).tolist(), tail * (1 + 1e-12)))


def percentile_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """Percentile interval of bootstrap values: the quantiles (1 ∓ level) / 2, by linear interpolation.

    values: shape (resamples,); NaN where a resample has no value, which is left out. Raises ValueError for no
    value, or a level outside (0, 1).
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.
    """
    check_level(level)
    column = np.asarray(values, dtype=np.float64)
    column = column[~np.isnan(column)]
    if not column.size:
        raise ValueError("values: expected numbers, found none")
    lower, upper = quantiles(column, ((1 - level) / 2, (1 + level) / 2)).tolist()
    return Interval(lower, upper)


def wilson_interval(successes: float, total: float, level: float = LEVEL) -> Interval:
    """Return the Wilson score interval of a proportion, ``lower`` and ``upper``, from 0 to 1.

    successes: from 0 to ``total``, the number of trials, which is above 0. level: of confidence. Raises
    ValueError for other numbers.
    Source: Wilson, Journal of the American Statistical Association 22:209, 1927.

    >>> interval = wilson_interval(8, 10)
    >>> round(interval.lower, 4), round(interval.upper, 4)
    (0.4902, 0.9433)
    """
    check_level(level)
    if not (total > 0 and 0 <= successes <= total):
        raise ValueError(
            f"successes of total: expected 0 ≤ successes ≤ total > 0, found {successes} of {total}"
        )
    return _score_bounds(successes / total, total, NormalDist().inv_cdf((1 + level) / 2))


def _score_bounds(proportion: float, total: float, quantile: float) -> Interval:
    z = quantile
    shrinkage = 1 + z * z / total
    centre = (proportion + z * z / (2 * total)) / shrinkage
    half = z / shrinkage * math.sqrt(proportion * (1 - proportion) / total + (z / (2 * total)) ** 2)
    # With no success or no failure, the bound is exactly 0 or 1; rounding could miss it by one digit.
    lower = 0.0 if proportion == 0 else max(0.0, centre - half)
    upper = 1.0 if proportion == 1 else min(1.0, centre + half)
    return Interval(lower, upper)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence behind a bounded figure, for `effective_interval`.

    value: the figure. bounds: its lowest and its highest value. units: the number of independent units that
    decide, such as those of the rarest class. is_share: whether the figure is a share of so many units, whose
    variance is at least that of their binomial distribution. about: further values that the interval must
    hold its own interval of.
    """

    value: float
    bounds: tuple[float, float]
    units: int
    is_share: bool = False
    about: Sequence[float] = ()


def effective_interval(centre: float, variance: float, evidence: Evidence, level: float = LEVEL) -> Interval:
    """Wilson's interval of any bounded figure with a known variance; it contains the value.

    The figure is scaled to [0, 1] and treated as a share of as many cases as give its variance, where the
    variance of a single case is taken at the share shrunk by z²/2 successes and failures (Agresti and Coull
    1998). These are at most the units or, for a figure that is no share, as many as the unshrunk share would
    give: so a variance of 0 leaves an interval. The quantile is Student's with one degree of freedom fewer
    than units.

    centre: about which the interval is taken, for example the mean of bootstrap values; variance: at least 0,
    both in the figure's unit.
    """
    check_level(level)
    low, high = evidence.bounds
    units, width = evidence.units, high - low
    quantile = student_quantile((1 + level) / 2, max(1, units - 1))
    share = min(1.0, max(0.0, (centre - low) / width))
    scaled = variance / width**2
    square = quantile * quantile
    shrunk = (units * share + square / 2) / (units + square)
    effective = float(units)
    if scaled > _NO_VARIANCE:
        most = effective if evidence.is_share else max(effective, share * (1 - share) / scaled)
        effective = min(most, shrunk * (1 - shrunk) / scaled)
    found = _score_bounds(share, effective, quantile)
    lower, upper = (low + width * end for end in (found.lower, found.upper))
    return Interval(max(low, min(lower, evidence.value)), min(high, max(upper, evidence.value)))


def wilson_bootstrap_interval(values: ArrayLike, evidence: Evidence, level: float = LEVEL) -> Interval:
    """Return `effective_interval` about the mean of bootstrap values, with their variance.

    It contains the intervals about the further values of the evidence. values: shape (resamples,), within the
    bounds; NaN where a resample has no value, which is left out. With fewer than two values the interval is
    about the figure itself.
    """
    column = np.asarray(values, dtype=np.float64)
    column = column[~np.isnan(column)]
    few, value = column.size < 2, evidence.value
    centre, variance = (value, 0.0) if few else (float(column.mean()), float(column.var(ddof=1)))
    found = effective_interval(centre, variance, evidence, level)
    all_found = [found, *(effective_interval(one, variance, evidence, level) for one in evidence.about)]
    return Interval(min(one.lower for one in all_found), max(one.upper for one in all_found))


def steady(interval: Interval, value: float, ends: tuple[float, float] = (-math.inf, math.inf)) -> Interval:
    """Return an interval that depends on a seed with the digits that hold: two of its half-width, outwards.

    ends: beyond which no bound lies. Quantiles of 1,000 draws vary by about 2 % of the half-width.
    """
    if not interval.half_width > 0:
        return interval
    # A whole number over a power of ten is the float nearest to the decimal.
    scale = 10.0 ** (1 - math.floor(math.log10(interval.half_width)))
    lower = math.floor(interval.lower * scale + 1e-9) / scale
    upper = math.ceil(interval.upper * scale - 1e-9) / scale
    return Interval(min(value, max(ends[0], lower)), max(value, min(ends[1], upper)))
