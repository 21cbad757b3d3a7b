"""Figures of the distances from one surface to another, each with the weight of its part of the surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Percentile = Literal["index", "linear"]

ROUNDING = 1e-6
"""A distance that exceeds a tolerance by this share of it does so by rounding: of spacings, of distances."""


@dataclass(frozen=True, slots=True)
class WeightedDistances:
    """Distances in mm, shape (n,), and their weights, shape (n,) (None: equal).

    Mean and percentile need one distance or more.
    """

    values: NDArray[Any]
    weights: NDArray[np.float64] | None

    def mean(self) -> float:
        """Return the weighted mean."""
        return float(np.average(self.values.astype(np.float64, copy=False), weights=self.weights))

    def percentile(self, percent: float, definition: Percentile) -> float:
        """Return a percentile, in [0, 100], as `SurfaceConvention` defines it; with weights, by index."""
        if percent == 100:
            return float(self.values.max())
        share = percent / 100
        if self.weights is not None:
            order = np.lexsort((self.weights, self.values))
            reached = np.cumsum(self.weights[order]) / self.weights.sum()
            position = min(int(np.searchsorted(reached, share)), order.size - 1)
            return float(self.values[order[position]])
        if definition == "linear":
            return float(np.percentile(self.values, percent))
        position = int((self.values.size - 1) * share)
        return float(np.partition(self.values, position)[position])

    def weight(self) -> float:
        """Return the sum of the weights."""
        return float(self.values.size if self.weights is None else self.weights.sum())

    def weight_within(self, tolerance_mm: float) -> float:
        """Return the sum of the weights of the distances that do not exceed a tolerance."""
        near = self.values <= tolerance_mm * (1 + ROUNDING)
        return float(np.count_nonzero(near) if self.weights is None else self.weights[near].sum())


def pooled(first: WeightedDistances, second: WeightedDistances) -> WeightedDistances:
    """Return the distances of both directions together."""
    weights = (
        None
        if first.weights is None or second.weights is None
        else np.concatenate((first.weights, second.weights))
    )
    return WeightedDistances(np.concatenate((first.values, second.values)), weights)
