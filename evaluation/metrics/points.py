"""Points and landmarks: which prediction hits which reference point, and distances between points."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Bools, Floats, Integers, require_given
from evaluation.metrics.near_pairs import NearPairs, reach_of

__all__ = ["euclidean_distance", "match_points", "mean_radial_error", "success_detection_rate"]

MatchingRule = Literal["nearest", "by_confidence", "optimal", "any", "nearest_only", "most_confident"]
Boundary = Literal["included", "excluded"]


def match_points(
    predicted: ArrayLike,
    reference: ArrayLike,
    radius: float | ArrayLike,
    *,
    matching: MatchingRule = "nearest",
    confidences: ArrayLike | None = None,
    boundary: Boundary = "included",
) -> "PointMatches":
    """Return which predicted point of one image is the hit of which reference point.

    predicted, reference: shape (points, axes), in one unit. radius: largest distance of a hit, one for all or
    one for each reference point, itself included unless ``boundary="excluded"``. matching: "nearest": each
    reference point in its order takes the nearest prediction that is not yet taken. "by_confidence": each
    prediction by falling confidence takes the nearest reference point that is free. "optimal": as many hits
    as possible, of those with the smallest sum of distances. "any": a reference point is hit by the most
    confident prediction that is near; no prediction near a reference point is false (LUNA16). "nearest_only":
    each reference point in its order takes the nearest of all predictions, and is missed if that is taken.
    "most_confident": each in its order takes the most confident prediction that is near and not yet taken, of
    equal ones the nearest (PUMA). confidences: shape (predictions,), required by the rules that say so.

    Returns ``hit``, shape (references,), the index of the prediction or −1, ``false``, shape (predictions,),
    and the numbers ``true_positives``, ``false_positives`` and ``false_negatives``. Without a prediction
    every reference point is missed, without a reference point every prediction is false. Raises ValueError
    for shapes that do not fit, a coordinate that is not finite, a radius below 0 or NaN, an unknown rule, or
    missing confidences.
    Source: Aubreville et al., Medical Image Analysis 84:102699, 2023 (MIDOG, "nearest"); Setio et al.,
    Medical Image Analysis 42:1, 2017 (LUNA16, "any").

    >>> matches = match_points([[0, 1], [9, 9]], [[0, 0], [5, 5]], 2.0)
    >>> matches.hit.tolist(), matches.false.tolist()
    ([0, -1], [False, True])
    """
    if matching not in get_args(MatchingRule):
        known = ", ".join(map(repr, get_args(MatchingRule)))
        raise ValueError(f"matching: expected one of {known}, found {matching!r}")
    if boundary not in get_args(Boundary):
        raise ValueError(f"boundary: expected 'included' or 'excluded', found {boundary!r}")
    made, true = _point_array(predicted, "predicted"), _point_array(reference, "reference")
    if len(made) and len(true) and made.shape[1] != true.shape[1]:
        raise ValueError(f"predicted and reference: expected as many axes, found {made.shape}, {true.shape}")
    if confidences is not None and np.shape(confidences) != (len(made),):
        raise ValueError(f"confidences: expected shape ({len(made)},), found {np.shape(confidences)}")
    if confidences is not None and np.isnan(np.asarray(confidences, dtype=np.float64)).any():
        raise ValueError("confidences: expected numbers, found NaN")
    if np.ndim(radius) and np.shape(radius) != (len(true),):
        raise ValueError(f"radius: expected one or shape ({len(true)},), found {np.shape(radius)}")
    _check_radius(radius)
    return match_within(made, true, radius, matching, confidences, boundary == "excluded")


def mean_radial_error(predicted: ArrayLike, reference: ArrayLike) -> float:
    """Return the mean distance of landmarks from their references.

    At least 0, lower is better, in the unit of the coordinates. predicted, reference: shape (landmarks,
    axes), in the same order; a landmark whose reference has NaN is left out. NaN if no landmark is left.
    Raises ValueError for shapes that differ and for a predicted coordinate that is not finite.
    Source: Wang et al., Medical Image Analysis 31:63, 2016.

    >>> mean_radial_error([[0, 0], [3, 4]], [[0, 1], [0, 0]])
    3.0
    """
    errors = _radial_errors(predicted, reference)
    require_given(errors, np.zeros_like(errors))
    return float(errors.mean()) if errors.size else float("nan")


def success_detection_rate(predicted: ArrayLike, reference: ArrayLike, radius: float) -> float:
    """Return the share of landmarks within a radius of their references.

    From 0 to 1, higher is better; the distance itself is included. predicted, reference: as of
    `mean_radial_error`, but a landmark whose prediction has NaN is missed. NaN if no landmark is left. Raises
    ValueError for shapes that differ, or a radius below 0 or NaN.
    Source: Wang et al., Medical Image Analysis 31:63, 2016.

    >>> success_detection_rate([[0, 0], [3, 4]], [[0, 1], [0, 0]], 2.0)
    0.5
    """
    _check_radius(radius)
    errors = _radial_errors(predicted, reference)
    return float((errors <= radius).mean()) if errors.size else float("nan")


def _check_radius(radius: float | ArrayLike) -> None:
    if not (np.asarray(radius, dtype=np.float64) >= 0).all():
        raise ValueError(f"radius: expected at least 0, found {radius!r}")


def _radial_errors(predicted: ArrayLike, reference: ArrayLike) -> Floats:
    if np.shape(predicted) != np.shape(reference):
        raise ValueError(
            f"predicted and reference: expected one shape, found {np.shape(predicted)}, {np.shape(reference)}"
        )
    errors = radial_errors(predicted, reference)
    return errors[~np.isnan(np.asarray(reference, dtype=np.float64)).any(axis=-1)] if errors.size else errors


def _point_array(points: ArrayLike, name: str) -> Floats:
    array = np.asarray(points, dtype=np.float64)
    if array.size == 0:
        return np.zeros((0, 3))
    if array.ndim != 2 or not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers of shape (points, axes), found {array.shape}")
    return array


@dataclass(frozen=True, slots=True)
class PointMatches:
    """The matches of one case.

    hit: shape (references,), index of the prediction that is the reference point's hit, −1 without one.
    false: shape (predictions,), whether the prediction is a false positive.
    """

    hit: Integers
    false: Bools

    @property
    def true_positives(self) -> int:
        """Number of reference points with a hit."""
        return int(np.count_nonzero(self.hit >= 0))

    @property
    def false_positives(self) -> int:
        """Number of predictions that are false."""
        return int(np.count_nonzero(self.false))

    @property
    def false_negatives(self) -> int:
        """Number of reference points without a hit."""
        return int(np.count_nonzero(self.hit < 0))


def match_within(
    predicted_mm: ArrayLike,
    reference_mm: ArrayLike,
    radius_mm: float | ArrayLike,
    rule: MatchingRule,
    confidence: ArrayLike | None = None,
    strict: bool = False,
) -> PointMatches:
    """Return what `match_points` returns for arguments that fit; ``strict`` excludes the radius itself.

    Of equal confidences the nearer prediction comes first; other ties go to the first. Raises ValueError
    where a rule needs confidences and has none.
    """
    predicted, reference = (_points(points) for points in (predicted_mm, reference_mm))
    if rule in {"by_confidence", "any", "most_confident"} and confidence is None:
        raise ValueError(f"confidence: expected one per prediction for the rule {rule!r}, found none")
    limit = np.broadcast_to(np.asarray(radius_mm, dtype=np.float64), (len(reference),))

    def measure(made: Integers, true: Integers) -> tuple[Floats, Bools]:
        distance = _distances(predicted[made], reference[true])
        return distance, distance < limit[true] if strict else distance <= limit[true]

    reach = reach_of(limit, reference)
    pairs = NearPairs.within(predicted, predicted, reference - reach, reference + reach, measure)
    return match_pairs(pairs, rule, confidence)


def match_pairs(pairs: NearPairs, rule: MatchingRule, confidence: ArrayLike | None = None) -> PointMatches:
    """Match predictions with references that are near enough. Rules and confidence as in `match_points`."""
    sure = np.zeros(pairs.predictions) if confidence is None else np.asarray(confidence, dtype=np.float64)
    false = np.ones(pairs.predictions, dtype=np.bool_)
    if rule == "any":
        false[pairs.prediction] = False
        return PointMatches(pairs.any_of(sure), false)
    if rule in ("nearest", "nearest_only"):
        hit = pairs.nearest(second_choice=rule == "nearest")
    elif rule == "most_confident":
        hit = pairs.most_confident(sure)
    elif rule == "by_confidence":
        hit = pairs.by_confidence(sure)
    else:
        hit = pairs.optimal()
    false[hit[hit >= 0]] = False
    return PointMatches(hit, false)


def match_in_lesions(
    voxels: Integers,
    lesions: NDArray[np.integer],
    spacing_mm: tuple[float, float, float] | Floats,
    radius_mm: float,
    confidence: Floats,
    strict: bool = False,
) -> PointMatches:
    """Match points with the lesions of a mask: a point belongs to the lesion that it lies in or near.

    voxels: shape (points, 3), the voxel (z, y, x) of each point, counted from the corner of ``lesions`` and
    possibly outside. lesions: (z, y, x), the number of each voxel's lesion from 1 on, 0 elsewhere. A point
    outside of all lesions belongs to the nearest one if the centre of its voxel is within ``radius_mm`` of
    the centre of one of that lesion's; the radius itself is included unless ``strict``. The hit of a lesion
    is its most confident point, the first of equals; its other points are not false. Source: Ehteshami
    Bejnordi et al., JAMA 318:2199, 2017 (CAMELYON16).
    """
    hit = np.full(int(lesions.max(initial=0)), -1, dtype=np.int64)
    owner = np.zeros(len(voxels), dtype=np.int64)
    inside = ((voxels >= 0) & (voxels < lesions.shape)).all(axis=1)
    owner[inside] = lesions[tuple(voxels[inside].T)]
    outside = np.flatnonzero(owner == 0)
    if radius_mm > 0 and len(hit) and len(outside):
        from scipy.ndimage import binary_erosion
        from scipy.spatial import KDTree

        spacing = np.asarray(spacing_mm, dtype=np.float64)
        border = np.argwhere((lesions > 0) & ~binary_erosion(lesions > 0))
        nearest = KDTree(border * spacing).query(voxels[outside] * spacing)[1]
        # From whole numbers of voxels, so that rounding does not depend on the place in the volume.
        distance = np.linalg.norm((voxels[outside] - border[nearest]) * spacing, axis=1)
        # Sums of squares of decimal spacings are off in their last digits, beyond a distance of the radius.
        near = distance < radius_mm * (1 - 1e-9) if strict else distance <= radius_mm * (1 + 1e-9)
        owner[outside[near]] = lesions[tuple(border[nearest[near]].T)]
    # Of several values for one place the last one stays: the most confident, and the first of equals.
    rising = np.argsort(-confidence, kind="stable")[::-1]
    rising = rising[owner[rising] > 0]
    hit[owner[rising] - 1] = rising
    return PointMatches(hit, owner == 0)


def radial_errors(predicted_mm: ArrayLike, reference_mm: ArrayLike) -> Floats:
    """Distance of each predicted landmark from its reference, shape (landmarks,), in mm.

    Both have shape (landmarks, axes), landmark by landmark; NaN in either gives NaN.
    """
    difference = _points(predicted_mm) - _points(reference_mm)
    distance: Floats = np.sqrt((difference * difference).sum(axis=1))
    return distance


def _points(points: ArrayLike) -> Floats:
    array = np.asarray(points, dtype=np.float64)
    return array if array.ndim == 2 else array.reshape(0, 3)


def _distances(first: Floats, second: Floats) -> Floats:
    if not len(first) or not len(second):
        return np.zeros((len(first), len(second)))
    from scipy.spatial.distance import cdist  # 0.3 s that only points need

    distances: Floats = cdist(first, second)
    return distances


def euclidean_distance(a: ArrayLike, b: ArrayLike) -> Floats:
    """Return the Euclidean distances between the points of two arrays, whose leading axes broadcast.

    At least 0, in the unit of the points, lower is better. a, b: shape (…, axes). NaN if a coordinate is NaN;
    empty input, shape (0, 2), gives empty output. Raises ValueError for other numbers of axes, or without
    any.
    Source: as `scipy.spatial.distance.euclidean`.

    >>> euclidean_distance([[0, 0], [1, 1]], [3, 4]).round(4).tolist()
    [5.0, 3.6056]
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape[-1:] != second.shape[-1:] or not any(first.shape[-1:]):
        found = f"{first.shape} and {second.shape}"
        raise ValueError(f"points: expected shapes (…, axes) with as many axes, found {found}")
    return np.asarray(np.hypot.reduce(np.abs(first - second), axis=-1))
