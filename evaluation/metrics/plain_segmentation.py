"""Overlap of segmentations on plain arrays: Dice, Jaccard, precision, recall, F-beta, weighted Dice."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics import confidence, cup_to_disc, overlap
from evaluation.metrics.cup_to_disc import VerticalDiameter


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


def weighted_dice(prediction: ArrayLike, reference: ArrayLike) -> float:
    """Return the confidence-weighted Dice of two maps, 2·Σ A·B / (Σ A² + Σ B²).

    Parameters
    ----------
    prediction : array_like of float, any shape
        Confidences in [0, 1].
    reference : array_like of float, same shape
        Confidences of the reference in [0, 1].

    Returns
    -------
    float
        In [0, 1], higher is better. For binary maps it equals the Dice coefficient.

    Raises
    ------
    ValueError
        For shapes that differ, or values outside [0, 1].

    Notes
    -----
    0 if exactly one map is 0 everywhere, 1 if both are, also for arrays without elements.

    References
    ----------
    "A novel benchmark model for intelligent annotation of spectral-domain optical coherence tomography scans
    using the example of cyst annotation", 2016, Eq. 3.

    Examples
    --------
    >>> weighted_dice([1.0, 0.5], [0.5, 1.0])
    0.8
    """
    first, second = np.asarray(prediction, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    _check_shapes(first, second)
    for name, values in (("prediction", first), ("reference", second)):
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"{name}: expected confidences from 0 to 1")
    sums = confidence.ConfidenceSums(
        float((first * second).sum()), float((first * first).sum()), float((second * second).sum())
    )
    return confidence.weighted_dice(sums)


def cup_to_disc_ratio(
    cup: ArrayLike, disc: ArrayLike, *, definition: VerticalDiameter = "column_count"
) -> float:
    """Return the vertical cup-to-disc ratio of an optic nerve head.

    Parameters
    ----------
    cup : array_like of bool, shape (y, x)
        The region of the optic cup.
    disc : array_like of bool, shape (y, x)
        The region of the optic disc, including the cup.
    definition : {"column_count", "extent"}, optional
        The vertical diameter of a region: the largest number of its pixels in one column, or the last row
        minus the first row plus one. They differ for regions with holes, several parts or slanted shapes.

    Returns
    -------
    float
        In [0, 1] if the disc includes the cup.

    Raises
    ------
    ValueError
        For shapes that differ or have not two axes, values other than 0 and 1, or another definition.

    Notes
    -----
    0 if the disc is empty, also for arrays without elements.

    References
    ----------
    J. I. Orlando et al., "REFUGE Challenge: a unified framework for evaluating automated methods for glaucoma
    assessment from fundus photographs", Medical Image Analysis 59:101570, 2020.

    Examples
    --------
    >>> cup_to_disc_ratio([[0, 0], [1, 0], [1, 0], [0, 0]], [[1, 0], [1, 1], [1, 1], [1, 0]])
    0.5
    """
    regions = [_mask(region, name) for region, name in ((cup, "cup"), (disc, "disc"))]
    _check_shapes(*regions)
    diameters = [cup_to_disc.vertical_diameter(region, definition) for region in regions]
    return cup_to_disc.vertical_cup_to_disc_ratio(*diameters)


def _counts(prediction: ArrayLike, reference: ArrayLike) -> overlap.OverlapCounts[int]:
    return overlap.count_overlap(_mask(prediction, "prediction"), _mask(reference, "reference"))


def _mask(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    array = np.asarray(values)
    if array.dtype != np.bool_ and not ((array == 0) | (array == 1)).all():
        raise ValueError(f"{name}: expected 0 and 1 only; choose a label first, for example mask == 255")
    return array.astype(np.bool_)


def _check_shapes(prediction: NDArray[np.generic], reference: NDArray[np.generic]) -> None:
    if prediction.shape != reference.shape:
        raise ValueError(f"expected arrays of one shape, found {prediction.shape} and {reference.shape}")
