"""Probabilities of the voxels of one image against its reference mask, most of them 0 and not given."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Probabilities = NDArray[np.float32]
Bools = NDArray[np.bool_]


def voxel_brier_score(probability: Probabilities, positive: Bools, voxels: int) -> float:
    """Mean squared difference of probability and truth over all voxels, in [0, 1], lower is better.

    probability, positive: of one shape; in the remaining ``voxels`` of the image both are 0.
    """
    squared = np.square(probability.astype(np.float64) - positive)
    return float(squared.sum()) / voxels


def voxel_average_precision(probability: Probabilities, positive: Bools, voxels: int) -> float:
    """Precision at every threshold, weighted by the recall that is gained, in [0, 1], higher is better.

    probability, positive: of one shape; in the remaining ``voxels`` of the image both are 0. NaN where no
    voxel is positive.
    """
    positives = int(np.count_nonzero(positive))
    if not positives:
        return math.nan
    given = probability > 0
    values, truth = probability[given], positive[given]
    order = np.argsort(-values)
    values, truth = values[order], truth[order]
    ends = np.flatnonzero(np.diff(values, append=np.float32(-1)))
    found = np.cumsum(truth)[ends]
    gained = np.diff(found, prepend=0)
    total = float((found / (ends + 1) * gained).sum())
    # The last threshold is 0, which all voxels reach.
    missed = positives - (int(found[-1]) if len(found) else 0)
    return (total + positives / voxels * missed) / positives
