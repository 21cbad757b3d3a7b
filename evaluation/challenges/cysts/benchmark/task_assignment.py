"""The two steps of the cyst benchmark that distribute the work; each reads and writes tables.

partition    → partition.csv, scanners.csv     from volumes.csv and the headers of images/
assignment   → assignment.csv, workload.csv    from partition.csv and accuracy.csv
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from evaluation.challenges.cysts.benchmark.accuracy_step import read_accuracy
from evaluation.challenges.cysts.benchmark.arrangement import arrange, loads
from evaluation.challenges.cysts.benchmark.assignment import assign, complementarity
from evaluation.challenges.cysts.benchmark.partition import partition
from evaluation.challenges.cysts.benchmark.scanners import geometries_of, write_scanners
from evaluation.challenges.cysts.benchmark.volume_table import read_strata
from evaluation.core.fault import PhaseError
from evaluation.phase.organiser_tables import organiser_table
from evaluation.phase.output import write_rows

PARTITION, ASSIGNMENT, WORKLOAD = "partition.csv", "assignment.csv", "workload.csv"
MINUTES_PER_B_SCAN = 15.0
"""The time of one annotation of a B-scan in the example of section 2.3."""

_OF_VOLUME = ("volume", "vendor", "quality", "part", "b_scans")
_OF_PART = ("part", "reader_1", "reader_2", "volumes", "b_scans", "hours", "complementarity")
_OF_WORKLOAD = ("reader", "parts", "volumes", "b_scans", "hours")
_MAX_PARTS = 1000
_MAX_B_SCANS = 100_000


@dataclass(frozen=True, slots=True)
class PartVolume:
    """A volume's part, counted from 1, and its number of B-scans."""

    part: int
    b_scans: int


def write_partition(folder: Path, work: Path, parts: int, seed: int) -> dict[str, object]:
    """Divide the volumes into parts; return the report's section."""
    strata = read_strata(folder)
    if not 1 <= parts <= min(len(strata), _MAX_PARTS):
        raise PhaseError(f"parts: expected 1 to {len(strata)}, the number of volumes, found {parts}")
    geometries = geometries_of(folder, strata)
    found = partition(strata, parts, seed)
    rows = [
        (name, strata[name].vendor, strata[name].quality, found[name] + 1, geometries[name].shape[0])
        for name in sorted(strata)
    ]
    write_rows(work / PARTITION, _OF_VOLUME, rows)
    counts = Counter((stratum, found[name] + 1) for name, stratum in strata.items())
    b_scans: Counter[int] = Counter()
    for name, part in found.items():
        b_scans[part + 1] += geometries[name].shape[0]
    return {
        "seed": seed,
        "volumes_of_parts": dict(sorted(Counter(part + 1 for part in found.values()).items())),
        "b_scans_of_parts": dict(sorted(b_scans.items())),
        "strata": [
            {
                "vendor": stratum.vendor,
                "quality": stratum.quality,
                "volumes_of_parts": {part: counts[stratum, part] for part in range(1, parts + 1)},
            }
            for stratum in sorted(set(strata.values()))
        ],
        "scanners": write_scanners(work, strata, geometries),
    }


def read_parts(work: Path) -> dict[str, PartVolume]:
    """Return part and size of every volume. Raises `PhaseError`."""
    with organiser_table(work / PARTITION, ("volume", "part", "b_scans")) as table:
        return {
            row.cells["volume"]: PartVolume(
                row.whole("part", 1, _MAX_PARTS), row.whole("b_scans", 1, _MAX_B_SCANS)
            )
            for row in table.rows
        }


def write_assignment(work: Path, minutes: float) -> dict[str, object]:
    """Assign two complementary annotators to every part; return the report's section.

    ``minutes``: that one annotator needs for one B-scan.
    """
    if not minutes > 0:
        raise PhaseError(f"minutes per B-scan: expected a number above 0, found {minutes:g}")
    accuracies, in_parts = read_accuracy(work), read_parts(work).values()
    volumes: Counter[int] = Counter()
    b_scans: Counter[int] = Counter()
    for volume in in_parts:
        volumes[volume.part] += 1
        b_scans[volume.part] += volume.b_scans
    parts = sorted(volumes)
    try:
        pairs = arrange(assign(accuracies, len(parts)), [b_scans[part] for part in parts])
    except ValueError as error:
        raise PhaseError(f"{work}: {error}") from None

    def hours(number: int) -> float:
        return number * minutes / 60

    rows = []
    for part, (first, second) in zip(parts, pairs, strict=True):
        work_of_part = (volumes[part], b_scans[part], hours(b_scans[part]))
        rows.append(
            (part, first, second, *work_of_part, complementarity(accuracies[first], accuracies[second]))
        )
    write_rows(work / ASSIGNMENT, _OF_PART, rows)
    of_annotators = loads(pairs, [b_scans[part] for part in parts])
    in_volumes = loads(pairs, [volumes[part] for part in parts])
    in_parts_of = loads(pairs, [1] * len(parts))
    workload = [
        (name, in_parts_of[name], in_volumes[name], of_annotators[name], hours(of_annotators[name]))
        for name in sorted(accuracies)
    ]
    write_rows(work / WORKLOAD, _OF_WORKLOAD, workload)
    return {
        "minutes_per_b_scan": minutes,
        "parts": [dict(zip(_OF_PART, row, strict=True)) for row in rows],
        "workload": [dict(zip(_OF_WORKLOAD, row, strict=True)) for row in workload],
    }


def read_assignment(work: Path) -> dict[str, tuple[str, str]]:
    """Return the assigned annotators of every volume. Raises `PhaseError`."""
    with organiser_table(work / ASSIGNMENT, ("part", "reader_1", "reader_2")) as table:
        pairs = {
            row.whole("part", 1, _MAX_PARTS): (row.cells["reader_1"], row.cells["reader_2"])
            for row in table.rows
        }
    volumes = read_parts(work)
    if missing := sorted({volume.part for volume in volumes.values()} - set(pairs)):
        raise PhaseError(f"{work / ASSIGNMENT}: expected annotators of part {missing[0]}, found none")
    return {name: pairs[volume.part] for name, volume in volumes.items()}
