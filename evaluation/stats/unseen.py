"""What a sample does not show: intervals of means, shares and differences that count what it may lack.

Rare failures decide a mean, and a sample may hold none. So each bound of a mean counts one unit more than the
sample has, whose cases are as far on that side as a case can be; a share of independent cases has the exact
interval, which is the same for values of 0 and 1. A difference takes from the interval of each figure what it
reaches beyond the spread of the sample.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.stats.figure import LEVEL, Interval
from evaluation.stats.numbers import Floats, quantiles
from evaluation.stats.student import NORMAL, check_level

_ENTRIES_PER_BLOCK = 1 << 16  # half a megabyte, which stays in the processor's cache
_BISECTIONS = 50
_TERMS = 10_000
_PRECISION = 1e-12
_SADDLE = 1e-9
_NEAR_ZERO = 1e-4
_DRAWS = 4_000
_STEP = 1e-5


@dataclass(frozen=True)
class FigureOfSums:
    """A figure of sums over cases, such as a mean: the ratio of two.

    columns: what each case adds, shape (parts, cases), finite. figure: from sums, shape (…, parts), to values
    of shape (…); the same for any multiple of the sums. lowest, highest: what a case adds that moves the
    figure farthest down or up, shape (candidates, parts). ``of_ratio``: the parts are a numerator and a
    denominator of at least 0, and the figure never falls as their ratio rises. ``counted``: shape (cases,),
    how much each counts in the size of a unit, None: one.
    """

    columns: Floats
    figure: Callable[[Floats], Floats]
    lowest: Floats
    highest: Floats
    of_ratio: bool = False
    counted: Floats | None = None

    @property
    def value(self) -> float:
        """The figure of all cases."""
        return float(self.figure(self.columns.sum(axis=1)))

    def influence(self) -> Floats:
        """Return what each case contributes: the derivative of the figure by the sums, shape (cases,)."""
        sums = self.columns.sum(axis=1)
        steps = np.diag(_STEP * (np.abs(sums) + np.abs(self.columns).mean(axis=1)))
        sizes = np.diag(steps)
        moved = self.figure(np.concatenate([sums + steps, sums - steps]))
        up, down = moved[: sizes.size], moved[sizes.size :]
        slopes = np.divide(up - down, 2 * sizes, out=np.zeros(sizes.size), where=sizes > 0)
        return np.asarray(slopes @ self.columns)


def of_units(contributions: Floats, unit_of_case: NDArray[np.integer]) -> Floats:
    """Return the sums of what cases contribute over the cases of each unit, numbered from 0."""
    return np.bincount(unit_of_case, contributions).astype(np.float64)


def unseen_interval(
    one: FigureOfSums,
    unit_of_case: NDArray[np.intp],
    seed: int,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of a figure of sums, each bound with one more unit as far on its side.

    unit_of_case: shape (cases,), the unit that every case belongs to, numbered from 0. The units and the
    unseen one, whose size is `size_of_unseen`, have random weights, exponential and independent (the Bayesian
    bootstrap, Rubin 1981, Ann. Stat. 9:130); the bounds are the quantiles (1 ∓ level) / 2 of the figure. For
    a mean, no bound falls as a value rises. For values of 0 and 1 this is Clopper and Pearson's interval. Of
    a ratio the quantiles are computed without draws, by the saddle point; any other figure has 4,000 draws
    from the seed.
    Source: Gaffke 2005, Math. Methods Stat. 14:451; Learned-Miller and Thomas 2020, arXiv:1905.06208;
    Barndorff-Nielsen 1986, Biometrika 73:307.
    """
    check_level(level)
    value, size = one.value, size_of_unseen(unit_of_case, one.counted)
    sums = np.zeros((int(unit_of_case.max()) + 1, len(one.columns)))
    np.add.at(sums, unit_of_case, one.columns.T)
    tails = (1 - level) / 2, (1 + level) / 2
    if one.of_ratio:
        low = min(_ratio_quantile(np.vstack([sums, size * case]), tails[0]) for case in one.lowest)
        high = max(_ratio_quantile(np.vstack([sums, size * case]), tails[1]) for case in one.highest)
        lower, upper = (float(one.figure(np.array([end, 1.0]))) for end in (low, high))
    else:
        lower, upper = _drawn(one, sums, size, seed, tails)
    return Interval(min(lower, value), max(upper, value))


def _drawn(
    one: FigureOfSums, sums: Floats, size: float, seed: int, tails: tuple[float, float]
) -> tuple[float, float]:
    units = len(sums)
    generator = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _ENTRIES_PER_BLOCK // (units + 1))
    weights = np.empty((rows, units + 1))
    totals, unseen = np.empty((_DRAWS, 1, len(one.columns))), np.empty((_DRAWS, 1, 1))
    for start in range(0, _DRAWS, rows):
        block = slice(start, min(start + rows, _DRAWS))
        drawn = weights[: block.stop - start]
        generator.standard_exponential(out=drawn)
        totals[block, 0] = drawn[:, :-1] @ sums
        unseen[block, 0] = drawn[:, -1:] * size
    lower = one.figure(totals + unseen * one.lowest).min(axis=1)
    upper = one.figure(totals + unseen * one.highest).max(axis=1)
    (low,), (high,) = quantiles(lower, tails[:1]), quantiles(upper, tails[1:])
    return float(low), float(high)


