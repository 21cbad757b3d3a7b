"""The step `distinction`: every cyst of the evaluation set, its distinction and its histograms (Eq. 1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import isnan
from pathlib import Path

import numpy as np

from evaluation.challenges.cysts.benchmark.distinction import BINS, cysts_of, histograms
from evaluation.challenges.cysts.benchmark.evaluation_set import EvaluationSet
from evaluation.phase.organiser_tables import organiser_table
from evaluation.phase.output import write_rows

DISTINCTIONS, HISTOGRAMS = "distinctions.csv", "histograms.csv"
CYST = ("reader", "run", "volume", "b_scan", "cyst")
"""The columns that tell one cyst from all others; cysts of a B-scan are counted from 1."""

CystKey = tuple[str, str, str, int]
_OF_CYST = (*CYST, "confidence", "x", "y", "pixels", "distinction")
_OF_HISTOGRAM = (*CYST, "region", "lowest", "highest", *(f"bin_{number + 1}" for number in range(BINS)))
_MOST = 10**9


def write_distinctions(evaluation_set: EvaluationSet, work: Path) -> dict[str, object]:
    """Measure every cyst of every annotator and run; return the report's section."""
    rows: list[tuple[object, ...]] = []
    of_histograms: list[tuple[object, ...]] = []
    undefined = 0
    for b_scan in evaluation_set:
        for (annotator, run), levels in b_scan.levels.items():
            cysts = cysts_of(levels)
            measured = histograms(b_scan.image, levels, cysts, b_scan.intensities)
            for number, (cyst, found) in enumerate(zip(cysts, measured, strict=True), start=1):
                key = (annotator, run, b_scan.volume, b_scan.b_scan, number)
                x, y = (round(coordinate, 2) for coordinate in cyst.centre)
                pixels, distinction = int(np.count_nonzero(cyst.pixels)), found.distinction
                undefined += isnan(distinction)
                rows.append((*key, cyst.confidence, x, y, pixels, distinction))
                for region, counts in (("inside", found.inside), ("ring", found.ring)):
                    limits = (b_scan.intensities.lowest, b_scan.intensities.highest)
                    of_histograms.append((*key, region, *limits, *counts.tolist()))
    write_rows(work / DISTINCTIONS, _OF_CYST, _sorted(rows))
    write_rows(work / HISTOGRAMS, _OF_HISTOGRAM, _sorted(of_histograms))
    return {
        "b_scans": sum(map(len, evaluation_set.b_scans.values())),
        "volumes": len(evaluation_set.b_scans),
        "cysts": len(rows),
        "without_a_ring": undefined,
    }


def read_distinctions(work: Path) -> Mapping[CystKey, Mapping[int, float]]:
    """Return the distinctions by annotator, run, volume and B-scan, then by cyst. Raises `PhaseError`."""
    found: dict[CystKey, dict[int, float]] = defaultdict(dict)
    with organiser_table(work / DISTINCTIONS, (*CYST, "distinction")) as table:
        for row in table.rows:
            key = (row.cells["reader"], row.cells["run"], row.cells["volume"], row.whole("b_scan", 1, _MOST))
            found[key][row.whole("cyst", 1, _MOST)] = row.number("distinction")
    return found


def _sorted(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Return rows by annotator, run and volume; within a volume they keep their order."""
    return sorted(rows, key=lambda row: tuple(map(str, row[:3])))
