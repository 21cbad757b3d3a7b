"""Intervals of an aggregate from its bootstrap values, and Wilson's of a proportion."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.quantiles import quantiles


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
    """Wilson interval of a proportion whose variance is that of its bootstrap; it contains the value.

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
