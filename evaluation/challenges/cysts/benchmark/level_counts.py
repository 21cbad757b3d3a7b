"""Voxels of every level in the combined annotations and in those that were combined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES


@dataclass
class Voxels:
    """Numbers of voxels by level, shape (6,); level 0 is not counted."""

    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(CONFIDENCES[-1] + 1, dtype=np.int64))

    def add(self, levels: NDArray[Any]) -> None:
        """Add levels of any shape."""
        self.counts += np.bincount(levels[levels > 0], minlength=len(self.counts))

    def by_level(self) -> dict[int, int]:
        """Return the number of every level from 1."""
        return {level: int(self.counts[level]) for level in CONFIDENCES}


@dataclass
class LevelCounts:
    """The voxel counts of the combined level and of every annotator."""

    combined: Voxels = field(default_factory=Voxels)
    annotators: dict[str, Voxels] = field(default_factory=lambda: defaultdict(Voxels))

    def add(self, combined: NDArray[Any], annotators: Mapping[str, NDArray[Any]]) -> None:
        """Add a region."""
        self.combined.add(combined)
        for name, levels in annotators.items():
            self.annotators[name].add(levels)

    def warnings(self) -> list[str]:
        """Return a line for every level that annotators marked and the combined level does not have."""
        combined = self.combined.by_level()
        marked = {
            level: sum(voxels.by_level()[level] for voxels in self.annotators.values())
            for level in CONFIDENCES
        }
        return [
            f"level {level} is lost: annotators marked {marked[level]} voxels with it, and none has it in "
            "the combined level, because others marked these voxels differently or not at all"
            for level in CONFIDENCES
            if marked[level] and not combined[level]
        ]
