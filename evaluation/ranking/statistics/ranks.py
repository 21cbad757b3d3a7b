"""Statistics of ranks: Wilcoxon's signed-rank test, the rank-sum test, and Kendall's τ-b."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import mannwhitneyu, wilcoxon

from evaluation.ranking.statistics.pairwise import PairTest

_ENTRIES_AT_ONCE = 4_000_000


def signed_rank_tests(values: ArrayLike, pairs: ArrayLike) -> list[PairTest]:
    """Return Wilcoxon's signed-rank test for pairs of teams, on the cases that are defined for both.

    values: shape (teams, cases), NaN where a case does not enter. pairs: shape (pairs, 2), indices of teams.
    Zero differences are left out (Wilcoxon's own treatment); if all are zero, p = 1. Two-sided; exact for up
    to 50 differences without ties or zeros, else by the normal approximation with the correction for ties.
    Source: Wilcoxon 1945, Biometrics Bulletin 1:80.
    """
    columns, chosen = np.asarray(values, dtype=np.float64), np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    defined = ~np.isnan(columns)
    entering = np.flatnonzero(defined.any(axis=0))
    step = max(1, _ENTRIES_AT_ONCE // max(1, entering.size))
    tests: list[PairTest] = []
    for start in range(0, len(chosen), step):
        first, second = chosen[start : start + step].T
        differences = columns[np.ix_(first, entering)] - columns[np.ix_(second, entering)]
        tests += _signed_rank(differences)
    return tests


def _signed_rank(differences: NDArray[np.float64]) -> list[PairTest]:
    counts = (~np.isnan(differences)).sum(axis=1)
    informative = (np.nan_to_num(differences) != 0).any(axis=1)
    p_values = np.ones(len(differences))
    if informative.any():
        # Rows with the same number of cases can be tested together; "omit" would test them one by one.
        policy = "omit" if np.isnan(differences).any() else "propagate"
        p_values[informative] = wilcoxon(differences[informative], axis=1, nan_policy=policy).pvalue
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = differences - (np.nansum(differences, axis=1) / counts)[:, np.newaxis]
        errors = np.sqrt(np.nansum(centred**2, axis=1) / (counts - 1) / counts)
    return [
        PairTest("Wilcoxon signed-rank", float(p_value), float(error))
        if count > 1
        else PairTest("Wilcoxon signed-rank", None, None, "fewer than two cases enter both means")
        for p_value, error, count in zip(p_values, errors, counts, strict=True)
    ]


def rank_sum_test(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return the two-sided p of the Mann–Whitney U (rank-sum) test of two unpaired samples.

    NaN is left out; None where a sample is empty, 1 where all values are equal. By the normal approximation
    with corrections for ties and continuity; exact where one has at most eight values and none is tied.
    Source: Mann and Whitney 1947, Ann. Math. Stat. 18:50.
    """
    samples = [np.asarray(sample, dtype=np.float64) for sample in (first, second)]
    samples = [sample[~np.isnan(sample)] for sample in samples]
    if not all(sample.size for sample in samples):
        return None
    both = np.concatenate(samples)
    return 1.0 if (both == both[0]).all() else float(mannwhitneyu(*samples).pvalue)


def kendall_tau_b(ranking: ArrayLike, others: ArrayLike) -> NDArray[np.float64]:
    """Return τ-b of a ranking with each of many over the same teams; NaN where all places of one are equal.

    ranking: shape (teams,). others: shape (rows, teams). Returns shape (rows,) in [−1, 1].
    τ-b = Σ sign(xᵢ − xⱼ)·sign(yᵢ − yⱼ) / √(untied pairs of x · untied pairs of y).
    Source: Kendall 1945, Biometrika 33:239.
    """
    first, rows = np.asarray(ranking), np.asarray(others)
    upper = np.triu_indices(first.size, 1)
    signs = np.sign(first[upper[0]] - first[upper[1]]).astype(np.float32)
    step = max(1, _ENTRIES_AT_ONCE // max(1, signs.size))
    taus = [np.empty(0)]
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        block_signs = np.sign(block[:, upper[0]] - block[:, upper[1]]).astype(np.float32)
        # Sums of fewer than 2²⁴ ones are exact in float32.
        concordance = (block_signs @ signs).astype(np.float64)
        untied = np.count_nonzero(block_signs, axis=1) * float(np.count_nonzero(signs))
        with np.errstate(invalid="ignore"):
            taus.append(np.where(untied > 0, concordance / np.sqrt(untied), np.nan))
    return np.concatenate(taus)
