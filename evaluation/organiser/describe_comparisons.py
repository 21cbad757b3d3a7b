"""Tests of a quantity between groups: Kruskal–Wallis over all, rank-sum between two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FloatArray = NDArray[np.float64]
KRUSKAL_WALLIS, RANK_SUM = "Kruskal–Wallis", "rank-sum"
FEWEST = 5
"""Fewest values in a group for a good approximation of the Kruskal–Wallis statistic."""


@dataclass(frozen=True)
class TestOfGroups:
    """A test of one quantity between groups: all of them, or the first against the second.

    ``statistic``: H of Kruskal–Wallis, or U of the first group. ``p_bonferroni``: p times the number of
    rank-sum tests of this quantity between these groups, at most 1; for Kruskal–Wallis p itself. ``note``:
    why there is no p, or why it is rough.
    """

    __test__ = False

    method: str
    first: str
    second: str
    statistic: float | None
    p_value: float | None
    p_bonferroni: float | None
    note: str = ""


def compare_groups(values: Mapping[str, FloatArray], against: str | None = None) -> list[TestOfGroups]:
    """Return the tests between groups of independent values, without the groups that have no value.

    More than two groups: the Kruskal–Wallis test over all of them, then Wilcoxon's two-sided rank-sum test
    (Mann–Whitney U) of every pair, or with ``against`` only of that group and each other one, with
    Bonferroni's correction for these pairs. Two groups: the rank-sum test alone. It is exact for up to eight
    values in the smaller group where no values are tied, as SciPy chooses, else by the normal approximation
    with corrections for ties and continuity. Where ``against`` has no value, no pair is tested. Source:
    Orlando et al. 2020, Med. Image Anal. 59:101570 (REFUGE), section 3.1.
    """
    given = {group: numbers for group, numbers in values.items() if len(numbers)}
    if len(given) < 2:
        return []
    tests = [_kruskal_wallis(list(given.values()))] if len(given) > 2 else []
    pairs = _pairs(list(given), against)
    return tests + [_rank_sum(a, b, given[a], given[b], len(pairs)) for a, b in pairs]


def _pairs(groups: Sequence[str], against: str | None) -> list[tuple[str, str]]:
    if against is None:
        return list(combinations(groups, 2))
    if against not in groups:
        return []
    return [(against, group) for group in groups if group != against]


def _kruskal_wallis(groups: Sequence[FloatArray]) -> TestOfGroups:
    pooled = np.concatenate(groups)
    if (pooled == pooled[0]).all():
        return TestOfGroups(KRUSKAL_WALLIS, "", "", None, None, None, "all values are equal")
    found = stats.kruskal(*groups)
    p_value = float(found.pvalue)
    rough = min(len(group) for group in groups) < FEWEST
    note = f"rough: a group has fewer than {FEWEST} values" if rough else ""
    return TestOfGroups(KRUSKAL_WALLIS, "", "", float(found.statistic), p_value, p_value, note)


def _rank_sum(
    first: str, second: str, one: FloatArray, other: FloatArray, number_of_tests: int
) -> TestOfGroups:
    pooled = np.concatenate((one, other))
    if (pooled == pooled[0]).all():
        return TestOfGroups(RANK_SUM, first, second, None, None, None, "all values are equal")
    found = stats.mannwhitneyu(one, other, alternative="two-sided")
    p_value = float(found.pvalue)
    corrected = min(1.0, p_value * number_of_tests)
    return TestOfGroups(RANK_SUM, first, second, float(found.statistic), p_value, corrected)
