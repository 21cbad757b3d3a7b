"""Free-response ROC on plain arrays: sensitivity of detected points against false positives per image."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.froc import Candidates, FrocCurve, FrocTable
from evaluation.metrics.plain_points import match_points
from evaluation.metrics.point_matching import MatchingRule

LUNA16_RATES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def froc_sensitivity(
    points: ArrayLike,
    confidences: ArrayLike,
    images: ArrayLike,
    reference_points: ArrayLike,
    reference_images: ArrayLike,
    *,
    radius: float | ArrayLike,
    all_images: ArrayLike,
    false_positives_per_image: Sequence[float] = LUNA16_RATES,
    rule: MatchingRule = "any",
    strict: bool = False,
) -> NDArray[np.float64]:
    """Return the sensitivities of detections at given numbers of false positives per image.

    Parameters
    ----------
    points : array_like of float, shape (detections, axes)
        The detected points of all images.
    confidences : array_like of float, shape (detections,)
        Confidence of every detection.
    images : array_like of int or str, shape (detections,)
        The image of every detection.
    reference_points : array_like of float, shape (references, axes)
        The reference points of all images, in the same unit.
    reference_images : array_like of int or str, shape (references,)
        The image of every reference point.
    radius : float or array_like of float, shape (references,)
        Largest distance of a hit from its reference point, one for all or one for each.
    all_images : array_like of int or str
        All images, those without a detection or a reference point included.
    false_positives_per_image : sequence of float, optional
        By default those of LUNA16, ⅛ to 8.
    rule, strict : optional
        Which detection is a hit, see `match_points`.

    Returns
    -------
    numpy.ndarray of float, shape (rates,)
        In [0, 1], higher is better. Their mean is the score of LUNA16 (CPM).

    Raises
    ------
    ValueError
        As `match_points`, and for an image that is not in ``all_images``.

    Notes
    -----
    NaN without a reference point; 0 without a detection. Sensitivity is linear between the points of the
    curve, and constant beyond its last one.

    References
    ----------
    A. A. A. Setio et al., "Validation, comparison, and combination of algorithms for automatic detection of
    pulmonary nodules in computed tomography images: the LUNA16 challenge", Medical Image Analysis 42:1–13,
    2017, section 3.3.

    Examples
    --------
    >>> froc_sensitivity(
    ...     [[0, 0], [9, 9], [1, 0]], [0.9, 0.8, 0.7], ["a", "a", "b"],
    ...     [[0, 1], [1, 1]], ["a", "b"],
    ...     radius=2, all_images=["a", "b"], false_positives_per_image=(0.25, 0.5),
    ... ).tolist()
    [0.5, 1.0]
    """
    table, count = _froc_table(
        points, confidences, images, reference_points, reference_images, radius, all_images, rule, strict
    )
    values: NDArray[np.float64] = table.sensitivity_at(np.ones((1, count)), false_positives_per_image)[0]
    return values


def froc_curve(
    points: ArrayLike,
    confidences: ArrayLike,
    images: ArrayLike,
    reference_points: ArrayLike,
    reference_images: ArrayLike,
    *,
    radius: float | ArrayLike,
    all_images: ArrayLike,
    rule: MatchingRule = "any",
    strict: bool = False,
) -> FrocCurve:
    """Return the points of the free-response ROC curve, one for every distinct confidence.

    Parameters
    ----------
    points, confidences, images, reference_points, reference_images, radius, all_images, rule, strict
        See `froc_sensitivity`.

    Returns
    -------
    FrocCurve
        ``threshold``, ``false_positives_per_case`` and ``sensitivity``, each of shape (points,). The first
        point has the threshold +inf and both figures 0; thresholds then fall.

    Raises
    ------
    ValueError
        As `froc_sensitivity`.

    Notes
    -----
    Sensitivities are NaN without a reference point. Without a detection there is the first point only.

    References
    ----------
    A. A. A. Setio et al., "Validation, comparison, and combination of algorithms for automatic detection of
    pulmonary nodules in computed tomography images: the LUNA16 challenge", Medical Image Analysis 42:1–13,
    2017, section 3.3.

    Examples
    --------
    >>> curve = froc_curve(
    ...     [[0, 0], [9, 9]], [0.9, 0.8], ["a", "a"], [[0, 1]], ["a"], radius=2, all_images=["a"]
    ... )
    >>> curve.false_positives_per_case.tolist(), curve.sensitivity.tolist()
    ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0])
    """
    table, count = _froc_table(
        points, confidences, images, reference_points, reference_images, radius, all_images, rule, strict
    )
    return table.curve(np.ones(count))


def _froc_table(
    points: ArrayLike,
    confidences: ArrayLike,
    images: ArrayLike,
    reference_points: ArrayLike,
    reference_images: ArrayLike,
    radius: float | ArrayLike,
    all_images: ArrayLike,
    rule: MatchingRule,
    strict: bool,
) -> tuple[FrocTable, int]:
    """Return the table of the matched detections and the number of images."""
    names = list(dict.fromkeys(np.asarray(all_images).tolist()))
    of_image, of_reference = (
        _positions(images, names, "images"),
        _positions(reference_images, names, "reference_images"),
    )
    detected = np.asarray(points, dtype=np.float64)
    true = np.asarray(reference_points, dtype=np.float64)
    confidence = np.asarray(confidences, dtype=np.float64)
    if len(detected) != len(of_image) or confidence.shape != of_image.shape or len(true) != len(of_reference):
        raise ValueError(
            "expected one confidence and image for each point and one image for each reference point, found "
            f"{len(detected)} points, {confidence.size} confidences, {len(of_image)} images, "
            f"{len(true)} reference points and {len(of_reference)} reference images"
        )
    limits = np.broadcast_to(np.asarray(radius, dtype=np.float64), (len(true),))
    kept, hits = [], []
    for position in range(len(names)):
        mine, here = np.flatnonzero(of_image == position), np.flatnonzero(of_reference == position)
        found = match_points(
            detected[mine],
            true[here],
            limits[here],
            rule=rule,
            confidences=confidence[mine],
            strict=strict,
        )
        is_hit = np.zeros(len(mine), dtype=np.bool_)
        is_hit[found.hit[found.hit >= 0]] = True
        counts = is_hit | found.false
        kept.append(mine[counts])
        hits.append(is_hit[counts])
    chosen = np.concatenate([np.zeros(0, dtype=np.intp), *kept])
    candidates = Candidates(
        of_image[chosen],
        confidence[chosen],
        np.concatenate([np.zeros(0, dtype=np.bool_), *hits]),
        np.bincount(of_reference, minlength=len(names)),
    )
    return FrocTable(candidates), len(names)


def _positions(images: ArrayLike, names: list[object], argument: str) -> NDArray[np.int64]:
    index = {name: position for position, name in enumerate(names)}
    listed = np.asarray(images).tolist()
    if unknown := [name for name in listed if name not in index]:
        raise ValueError(f"{argument}: expected images of all_images, found {unknown[0]!r}")
    return np.array([index[name] for name in listed], dtype=np.int64)
