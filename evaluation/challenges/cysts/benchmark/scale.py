"""The interval scale: which value a marked voxel has (section 2.4 of the cyst benchmark)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES, AnnotatedCyst
from evaluation.challenges.cysts.benchmark.transform import Transform
from evaluation.core.fault import PhaseError
from evaluation.phase.organiser_tables import organiser_table

TRANSFORMS, LEVELS = "transforms.csv", "levels.csv"
Interval = Literal["level", "cyst"]
EVERY_INTERVAL: tuple[Interval, ...] = get_args(Interval)


@dataclass(frozen=True)
class Scale:
    """The interval scale: the value of every level, and every annotator's transform of distinctions.

    ``interval`` "level": a confidence has the supervisor's mean distinction as its value; "cyst": every cyst
    has its own distinction, transformed for its annotator.
    """

    interval: Interval
    levels: Mapping[int, float]
    transforms: Mapping[tuple[str, int], Transform]

    def values(
        self,
        annotator: str,
        levels: NDArray[np.uint8],
        cysts: Sequence[AnnotatedCyst],
        cyst_distinctions: Sequence[float],
    ) -> NDArray[np.float64]:
        """Return the value of every voxel of a B-scan (y, x), 0 for unmarked voxels.

        A cyst whose distinction is undefined (NaN in ``cyst_distinctions``) has the value of its level.
        """
        table = np.array([0.0, *(self.levels[c] for c in CONFIDENCES)])
        values: NDArray[np.float64] = table[levels]
        if self.interval == "cyst":
            for cyst, distinction in zip(cysts, cyst_distinctions, strict=True):
                if not isnan(distinction):
                    values[cyst.box][cyst.pixels] = self._transform(annotator, cyst.confidence)(distinction)
        return values

    def _transform(self, annotator: str, confidence: int) -> Transform:
        if (annotator, confidence) not in self.transforms:
            raise PhaseError(
                f"{TRANSFORMS}: expected a row of {annotator}, confidence {confidence}, found none"
            )
        return self.transforms[annotator, confidence]


def read_scale(work: Path, interval: Interval) -> Scale:
    """Read the tables of the transform step. Raises `PhaseError`."""
    with organiser_table(work / LEVELS, ("confidence", "value")) as table:
        levels = {row.whole("confidence", 1, CONFIDENCES[-1]): row.number("value") for row in table.rows}
    if missing := [c for c in CONFIDENCES if isnan(levels.get(c, nan))]:
        raise PhaseError(f"{work / LEVELS}: expected a value of confidence {missing[0]}, found none")
    with organiser_table(work / TRANSFORMS, ("reader", "confidence", "a", "b")) as table:
        transforms = {
            (row.cells["reader"], row.whole("confidence", 1, CONFIDENCES[-1])): Transform(
                row.number("a"), row.number("b")
            )
            for row in table.rows
        }
    return Scale(interval, levels, transforms)
