"""Predicted probabilities: Brier score and calibration of cases, and figures of the voxels of one image."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats, class_indices, ratio_or_nan, weights_row
from evaluation.stats.columns import weighted_mean

__all__ = ["brier_score", "calibration_error"]

Probabilities = NDArray[np.float32]


def brier_score(probabilities: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the Brier score: the mean squared difference of probability and truth.

    Lower is better: from 0 to 1 for the probability of one of two classes, from 0 to 2 for several, whose
    squares are summed. probabilities: from 0 to 1, shape (cases,) or (cases, classes). labels: 0 and 1, or
    class indices from 0 on. weights: of the cases, finite and at least 0, by default 1 each. For two classes,
    two columns give twice the value of one. NaN for empty input. Raises ValueError for shapes that differ, or
    other values.
    Source: Brier, Monthly Weather Review 78:1, 1950.

    >>> brier_score([0.5, 1.0], [0, 1])
    0.125
    >>> brier_score([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [1, 2])
    0.25
    """
    shares, true = _columns(probabilities, labels)
    row = weights_row(weights, len(true))
    columns = np.atleast_2d(shares.T).T
    wanted = true[:, np.newaxis] == (np.arange(shares.shape[1]) if shares.ndim > 1 else 1)
    return float(weighted_mean(((columns - wanted) ** 2).sum(axis=1), row)[0])


def calibration_error(
    probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10, weights: ArrayLike | None = None
) -> float:
    """Return the expected calibration error: the mean distance of predicted from observed shares in bins.

    From 0 to 1, lower is better. Bins have equal width and count with their shares of the cases: bin k holds
    probabilities k/bins ≤ p < (k + 1)/bins, the last one also 1. probabilities: of the positive class, shape
    (cases,). labels, weights: as of `brier_score`. NaN for empty input. Raises ValueError as `brier_score`,
    and for less than one bin.
    Source: Naeini et al., AAAI 2015, p. 2901.

    >>> calibration_error([0.25, 0.25, 0.75, 1.0], [0, 1, 1, 1], bins=2)
    0.1875
    """
    if bins < 1:
        raise ValueError(f"bins: expected at least 1, found {bins}")
    shares, true = _columns(probabilities, labels)
    if shares.ndim != 1:
        raise ValueError(f"probabilities: expected shape (cases,), found {shares.shape}")
    row = weights_row(weights, len(true))
    return float(weighted_expected_calibration_error(shares, true, row, bins)[0])


def _columns(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Floats, Floats]:
    shares = np.asarray(probabilities, dtype=np.float64)
    if shares.ndim not in (1, 2) or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("probabilities: expected numbers from 0 to 1 of shape (cases,) or (cases, classes)")
    return shares, class_indices(labels, shares.shape)


def weighted_expected_calibration_error(
    probability: ArrayLike, positive: ArrayLike, weights: ArrayLike, bins: int = 10
) -> Floats:
    """`calibration_error` under each row of weights, shape (resamples, cases).

    A NaN label leaves a case out, a NaN probability counts 1, the worst. NaN in a row without a case.
    """
    label = np.asarray(positive, dtype=np.float64)
    predicted = np.asarray(probability, dtype=np.float64)
    matrix = np.asarray(weights, dtype=np.float64)
    entering = ~np.isnan(label)
    answered = np.flatnonzero(entering & ~np.isnan(predicted))
    missing = matrix[:, entering & np.isnan(predicted)].sum(axis=1)
    of_bin = np.minimum((predicted[answered] * bins).astype(np.int64), bins - 1)
    difference = np.zeros((len(answered), bins))
    difference[np.arange(len(answered)), of_bin] = predicted[answered] - label[answered]
    distance = np.abs(matrix[:, answered] @ difference).sum(axis=1) + missing
    total = matrix[:, entering].sum(axis=1)
    return ratio_or_nan(distance, total)


