"""OCT volumes and annotators' volumes of confidences in the organiser's folder, one file each."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES, Range
from evaluation.core.fault import PhaseError, ReadError
from evaluation.io.stream import FileStream
from evaluation.io.volumes.header import Geometry
from evaluation.io.volumes.reader import EXTENSIONS, OpenVolume, open_volume

_MAX_FILE_BYTES = 1 << 33

Plane = NDArray[Any]


@dataclass(frozen=True)
class Scan:
    """A volume in a file of the organiser's folder. Every call reads the file again."""

    path: Path

    @contextmanager
    def _opened(self) -> Iterator[OpenVolume]:
        try:
            with FileStream(str(self.path.parent), self.path.name, _MAX_FILE_BYTES) as stream:
                yield open_volume(stream, self.path.name)
        except ReadError as error:
            raise PhaseError(str(error.fault(str(self.path)))) from None

    def geometry(self) -> Geometry:
        """Return the size and position of the volume. Raises `PhaseError`."""
        with self._opened() as volume:
            return volume.header.geometry

    def planes(self) -> Iterator[Plane]:
        """Yield the B-scans (y, x), each valid until the next one is requested. Raises `PhaseError`."""
        with self._opened() as volume:
            yield from (plane.values for plane in volume.planes())

    def intensities(self) -> Range:
        """Return the smallest and the largest value of the volume. Raises `PhaseError`, also for NaN."""
        extremes = [(float(plane.min()), float(plane.max())) for plane in self.planes()]
        lowest, highest = np.min([low for low, _ in extremes]), np.max([high for _, high in extremes])
        if not np.isfinite([lowest, highest]).all():
            raise PhaseError(f"{self.path}: expected finite intensities, found {lowest} to {highest}")
        return Range(float(lowest), float(highest))

    def chosen(self, b_scans: Collection[int]) -> dict[int, Plane]:
        """Return copies of some B-scans (y, x) by number, counted from 1. Raises `PhaseError`."""
        found = {z: plane.copy() for z, plane in enumerate(self.planes(), start=1) if z in b_scans}
        if missing := sorted(set(b_scans) - set(found)):
            raise PhaseError(f"{self.path}: expected B-scan {missing[0]}, found a volume without it")
        return found

    def levels(self, plane: Plane, b_scan: int) -> NDArray[np.uint8]:
        """Return a B-scan of confidences 0 to 5 as integers. Raises `PhaseError` for anything else."""
        levels = plane.astype(np.uint8) if plane.dtype.kind in "iu" else np.nan_to_num(plane).astype(np.uint8)
        wrong = plane[(levels != plane) | (levels > CONFIDENCES[-1])]
        if wrong.size:
            found = f"{float(wrong[0]):.6g} in B-scan {b_scan}"
            raise PhaseError(f"{self.path}: expected confidences 0 to {CONFIDENCES[-1]}, found {found}")
        return levels


def scans_in(folder: Path) -> dict[str, Scan]:
    """Return the volumes of a folder, sorted by name. Raises `PhaseError` for duplicate names."""
    found: dict[str, Scan] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        extension = next((e for e in EXTENSIONS if path.name.casefold().endswith(e)), None)
        if extension is None:
            continue
        name = path.name[: -len(extension)]
        if name in found:
            raise PhaseError(f"{path}: expected one volume {name}, found {found[name].path.name} too")
        found[name] = Scan(path)
    return dict(sorted(found.items()))
