"""One confidence a voxel from the marks of several readers (Eq. 4 of the cyst benchmark)."""

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
    """One reader's B-scan (y, x): confidences 0 to 5, the value of every voxel, and how accurate he is."""

    levels: NDArray[np.uint8]
    values: Floats
    accuracy: Accuracy


def combine(readers: Sequence[Marks]) -> Floats:
    """Return Σ w·A / Σ w over the readers, voxel by voxel (Eq. 4); 0 where Σ w is 0.

    w is the reader's accuracy for his own confidence in that voxel; one who left it at 0 contributes 0 and
    weighs with his overall accuracy. A marked voxel with Σ w > 0 gets at least 0.01, so that it stays apart
    from voxels that nobody marked. The order of the readers does not matter (sums are taken in the order of
    the summands' sizes).
    """
    weights = np.stack([_weights(reader) for reader in readers])
    products = weights * np.stack([reader.values for reader in readers])
    # Sorted, so that rounding does not depend on who comes first.
    total, weighted = np.sort(weights, axis=0).sum(axis=0), np.sort(products, axis=0).sum(axis=0)
    combined: Floats = np.divide(weighted, total, out=np.zeros_like(total), where=total > 0)
    values = np.stack([reader.values for reader in readers])
    # Rounding must not lead out of the readers' range.
    combined = np.clip(combined, values.min(axis=0), values.max(axis=0))
    marked = np.logical_or.reduce([reader.levels > 0 for reader in readers]) & (total > 0)
    combined[marked] = np.maximum(combined[marked], LOWEST)
    return combined


def nearest_level(
    confidence: Floats, marked: NDArray[np.bool_], levels: Mapping[int, float]
) -> NDArray[np.uint8]:
    """Return the level whose value is nearest to a combined confidence (of two as near, the lower).

    0 only where no reader marked the voxel. ``levels`` is the supervisor's value by confidence.
    """
    values = np.array([levels[c] for c in CONFIDENCES])
    nearest = np.abs(confidence[marked][:, np.newaxis] - values).argmin(axis=1)
    found = np.zeros(confidence.shape, dtype=np.uint8)
    found[marked] = np.array(CONFIDENCES, dtype=np.uint8)[nearest]
    return found


def _weights(reader: Marks) -> Floats:
    table: NDArray[Any] = np.array([reader.accuracy.weight(level) for level in (0, *CONFIDENCES)])
    return np.asarray(table[reader.levels], dtype=np.float64)
