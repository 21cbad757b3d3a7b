"""Wilcoxon's signed-rank test, the rank-sum test, Kendall's τ-b; values tie by their published digits."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.figure import SIGNIFICANT, Difference
from evaluation.stats.numbers import SIGNIFICANT_DIGITS, Floats
from evaluation.stats.student import boundary

SIGNED_RANK, RANK_SUM = "Wilcoxon signed-rank", "Mann–Whitney U"
TOO_FEW_CASES = "too few cases"
_SYMMETRIC = "the differences are symmetric about 0"
_SAME = "the values have the same distribution; the cases are not paired"

# --- Comparison of floats by their published decimal digits: equal digits tie in a test ---

_LARGEST_EXACT_POWER = 22  # 10²² is the largest power of ten that a float64 holds exactly


def published(values: ArrayLike) -> Floats:
    """Return values rounded to the published significant digits; NaN and infinity stay.

    values: any shape. Values that are equal in these digits are the same float afterwards.
    """
    given = np.asarray(values, dtype=np.float64)
    return _rounded(given, np.abs(given))


def published_difference(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return first − second, rounded to the last published digit of the larger one.

    first, second: shapes that broadcast. 0.3 − 0.1 and 0.4 − 0.2 differ as floats and are equal here.
    NaN where either is NaN.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    return _rounded(a - b, np.maximum(np.abs(a), np.abs(b)))


def _rounded(values: Floats, magnitude: Floats) -> Floats:
    """Return values rounded to the last significant digit of numbers of the given magnitude."""
    known = np.isfinite(magnitude) & (magnitude > 0)
    exponent = np.floor(np.log10(np.where(known, magnitude, 1.0)))
    decimals = np.clip(SIGNIFICANT_DIGITS - 1 - exponent, -_LARGEST_EXACT_POWER, _LARGEST_EXACT_POWER)
    # A whole number over an exact power of ten gives the float nearest to the decimal.
    up, down = 10.0 ** np.maximum(decimals, 0), 10.0 ** np.maximum(-decimals, 0)
    return np.where(known, np.rint(values * up / down) / up * down, values)


# --- Statistics of ranks: Wilcoxon's signed-rank test, the rank-sum test, and Kendall's τ-b ---

_LARGEST_SMALL = np.iinfo(np.int16).max // 2
_MOST_EXACT, _MOST_EXACT_WITH_TIES = 50, 13


def signed_rank_difference(differences: ArrayLike, value: float) -> Difference:
    """Return Wilcoxon's two-sided signed-rank test of paired differences, and the interval of their centre.

    differences: shape (cases,), NaN where a case does not enter, in the published digits. value: the
    difference of the figures, which is not what is tested. Zeros are left out (Wilcoxon's own treatment); if
    all are zero, p = 1. Exact for up to 50 cases without ties or zeros and for up to 13 with any, else the
    normal approximation with the correction for ties, as SciPy chooses. The estimate is that of Hodges and
    Lehmann; the interval holds the shifts that the same test does not reject.
    Source: Wilcoxon 1945, Biometrics Bulletin 1:80; Hodges and Lehmann 1963, Ann. Math. Stat. 34:598.
    """
    column = np.asarray(differences, dtype=np.float64)
    column = column[~np.isnan(column)]
    if column.size < 2:
        return Difference(value, method=SIGNED_RANK, n=column.size, reason=TOO_FEW_CASES, null=_SYMMETRIC)

    def test(shift: float) -> tuple[float, float]:
        return _signed_rank(published_difference(column, np.full_like(column, shift)))

    ends = float(column.min()) - 1, float(column.max()) + 1
    found = Difference(value, method=SIGNED_RANK, n=column.size, null=_SYMMETRIC)
    return _by_inversion(found, test, ends)


def rank_sum_difference(first: ArrayLike, second: ArrayLike, value: float = math.nan) -> Difference:
    """Return the two-sided Mann–Whitney U (rank-sum) test of two unpaired samples, in the published digits.

    NaN is left out; p is None where a sample is empty, 1 where all values are equal. By the normal
    approximation with corrections for ties and continuity; exact where one has at most eight values and none
    is tied. The interval holds the shifts between the samples that the same test does not reject.
    Source: Mann and Whitney 1947, Ann. Math. Stat. 18:50; Hodges and Lehmann 1963, Ann. Math. Stat. 34:598.
    """
    samples = [published(sample) for sample in (first, second)]
    samples = [sample[~np.isnan(sample)] for sample in samples]
    n = min(sample.size for sample in samples)
    found = Difference(value, method=RANK_SUM, n=n, null=_SAME)
    if not n:
        return replace(found, reason="a sample is empty")

    def test(shift: float) -> tuple[float, float]:
        moved = published_difference(samples[0], np.full_like(samples[0], shift))
        return rank_sum(moved, samples[1])

    apart = [(samples[0].min() - samples[1].max()) - 1, (samples[0].max() - samples[1].min()) + 1]
    return _by_inversion(found, test, (float(apart[0]), float(apart[1])))


def _by_inversion(
    found: Difference, test: Callable[[float], tuple[float, float]], ends: tuple[float, float]
) -> Difference:
    """Return a difference with the p of no shift, and the interval of the shifts that are not rejected.

    test: from a shift to the surplus, which falls as the shift rises, and p. ends: beyond all shifts.
    """
    surplus, p_value = test(0.0)
    low, high = ends
    above = boundary(lambda shift: test(shift)[0] <= 0, high, low)
    below = boundary(lambda shift: test(shift)[0] >= 0, low, high)
    estimate = (above + below) / 2 if surplus else 0.0

    def end(far: float) -> float | None:
        def rejected(shift: float) -> bool:
            return test(shift)[1] < SIGNIFICANT

        if not rejected(far):
            return None
        within = estimate
        if (far < 0 < estimate) or (estimate < 0 < far):  # no shift is in the interval where p says so
            far, within = (0.0, within) if p_value < SIGNIFICANT else (far, 0.0)
        return boundary(rejected, far, within)

    lower, upper = end(low), end(high)
    if lower is None or upper is None:
        return replace(found, p_value=p_value, estimate=estimate, reason=TOO_FEW_CASES)
    if p_value < SIGNIFICANT:  # the boundary may lie on 0 itself
        tiny = math.ulp(max(abs(lower), abs(upper), math.ulp(0.0)))
        lower, upper = (max(lower, tiny), upper) if estimate > 0 else (lower, min(upper, -tiny))
    return replace(found, p_value=p_value, estimate=estimate, lower=lower, upper=upper)


def _signed_rank(differences: Floats) -> tuple[float, float]:
    """Return the surplus of the positive ranks and p, of differences of shape (cases,)."""
    left = differences[differences != 0]
    if not left.size:
        return 0.0, 1.0
    ranks = mid_ranks(np.abs(left))
    surplus = float(ranks[left > 0].sum() - ranks.sum() / 2)
    sizes = np.unique(np.abs(left), return_counts=True)[1].astype(np.float64)
    ties = float((sizes**3 - sizes).sum())
    most = _MOST_EXACT_WITH_TIES if ties > 0 or left.size < differences.size else _MOST_EXACT
    if differences.size <= most:
        return surplus, _exact_p(ranks, float(ranks[left > 0].sum()))
    deviation = float(surplus_deviation(left.size, ties))
    return surplus, math.erfc(abs(surplus) / deviation / math.sqrt(2))


_MOST_EXACT_RANK_SUM = 8


def rank_sum(first: Floats, second: Floats) -> tuple[float, float]:
    """Return twice the surplus of U over its mean, and p, as SciPy's `mannwhitneyu` chooses its method.

    first, second: samples in their published digits, neither of them empty.
    """
    both = np.concatenate([first, second])
    counts = np.unique(both, return_counts=True)[1].astype(np.float64)
    pairs, cases = first.size * second.size, both.size
    if counts.size == 1:
        return 0.0, 1.0
    ranks = mid_ranks(both)
    surplus = 2 * (float(ranks[: first.size].sum()) - first.size * (first.size + 1) / 2) - pairs
    if min(first.size, second.size) <= _MOST_EXACT_RANK_SUM and counts.size == cases:
        from scipy.stats import mannwhitneyu  # 0.3 s that only few cases need

        return surplus, float(mannwhitneyu(first, second, method="exact").pvalue)
    ties = float((counts**3 - counts).sum()) / (cases * (cases - 1))
    deviation = math.sqrt(pairs / 12 * (cases + 1 - ties))
    return surplus, min(1.0, math.erfc((abs(surplus) / 2 - 0.5) / deviation / math.sqrt(2)))


def mid_ranks(values: ArrayLike) -> Floats:
    """Return the ascending ranks of values, shape (values,); equal values share the average rank."""
    import pandas  # 0.3 s that only these tests need

    return np.asarray(pandas.Series(np.asarray(values, dtype=np.float64)).rank(), dtype=np.float64)


def surplus_deviation(left: ArrayLike, tie_term: ArrayLike) -> Floats:
    """Return the standard deviation of the sum of the positive ones of ``left`` signed ranks.

    tie_term: Σ(t³ − t) over groups of t equal sizes; both of one shape.
    """
    left, tie_term = np.asarray(left, dtype=np.float64), np.asarray(tie_term, dtype=np.float64)
    return np.asarray(np.sqrt(left * (left + 1) * (2 * left + 1) / 24 - tie_term / 48))


def _exact_p(ranks: Floats, positive: float) -> float:
    """Return the two-sided p of a sum of positive ranks over all signs of the (mid-)ranks."""
    twice = tuple(sorted(np.rint(2 * ranks).astype(np.int64).tolist()))
    at_most, at_least = _tails(twice)
    place = round(2 * positive)
    return float(min(1.0, 2 * min(at_most[place], at_least[place])))


@lru_cache(maxsize=64)
def _tails(twice_ranks: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return the probabilities that the doubled sum is at most, and at least, each number from 0."""
    shares = np.zeros(sum(twice_ranks) + 1)
    shares[0] = 1.0
    for rank in twice_ranks:
        shares[rank:] += shares[:-rank].copy()
        shares /= 2
    return np.cumsum(shares), np.cumsum(shares[::-1])[::-1]


def kendall_tau_b(ranking: ArrayLike, others: ArrayLike) -> Floats:
    """Return τ-b of a ranking with each of many over the same teams; NaN where all places of one are equal.

    ranking: shape (teams,). others: shape (rows, teams). Returns shape (rows,) in [−1, 1].
    τ-b = Σ sign(xᵢ − xⱼ)·sign(yᵢ − yⱼ) / √(untied pairs of x · untied pairs of y).
    Source: Kendall 1945, Biometrika 33:239.
    """
    first, rows = np.asarray(ranking), np.asarray(others)
    order = np.argsort(first, kind="stable")
    ordered, columns = first[order], np.ascontiguousarray(rows[:, order].T)
    largest = max(first.size, np.abs(rows).max(initial=0))
    if np.issubdtype(rows.dtype, np.integer) and largest <= _LARGEST_SMALL:
        columns = columns.astype(np.int16)  # a quarter of the memory to read
    concordant, untied = np.zeros(len(rows)), np.zeros(len(rows))
    ends = np.searchsorted(ordered, ordered, side="right")
    for team, end in enumerate(ends.tolist()):
        later = np.sign(columns[team + 1 :] - columns[team])
        untied += np.abs(later).sum(axis=0, dtype=columns.dtype)
        concordant += later[end - team - 1 :].sum(axis=0, dtype=columns.dtype)
    untied *= float((first.size - ends).sum())
    with np.errstate(invalid="ignore"):
        return np.where(untied > 0, concordant / np.sqrt(untied), np.nan)
