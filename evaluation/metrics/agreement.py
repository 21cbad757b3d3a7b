"""Chance-corrected agreement of annotators on categories."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from evaluation.metrics import confusion
from evaluation.metrics.confusion import Disagreement
from evaluation.metrics.plain_arguments import weights_row


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    disagreement: Disagreement = "nominal",
    classes: Sequence[Hashable] | None = None,
    weights: ArrayLike | None = None,
) -> float:
    """Return Cohen's kappa of two annotators, or of a prediction and the reference, over the same cases.

    Parameters
    ----------
    first, second : sequence of hashable, length cases
        The category that each gave every case.
    disagreement : {"nominal", "linear", "quadratic"}, optional
        What a disagreement costs: the same for all ("nominal"), or the distance of the two categories in the
        order of ``classes`` or its square.
    classes : sequence of hashable, optional
        All categories in their order; required unless ``disagreement`` is "nominal".
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        At most 1, higher is better; 0 is the agreement by chance.

    Raises
    ------
    ValueError
        For lengths that differ, another disagreement, an invalid weight, a category that ``classes`` does not
        list, or weighted disagreements without ``classes``.

    Notes
    -----
    NaN for empty input, and if both always chose one and the same category: then agreement by chance is
    certain.

    References
    ----------
    J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement
    20:37–46, 1960; weighted: "Weighted kappa", Psychological Bulletin 70:213–220, 1968.

    Examples
    --------
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
    counts = confusion.confusion(
        [codes[category] for category in second],
        [codes[category] for category in first],
        weights_row(weights, len(first)),
        max(1, len(codes)),
    )
    return float(confusion.cohen_kappa(counts, disagreement)[0])


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
