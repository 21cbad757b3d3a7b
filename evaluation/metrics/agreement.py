"""Chance-corrected agreement of annotators on categories."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return Cohen's kappa of two annotators over the same cases.

    Parameters
    ----------
    first, second : sequence of hashable, length cases
        The category that each annotator gave every case.

    Returns
    -------
    float
        At most 1, higher is better; 0 is the agreement by chance.

    Raises
    ------
    ValueError
        For lengths that differ.

    Notes
    -----
    NaN for empty input, and if both always chose one and the same category: then agreement by chance is
    certain.

    References
    ----------
    J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement
    20:37–46, 1960.

    Examples
    --------
    >>> cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.5
    """
    if len(first) != len(second):
        raise ValueError(f"expected as many categories of both, found {len(first)} and {len(second)}")
    if len(set(first) | set(second)) < 2:
        return math.nan
    from sklearn.metrics import cohen_kappa_score

    codes = {category: code for code, category in enumerate(dict.fromkeys([*first, *second]))}
    return float(cohen_kappa_score([codes[c] for c in first], [codes[c] for c in second]))


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Return Fleiss' kappa of any number of annotators.

    Parameters
    ----------
    ratings : sequence of sequences of hashable
        For every case, the categories that its annotators chose. Their number may differ between cases;
        cases with fewer than two annotators do not enter.

    Returns
    -------
    float
        At most 1, higher is better; 0 is the agreement by chance.

    Notes
    -----
    NaN if no case enters, so also for empty input, and if only one category occurs.

    References
    ----------
    J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76:378–382,
    1971.

    Examples
    --------
    >>> round(fleiss_kappa([["a", "a", "a"], ["b", "b", "b"], ["a", "a", "b"]]), 4)
    0.55
    """
    cases = [Counter(case_ratings) for case_ratings in ratings if len(case_ratings) > 1]
    total: Counter[Hashable] = Counter()
    for counts in cases:
        total.update(counts)
    if len(total) < 2:
        return math.nan
    agreeing = [_share_of_agreeing_pairs(counts) for counts in cases]
    observed = math.fsum(agreeing) / len(cases)
    by_chance = math.fsum((count / total.total()) ** 2 for count in total.values())
    return (observed - by_chance) / (1 - by_chance)


def _share_of_agreeing_pairs(counts: Counter[Hashable]) -> float:
    annotators = counts.total()
    return sum(count * (count - 1) for count in counts.values()) / (annotators * (annotators - 1))


@dataclass(frozen=True, slots=True)
class Agreement:
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
