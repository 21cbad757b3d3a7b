"""Figures of the distances from one surface to another, each with the weight of its part of the surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Percentile = Literal["index", "linear"]

_MAX_SORTED = 1 << 22
_BINS = 1024

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
            return _weighted_percentile(self.values, self.weights, share)
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


def _weighted_percentile(values: NDArray[Any], weights: NDArray[np.float64], share: float) -> float:
    """Return the first value at which the cumulated weight reaches a share of the whole weight."""
    whole, below = weights.sum(), 0.0
    if values.size > _MAX_SORTED:
        # Sorting tens of millions takes gigabytes: only the bin in which the share is reached is sorted.
        in_bins, edges = np.histogram(values, _BINS, weights=weights)
        found = min(int(np.searchsorted(np.cumsum(in_bins) / whole, share)), _BINS - 1)
        # With a neighbour on each side, since a value on an edge may be counted on either side of it.
        low, high = edges[max(found - 1, 0)], edges[min(found + 2, _BINS)]
        below = float(weights[values < low].sum())
        chosen = (values >= low) & (values <= high)
        values, weights = values[chosen], weights[chosen]
    order = np.lexsort((weights, values))
    reached = (below + np.cumsum(weights[order])) / whole
    position = min(int(np.searchsorted(reached, share)), order.size - 1)
    return float(values[order[position]])


def pooled(first: WeightedDistances, second: WeightedDistances) -> WeightedDistances:
    """Return the distances of both directions together."""
    weights = (
        None
        if first.weights is None or second.weights is None
        else np.concatenate((first.weights, second.weights))
    )
    return WeightedDistances(np.concatenate((first.values, second.values)), weights)
