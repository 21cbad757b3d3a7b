"""The two steps of the cyst benchmark that distribute the work; each reads and writes tables.

partition    → partition.csv     from volumes.csv: volume, vendor, quality_<annotator> … (high, medium or low)
assignment   → assignment.csv    from partition.csv and accuracy.csv
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from evaluation.challenges.cysts.benchmark.assignment import assign, complementarity
from evaluation.challenges.cysts.benchmark.measures import read_accuracy
from evaluation.challenges.cysts.benchmark.partition import Stratum, median_quality, partition
from evaluation.core.fault import PhaseError
from evaluation.phase.organiser_tables import organiser_table
from evaluation.phase.output import write_rows

VOLUMES, PARTITION, ASSIGNMENT = "volumes.csv", "partition.csv", "assignment.csv"
_OF_VOLUME = ("volume", "vendor", "quality", "part")
_OF_PART = ("part", "reader_1", "reader_2", "volumes", "complementarity")
_QUALITY = "quality"
_MAX_PARTS = 1000


def read_strata(folder: Path) -> dict[str, Stratum]:
    """Return vendor and median quality of every volume. Raises `PhaseError` with every fault."""
    strata: dict[str, Stratum] = {}
    with organiser_table(folder / VOLUMES, ("volume", "vendor"), holds="volume") as table:
        for row in table.rows:
            name, vendor = row.cells["volume"], row.cells["vendor"]
            ranks = [
                cell.casefold() for column, cell in row.cells.items() if column.startswith(_QUALITY) and cell
            ]
            if not name or not vendor or name in strata:
                found = f"found {name!r}, {vendor!r}"
                row.fault("volume", f"expected a volume of its own and its vendor, {found}")
                continue
            try:
                strata[name] = Stratum(vendor, median_quality(ranks))
            except ValueError as error:
                row.fault(_QUALITY, str(error))
    return strata


def write_partition(folder: Path, work: Path, parts: int, seed: int) -> dict[str, object]:
    """Divide the volumes into parts; return the report's section."""
    strata = read_strata(folder)
    if not 1 <= parts <= min(len(strata), _MAX_PARTS):
        raise PhaseError(f"parts: expected 1 to {len(strata)}, the number of volumes, found {parts}")
    found = partition(strata, parts, seed)
    rows = [(name, strata[name].vendor, strata[name].quality, found[name] + 1) for name in sorted(strata)]
    write_rows(work / PARTITION, _OF_VOLUME, rows)
    counts = Counter((stratum, found[name] + 1) for name, stratum in strata.items())
    return {
        "seed": seed,
        "volumes_of_parts": dict(sorted(Counter(part + 1 for part in found.values()).items())),
        "strata": [
            {
                "vendor": stratum.vendor,
                "quality": stratum.quality,
                "volumes_of_parts": {part: counts[stratum, part] for part in range(1, parts + 1)},
            }
            for stratum in sorted(set(strata.values()))
        ],
    }


def read_parts(work: Path) -> dict[str, int]:
    """Return the part of every volume, counted from 1. Raises `PhaseError`."""
    with organiser_table(work / PARTITION, ("volume", "part")) as table:
        return {row.cells["volume"]: row.whole("part", 1, _MAX_PARTS) for row in table.rows}


def write_assignment(work: Path) -> dict[str, object]:
    """Assign two complementary annotators to every part; return the report's section."""
    accuracies = read_accuracy(work)
    volumes = Counter(read_parts(work).values())
    parts = sorted(volumes)
    try:
        pairs = assign(accuracies, len(parts))
    except ValueError as error:
        raise PhaseError(f"{work}: {error}") from None
    rows = [
        (part, *pair, volumes[part], complementarity(accuracies[pair[0]], accuracies[pair[1]]))
        for part, pair in zip(parts, pairs, strict=True)
    ]
    write_rows(work / ASSIGNMENT, _OF_PART, rows)
    workload: dict[str, int] = defaultdict(int)
    for part, pair in zip(parts, pairs, strict=True):
        for annotator in pair:
            workload[annotator] += volumes[part]
    return {
        "parts": [dict(zip(_OF_PART, row, strict=True)) for row in rows],
        "volumes_of_annotators": dict(workload),
    }


def read_assignment(work: Path) -> dict[str, tuple[str, str]]:
    """Return the assigned annotators of every volume. Raises `PhaseError`."""
    with organiser_table(work / ASSIGNMENT, ("part", "reader_1", "reader_2")) as table:
        pairs = {
            row.whole("part", 1, _MAX_PARTS): (row.cells["reader_1"], row.cells["reader_2"])
            for row in table.rows
        }
    parts = read_parts(work)
    if missing := sorted(set(parts.values()) - set(pairs)):
        raise PhaseError(f"{work / ASSIGNMENT}: expected annotators of part {missing[0]}, found none")
    return {volume: pairs[part] for volume, part in parts.items()}
