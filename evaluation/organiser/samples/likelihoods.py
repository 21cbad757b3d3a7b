"""Likelihoods of two classes with a chosen area under the ROC curve."""

from math import ceil, log10

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluation.organiser.samples.fundus import Quality

AUC = {Quality.PERFECT: 1.0, Quality.GOOD: 0.95, Quality.POOR: 0.8, Quality.RANDOM: 0.5}
"""The AUC of a synthetic submission of each quality."""

# With this offset most negatives lie below 0.5, as with a real classifier of a rare disease.
_LOGIT_OF_MEAN_NEGATIVE = -1.5
_MIN_DECIMALS = 5
_STEPS_PER_CASE = 100
# A double has 53 bits and the first interval is some ten units long: further halving changes nothing.
_MAX_BISECTIONS = 64


def likelihoods_by_quality(
    positive: NDArray[np.bool_], rng: Generator, good: float = AUC[Quality.GOOD]
) -> dict[Quality, NDArray[np.float64]]:
    """Draw the likelihoods of a submission of each quality; ``good`` is the AUC of the good one."""
    chosen = AUC | {Quality.GOOD: good}
    return {quality: likelihoods_with_auc(positive, chosen[quality], rng) for quality in Quality}


def likelihoods_with_auc(positive: NDArray[np.bool_], auc: float, rng: Generator) -> NDArray[np.float64]:
    """Draw likelihoods with the empirical AUC that is nearest to the chosen one.

    `positive` is boolean (cases,), `auc` in [0, 1]: 1 separates the classes, 0.5 is chance. Returns
    floats (cases,) strictly between 0 and 1, all different, with 5 decimals (more above 1000 cases).
    The binormal model draws normal scores and shifts the positives'. Without ties, the AUC is a step function
    of the shift and comes within 1 / (2 · positives · negatives) of any target.

    Raises ValueError where a class is empty, the labels are not one-dimensional or boolean, or `auc` is
    not in [0, 1].
    """
    positive = np.asarray(positive)
    if positive.dtype != np.bool_ or positive.ndim != 1:
        raise ValueError(
            f"labels: expected a boolean array (cases,), found {positive.dtype} of shape {positive.shape}"
        )
    positives = int(np.count_nonzero(positive))
    negatives = positive.size - positives
    if positives == 0 or negatives == 0:
        raise ValueError(
            "labels: an AUC needs at least one positive and one negative case, "
            f"found {positives} positive and {negatives} negative"
        )
    if not 0.0 <= auc <= 1.0:
        raise ValueError(f"auc: expected a number from 0 to 1, found {auc}")
    scores = rng.standard_normal(positive.size)
    scores[positive] += _separation(
        scores[positive], np.sort(scores[~positive]), round(auc * positives * negatives)
    )
    return _distinct_likelihoods(scores)


def _separation(
    positive_scores: NDArray[np.float64], sorted_negative_scores: NDArray[np.float64], ordered_pairs: int
) -> float:
    """Find the shift of the positives that puts the given number of pairs in the right order."""
    low = float(sorted_negative_scores[0] - positive_scores.max()) - 1.0
    high = float(sorted_negative_scores[-1] - positive_scores.min()) + 1.0
    if ordered_pairs == 0:
        return low
    if ordered_pairs == positive_scores.size * sorted_negative_scores.size:
        return high
    for _ in range(_MAX_BISECTIONS):
        middle = (low + high) / 2
        found = int(np.searchsorted(sorted_negative_scores, positive_scores + middle).sum())
        if found == ordered_pairs:
            return middle
        if found < ordered_pairs:
            low = middle
        else:
            high = middle
    return low


def _distinct_likelihoods(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map scores into (0, 1) in their order, on a decimal grid; ties are moved up."""
    decimals = max(_MIN_DECIMALS, ceil(log10(_STEPS_PER_CASE * scores.size)))
    order = np.argsort(scores, kind="stable")
    # From 0.01 to 0.98, because the moves add up to at most 1 / _STEPS_PER_CASE = 0.01.
    smooth = 0.01 + 0.97 / (1.0 + np.exp(-(scores[order] + _LOGIT_OF_MEAN_NEGATIVE)))
    rank = np.arange(scores.size)
    steps = np.maximum.accumulate(np.rint(smooth * 10**decimals).astype(np.int64) - rank) + rank
    likelihoods = np.empty(scores.size, dtype=np.float64)
    likelihoods[order] = steps / 10**decimals
    return likelihoods
