"""Confidence intervals: of a proportion, of an area under a ROC curve, and from bootstrap values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats, distinct, quantiles
from evaluation.metrics.delong import Components, area_variance

__all__ = ["wilson_interval"]

_BISECTIONS = 60
_NEARLY_NORMAL = 1e6
_NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, in the unit of its metric."""

    lower: float
    upper: float

    @property
    def half_width(self) -> float:
        """Half of the interval's length; the interval need not be symmetric about the value."""
        return (self.upper - self.lower) / 2


def percentile_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Percentile interval of bootstrap values: the quantiles (1 ∓ level) / 2, by linear interpolation.

    values: shape (resamples,). Raises ValueError for no value, a NaN among them, or a level outside (0, 1).
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.
    """
    _check_level(level)
    column = np.asarray(values, dtype=np.float64)
    undefined = int(np.isnan(column).sum())
    if undefined or not column.size:
        raise ValueError(f"values: expected numbers, found {undefined} NaN among {column.size} resamples")
    lower, upper = quantiles(column, ((1 - level) / 2, (1 + level) / 2)).tolist()
    return Interval(lower, upper)


def wilson_interval(successes: float, total: float, level: float = 0.95) -> Interval:
    """Return the Wilson score interval of a proportion.

    Parameters
    ----------
    successes : float
        The number of successes, from 0 to ``total``.
    total : float
        The number of trials, above 0.
    level : float, optional
        The confidence level, in (0, 1).

    Returns
    -------
    Interval
        ``lower`` and ``upper``, in [0, 1].

    Raises
    ------
    ValueError
        Unless 0 ≤ successes ≤ total and total > 0, or for a level outside (0, 1).

    Notes
    -----
    There is no interval of zero trials: a ``total`` of 0 is an error.

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22:209–212, 1927.

    Examples
    --------
    >>> interval = wilson_interval(8, 10)
    >>> round(interval.lower, 4), round(interval.upper, 4)
    (0.4902, 0.9433)
    """
    _check_level(level)
    if not (total > 0 and 0 <= successes <= total):
        raise ValueError(
            f"successes of total: expected 0 ≤ successes ≤ total > 0, found {successes} of {total}"
        )
    z = NormalDist().inv_cdf((1 + level) / 2)
    proportion = successes / total
    shrinkage = 1 + z * z / total
    centre = (proportion + z * z / (2 * total)) / shrinkage
    half = z / shrinkage * math.sqrt(proportion * (1 - proportion) / total + (z / (2 * total)) ** 2)
    # With no success or no failure, the bound is exactly 0 or 1; rounding could miss it by one digit.
    lower = 0.0 if successes == 0 else max(0.0, centre - half)
    upper = 1.0 if successes == total else min(1.0, centre + half)
    return Interval(lower, upper)


def wilson_bootstrap_interval(
    values: ArrayLike, value: float, successes_of: int, level: float = 0.95
) -> Interval:
    """Wilson interval of a proportion with the variance of its bootstrap; it contains the value.

    For a proportion that is more than a count of independent cases: a sensitivity whose threshold is found on
    the same cases, or cases that belong together. The score interval is taken about the mean of the bootstrap
    values, with as many cases as would give their variance, at most those that there are; the variance of a
    single case is taken at the proportion shrunk by z²/2 successes and failures (Agresti and Coull 1998).

    values: shape (resamples,), in [0, 1]. value: the proportion. successes_of: the number of cases of which
    it is the share. Raises ValueError for NaN, no value, and a level outside (0, 1).
    """
    _check_level(level)
    column = np.asarray(values, dtype=np.float64)
    if not column.size or np.isnan(column).any():
        raise ValueError(f"values: expected numbers, found {int(np.isnan(column).sum())} NaN")
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = min(1.0, max(0.0, float(column.mean())))
    shrunk = (successes_of * centre + z * z / 2) / (successes_of + z * z)
    variance = float(column.var(ddof=1)) if column.size > 1 else 0.0
    effective = float(successes_of)
    if variance > 0:
        effective = min(effective, shrunk * (1 - shrunk) / variance)
    found = wilson_interval(centre * effective, effective, level)
    return Interval(min(found.lower, value), max(found.upper, value))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level: expected a number between 0 and 1, found {level}")


def area_interval(parts: Components, level: float = 0.95) -> Interval:
    """Return the interval of an area: DeLong's standard error on the logit scale, within (0, 1).

    The quantile is Student's with the degrees of freedom of Welch and Satterthwaite, which matters where one
    class has few cases. Where the area is 0 or 1 or its variance 0, that estimate says nothing, and the
    interval is the score interval of Hanley and McNeil's variance, with numbers of units for those of cases:
    an area of 1 gets a lower bound below 1.
    Source: Pepe 2003, The Statistical Evaluation of Medical Tests, section 5.2.5 (logit); variance, see
    `area_variance`; Newcombe 2006, Stat. Med. 25:559, method 5 (score interval).
    """
    area, found = float(parts.area), area_variance(parts)
    if found.variance == 0 or not 0 < area < 1:
        positives, negatives = distinct(parts.positive_units).size, distinct(parts.negative_units).size
        return score_interval(area, positives, negatives, level)
    quantile = student_quantile((1 + level) / 2, found.degrees_of_freedom)
    centre = math.log(area / (1 - area))
    half = quantile * math.sqrt(found.variance) / (area * (1 - area))
    lower, upper = (_logistic(centre + side * half) for side in (-1, 1))
    return Interval(lower, upper)


def score_interval(area: float, positives: int, negatives: int, level: float = 0.95) -> Interval:
    """Return the areas θ with |area − θ| ≤ z·SE(θ), by Hanley and McNeil's variance under exponential scores.

    Both class sizes are replaced by their mean in the correlation terms, as Newcombe 2006, Stat. Med. 25:559,
    method 5. Raises ValueError for an area outside [0, 1].
    """
    if not 0 <= area <= 1:
        raise ValueError(f"area: expected a number between 0 and 1, found {area}")
    quantile = NormalDist().inv_cdf((1 + level) / 2)
    typical = (positives + negatives) / 2

    def outside(theta: float) -> bool:
        shared = (1 - theta) / (2 - theta) + theta / (1 + theta)
        variance = theta * (1 - theta) * (1 + (typical - 1) * shared) / (positives * negatives)
        return abs(area - theta) > quantile * math.sqrt(variance)

    return Interval(
        0.0 if area == 0 else _boundary(outside, 0.0, area),
        1.0 if area == 1 else _boundary(outside, 1.0, area),
    )


def student_quantile(probability: float, degrees_of_freedom: float) -> float:
    """Return a quantile of Student's t distribution above its median; the normal one for infinite freedom.

    probability: in (½, 1). degrees_of_freedom: at least 1. The distribution function is integrated and
    inverted by bisection, exact to nine digits.
    """
    normal = NormalDist().inv_cdf(probability)
    if degrees_of_freedom > _NEARLY_NORMAL:
        return normal
    nodes, node_weights = _quadrature()
    root = math.sqrt(degrees_of_freedom)
    log_scale = math.lgamma((degrees_of_freedom + 1) / 2) - math.lgamma(degrees_of_freedom / 2)
    scale = math.exp(log_scale) / math.sqrt(math.pi)

    def reaches(angle: float) -> bool:
        # Under t = √ν · tan(angle) the density of t becomes a power of the cosine.
        cosines = np.cos(angle / 2 * (1 + nodes))
        integral = angle / 2 * scale * float(node_weights @ cosines ** (degrees_of_freedom - 1))
        return 0.5 + integral >= probability

    lower = math.atan(normal / root)
    upper = lower
    while not reaches(upper):
        lower, upper = upper, (upper + math.pi / 2) / 2 if degrees_of_freedom < 4 else 1.2 * upper
    return root * math.tan(_boundary(reaches, upper, lower))


@cache
def _quadrature() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return nodes, weights


def _boundary(outside: Callable[[float], bool], out: float, within: float) -> float:
    """Return where a condition that holds at ``out`` and not at ``within`` begins to hold."""
    for _ in range(_BISECTIONS):
        middle = (out + within) / 2
        if outside(middle):
            out = middle
        else:
            within = middle
    return within


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


@dataclass(frozen=True)
class _UnitSums:
    """Cases by unit: of each mean's centred values, shape (means, units), and of how many cases there are."""

    sums: Floats
    cases: Floats

    def studentised(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the means' differences to the whole sample and their standard errors, (rows, means)."""
        units = len(self.cases)
        total = (weights @ self.cases)[:, np.newaxis]
        moved = weights @ self.sums.T / total
        about_sample = weights @ np.square(self.sums).T
        squares = (
            about_sample
            - 2 * moved * (weights @ (self.sums * self.cases).T)
            + moved**2 * (weights @ np.square(self.cases))[:, np.newaxis]
        )
        squares = np.where(squares > _NO_SPREAD * about_sample, squares, 0.0)
        return moved, np.sqrt(squares * units / (units - 1)) / total


class StudentisedMeans:
    """Studentised bootstrap intervals ("bootstrap-t") of several means of the same cases.

    values: shape (means, cases), finite. unit_of_case: shape (cases,), the unit that every case belongs to,
    numbered from 0. The standard error is a ratio estimator's over units. Needs two units.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 12.5.
    """

    def __init__(self, values: ArrayLike, unit_of_case: NDArray[np.intp]) -> None:
        columns = np.asarray(values, dtype=np.float64)
        units = int(unit_of_case.max()) + 1
        self._means = columns.mean(axis=1)
        self._sample = _by_unit(columns - self._means[:, np.newaxis], unit_of_case, units)
        self._error = self._sample.studentised(np.ones((1, units)))[1][0]

    def ratios(self, weights: Iterable[NDArray[np.number]]) -> Floats:
        """Return the means' differences to the whole sample by their standard errors, shape (rows, means).

        weights: blocks of bootstrap weights of the units, shape (rows, units). A resample of equal values
        takes the standard error of the sample.
        """
        ratios = []
        for block in weights:
            moved, error = self._sample.studentised(block.astype(np.float64))
            error = np.where(error > 0, error, self._error)
            ratios.append(np.divide(moved, error, out=np.zeros_like(moved), where=error > 0))
        return np.concatenate(ratios)

    def intervals(
        self, ratios: Floats, bounds: tuple[ArrayLike, ArrayLike], level: float = 0.95
    ) -> list[Interval]:
        """Return the interval of each mean.

        ratios: of all resamples. bounds: the lowest and the highest value of each mean, where intervals are
        cut off.
        """
        lower, upper = quantiles(ratios, ((1 + level) / 2, (1 - level) / 2))
        ends = [self._means - lower * self._error, self._means - upper * self._error]
        return [Interval(*end) for end in np.clip(ends, bounds[0], bounds[1]).T.tolist()]


def _by_unit(centred: Floats, unit_of_case: NDArray[np.intp], units: int) -> _UnitSums:
    if units == unit_of_case.size:
        order = np.argsort(unit_of_case)
        return _UnitSums(centred[:, order], np.ones(units))
    sums = np.zeros((units, len(centred)))
    np.add.at(sums, unit_of_case, centred.T)
    return _UnitSums(sums.T, np.bincount(unit_of_case, minlength=units).astype(np.float64))
