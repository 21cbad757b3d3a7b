"""Free-response ROC: sensitivity of detections against false positives per case."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.arrays import Bools, Floats, Integers, ratio_or_nan
from evaluation.metrics.points import Boundary, MatchingRule, match_points

__all__ = ["froc"]

FrocReading = Literal["linear", "step"]
LUNA16_RATES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_CANDIDATES_AT_ONCE = 1 << 12
_ROWS_AT_ONCE = 1 << 6
_ENTRIES_AT_ONCE = _CANDIDATES_AT_ONCE * _ROWS_AT_ONCE


def froc(
    points: ArrayLike,
    confidences: ArrayLike,
    images: ArrayLike,
    reference_points: ArrayLike,
    reference_images: ArrayLike,
    *,
    radius: float | ArrayLike,
    all_images: ArrayLike,
    false_positives_per_case: Sequence[float] = LUNA16_RATES,
    matching: MatchingRule = "any",
    boundary: Boundary = "included",
    reading: FrocReading = "linear",
) -> Floats:
    """Return the free-response ROC: the sensitivities at given numbers of false positives per case.

    From 0 to 1, higher is better. points: shape (detections, axes), of all images. confidences, images: of
    each. reference_points, reference_images: the same of the reference. radius: largest distance of
    a hit, one for all or one for each reference point. all_images: those without a point included. matching,
    boundary: see `match_points`. reading: between the points of the curve "linear", or a "step", the highest
    sensitivity at a rate of at most the given one. Returns shape (rates,), whose mean is the score of LUNA16
    (CPM): 0 without a detection, constant beyond the last point of the curve, NaN without a reference point.
    Raises ValueError as `match_points`, for an image that is not in ``all_images``, and for an unknown
    reading.
    Source: Setio et al., Medical Image Analysis 42:1, 2017, section 3.3 ("linear"); Saha et al., Lancet
    Oncology 25:879, 2024 ("step").

    >>> froc(
    ...     [[0, 0], [9, 9], [1, 0]], [0.9, 0.8, 0.7], ["a", "a", "b"],
    ...     [[0, 1], [1, 1]], ["a", "b"],
    ...     radius=2, all_images=["a", "b"], false_positives_per_case=(0.25, 0.5),
    ... ).tolist()
    [0.5, 1.0]
    """
    if reading not in get_args(FrocReading):
        raise ValueError(f"reading: expected 'linear' or 'step', found {reading!r}")
    names = list(dict.fromkeys(np.asarray(all_images).tolist()))
    of_image = _positions(images, names, "images")
    of_reference = _positions(reference_images, names, "reference_images")
    detected, confidence = (np.asarray(values, dtype=np.float64) for values in (points, confidences))
    true = np.asarray(reference_points, dtype=np.float64)
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
            matching=matching,
            confidences=confidence[mine],
            boundary=boundary,
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
    weights = np.ones((1, len(names)))
    values: Floats = FrocTable(candidates).sensitivity_at(weights, false_positives_per_case, reading)[0]
    return values


def _positions(images: ArrayLike, names: list[object], argument: str) -> Integers:
    index = {name: position for position, name in enumerate(names)}
    listed = np.asarray(images).tolist()
    if unknown := [name for name in listed if name not in index]:
        raise ValueError(f"{argument}: expected images of all_images, found {unknown[0]!r}")
    return np.array([index[name] for name in listed], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The detections of all cases, without those that are neither a hit nor false.

    case: shape (candidates,), index of its case; confidence; hit: whether it is the hit of a reference
    object (each has one hit at most), otherwise it is false. references: shape (cases,), numbers of
    reference objects. sizes: shape (cases,), by whose sum false positives are divided, by default 1 each.
    without_lowest: the lowest confidence is no threshold, as in the program of CAMELYON16.
    """

    case: Integers
    confidence: Floats
    hit: Bools
    references: Integers
    sizes: Floats | None = None
    without_lowest: bool = False


@dataclass(frozen=True, slots=True)
class FrocCurve:
    """Points of a curve with falling threshold, from (0, 0) on; each of shape (points,)."""

    threshold: Floats
    false_positives_per_case: Floats
    sensitivity: Floats


