"""Confidence-weighted Dice of two maps of confidences, from three sums over their voxels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class ConfidenceSums:
    """Σ A·B, Σ A² and Σ B² over the voxels of a prediction A and a reference B."""

    product: float
    prediction_squared: float
    reference_squared: float


def weighted_dice(sums: ConfidenceSums) -> float:
    """Return 2 Σ A·B / (Σ A² + Σ B²), in [0, 1] for maps in [0, 1]; 1 where both are empty.

    Source: SD-OCT cyst benchmark, Eq. 3 (its reproducibility and accuracy).
    """
    total = sums.prediction_squared + sums.reference_squared
    return 2 * sums.product / total if total > 0 else 1.0


def pooled_weighted_dice(
    product: ArrayLike, prediction_squared: ArrayLike, reference_squared: ArrayLike, weights: ArrayLike
) -> NDArray[np.float64]:
    """Return the weighted Dice over the voxels of all cases together, under each row of case weights.

    The sums have shape (cases,), weights (resamples, cases); the result (resamples,). A row without any
    weight is NaN, one whose maps are all empty 1.
    """
    matrix = np.asarray(weights, dtype=np.float64)
    sums = np.column_stack([product, prediction_squared, reference_squared]).astype(np.float64)
    products, predictions, references = (matrix @ sums).T
    total = predictions + references
    value = np.where(matrix.sum(axis=1) > 0, 1.0, np.nan)
    np.divide(2 * products, total, out=value, where=total > 0)
    return value


def highest_binary_dice(confidences: ArrayLike, voxels: ArrayLike) -> float:
    """Return the highest weighted Dice that any binary mask reaches against a reference; 1 if that is empty.

    The reference is given by its distinct confidences above 0 and how many voxels have each. Of the masks
    with n voxels the best marks the n highest confidences, so the maximum lies at one of these thresholds.
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
) -> NDArray[np.float64]:
    """Return the highest pooled weighted Dice of binary masks of all cases, under each row of case weights.

    The references are given case by case as in `highest_binary_dice`, a confidence at most once in a case;
    weights have shape (resamples, cases), the result (resamples,). A row without any weight is NaN, one whose
    references are all empty 1.
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
