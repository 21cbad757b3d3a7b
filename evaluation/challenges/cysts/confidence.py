"""Weighted Dice of maps of confidences, of one volume and of all together, and the best that masks reach."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.arrays import Floats


def weighted_dice_of_sums(sums: ArrayLike) -> Floats:
    """Return `weighted_dice` of Σ A·B, Σ A² and Σ B², which lie along the last axis; 1 of two empty maps."""
    product, *squares = np.moveaxis(np.asarray(sums, dtype=np.float64), -1, 0)
    total = squares[0] + squares[1]
    dice: Floats = np.divide(2 * product, total, out=np.ones_like(total), where=total > 0)
    return dice


def pooled_weighted_dice(
    product: ArrayLike, prediction_squared: ArrayLike, reference_squared: ArrayLike, weights: ArrayLike
) -> Floats:
    """Return the weighted Dice over the pooled voxels of all cases, under each row of case weights.

    sums: shape (cases,). weights: shape (resamples, cases). Returns shape (resamples,): NaN in a row without
    weight, 1 where all maps are empty.
    """
    matrix = np.asarray(weights, dtype=np.float64)
    sums = np.column_stack([product, prediction_squared, reference_squared]).astype(np.float64)
    return np.where(matrix.sum(axis=1) > 0, weighted_dice_of_sums(matrix @ sums), np.nan)


def highest_binary_dice(confidences: ArrayLike, voxels: ArrayLike) -> float:
    """Return the highest weighted Dice that any binary mask reaches against a reference; 1 if that is empty.

    confidences, voxels: the distinct confidences above 0 and the number of voxels of each. The best mask of n
    voxels marks the n highest confidences, so the maximum is reached at one of these thresholds.
    """
    values = np.asarray(confidences, dtype=np.float64)
    order = np.argsort(values)[::-1]
    values, counts = values[order], np.asarray(voxels, dtype=np.float64)[order]
    if not len(values):
        return 1.0
    squared = math.fsum(values * values * counts)
    return float(np.max(2 * np.cumsum(values * counts) / (np.cumsum(counts) + squared)))


def pooled_highest_binary_dice(
    confidences: Sequence[ArrayLike], voxels: Sequence[ArrayLike], weights: ArrayLike
) -> Floats:
    """Return the highest pooled weighted Dice of binary masks of all cases, under each row of case weights.

    confidences, voxels: one entry for each case, see `highest_binary_dice`. weights: shape (resamples,
    cases). Returns shape (resamples,): NaN in a row without weight, 1 where all references are empty.
    """
    matrix = np.asarray(weights, dtype=np.float64)
    sizes = [np.size(case_confidences) for case_confidences in confidences]
    values, place = np.unique(np.concatenate([np.zeros(0), *map(np.ravel, confidences)]), return_inverse=True)
    counts = np.zeros((len(sizes), values.size))
    counts[np.repeat(np.arange(len(sizes)), sizes), place] = np.concatenate(
        [np.zeros(0), *map(np.ravel, voxels)]
    )
    return np.array(
        [
            highest_binary_dice(values[row > 0], row[row > 0]) if case_weights.any() else np.nan
            for row, case_weights in zip(matrix @ counts, matrix, strict=True)
        ]
    )
