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
    products = weights * np.stack([annotator.values for annotator in annotators])
    # Sorted, so that rounding does not depend on the order of the annotators.
    total, weighted = np.sort(weights, axis=0).sum(axis=0), np.sort(products, axis=0).sum(axis=0)
    combined: Floats = np.divide(weighted, total, out=np.zeros_like(total), where=total > 0)
    values = np.stack([annotator.values for annotator in annotators])
    # Rounding must not leave the range of the annotators' values.
    combined = np.clip(combined, values.min(axis=0), values.max(axis=0))
    marked = np.logical_or.reduce([annotator.levels > 0 for annotator in annotators]) & (total > 0)
    combined[marked] = np.maximum(combined[marked], LOWEST)
    return combined


def nearest_level(
    confidence: Floats, marked: NDArray[np.bool_], levels: Mapping[int, float]
) -> NDArray[np.uint8]:
    """Return the level whose value is nearest to a combined confidence (the lower of two equally near ones).

    0 only where no annotator marked the voxel. ``levels`` is the supervisor's value by confidence.
    """
    values = np.array([levels[c] for c in CONFIDENCES])
    nearest = np.abs(confidence[marked][:, np.newaxis] - values).argmin(axis=1)
    found = np.zeros(confidence.shape, dtype=np.uint8)
    found[marked] = np.array(CONFIDENCES, dtype=np.uint8)[nearest]
    return found


def _weights(annotator: Marks) -> Floats:
    table: NDArray[Any] = np.array([annotator.accuracy.weight(level) for level in (0, *CONFIDENCES)])
    return np.asarray(table[annotator.levels], dtype=np.float64)