def _ratio_quantile(units: Floats, probability: float) -> float:
    """Return a quantile of the ratio of two sums with random weights of the units, shape (units, 2)."""
    above, below = units.T
    positive = below > 0
    low, high = (float(end(above[positive] / below[positive])) for end in (np.min, np.max))
    if not positive.all() and (above[~positive] != 0).any():
        # Units without a denominator move the ratio further.
        reach = 100 * float(np.abs(above[~positive]).sum() / below.sum())
        low, high = low - reach, high + reach
    wanted, shortest = NormalDist().inv_cdf(probability), _PRECISION * (high - low)
    total = float(below.sum())
    point = float(above.sum()) / total
    error = math.sqrt(float(((above - point * below) ** 2).sum())) / total
    known: list[tuple[float, float]] = []
    saddle, at = 0.0, point
    for _ in range(_BISECTIONS):
        if not high - low > shortest:
            break
        deviate, saddle = _deviate(above - at * below, saddle)
        deviate -= wanted
        low, high = (at, high) if deviate < 0 else (low, at)
        # The deviate is nearly linear: a secant, within what is known.
        known = [*known[-1:], (at, deviate)] if math.isfinite(deviate) else known
        following = at - deviate * error
        if len(known) > 1 and known[0][1] != known[1][1]:
            (first, of_first), (second, of_second) = known
            following = second - of_second * (second - first) / (of_second - of_first)
        moved = abs(following - at)
        if math.isfinite(following) and moved <= shortest:
            return following
        at = following if low < following < high else (low + high) / 2
    return (low + high) / 2


def _deviate(coefficients: Floats, start: float) -> tuple[float, float]:
    """Return the normal deviate of the chance that a sum of exponential variables is below 0.

    coefficients: of the variables. start: a guess of the saddle point; the point comes back, too.
    Source: Barndorff-Nielsen 1986, Biometrika 73:307 (r*), as accurate as Lugannani and Rice's formula.
    """
    largest, least = float(coefficients.max()), float(coefficients.min())
    if largest <= 0:
        return math.inf, 0.0
    if least >= 0:
        return -math.inf, 0.0
    # The saddle point, where the derivative of the cumulant function −Σ log(1 − s·c) is 0, between poles.
    low, high = 1 / least, 1 / largest
    point = start if low < start < high else 0.0
    for _ in range(_BISECTIONS):
        ratios = coefficients / (1 - point * coefficients)
        slope, curvature = float(ratios.sum()), float(ratios @ ratios)
        low, high = (low, point) if slope > 0 else (point, high)
        step = point - slope / curvature
        new = step if low < step < high else (low + high) / 2
        moved, point = abs(new - point), new
        if moved * math.sqrt(curvature) <= _SADDLE:
            break
    root = math.copysign(math.sqrt(max(0.0, 2 * float(np.log1p(-point * coefficients).sum()))), point)
    width = point * math.sqrt(curvature)
    if abs(root) < _NEAR_ZERO:  # the mean of the sum is 0: the skewness alone decides
        return float((coefficients**3).sum()) / (3 * float(coefficients @ coefficients) ** 1.5) + root, point
    return root + math.log(width / root) / root, point


def size_of_unseen(unit_of_case: NDArray[np.integer], counted: Floats | None = None) -> float:
    """Return how many cases a unit has that the sample may lack: as many as the unit of a case on average.

    Where few units hold most cases, these decide a mean, and one of their size may be missing.
    """
    sizes = np.bincount(unit_of_case, counted)
    return float(sizes @ sizes / sizes.sum())


def share_interval(successes: int, total: int, level: float = LEVEL) -> Interval:
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
        if abs(above * below - 1) < 1e-15:
            break
    return math.exp(scale) / (a * fraction)


# --- Differences and other sums of figures ---


def joint_distance(
    standard_error: ArrayLike, distances: ArrayLike, standard_errors: ArrayLike, quantile: float = NORMAL
) -> Floats:
    """Return how far a sum of figures may lie on one side of its value, with 97.5 % confidence.

    distances: of each term to the bound of its 95 % interval on that side, shape (…, terms), at least 0.
    standard_errors: of the terms, of the same shape; standard_error: of the sum, shape (…). All on the scale
    of the sum. quantile: of the normal distribution, that of the intervals. The spread of the sample counts
    with the correlations that ``standard_error`` has, and what a distance exceeds it by counts as
    independent, since a failure that one figure may have is none of another. Without correlations the squares
    of the distances add.
    Source: Zou and Donner 2008, Stat. Med. 27:1693 (MOVER).
    """
    ends, errors = np.asarray(distances, dtype=np.float64), np.asarray(standard_errors, dtype=np.float64)
    beyond = np.maximum(ends**2 - (quantile * errors) ** 2, 0.0).sum(axis=-1)
    return np.asarray(np.sqrt((quantile * np.asarray(standard_error)) ** 2 + beyond))