class FrocTable:
    """Candidates sorted once; every figure is a function of this and of weights (resamples, cases)."""

    def __init__(self, candidates: Candidates) -> None:
        order = np.argsort(-candidates.confidence, kind="stable")
        self._case, self._hit = candidates.case[order], candidates.hit[order]
        self._confidence = candidates.confidence[order]
        differs = np.append(self._confidence[1:] != self._confidence[:-1], True)[: order.size]
        # Tied candidates are above a threshold together.
        self._ends = np.flatnonzero(differs)[: -1 if candidates.without_lowest else None]
        sizes = candidates.sizes
        self._sizes = np.ones(len(candidates.references)) if sizes is None else sizes
        self._references = candidates.references.astype(np.float64)

    @property
    def cases(self) -> int:
        """The number of cases."""
        return len(self._references)

    def sensitivity_at(
        self, weights: ArrayLike, false_positives_per_case: Sequence[float], reading: FrocReading = "linear"
    ) -> Floats:
        """`froc` under each row of weights, shape (resamples, rates).

        At several points with the same number of false positives the highest sensitivity counts. NaN where no
        reference object has weight.
        """
        rates = np.asarray(false_positives_per_case, dtype=np.float64)
        matrix = np.asarray(weights, dtype=np.float64)
        values = np.full((len(matrix), rates.size), np.nan)
        for top in range(0, len(matrix), _ROWS_AT_ONCE):
            alarms, sensitivity = self._curves(matrix[top : top + _ROWS_AT_ONCE], float(rates.max()))
            for row, (x, y) in enumerate(zip(alarms, sensitivity, strict=True), start=top):
                if not np.isnan(y[0]):
                    values[row] = _interpolated(rates, x, y, reading)
        return values

    def curve(self, weights: ArrayLike) -> FrocCurve:
        """Return the points of the curve under one row of weights, shape (cases,)."""
        alarms, sensitivity = self._curves(np.asarray(weights, dtype=np.float64)[None])
        threshold = np.concatenate(([np.inf], self._confidence[self._ends]))
        return FrocCurve(threshold, alarms[0], sensitivity[0])

    def precision_recall(self, weights: ArrayLike) -> tuple[Floats, Floats]:
        """Return precision and recall above every threshold, descending.

        Both have shape (resamples, thresholds). Precision is NaN where nothing of weight is found, recall
        where no reference object has weight.
        """
        matrix = np.asarray(weights, dtype=np.float64)
        right, wrong = self._sums(matrix)
        return ratio_or_nan(right, right + wrong), ratio_or_nan(right, (matrix @ self._references)[:, None])

    def average_precision(self, weights: ArrayLike) -> Floats:
        """Sum over the thresholds of precision times gained recall, in [0, 1]; shape (resamples,).

        Objects without a hit count as never found. NaN where no reference object has weight. Source: Saha
        et al. 2024, Lancet Oncol. 25:879 (PI-CAI), as scikit-learn's `average_precision_score`.
        """
        matrix = np.asarray(weights, dtype=np.float64)
        total = np.zeros(len(matrix))
        rows = max(1, _ENTRIES_AT_ONCE // max(1, self._case.size))
        for top in range(0, len(matrix), rows):
            right, wrong = self._sums(matrix[top : top + rows])
            made = right + wrong
            precision = np.divide(right, made, out=np.zeros_like(right), where=made > 0)
            total[top : top + rows] = (precision * np.diff(right, axis=1, prepend=0.0)).sum(axis=1)
        return ratio_or_nan(total, matrix @ self._references)

    def _sums(self, weights: Floats, most: Floats | None = None) -> tuple[Floats, Floats]:
        """Return hits and false positives above every threshold, shape (resamples, thresholds).

        With ``most``, shape (resamples,), no further than where all rows have more false positives.
        """
        right, wrong = [np.zeros((len(weights), 0))], [np.zeros((len(weights), 0))]
        sums = [np.zeros((len(weights), 1)), np.zeros((len(weights), 1))]
        for candidates, ends in self._parts():
            by_candidate, hit = weights[:, self._case[candidates]], self._hit[candidates]
            for parts, which, number in ((right, hit, 0), (wrong, ~hit, 1)):
                parts.append(sums[number] + np.cumsum(by_candidate * which, axis=1)[:, ends])
                sums[number] = parts[-1][:, -1:]
            if most is not None and (sums[1][:, 0] > most).all():
                break
        return np.hstack(right), np.hstack(wrong)

    def _parts(self) -> Iterator[tuple[slice, Integers]]:
        """Yield the candidates in portions that end with a threshold, and where thresholds are in each."""
        first, start = 0, 0
        while first < self._ends.size:
            last = int(np.searchsorted(self._ends, start + _CANDIDATES_AT_ONCE))
            last = max(first + 1, last)
            stop = int(self._ends[last - 1]) + 1
            yield slice(start, stop), self._ends[first:last] - start
            first, start = last, stop

    def _curves(self, weights: Floats, most_per_case: float | None = None) -> tuple[Floats, Floats]:
        """Return the points of the curves, all or beyond so many false positives per case."""
        objects, cases = weights @ self._references, weights @ self._sizes
        right, wrong = self._sums(weights, None if most_per_case is None else most_per_case * cases)
        start = np.zeros((len(weights), 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return (
                np.hstack((start, wrong)) / cases[:, None],
                np.hstack((start, right)) / np.where(objects > 0, objects, np.nan)[:, None],
            )


def _interpolated(rates: Floats, x: Floats, y: Floats, reading: FrocReading) -> Floats:
    """Read a rising curve; at a vertical step the upper value counts."""
    index = np.searchsorted(x, rates, side="right") - 1
    if reading == "step":
        return y[index]
    following = np.minimum(index + 1, len(x) - 1)
    step = x[following] - x[index]
    share = np.divide(rates - x[index], step, out=np.zeros_like(rates), where=step > 0)
    return y[index] + share * (y[following] - y[index])
