"""Size and resolution of the volumes of every scanner (Table 1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from evaluation.challenges.cysts.benchmark.evaluation_set import IMAGES
from evaluation.challenges.cysts.benchmark.partition import QUALITIES, Stratum
from evaluation.challenges.cysts.benchmark.scans import scans_in
from evaluation.core.fault import PhaseError
from evaluation.io.volumes.header import Geometry
from evaluation.phase.output import write_rows

SCANNERS = "scanners.csv"
_OF_SCANNER = (
    *("vendor", "volumes", *(f"quality_{quality}" for quality in reversed(QUALITIES))),
    *("b_scans", "depth_pixels", "width_pixels"),
    *("b_scan_distance_um", "depth_um_per_pixel", "width_um_per_pixel"),
    *("extent_mm", "depth_mm", "width_mm"),
)


def geometries_of(folder: Path, strata: Mapping[str, Stratum]) -> dict[str, Geometry]:
    """Return size and spacing of every volume, from the headers. Raises `PhaseError` for all missing ones."""
    images = scans_in(folder / IMAGES)
    if missing := [f"{folder / IMAGES}/{name}: is missing" for name in sorted(strata) if name not in images]:
        raise PhaseError(*missing)
    return {name: images[name].geometry() for name in sorted(strata)}


def write_scanners(
    work: Path, strata: Mapping[str, Stratum], geometries: Mapping[str, Geometry]
) -> list[dict[str, object]]:
    """Write a row for every vendor and size; return the rows."""
    names: dict[tuple[str, Geometry], list[str]] = defaultdict(list)
    for name, geometry in geometries.items():
        names[strata[name].vendor, Geometry(geometry.shape, geometry.spacing_mm)].append(name)
    rows = [
        (vendor, len(volumes), *_qualities(volumes, strata), *geometry.shape, *_lengths(geometry))
        for (vendor, geometry), volumes in sorted(names.items(), key=lambda item: str(item[0]))
    ]
    write_rows(work / SCANNERS, _OF_SCANNER, rows)
    return [dict(zip(_OF_SCANNER, row, strict=True)) for row in rows]


def _qualities(volumes: list[str], strata: Mapping[str, Stratum]) -> list[int]:
    counts = Counter(strata[name].quality for name in volumes)
    return [counts[quality] for quality in reversed(QUALITIES)]


def _lengths(geometry: Geometry) -> list[float | None]:
    """Return spacings in µm and extents in mm, in the order z, y, x; None for a file without spacing."""
    if geometry.spacing_mm is None:
        return [None] * 6
    spacing = geometry.spacing_mm[::-1]
    extents = [size * step for size, step in zip(geometry.shape, spacing, strict=True)]
    return [*(round(1000 * step, 3) for step in spacing), *(round(extent, 3) for extent in extents)]
