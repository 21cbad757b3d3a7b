"""`volumes.csv`: vendor and quality of every volume of the benchmark."""

from __future__ import annotations

from pathlib import Path

from evaluation.challenges.cysts.benchmark.partition import Stratum, median_quality
from evaluation.phase.organiser_tables import organiser_table

VOLUMES = "volumes.csv"
Group = tuple[str, str]
"""A column and one of its values; a volume belongs to several groups."""

EVERYTHING: Group = ("all", "")
_QUALITY = "quality"


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


def groups_of(stratum: Stratum) -> tuple[Group, ...]:
    """Return the groups of a volume: all volumes, its vendor, its quality."""
    return (EVERYTHING, ("vendor", stratum.vendor), (_QUALITY, stratum.quality))
