"""Which predicted point is a hit of which reference point, by the rules that challenges use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
MatchingRule = Literal["nearest", "by_confidence", "optimal", "any"]


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


def match_points(
    predicted_mm: ArrayLike,
    reference_mm: ArrayLike,
    radius_mm: float | ArrayLike,
    rule: MatchingRule,
    confidence: ArrayLike | None = None,
    strict: bool = False,
) -> PointMatches:
    """Match predicted with reference points that lie within a radius of each other.

    predicted_mm: shape (predictions, axes); reference_mm: shape (references, axes); radius_mm: one for all
    or shape (references,), the distance itself included unless ``strict``. confidence: shape (predictions,),
    for "by_confidence" and "any". Rules:

    - "nearest": each reference point in its order takes the nearest prediction that is not yet taken.
    - "by_confidence": each prediction by falling confidence takes the nearest free reference point.
    - "optimal": the most matches that are possible, of those with the smallest sum of distances.
    - "any": a reference point is hit if any prediction is near, by the most confident one; predictions near
      any reference point are no false positives, however many there are (LUNA16).

    In all but "any" a prediction is the hit of one point, and false otherwise. Ties go to the first.
    Raises ValueError where a rule needs confidences and has none.
    """
    predicted, reference = (_points(points) for points in (predicted_mm, reference_mm))
    if rule in {"by_confidence", "any"} and confidence is None:
        raise ValueError(f"confidence: expected one per prediction for the rule {rule!r}, found none")
    distance = _distances(predicted, reference)
    limit = np.broadcast_to(np.asarray(radius_mm, dtype=np.float64), (len(reference),))
    near: Bools = np.asarray(distance < limit if strict else distance <= limit)
    return match_pairs(distance, near, rule, confidence)


def match_pairs(
    distance: Floats, near: Bools, rule: MatchingRule, confidence: ArrayLike | None = None
) -> PointMatches:
    """Match predictions with references by their distances, where they are ``near`` enough to match.

    distance, near: shape (predictions, references). Rules and confidence as in `match_points`.
    """
    if rule == "any":
        score = np.where(near, np.asarray(confidence, dtype=np.float64)[:, None], -np.inf)
        hit = np.where(near.any(axis=0), score.argmax(axis=0), -1) if len(near) else _none(near.shape[1])
        return PointMatches(hit, np.logical_not(near.any(axis=1)))
    if rule == "nearest":
        hit = _nearest(distance, near)
    elif rule == "by_confidence":
        order = np.argsort(-np.asarray(confidence, dtype=np.float64), kind="stable")
        hit = _nearest_free_reference(distance, near, order)
    else:
        hit = _optimal(distance, near)
    false = np.ones(len(near), dtype=np.bool_)
    false[hit[hit >= 0]] = False
    return PointMatches(hit, false)


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


def _none(references: int) -> Integers:
    return np.full(references, -1, dtype=np.int64)


def _nearest(distance: Floats, near: Bools) -> Integers:
    free = np.ones(len(distance), dtype=np.bool_)
    hit = np.full(distance.shape[1], -1, dtype=np.int64)
    for reference in np.flatnonzero(near.any(axis=0)):
        candidates = np.flatnonzero(near[:, reference] & free)
        if candidates.size:
            hit[reference] = candidates[distance[candidates, reference].argmin()]
            free[hit[reference]] = False
    return hit


def _nearest_free_reference(distance: Floats, near: Bools, order: NDArray[np.intp]) -> Integers:
    hit = np.full(distance.shape[1], -1, dtype=np.int64)
    for prediction in order[np.asarray(near.any(axis=1))[order]]:
        candidates = np.flatnonzero(near[prediction] & (hit < 0))
        if candidates.size:
            hit[candidates[distance[prediction, candidates].argmin()]] = prediction
    return hit


def _optimal(distance: Floats, near: Bools) -> Integers:
    from scipy.optimize import linear_sum_assignment

    hit = np.full(distance.shape[1], -1, dtype=np.int64)
    if not near.any():
        return hit
    # One pair that is too far costs more than any number of near ones.
    too_far = (float(distance[near].max()) + 1.0) * (min(distance.shape) + 1)
    predictions, references = linear_sum_assignment(np.where(near, distance, too_far))
    matched = near[predictions, references]
    hit[references[matched]] = predictions[matched]
    return hit
