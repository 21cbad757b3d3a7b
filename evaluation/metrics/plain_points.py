"""Points and landmarks on plain arrays: which prediction hits which reference point, and radial errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics import point_matching
from evaluation.metrics.point_matching import MatchingRule, PointMatches


def match_points(
    predicted: ArrayLike,
    reference: ArrayLike,
    radius: float | ArrayLike,
    *,
    rule: MatchingRule = "nearest",
    confidences: ArrayLike | None = None,
    strict: bool = False,
) -> PointMatches:
    """Return which predicted point of one image is the hit of which reference point.

    Parameters
    ----------
    predicted : array_like of float, shape (predictions, axes)
        The predicted points.
    reference : array_like of float, shape (references, axes)
        The reference points, in the same unit.
    radius : float or array_like of float, shape (references,)
        Largest distance of a hit from its reference point, one for all or one for each.
    rule : {"nearest", "by_confidence", "optimal", "any"}, optional
        "nearest": each reference point in its order takes the nearest prediction that is not yet taken.
        "by_confidence": each prediction by falling confidence takes the nearest reference point that is
        free. "optimal": as many hits as possible, of those with the smallest sum of distances. "any": a
        reference point is hit by the most confident prediction that is near; no prediction near a reference
        point is a false positive.
    confidences : array_like of float, shape (predictions,), optional
        Required by "by_confidence" and "any".
    strict : bool, optional
        Whether a prediction at exactly the radius is too far.

    Returns
    -------
    PointMatches
        ``hit``, of shape (references,), is the index of the prediction, or −1. ``false``, of shape
        (predictions,), marks the false positives. ``true_positives``, ``false_positives`` and
        ``false_negatives`` are their numbers.

    Raises
    ------
    ValueError
        For shapes that do not fit, a coordinate that is not finite, another rule, or missing confidences.

    Notes
    -----
    Without a prediction every reference point is missed, without a reference point every prediction is false.

    References
    ----------
    M. Aubreville et al., "Mitosis domain generalization in histopathology images: the MIDOG challenge",
    Medical Image Analysis 84:102699, 2023 ("nearest"); A. A. A. Setio et al., "Validation, comparison, and
    combination of algorithms for automatic detection of pulmonary nodules in computed tomography images: the
    LUNA16 challenge", Medical Image Analysis 42:1–13, 2017 ("any").

    Examples
    --------
    >>> matches = match_points([[0, 1], [9, 9]], [[0, 0], [5, 5]], 2.0)
    >>> matches.hit.tolist(), matches.false.tolist()
    ([0, -1], [False, True])
    """
    if rule not in ("nearest", "by_confidence", "optimal", "any"):
        raise ValueError(f"rule: expected 'nearest', 'by_confidence', 'optimal' or 'any', found {rule!r}")
    made, true = _point_array(predicted, "predicted"), _point_array(reference, "reference")
    if len(made) and len(true) and made.shape[1] != true.shape[1]:
        raise ValueError(f"predicted and reference: expected as many axes, found {made.shape}, {true.shape}")
    if confidences is not None and np.shape(confidences) != (len(made),):
        raise ValueError(f"confidences: expected shape ({len(made)},), found {np.shape(confidences)}")
    if np.ndim(radius) and np.shape(radius) != (len(true),):
        raise ValueError(f"radius: expected one or shape ({len(true)},), found {np.shape(radius)}")
    return point_matching.match_points(made, true, radius, rule, confidences, strict)


def mean_radial_error(predicted: ArrayLike, reference: ArrayLike) -> float:
    """Return the mean distance of landmarks from their references.

    Parameters
    ----------
    predicted : array_like of float, shape (landmarks, axes)
        The predicted landmarks.
    reference : array_like of float, same shape
        The reference landmarks in the same order and unit. A landmark with NaN in either is left out.

    Returns
    -------
    float
        At least 0, in the unit of the coordinates, lower is better.

    Raises
    ------
    ValueError
        For shapes that differ.

    Notes
    -----
    NaN if no landmark is left, so also for empty input.

    References
    ----------
    C.-W. Wang et al., "Evaluation and comparison of anatomical landmark detection methods for cephalometric
    x-ray images: a grand challenge", IEEE Transactions on Medical Imaging 34:1890–1900, 2015.

    Examples
    --------
    >>> mean_radial_error([[0, 0], [3, 4]], [[0, 1], [0, 0]])
    3.0
    """
    errors = _radial_errors(predicted, reference)
    return float(errors.mean()) if errors.size else float("nan")


def success_detection_rate(predicted: ArrayLike, reference: ArrayLike, radius: float) -> float:
    """Return the share of landmarks that are at most a radius away from their references.

    Parameters
    ----------
    predicted : array_like of float, shape (landmarks, axes)
        The predicted landmarks.
    reference : array_like of float, same shape
        The reference landmarks in the same order and unit. A landmark with NaN in either is left out.
    radius : float
        Largest distance of a success, itself included.

    Returns
    -------
    float
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        For shapes that differ.

    Notes
    -----
    NaN if no landmark is left, so also for empty input.

    References
    ----------
    C.-W. Wang et al., "Evaluation and comparison of anatomical landmark detection methods for cephalometric
    x-ray images: a grand challenge", IEEE Transactions on Medical Imaging 34:1890–1900, 2015.

    Examples
    --------
    >>> success_detection_rate([[0, 0], [3, 4]], [[0, 1], [0, 0]], 2.0)
    0.5
    """
    errors = _radial_errors(predicted, reference)
    return float((errors <= radius).mean()) if errors.size else float("nan")


def _radial_errors(predicted: ArrayLike, reference: ArrayLike) -> NDArray[np.float64]:
    if np.shape(predicted) != np.shape(reference):
        raise ValueError(
            f"predicted and reference: expected one shape, found {np.shape(predicted)}, {np.shape(reference)}"
        )
    errors = point_matching.radial_errors(predicted, reference)
    return errors[~np.isnan(errors)]


def _point_array(points: ArrayLike, name: str) -> NDArray[np.float64]:
    array = np.asarray(points, dtype=np.float64)
    if array.size == 0:
        return np.zeros((0, 3))
    if array.ndim != 2 or not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers of shape (points, axes), found {array.shape}")
    return array