def expected_calibration_errors_when_right(
    probability: ArrayLike, bins: int, sets: int, seed: int, units: ArrayLike | None = None
) -> Floats:
    """Return `calibration_error` for labels that are drawn with the probabilities, shape (sets,).

    probability: shape (cases,), or (cases, classes) of classes of which one is drawn, for the mean of their
    errors; a row with NaN counts 1. units: shape (cases,), cases of one unit are drawn by the same random
    number. NaN without a case.
    """
    given = np.asarray(probability, dtype=np.float64)
    predicted: Floats = np.atleast_2d(given.T).T
    kept = ~np.isnan(predicted).any(axis=1)
    answered = predicted[kept]
    unit_of_case = np.arange(kept.sum())
    if units is not None:
        unit_of_case = np.unique(np.asarray(units)[kept], return_inverse=True)[1].reshape(-1)
    classes, missing = answered.shape[1], len(given) - len(answered)
    generator = np.random.Generator(np.random.PCG64(seed))
    of_bin = np.minimum((answered * bins).astype(np.int64), bins - 1) + bins * np.arange(classes)
    wanted = np.bincount(of_bin.ravel(), answered.ravel(), bins * classes)
    if not len(given):
        return np.full(sets, np.nan)
    ends = answered.cumsum(axis=1)
    starts = ends - answered
    found = np.empty(sets)
    for row in range(sets):
        place = generator.random((int(unit_of_case.max(initial=-1)) + 1, 1))[unit_of_case]
        drawn = (place >= starts) & (place < ends)
        distance = np.abs(np.bincount(of_bin.ravel(), drawn.ravel(), bins * classes) - wanted).sum()
        found[row] = (distance / classes + missing) / len(given)
    return found


def voxel_calibration_errors(
    probabilities: Sequence[Probabilities], references: Sequence[NDArray[np.uint8]], voxels: int, bins: int
) -> list[float]:
    """Top-label calibration error of the voxels of an image against each of several references, in [0, 1].

    probabilities: of the labels 1, 2, …, shape (z, y, x) each; 0, the background, has what they leave of 1.
    references: labels in the same shape. In the remaining ``voxels`` of the image all is background for
    certain. Bins have equal width; voxels of probability 1 are a bin of their own. Lower is better.
    """
    sums = np.zeros((len(references), bins + 1))
    for z, _ in enumerate(references[0]):  # plane by plane, which bounds the memory
        of_labels = np.array([of[z] for of in probabilities], np.float64)
        shares = np.concatenate([np.maximum(1 - of_labels.sum(axis=0, keepdims=True), 0), of_labels])
        chosen, confidence = shares.argmax(axis=0), shares.max(axis=0)
        of_bin = np.minimum((confidence * bins).astype(np.int64), bins).reshape(-1)
        for row, reference in zip(sums, references, strict=True):
            row += np.bincount(of_bin, (confidence - (chosen == reference[z])).reshape(-1), bins + 1)
    errors: list[float] = (np.abs(sums).sum(axis=1) / voxels).tolist()
    return errors


def normal_crps(value: float, mean: float, deviation: float, deviations: float = math.inf) -> float:
    """Continuous ranked probability score of a value against a normal distribution, in its unit, at least 0.

    It is the integral of the squared difference of the distribution and the step at the value; from mean −
    ``deviations`` to mean + ``deviations`` standard deviations. Lower is better; the distance from the mean
    where the deviation is 0. Source: Gneiting and Raftery, JASA 102:359, 2007, equation 21.
    """
    if not deviation:
        return abs(value - mean)

    def below(z: float) -> float:
        """Integral of the square of the standard normal distribution up to z."""
        share, density = math.erfc(-z / math.sqrt(2)) / 2, math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        return z * share**2 + 2 * density * share - math.erfc(-z) / (2 * math.sqrt(math.pi))

    step = min(max((value - mean) / deviation, -deviations), deviations)
    outside = 0.0 if math.isinf(deviations) else 2 * below(-deviations)
    return deviation * (below(step) + below(-step) - outside)
