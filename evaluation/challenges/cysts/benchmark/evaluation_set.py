"""The B-scans that all annotators and the supervisor annotated twice, see `benchmark.steps`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.distinction import Range
from evaluation.challenges.cysts.benchmark.scans import Plane, Scan, scans_in
from evaluation.challenges.cysts.benchmark.volume_table import VOLUMES
from evaluation.core.fault import PhaseError
from evaluation.phase.organiser_tables import organiser_table

SUPERVISOR = "supervisor"
RUNS = ("run1", "run2")
_FILE, _FOLDER, IMAGES = "evaluation.csv", "evaluation", "images"
_MAX_B_SCANS = 100_000
B_SCANS_EACH = 5
"""Of every volume, chosen by experts (section 2.3)."""

Levels = NDArray[np.uint8]


@dataclass(frozen=True)
class AnnotatedBScan:
    """One B-scan (y, x) of the evaluation set, with the marks of every annotator and run."""

    volume: str
    b_scan: int
    image: Plane
    intensities: Range
    levels: Mapping[tuple[str, str], Levels]


@dataclass(frozen=True)
class EvaluationSet:
    """The B-scans that belong to it, the annotators without the supervisor, and their volumes."""

    b_scans: Mapping[str, tuple[int, ...]]
    annotators: tuple[str, ...]
    images: Mapping[str, Scan]
    annotations: Mapping[tuple[str, str], Mapping[str, Scan]]

    def __iter__(self) -> Iterator[AnnotatedBScan]:
        """Yield the B-scans, with one volume per annotator and run in memory. Raises `PhaseError`."""
        for volume, numbers in self.b_scans.items():
            image = self.images[volume]
            planes, intensities = image.chosen(numbers), image.intensities()
            levels: dict[int, dict[tuple[str, str], Levels]] = {number: {} for number in numbers}
            for key, scans in self.annotations.items():
                scan = scans[volume]
                for number, plane in scan.chosen(numbers).items():
                    if plane.shape != planes[number].shape:
                        expected, found = (
                            " × ".join(map(str, p.shape[::-1])) for p in (planes[number], plane)
                        )
                        raise PhaseError(f"{scan.path}: expected B-scans of {expected} pixels, found {found}")
                    levels[number][key] = scan.levels(plane, number)
            for number in numbers:
                yield AnnotatedBScan(volume, number, planes[number], intensities, levels[number])


def open_evaluation_set(
    folder: Path, volumes: Collection[str], b_scans_each: int = B_SCANS_EACH
) -> EvaluationSet:
    """Open the evaluation set of a folder without reading volumes.

    ``volumes``: the volumes of the benchmark. Each must have exactly ``b_scans_each`` B-scans (five in
    section 2.3 of the paper); 0 allows any number, also none. Raises `PhaseError` with every fault.
    """
    b_scans: dict[str, list[int]] = defaultdict(list)
    with organiser_table(folder / _FILE, ("volume", "b_scan"), holds="B-scan") as table:
        for row in table.rows:
            number = row.whole("b_scan", 1, _MAX_B_SCANS)
            if number in b_scans[row.cells["volume"]]:
                row.fault("b_scan", f"{row.cells['volume']}, B-scan {number} is in an earlier row too")
            b_scans[row.cells["volume"]].append(number)
    problems = _other_numbers(b_scans, volumes, b_scans_each)
    parts = folder / _FOLDER
    annotators = sorted(path.name for path in parts.iterdir() if path.is_dir()) if parts.is_dir() else []
    if SUPERVISOR not in annotators:
        problems.append(f"{parts / SUPERVISOR}: is not a folder")
    if len(annotators) < 2:
        problems.append(f"{parts}: expected a folder for every annotator, found none")
    images = scans_in(folder / IMAGES)
    problems += _missing(b_scans, images, folder / IMAGES)
    annotations = {}
    for annotator in annotators:
        for run in RUNS:
            annotations[annotator, run] = scans_in(parts / annotator / run)
            problems += _missing(b_scans, annotations[annotator, run], parts / annotator / run)
    if problems:
        raise PhaseError(*problems)
    return EvaluationSet(
        {volume: tuple(sorted(b_scans[volume])) for volume in sorted(b_scans)},
        tuple(annotator for annotator in annotators if annotator != SUPERVISOR),
        images,
        annotations,
    )


def _other_numbers(
    b_scans: Mapping[str, Sequence[int]], volumes: Collection[str], expected: int
) -> list[str]:
    """Return the volumes that are not of the benchmark, and those without the expected number of B-scans."""
    unknown = [
        f"{_FILE}: expected the volumes of {VOLUMES}, found {name!r}"
        for name in sorted(set(b_scans) - set(volumes))
    ]
    return unknown + [
        f"{_FILE}, {name}: expected {expected} B-scans, found {len(b_scans.get(name, ()))}"
        for name in sorted(volumes)
        if expected and len(b_scans.get(name, ())) != expected
    ]


def _missing(volumes: Mapping[str, Sequence[int]], found: Mapping[str, Scan], folder: Path) -> list[str]:
    return [f"{folder}/{volume}: is missing" for volume in sorted(volumes) if volume not in found]
