"""Overlap of segmentations on plain arrays: Dice, Jaccard, precision, recall and F-beta."""

from __future__ import annotations

from numpy.typing import ArrayLike

from evaluation.metrics import overlap
from evaluation.metrics.plain_arguments import mask_of


def dice(prediction: ArrayLike, reference: ArrayLike, *, both_empty: float = 1.0) -> float:
    """Return the Dice coefficient of two regions, 2·|A∩B| / (|A| + |B|).

    Parameters
    ----------
    prediction : array_like of bool, any shape
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.
    both_empty : float, optional
        The value if both regions are empty.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ, or values other than 0 and 1.

    Notes
    -----
    0 if exactly one region is empty, ``both_empty`` if both are, also for arrays without elements.

    References
    ----------
    L. R. Dice, "Measures of the amount of ecologic association between species", Ecology 26:297–302, 1945.

    Examples
    --------
    >>> dice([[1, 1], [0, 0]], [[1, 0], [1, 0]])
    0.5
    """
    return overlap.dice(_counts(prediction, reference), both_empty=both_empty)


def jaccard(prediction: ArrayLike, reference: ArrayLike, *, both_empty: float = 1.0) -> float:
    """Return the Jaccard index of two regions (intersection over union), |A∩B| / |A∪B|.

    Parameters
    ----------
    prediction : array_like of bool, any shape
        The predicted region: true or 1 inside.
    reference : array_like of bool, same shape
        The reference region.
    both_empty : float, optional
        The value if both regions are empty.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ, or values other than 0 and 1.

    Notes
    -----
    0 if exactly one region is empty, ``both_empty`` if both are, also for arrays without elements.

    References
    ----------
    P. Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 11:37–50, 1912.

    Examples
    --------
    >>> jaccard([1, 1, 1, 0], [0, 1, 1, 1])
    0.5
    """
    return overlap.jaccard(_counts(prediction, reference), both_empty=both_empty)


def precision(prediction: ArrayLike, reference: ArrayLike, *, both_empty: float = 1.0) -> float:
    """Return the share of the predicted region that is in the reference (positive predictive value).

    Parameters
    ----------
    prediction : array_like of bool, any shape
        The predicted region or decisions: true or 1 for positive.
    reference : array_like of bool, same shape
        The reference.
    both_empty : float, optional
        The value if both are empty.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ, or values other than 0 and 1.

    Notes
    -----
    0 if exactly one region is empty, ``both_empty`` if both are, also for arrays without elements.

    References
    ----------
    C. J. van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.

    Examples
    --------
    >>> precision([1, 1, 1, 1], [0, 1, 0, 0])
    0.25
    """
    return overlap.precision(_counts(prediction, reference), both_empty=both_empty)


def recall(prediction: ArrayLike, reference: ArrayLike, *, both_empty: float = 1.0) -> float:
    """Return the share of the reference region that is predicted (sensitivity).

    Parameters
    ----------
    prediction : array_like of bool, any shape
        The predicted region or decisions: true or 1 for positive.
    reference : array_like of bool, same shape
        The reference.
    both_empty : float, optional
        The value if both are empty.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ, or values other than 0 and 1.

    Notes
    -----
    0 if exactly one region is empty, ``both_empty`` if both are, also for arrays without elements.

    References
    ----------
    C. J. van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.

    Examples
    --------
    >>> recall([0, 1, 0, 0], [1, 1, 1, 1])
    0.25
    """
    return overlap.recall(_counts(prediction, reference), both_empty=both_empty)


def f_beta(
    prediction: ArrayLike, reference: ArrayLike, beta: float = 1.0, *, both_empty: float = 1.0
) -> float:
    """Return the F-beta measure: the harmonic mean of precision and recall with recall weighted beta² times.

    Parameters
    ----------
    prediction : array_like of bool, any shape
        The predicted region or decisions: true or 1 for positive.
    reference : array_like of bool, same shape
        The reference.
    beta : float, optional
        Importance of recall, above 0. With 1 the result is the Dice coefficient.
    both_empty : float, optional
        The value if both are empty.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ, values other than 0 and 1, or a beta that is not above 0.

    Notes
    -----
    0 if exactly one region is empty, ``both_empty`` if both are, also for arrays without elements.

    References
    ----------
    C. J. van Rijsbergen, Information Retrieval, 2nd edition, 1979, chapter 7.

    Examples
    --------
    >>> f_beta([1, 1, 0, 0, 0], [1, 0, 1, 1, 1], beta=2)
    0.2777777777777778
    """
    if not 0 < beta < float("inf"):
        raise ValueError(f"beta: expected a number above 0, found {beta}")
    return overlap.f_beta(_counts(prediction, reference), beta, both_empty=both_empty)


def _counts(prediction: ArrayLike, reference: ArrayLike) -> overlap.OverlapCounts[int]:
    return overlap.count_overlap(mask_of(prediction, "prediction"), mask_of(reference, "reference"))
