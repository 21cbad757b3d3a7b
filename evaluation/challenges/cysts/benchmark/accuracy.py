"""Agreement of two sets of annotations, overall and by confidence (Eq. 3 of the cyst benchmark)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES
from evaluation.metrics.arrays import Floats
from evaluation.metrics.segmentation import ConfidenceSums, weighted_dice_of_sums


@dataclass(frozen=True)
class Accuracy:
    """Similarity in [0, 1] overall and by confidence; NaN for a confidence that nobody marked."""

    overall: float
    by_confidence: Mapping[int, float]

    def weight(self, confidence: int) -> float:
        """Return the weight of a mark of this confidence, see `benchmark.weighting`.

        It is the overall accuracy for a confidence that does not occur in the evaluation set, and for
        confidence 0.
        """
        own = self.by_confidence.get(confidence, math.nan)
        return self.overall if math.isnan(own) else own


@dataclass
class Similarity:
    """Eq. 3 over the voxels of many B-scans, added one by one."""

    _overall: Floats = field(default_factory=lambda: np.zeros(3))
    _by_confidence: dict[int, Floats] = field(default_factory=lambda: {c: np.zeros(3) for c in CONFIDENCES})

    def add(self, first: Floats, second: Floats, marked: Mapping[int, NDArray[np.bool_]]) -> None:
        """Add the values (y, x) of one B-scan in two annotations.

        ``marked``: by confidence, the voxels that either side marked with it in any run.
        """
        self._overall += _sums(first, second)
        for confidence, voxels in marked.items():
            self._by_confidence[confidence] += _sums(first[voxels], second[voxels])

    def merge(self, other: Similarity) -> None:
        """Add all B-scans of another one."""
        self._overall += other._overall
        for confidence, sums in other._by_confidence.items():
            self._by_confidence[confidence] += sums

    def result(self) -> Accuracy:
        """Return 2ΣAB / (ΣA² + ΣB²) over all B-scans added; overall 1 where both sides are empty."""
        return Accuracy(
            weighted_dice_of_sums(ConfidenceSums(*self._overall)),
            {
                c: weighted_dice_of_sums(ConfidenceSums(*sums)) if sums[1:].any() else math.nan
                for c, sums in self._by_confidence.items()
            },
        )


def marked_by_either(*levels: NDArray[Any]) -> dict[int, NDArray[np.bool_]]:
    """Return for every confidence the voxels (y, x) that have it in at least one annotation."""
    return {c: np.logical_or.reduce([annotation == c for annotation in levels]) for c in CONFIDENCES}


def _sums(first: Floats, second: Floats) -> Floats:
    first, second = first.ravel(), second.ravel()
    return np.array([first @ second, first @ first, second @ second])
