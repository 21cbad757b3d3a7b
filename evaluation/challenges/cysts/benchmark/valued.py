"""A B-scan of the evaluation set with the value that every annotator and run gives each voxel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from evaluation.challenges.cysts.benchmark.distinction import cysts_of
from evaluation.challenges.cysts.benchmark.distinction_step import DISTINCTIONS, CystKey
from evaluation.challenges.cysts.benchmark.evaluation_set import RUNS, AnnotatedBScan, Levels
from evaluation.challenges.cysts.benchmark.scale import Scale
from evaluation.core.fault import PhaseError
from evaluation.metrics.arrays import Floats
from evaluation.metrics.crops import Box, box_of_content


@dataclass(frozen=True)
class ValuedBScan:
    """Confidences and values (y, x) by annotator and run, cropped to ``box``, which holds all marks."""

    box: Box
    levels: Mapping[tuple[str, str], Levels]
    values: Mapping[tuple[str, str], Floats]

    def mean(self, annotator: str) -> Floats:
        """Return the mean of an annotator's two runs, the final annotation of the evaluation set."""
        first, second = (self.values[annotator, run] for run in RUNS)
        return (first + second) / 2


def valued(
    b_scan: AnnotatedBScan, scale: Scale, measured: Mapping[CystKey, Mapping[int, float]]
) -> ValuedBScan:
    """Return the values of a B-scan. Raises `PhaseError` where its cysts are not those that were measured."""
    box = reduce(Box.union, map(box_of_content, b_scan.levels.values()))
    values = {}
    for (annotator, run), levels in b_scan.levels.items():
        cysts = cysts_of(levels)
        found = measured.get((annotator, run, b_scan.volume, b_scan.b_scan), {})
        if len(found) != len(cysts):
            where = f"{annotator}, {run}, {b_scan.volume}, B-scan {b_scan.b_scan}"
            raise PhaseError(
                f"{DISTINCTIONS}: {where}: expected {len(cysts)} cysts, found {len(found)}; "
                "the annotations changed: repeat the distinction step"
            )
        of_cysts = [found[number] for number in range(1, len(cysts) + 1)]
        values[annotator, run] = scale.values(annotator, levels, cysts, of_cysts)[box.slices]
    return ValuedBScan(box, {key: levels[box.slices] for key, levels in b_scan.levels.items()}, values)
