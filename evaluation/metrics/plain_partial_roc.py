"""Parts of the ROC curve on plain arrays: partial area, and specificity at a sensitivity."""

from __future__ import annotations

from numpy.typing import ArrayLike

from evaluation.metrics import partial_roc
from evaluation.metrics.plain_arguments import booleans, decimal, weights_row
from evaluation.metrics.roc import roc_table


def partial_auc(
    scores: ArrayLike,
    labels: ArrayLike,
    min_specificity: float = 0.9,
    max_specificity: float = 1.0,
    *,
    standardised: bool = False,
    weights: ArrayLike | None = None,
) -> float:
    """Return the area under the ROC curve between two specificities.

    Parameters
    ----------
    scores : array_like of float, shape (cases,)
        Higher means more likely positive. Infinite scores are allowed, NaN is not.
    labels : array_like of bool, shape (cases,)
        The reference: true or 1 for a positive case, false or 0 for a negative one.
    min_specificity, max_specificity : float, optional
        The bounds, in [0, 1]. They are read as the decimal numbers that they are printed as.
    standardised : bool, optional
        Whether the area is mapped linearly so that a useless score has ½ and a perfect one 1 (McClish).
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, max_specificity − min_specificity], or standardised at most 1; higher is better.

    Raises
    ------
    ValueError
        For shapes that differ, a score that is NaN, a label other than 0 and 1, an invalid weight, or unless
        0 ≤ min_specificity < max_specificity ≤ 1.

    Notes
    -----
    NaN if there is no positive or no negative case with weight, so also for empty input. Neighbouring points
    are joined by straight lines. Standardised up to a specificity of 1, it equals scikit-learn's
    ``roc_auc_score`` with ``max_fpr = 1 − min_specificity``.

    References
    ----------
    D. K. McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9:190–195, 1989.

    Examples
    --------
    >>> partial_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.5)
    0.25
    >>> partial_auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.5, standardised=True)
    0.6666666666666666
    """
    bounds = decimal(min_specificity, "min_specificity"), decimal(max_specificity, "max_specificity")
    table = roc_table(scores, booleans(labels, "labels"))
    row = weights_row(weights, table.score.size)
    return float(partial_roc.partial_auc(table, row, *bounds, standardised)[0])


def specificity_at_sensitivity(
    scores: ArrayLike,
    labels: ArrayLike,
    sensitivity: float = 0.95,
    *,
    weights: ArrayLike | None = None,
) -> float:
    """Return the highest specificity at a sensitivity that is at least the given one.

    Parameters
    ----------
    scores : array_like of float, shape (cases,)
        Higher means more likely positive. Infinite scores are allowed, NaN is not.
    labels : array_like of bool, shape (cases,)
        The reference: true or 1 for a positive case, false or 0 for a negative one.
    sensitivity : float, optional
        The required sensitivity, in [0, 1]. It is read as the decimal number that it is printed as.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better; the best of the thresholds "score ≥ t".

    Raises
    ------
    ValueError
        For shapes that differ, a score that is NaN, a label other than 0 and 1, an invalid weight, or a
        sensitivity outside [0, 1].

    Notes
    -----
    NaN if there is no positive or no negative case with weight, so also for empty input. A negative case with
    the score +inf counts as missing and is a false positive at every threshold.

    References
    ----------
    T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27:861–874, 2006.

    Examples
    --------
    >>> specificity_at_sensitivity([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 1.0)
    0.5
    >>> specificity_at_sensitivity([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.5)
    1.0
    """
    target = decimal(sensitivity, "sensitivity")
    table = partial_roc.reversed_table(scores, booleans(labels, "labels"))
    row = weights_row(weights, table.score.size)
    return float(partial_roc.specificity_at_sensitivity(table, row, target)[0])
