"""Combine the marks of several annotators to one confidence per voxel (Eq. 4 of the cyst benchmark)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.accuracy import Accuracy
from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES
from evaluation.challenges.cysts.benchmark.transform import LOWEST

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Marks:
    """One annotator's B-scan (y, x): confidences 0 to 5, the value of every voxel, and the accuracy."""

    levels: NDArray[np.uint8]
    values: Floats
    accuracy: Accuracy


def combine(annotators: Sequence[Marks]) -> Floats:
    """Return Σ w·A / Σ w over the annotators, voxel by voxel (Eq. 4); 0 where Σ w is 0.

    w is the annotator's accuracy at the annotator's confidence in that voxel. At confidence 0 the value is 0
    and w the overall accuracy. A marked voxel with Σ w > 0 gets at least 0.01, so that it differs
    from voxels that nobody marked. The order of the annotators does not matter, because terms are sorted
    before they are summed.
    """
    weights = np.stack([_weights(annotator) for annotator in annotators])
    combined = _weighted_mean(weights, np.stack([annotator.values for annotator in annotators]))
    marked = np.logical_or.reduce([annotator.levels > 0 for annotator in annotators])
    marked &= weights.any(axis=0)
    combined[marked] = np.maximum(combined[marked], LOWEST)
    return combined


def mean_levels(annotators: Sequence[Marks]) -> Floats:
    """Return the mean of the annotators' own confidences, 0 to 5, with the weights of `combine`."""
    weights = np.stack([_weights(annotator) for annotator in annotators])
    return _weighted_mean(
        weights, np.stack([annotator.levels for annotator in annotators]).astype(np.float64)
    )


def nearest_level(
    confidence: Floats, mean_level: Floats, marked: NDArray[np.bool_], levels: Mapping[int, float]
) -> NDArray[np.uint8]:
    """Return the level with the value nearest to a combined confidence, 0 for unmarked voxels.

    ``levels`` is the supervisor's value by confidence. Levels that isotonic regression has tied have one
    value; the one nearest to ``mean_level`` is returned (see `mean_levels`), so that none of them is lost. Of
    two equally near values or levels the lower one is returned.
    """
    numbers = np.array(CONFIDENCES)
    values = np.array([levels[c] for c in CONFIDENCES])
    distinct = np.unique(values)
    value = distinct[np.abs(confidence[marked][:, np.newaxis] - distinct).argmin(axis=1)]
    distance = np.abs(mean_level[marked][:, np.newaxis] - numbers)
    distance[value[:, np.newaxis] != values] = np.inf
    found = np.zeros(confidence.shape, dtype=np.uint8)
    found[marked] = numbers[distance.argmin(axis=1)]
    return found


def _weighted_mean(weights: Floats, values: Floats) -> Floats:
    """Return Σ w·v / Σ w over the first axis, 0 where Σ w is 0."""
    # Sorted, so that rounding does not depend on the order of the annotators.
    total = np.sort(weights, axis=0).sum(axis=0)
    weighted = np.sort(weights * values, axis=0).sum(axis=0)
    mean: Floats = np.divide(weighted, total, out=np.zeros_like(total), where=total > 0)
    # Rounding must not leave the range of the annotators' values.
    return np.clip(mean, np.where(total > 0, values.min(axis=0), 0.0), values.max(axis=0))


def _weights(annotator: Marks) -> Floats:
    table: NDArray[Any] = np.array([annotator.accuracy.weight(level) for level in (0, *CONFIDENCES)])
    return np.asarray(table[annotator.levels], dtype=np.float64)
