"""What a sample does not show: intervals of means, shares and differences that count what it may lack.

Rare failures decide a mean, and a sample may hold none. So each bound of a mean counts one unit more than the
sample has, whose cases are as far on that side as a case can be; a share of independent cases has the exact
interval, which is the same for values of 0 and 1. A difference takes from the interval of each figure what it
reaches beyond the spread of the sample.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats, quantiles
from evaluation.metrics.intervals import Interval, check_level

_ENTRIES_PER_BLOCK = 1 << 16  # half a megabyte, which stays in the processor's cache
_BISECTIONS = 50
_TERMS = 10_000
_PRECISION = 1e-15


@dataclass(frozen=True)
class FigureOfSums:
    """A figure of sums over cases, such as a mean: the ratio of two.

    columns: what each case adds, shape (parts, cases), finite. figure: from sums, shape (…, parts), to values
    of shape (…); the same for any multiple of the sums. lowest, highest: what a case adds that moves the
    figure farthest down or up, shape (candidates, parts).
    """

    columns: Floats
    figure: Callable[[Floats], Floats]
    lowest: Floats
    highest: Floats


def unseen_case_intervals(
    figures: Sequence[FigureOfSums],
    unit_of_case: NDArray[np.intp],
    seed: int,
    resamples: int,
    level: float = 0.95,
) -> list[Interval]:
    """Return the intervals of figures of the same cases, each bound with one more unit as far on its side.

    unit_of_case: shape (cases,), the unit that every case belongs to, numbered from 0. The units and the
    unseen one, whose size is `size_of_unseen`, have random weights, exponential and independent (the Bayesian
    bootstrap, Rubin 1981, Ann. Stat. 9:130); the bounds are the quantiles (1 ∓ level) / 2 of the figure. For
    a mean, no bound falls as a value rises. For values of 0 and 1 this is Clopper and Pearson's interval.
    Source: Gaffke 2005, Math. Methods Stat. 14:451; Learned-Miller and Thomas 2020, arXiv:1905.06208.
    """
    check_level(level)
    units, size = int(unit_of_case.max()) + 1, size_of_unseen(unit_of_case)
    # Of each figure by itself: a product of more columns may be rounded otherwise, by which processor it is.
    sums = [np.zeros((units, len(one.columns))) for one in figures]
    for of_units, one in zip(sums, figures, strict=True):
        np.add.at(of_units, unit_of_case, one.columns.T)
    generator = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _ENTRIES_PER_BLOCK // (units + 1))
    weights = np.empty((rows, units + 1))
    totals = [np.empty((resamples, 1, len(one.columns))) for one in figures]
    unseen = np.empty((resamples, 1, 1))
    for start in range(0, resamples, rows):
        block = slice(start, min(start + rows, resamples))
        drawn = weights[: block.stop - start]
        generator.standard_exponential(out=drawn)
        for of_resamples, of_units in zip(totals, sums, strict=True):
            of_resamples[block, 0] = drawn[:, :-1] @ of_units
        unseen[block, 0] = drawn[:, -1:] * size
    found = []
    for own, one in zip(totals, figures, strict=True):
        value = float(one.figure(one.columns.sum(axis=1)))
        lower = one.figure(own + unseen * one.lowest).min(axis=1)
        upper = one.figure(own + unseen * one.highest).max(axis=1)
        (low,), (high,) = quantiles(lower, ((1 - level) / 2,)), quantiles(upper, ((1 + level) / 2,))
        found.append(Interval(min(float(low), value), max(float(high), value)))
    return found


def size_of_unseen(unit_of_case: NDArray[np.integer]) -> float:
    """Return how many cases a unit has that the sample may lack: as many as the unit of a case on average.

    Where few units hold most cases, these decide a mean, and one of their size may be missing.
    """
    sizes = np.bincount(unit_of_case)
    return float(sizes @ sizes / sizes.sum())


def share_interval(successes: int, total: int, level: float = 0.95) -> Interval:
    """Return the exact interval of a share of independent cases.

    Its bounds are the shares for which so many successes, or more on one side, have a probability of
    (1 − level) / 2. Raises ValueError unless 0 ≤ successes ≤ total and total > 0.
    Source: Clopper and Pearson 1934, Biometrika 26:404.
    """
    check_level(level)
    if not (total > 0 and 0 <= successes <= total):
        raise ValueError(
            f"successes of total: expected 0 ≤ successes ≤ total > 0, found {successes} of {total}"
        )
    tail = (1 - level) / 2
    lower = 0.0 if not successes else _beta_quantile(tail, successes, total - successes + 1)
    upper = 1.0 if successes == total else 1 - _beta_quantile(tail, total - successes, successes + 1)
    return Interval(lower, upper)


def _beta_quantile(probability: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _beta_distribution(middle, a, b) < probability else (low, middle)
    return low


def _beta_distribution(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction, for 0 < x < 1.

    Source: Abramowitz and Stegun 1964, 26.5.8; evaluated as Lentz 1976, Appl. Opt. 15:668.
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_distribution(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    fraction, above, below = 1.0, 1.0, 0.0
    for term in range(1, _TERMS):
        half = term // 2
        above_line = -(a + half) * (a + b + half) if term % 2 else half * (b - half)
        part = above_line * x / ((a + term - 1) * (a + term))
        below = 1 / (1 + part * below)
        above = 1 + part / above
        fraction *= above * below
        if abs(above * below - 1) < _PRECISION:
            break
    return math.exp(scale) / (a * fraction)


# --- Differences and other sums of figures ---

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


def joint_distance(standard_error: ArrayLike, distances: ArrayLike, standard_errors: ArrayLike) -> Floats:
    """Return how far a sum of figures may lie on one side of its value, with 97.5 % confidence.

    distances: of each term to the bound of its 95 % interval on that side, shape (…, terms), at least 0.
    standard_errors: of the terms, of the same shape; standard_error: of the sum, shape (…). All on the scale
    of the sum. The spread of the sample counts with the correlations that ``standard_error`` has, and what a
    distance exceeds it by counts as independent, since a failure that one figure may have is none of another.
    Without correlations the squares of the distances add.
    Source: Zou and Donner 2008, Stat. Med. 27:1693 (MOVER).
    """
    ends, errors = np.asarray(distances, dtype=np.float64), np.asarray(standard_errors, dtype=np.float64)
    beyond = np.maximum(ends**2 - (NORMAL * errors) ** 2, 0.0).sum(axis=-1)
    return np.asarray(np.sqrt((NORMAL * np.asarray(standard_error)) ** 2 + beyond))
