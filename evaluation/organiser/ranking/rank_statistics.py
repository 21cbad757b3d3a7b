"""Wilcoxon's signed-rank test, the rank-sum test, Kendall's τ-b; values tie by their published digits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.pairwise import RANK_SUM, SIGNED_RANK, TOO_FEW_CASES, PairTest, sign
from evaluation.phase.places import mid_ranks
from evaluation.platform.result_file import SIGNIFICANT_DIGITS

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

_NORMAL = 1.959963984540054  # the 97.5 % quantile
_LARGEST_SMALL = np.iinfo(np.int16).max // 2
_ENTRIES_AT_ONCE = 4_000_000
_MOST_EXACT, _MOST_EXACT_WITH_TIES = 50, 13


def signed_rank_tests(values: ArrayLike, pairs: Sequence[tuple[int, int]]) -> list[PairTest]:
    """Return Wilcoxon's signed-rank test for pairs of teams, on the cases that are defined for both.

    values: shape (teams, cases), NaN where a case does not enter. Differences are compared in the published
    digits. Zero differences are left out (Wilcoxon's own treatment); if all are zero, p = 1. Two-sided. The
    method is chosen pair by pair, as SciPy does for a single one: exact for up to 50 cases without ties or
    zeros and for up to 13 with any, else the normal approximation with the correction for ties.
    Source: Wilcoxon 1945, Biometrics Bulletin 1:80.
    """
    columns, chosen = np.asarray(values, dtype=np.float64), np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    entering = np.flatnonzero((~np.isnan(columns)).any(axis=0))
    step = max(1, _ENTRIES_AT_ONCE // max(1, entering.size))
    tests: list[PairTest] = []
    for start in range(0, len(chosen), step):
        first, second = (columns[np.ix_(teams, entering)] for teams in chosen[start : start + step].T)
        tests += _signed_rank(published_difference(first, second))
    return tests


def _signed_rank(differences: Floats) -> list[PairTest]:
    """Return the tests of differences of shape (pairs, cases)."""
    from scipy.special import ndtr  # 0.2 s that not all rankings need

    counts = (~np.isnan(differences)).sum(axis=1)
    found = signed_ranks(differences)
    left, surplus, deviation = found.left, found.surplus, surplus_deviation(found.left, found.tie_term)
    with np.errstate(invalid="ignore", divide="ignore"):
        p_values = np.where(left > 0, 2 * ndtr(-np.abs(surplus) / deviation), 1.0)
        centred = differences - (np.nansum(differences, axis=1) / counts)[:, np.newaxis]
        errors = np.sqrt(np.nansum(centred**2, axis=1) / (counts - 1) / counts)
    most = np.where((found.tie_term > 0) | (left < counts), _MOST_EXACT_WITH_TIES, _MOST_EXACT)
    for pair in np.flatnonzero((counts <= most) & (left > 0)):
        ranks = found.ranks[pair]
        p_values[pair] = _exact_p(ranks[ranks > 0], surplus[pair] + ranks.sum() / 2)
    return [
        PairTest(
            SIGNED_RANK, float(p_value), float(error), sign(float(excess)), least_p=2 * 0.5 ** int(count)
        )
        if count > 1
        else PairTest(SIGNED_RANK, None, None, note=TOO_FEW_CASES)
        for p_value, error, excess, count in zip(p_values, errors, surplus, counts, strict=True)
    ]


@dataclass(frozen=True)
class SignedRanks:
    """The mid-ranks of the sizes of differences, shape (pairs, cases), 0 where one is 0 or NaN.

    By pair: ``left``, the number of ranks; ``surplus``, the sum of the positive ranks minus half of all;
    ``tie_term``, Σ(t³ − t) over groups of t equal sizes.
    """

    ranks: Floats
    left: NDArray[np.int64]
    surplus: Floats
    tie_term: Floats


def signed_ranks(differences: ArrayLike) -> SignedRanks:
    """Return the signed ranks of differences of shape (pairs, cases)."""
    plain = np.nan_to_num(np.asarray(differences, dtype=np.float64))
    informative = plain != 0
    left = informative.sum(axis=1)
    # Values that are left out come first in the order of sizes; their ranks are subtracted again.
    ranks = mid_ranks(np.where(informative, np.abs(plain), -1.0))
    ranks = np.where(informative, ranks - (plain.shape[1] - left)[:, np.newaxis], 0.0)
    surplus = np.where(plain > 0, ranks, 0.0).sum(axis=1) - left * (left + 1) / 4
    # A mid-rank in place of t different ranks lowers the sum of squares by (t³ − t) / 12. All sums are exact.
    tie_term = 2.0 * left * (left + 1) * (2 * left + 1) - 12 * np.square(ranks).sum(axis=1)
    return SignedRanks(ranks, left, surplus, tie_term)


def surplus_deviation(left: NDArray[Any], tie_term: Floats) -> Floats:
    """Return the standard deviation of the surplus of ``left`` signed ranks, see `SignedRanks`."""
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


def rank_sum_test(first: ArrayLike, second: ArrayLike) -> PairTest:
    """Return the two-sided Mann–Whitney U (rank-sum) test of two unpaired samples, in the published digits.

    NaN is left out; p is None where a sample is empty, 1 where all values are equal. The direction is 1 where
    the first sample has the higher ranks; there is no standard error. By the normal
    approximation with corrections for ties and continuity; exact where one has at most eight values and none
    is tied. Source: Mann and Whitney 1947, Ann. Math. Stat. 18:50.
    """
    samples = [published(sample) for sample in (first, second)]
    samples = [sample[~np.isnan(sample)] for sample in samples]
    if not all(sample.size for sample in samples):
        return PairTest(RANK_SUM, None, None)
    both = np.concatenate(samples)
    if (both == both[0]).all():
        return PairTest(RANK_SUM, 1.0, None)
    from scipy.stats import mannwhitneyu  # 0.3 s that only this test needs

    found = mannwhitneyu(*samples)
    surplus = 2 * float(found.statistic) - samples[0].size * samples[1].size
    return PairTest(RANK_SUM, float(found.pvalue), None, sign(surplus))


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Spearman's correlation with its 95 % interval, and the two-sided p of none; None where undefined."""

    value: float | None
    lower: float | None = None
    upper: float | None = None
    p_value: float | None = None


def spearman(first: ArrayLike, second: ArrayLike, units: int) -> RankCorrelation:
    """Return Spearman's correlation of two columns without NaN, shape (cases,); None where one is constant.

    units: how many of the cases are independent, at most all. Interval by Fisher's z with the variance
    (1 + ρ²/2) / (units − 3), p by Student's t with units − 2 degrees of freedom; none of fewer than 4 units.
    Source: Bonett and Wright 2000, Psychometrika 65:23; Spearman 1904, Am. J. Psychol. 15:72.
    """
    from scipy.special import stdtr  # 0.2 s that not all rankings need

    ranks = mid_ranks(np.stack([published(first), published(second)]))
    if ranks.shape[1] < 2 or (ranks.max(axis=1) == ranks.min(axis=1)).any():
        return RankCorrelation(None)
    a, b = ranks - ranks.mean(axis=1, keepdims=True)
    value = max(-1.0, min(1.0, float(a @ b / math.sqrt((a @ a) * (b @ b)))))
    if units < 4:
        return RankCorrelation(value)
    if abs(value) == 1:
        return RankCorrelation(value, value, value, 0.0)
    half = _NORMAL * math.sqrt((1 + value**2 / 2) / (units - 3))
    lower, upper = (math.tanh(math.atanh(value) + side * half) for side in (-1, 1))
    p_value = 2 * float(stdtr(units - 2, -abs(value) * math.sqrt((units - 2) / (1 - value**2))))
    return RankCorrelation(value, lower, upper, p_value)


def pareto_front(costs: ArrayLike) -> NDArray[np.bool_]:
    """Return which rows no other row dominates: at most equal costs, one of them lower.

    costs: finite, shape (rows, criteria), lower is better. Equal rows do not dominate each other.
    """
    rows = np.asarray(costs, dtype=np.float64)
    dominated = [bool(((rows <= row).all(axis=1) & (rows < row).any(axis=1)).any()) for row in rows]
    return ~np.array(dominated, dtype=np.bool_)


def kendall_tau_b(ranking: ArrayLike, others: ArrayLike) -> Floats:
    """Return τ-b of a ranking with each of many over the same teams; NaN where all places of one are equal.

    ranking: shape (teams,). others: shape (rows, teams). Returns shape (rows,) in [−1, 1].
    τ-b = Σ sign(xᵢ − xⱼ)·sign(yᵢ − yⱼ) / √(untied pairs of x · untied pairs of y).
    Source: Kendall 1945, Biometrika 33:239.
    """
    first, rows = np.asarray(ranking), np.asarray(others)
    order = np.argsort(first, kind="stable")
    columns = np.ascontiguousarray(rows[:, order].T)
    largest = max(first.size, np.abs(rows).max(initial=0))
    if np.issubdtype(rows.dtype, np.integer) and largest <= _LARGEST_SMALL:
        columns = columns.astype(np.int16)  # a quarter of the memory to read
    untied = _untied_pairs(rows) * float(_untied_pairs(first[np.newaxis])[0])
    with np.errstate(invalid="ignore"):
        return np.where(untied > 0, _concordance(first[order], columns) / np.sqrt(untied), np.nan)


def _concordance(ordered: NDArray[Any], columns: NDArray[Any]) -> Floats:
    """Return the number of concordant minus the number of discordant pairs, shape (rows,).

    ordered: shape (teams,), ascending. columns: shape (teams, rows), signed, in the same order of teams.
    """
    found = np.zeros(columns.shape[1])
    free = np.empty_like(columns)
    ends = np.searchsorted(ordered, ordered, side="right").tolist()
    for team, end in enumerate(ends):
        later = np.subtract(columns[end:], columns[team], out=free[end:])
        np.sign(later, out=later)
        found += later.sum(axis=0, dtype=columns.dtype)
    return found


def _untied_pairs(rows: NDArray[Any]) -> Floats:
    """Return the number of pairs of each row that differ, shape (rows,)."""
    ordered = np.sort(rows, axis=1)
    starts = np.ones(ordered.shape, dtype=np.bool_)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    firsts = np.flatnonzero(starts)
    sizes = np.diff(firsts, append=ordered.size)
    teams = rows.shape[1]
    tied = np.bincount(firsts // max(1, teams), sizes * (sizes - 1) / 2, len(rows))
    return np.asarray(teams * (teams - 1) / 2 - tied)
