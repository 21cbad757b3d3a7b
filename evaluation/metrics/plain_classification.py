"""Scores against labels on plain arrays: ROC curve, AUC, sensitivity at a specificity, average precision."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from evaluation.metrics import probabilities, roc
from evaluation.metrics.plain_arguments import booleans, decimal, weights_row
from evaluation.metrics.roc import RocPoints, RocTable


def auc(scores: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the area under the ROC curve.

    It is the share of pairs of a positive and a negative case in which the positive case has the higher
    score; a tie counts one half.

    Parameters
    ----------
    scores : array_like of float, shape (cases,)
        Higher means more likely positive. Infinite scores are allowed, NaN is not.
    labels : array_like of bool, shape (cases,)
        The reference: true or 1 for a positive case, false or 0 for a negative one.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better; 0.5 for scores without information.

    Raises
    ------
    ValueError
        For shapes that differ, a score that is NaN, a label other than 0 and 1, or an invalid weight.

    Notes
    -----
    NaN if there is no positive or no negative case with weight, so also for empty input. A positive case with
    the score −inf counts as missing: it loses all its pairs, also against a negative case with −inf.

    References
    ----------
    D. Bamber, "The area above the ordinal dominance graph and the area below the receiver operating
    characteristic graph", Journal of Mathematical Psychology 12:387–415, 1975.

    Examples
    --------
    >>> auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.75
    """
    table = _roc_table(scores, labels)
    return float(roc.auc(table, weights_row(weights, table.score.size))[0])


def roc_curve(scores: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> RocPoints:
    """Return the points of the ROC curve, one for every distinct score.

    Parameters
    ----------
    scores : array_like of float, shape (cases,)
        Higher means more likely positive. Infinite scores are allowed, NaN is not.
    labels : array_like of bool, shape (cases,)
        The reference: true or 1 for a positive case, false or 0 for a negative one.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    RocPoints
        ``threshold``, ``false_positive_rate`` and ``sensitivity``, each of shape (points,). A case is
        positive if its score is at least the threshold. The first point has the threshold +inf and both
        rates 0; thresholds then fall.

    Raises
    ------
    ValueError
        For shapes that differ, a score that is NaN, a label other than 0 and 1, or an invalid weight.

    Notes
    -----
    The rate of a class without a case (or without weight) is NaN. Points are never dropped, unlike
    scikit-learn's default. Cases with weight 0, and positive cases with the score −inf, give no point.

    References
    ----------
    T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27:861–874, 2006.

    Examples
    --------
    >>> points = roc_curve([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> points.sensitivity.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    >>> points.false_positive_rate.tolist()
    [0.0, 0.0, 0.5, 0.5, 1.0]
    """
    table = _roc_table(scores, labels)
    return roc.roc_points(table, weights_row(weights, table.score.size)[0])


def sensitivity_at_specificity(
    scores: ArrayLike,
    labels: ArrayLike,
    specificity: float = 0.95,
    *,
    definition: Literal["step", "interpolated"] = "step",
    weights: ArrayLike | None = None,
) -> float:
    """Return the highest sensitivity at a specificity that is at least the given one.

    Parameters
    ----------
    scores : array_like of float, shape (cases,)
        Higher means more likely positive. Infinite scores are allowed, NaN is not.
    labels : array_like of bool, shape (cases,)
        The reference: true or 1 for a positive case, false or 0 for a negative one.
    specificity : float, optional
        The required specificity, in [0, 1]. It is read as the decimal number that it is printed as, so that
        0.95 of 20 negative cases are exactly 19.
    definition : {"step", "interpolated"}, optional
        "step" takes the best of the thresholds "score ≥ t"; tied scores are never separated. "interpolated"
        reads the sensitivity off the line between the points of the ROC curve.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better; 0 if only the threshold above all scores reaches the specificity.

    Raises
    ------
    ValueError
        For shapes that differ, a score that is NaN, a label other than 0 and 1, an invalid weight, a
        specificity outside [0, 1], or another definition.

    Notes
    -----
    NaN if there is no positive or no negative case with weight, so also for empty input. A positive case with
    the score −inf counts as missing and is detected at no threshold.

    References
    ----------
    J. I. Orlando et al., "REFUGE Challenge: a unified framework for evaluating automated methods for glaucoma
    assessment from fundus photographs", Medical Image Analysis 59:101570, 2020.

    Examples
    --------
    >>> sensitivity_at_specificity([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.5)
    1.0
    >>> sensitivity_at_specificity([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], 0.95)
    0.5
    """
    definitions = {
        "step": roc.sensitivity_at_specificity,
        "interpolated": roc.sensitivity_at_specificity_interpolated,
    }
    if definition not in definitions:
        raise ValueError(f"definition: expected 'step' or 'interpolated', found {definition!r}")
    target = decimal(specificity, "specificity")
    table = _roc_table(scores, labels)
    return float(definitions[definition](table, weights_row(weights, table.score.size), target)[0])


def average_precision(scores: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the average precision: the sum over the thresholds of precision times gained recall.

    Parameters
    ----------
    scores : array_like of float, shape (cases,)
        Higher means more likely positive. Infinite scores are allowed, NaN is not.
    labels : array_like of bool, shape (cases,)
        The reference: true or 1 for a positive case, false or 0 for a negative one.
    weights : array_like of float, shape (cases,), optional
        Weights of the cases, finite and at least 0. By default every case has weight 1.

    Returns
    -------
    float
        In [0, 1], higher is better; the share of positive cases for scores without information.

    Raises
    ------
    ValueError
        For shapes that differ, a score that is NaN, a label other than 0 and 1, or an invalid weight.

    Notes
    -----
    NaN without a positive case with weight, so also for empty input. There is no interpolation, as in
    scikit-learn. Tied scores are one threshold. A positive case with the score −inf is never found.

    References
    ----------
    M. Zhu, "Recall, precision and average precision", University of Waterloo, 2004.

    Examples
    --------
    >>> average_precision([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    0.8333333333333333
    """
    table = _roc_table(scores, labels)
    return float(probabilities.average_precision(table, weights_row(weights, table.score.size))[0])


def _roc_table(scores: ArrayLike, labels: ArrayLike) -> RocTable:
    return roc.roc_table(scores, booleans(labels, "labels"))
