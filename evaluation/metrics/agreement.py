"""Chance-corrected agreement of readers on categories."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Return Cohen's kappa of two readers over the same cases, at most 1.

    NaN for no case, and where both always chose one and the same category (agreement by chance is certain).
    Source: Cohen, Educational and Psychological Measurement 20:37, 1960.
    """
    if len(set(first) | set(second)) < 2:
        return math.nan
    from sklearn.metrics import cohen_kappa_score

    codes = {category: code for code, category in enumerate(dict.fromkeys([*first, *second]))}
    return float(cohen_kappa_score([codes[c] for c in first], [codes[c] for c in second]))


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Return Fleiss' kappa; ratings holds for every case the categories that its readers chose.

    Cases with fewer than two readers do not enter; the number of readers may differ between cases. NaN where
    no case enters or only one category occurs. Source: Fleiss, Psychological Bulletin 76:378, 1971.
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
    readers = counts.total()
    return sum(count * (count - 1) for count in counts.values()) / (readers * (readers - 1))


@dataclass(frozen=True, slots=True)
class Agreement:
    """One figure of agreement; ``second`` is empty where it is one of all readers together."""

    field: str
    measure: str
    first: str
    second: str
    cases: int
    value: float
