"""Agreement on categories beyond chance: the kappas of Cohen and Fleiss."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence

from numpy.typing import ArrayLike

from evaluation.metrics.arrays import weights_row
from evaluation.metrics.confusion import Disagreement, cohen_kappa_of_confusion, weighted_confusion

__all__ = ["cohen_kappa", "fleiss_kappa"]


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    disagreement: Disagreement = "nominal",
    classes: Sequence[Hashable] | None = None,
    weights: ArrayLike | None = None,
) -> float:
    """Return Cohen's kappa: the agreement of decided and true classes beyond chance, plain or weighted.

    At most 1, higher is better; 0 is chance. first, second: the classes of two annotators, or of a prediction
    and the reference, in the same order. disagreement: what it costs, the same for all ("nominal"), or the
    distance of the classes in the order of ``classes`` or its square. classes: all in their order, required
    unless "nominal". weights: of the cases, finite and at least 0, by default 1 each. NaN for empty input,
    and if both always chose one and the same class. Raises ValueError for lengths that differ, another
    disagreement, an invalid weight, a class that is not listed, or weighted disagreements without
    ``classes``.
    Source: Cohen, Psychological Bulletin 70:213, 1968.

    >>> cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.5
    >>> cohen_kappa([0, 1, 2, 2], [0, 1, 2, 1], disagreement="quadratic", classes=[0, 1, 2])
    0.8
    """
    if len(first) != len(second):
        raise ValueError(f"expected as many categories of both, found {len(first)} and {len(second)}")
    if disagreement not in ("nominal", "linear", "quadratic"):
        expected = "'nominal', 'linear' or 'quadratic'"
        raise ValueError(f"disagreement: expected {expected}, found {disagreement!r}")
    if classes is None and disagreement != "nominal":
        raise ValueError(f"classes: expected all categories in their order for {disagreement!r}, found none")
    names = dict.fromkeys([*second, *first] if classes is None else classes)
    codes = {category: code for code, category in enumerate(names)}
    if unknown := [category for category in (*first, *second) if category not in codes]:
        raise ValueError(f"classes: expected every category that occurs, {unknown[0]!r} is not listed")
    counts = weighted_confusion(
        [codes[category] for category in second],
        [codes[category] for category in first],
        weights_row(weights, len(first)),
        max(1, len(codes)),
    )
    return float(cohen_kappa_of_confusion(counts, disagreement)[0])


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float:
    """Return Fleiss' kappa of any number of annotators.

    At most 1, higher is better; 0 is chance. ratings: for every case the categories that its annotators
    chose, of whom there may be other numbers in other cases; cases with fewer than two do not enter. NaN if
    no case enters, or only one category occurs.
    Source: Fleiss, Psychological Bulletin 76:378, 1971.

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
