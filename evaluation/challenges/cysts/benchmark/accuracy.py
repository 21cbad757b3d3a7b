"""How well two sets of annotations agree, overall and by confidence (Eq. 3 of the cyst benchmark)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES
from evaluation.challenges.cysts.confidence import ConfidenceSums, weighted_dice

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Accuracy:
    """Similarity in [0, 1] overall and by confidence; NaN for a confidence that nobody marked."""

    overall: float
    by_confidence: Mapping[int, float]

    def weight(self, confidence: int) -> float:
        """Return what a mark of this confidence weighs, see `benchmark.weighting`.

        Where the confidence was never marked on the evaluation set, as where the annotator marked nothing
        (0), this is the overall accuracy.
        """
        own = self.by_confidence.get(confidence, math.nan)
        return self.overall if math.isnan(own) else own


@dataclass
class Similarity:
    """Eq. 3 over the voxels of many B-scans, which are added one after the other."""

    _overall: Floats = field(default_factory=lambda: np.zeros(3))
    _by_confidence: dict[int, Floats] = field(default_factory=lambda: {c: np.zeros(3) for c in CONFIDENCES})

    def add(self, first: Floats, second: Floats, marked: Mapping[int, NDArray[np.bool_]]) -> None:
        """Add the values (y, x) of one B-scan in two annotations.

        ``marked`` says for every confidence which voxels either side marked with it, in any run.
        """
        self._overall += _sums(first, second)
        for confidence, voxels in marked.items():
            self._by_confidence[confidence] += _sums(first[voxels], second[voxels])

    def result(self) -> Accuracy:
        """Return 2ΣAB / (ΣA² + ΣB²) of everything that was added; overall 1 where both sides are empty."""
        return Accuracy(
            weighted_dice(ConfidenceSums(*self._overall)),
            {
                c: weighted_dice(ConfidenceSums(*sums)) if sums[1:].any() else math.nan
                for c, sums in self._by_confidence.items()
            },
        )


def marked_by_either(*levels: NDArray[Any]) -> dict[int, NDArray[np.bool_]]:
    """Return for every confidence the voxels (y, x) that carry it in at least one of the annotations."""
    return {c: np.logical_or.reduce([annotation == c for annotation in levels]) for c in CONFIDENCES}


def _sums(first: Floats, second: Floats) -> Floats:
    first, second = first.ravel(), second.ravel()
    return np.array([first @ second, first @ first, second @ second])
