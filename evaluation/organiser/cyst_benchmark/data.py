"""The annotated data of a cyst benchmark: volumes, scanners, the evaluation set, contrast of cysts."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from evaluation.core.fault import PhaseError, ReadError, in_digits
from evaluation.io.files import FileStream
from evaluation.io.volume_header import Geometry, check_geometry
from evaluation.io.volumes import EXTENSIONS, open_volume
from evaluation.io.voxels import OpenVolume
from evaluation.phase.cases import organiser_table

# --- Contrast of a marked cyst with its surroundings (Eq. 1 of the cyst benchmark) ---

BINS = 25
RING_PIXELS = 15
CONFIDENCES = (1, 2, 3, 4, 5)
EIGHT_NEIGHBOURS = np.ones((3, 3), dtype=np.int64)

Plane = NDArray[Any]
Mask = NDArray[np.bool_]
Range = tuple[float, float]
"""The smallest and largest intensity of a volume: the range of its histograms."""


@dataclass(frozen=True, slots=True)
class AnnotatedCyst:
    """One cyst of a B-scan: its confidence, its bounding box, and its pixels (y, x) in the box."""

    confidence: int
    box: tuple[slice, slice]
    pixels: Mask

    @property
    def centre(self) -> tuple[float, float]:
        """The mean of its pixels in the B-scan, x and y, in pixels counted from 0."""
        y, x = (float(np.mean(of_axis)) for of_axis in np.nonzero(self.pixels))
        return self.box[1].start + x, self.box[0].start + y


def cysts_of(levels: NDArray[np.uint8]) -> list[AnnotatedCyst]:
    """Return the cysts of one B-scan of confidences (y, x), by confidence and then from top to bottom.

    A cyst is an 8-connected component of one confidence above 0.
    """
    found = []
    for confidence in CONFIDENCES:
        marked = levels == confidence
        if not marked.any():
            continue
        components, _ = ndimage.label(marked, structure=EIGHT_NEIGHBOURS)
        for number, box in enumerate(ndimage.find_objects(components), start=1):
            found.append(AnnotatedCyst(confidence, box, components[box] == number))
    return found


def distinctions(
    image: Plane, levels: NDArray[np.uint8], cysts: Sequence[AnnotatedCyst], intensities: Range
) -> list[float]:
    """Return the distinction of every cyst of one B-scan from its ring, NaN if its ring is empty.

    image, levels: (y, x), intensities and one annotator's confidences. Rings exclude all pixels that this
    annotator marked, and can be empty.
    """
    marked = levels > 0
    found = []
    for cyst in cysts:
        rows, columns = (
            slice(max(0, part.start - RING_PIXELS), min(size, part.stop + RING_PIXELS))
            for part, size in zip(cyst.box, levels.shape, strict=True)
        )
        window = zip(cyst.box, (rows, columns), strict=True)
        margins = [(part.start - wide.start, wide.stop - part.stop) for part, wide in window]
        inside = np.pad(cyst.pixels, margins)
        ring = ring_of(inside) & ~marked[rows, columns]
        found.append(distinction_of(image[rows, columns], inside, ring, intensities))
    return found


def ring_of(inside: Mask, pixels: int = RING_PIXELS) -> Mask:
    """Return the pixels that a dilation by a disc adds to a region (y, x), clipped at the border."""
    if not inside.any():
        return np.zeros_like(inside)
    distance: NDArray[np.float64] = ndimage.distance_transform_edt(~inside)
    return (distance <= pixels) & ~inside


def distinction_of(image: Plane, inside: Mask, ring: Mask, intensities: Range) -> float:
    """Return 1 − Σ min(H_inner, H_outer) of two regions of an image (y, x), in [0, 1] (Eq. 1).

    H: normalised histograms over 25 equal bins of the volume's range. 0 for equal histograms, 1 for
    histograms without a common bin; NaN where a region is empty.
    """
    if not inside.any() or not ring.any():
        return nan
    inner, outer = (
        np.histogram(image[region].astype(np.float64), BINS, intensities)[0] for region in (inside, ring)
    )
    overlap = np.minimum(inner / inner.sum(), outer / outer.sum()).sum()
    return float(min(1.0, max(0.0, 1.0 - overlap)))


# --- Divide a data set into parts with the same mix of vendors and qualities ---

QUALITIES = ("low", "medium", "high")


@dataclass(frozen=True, slots=True, order=True)
class Stratum:
    """A vendor and a quality; volumes are drawn within it."""

    vendor: str
    quality: str


def median_quality(ranks: Sequence[str]) -> str:
    """Return the median of the annotators' ratings "low", "medium" or "high", the lower one of two.

    Raises `ValueError` for another rating and without any.
    """
    unknown = [rank for rank in ranks if rank not in QUALITIES]
    if unknown or not ranks:
        raise ValueError(
            f"expected ranks {', '.join(QUALITIES)}, found {', '.join(map(repr, unknown)) or 'none'}"
        )
    return QUALITIES[median_low(QUALITIES.index(rank) for rank in ranks)]


def partition(strata: Mapping[str, Stratum], parts: int, seed: int) -> dict[str, int]:
    """Return the part of every volume by name, counted from 0.

    The volumes of each stratum are shuffled and dealt to the parts in turn; the next stratum continues with
    the next part. So the sizes of the parts differ by at most one in total, for every vendor and for every
    stratum. A stratum is missing from a part only if it has fewer volumes than there are parts. The result
    does not depend on the order of the names. Raises `ValueError` for fewer than one part.
    """
    if parts < 1:
        raise ValueError(f"parts: expected at least 1, found {parts}")
    rng = np.random.Generator(np.random.PCG64(seed))
    members: dict[Stratum, list[str]] = defaultdict(list)
    for name in sorted(strata):
        members[strata[name]].append(name)
    dealt = [name for stratum in sorted(members) for name in rng.permutation(members[stratum]).tolist()]
    order = rng.permutation(parts).tolist()
    return {name: order[position % parts] for position, name in enumerate(dealt)}


# --- `volumes.csv`: vendor and quality of every volume of the benchmark ---

VOLUMES = "volumes.csv"
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


# --- OCT volumes and annotators' volumes of confidences in the organiser's folder, one file each ---

_MAX_FILE_BYTES = 1 << 33


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

    def faults_of_geometry(self, expected: Geometry) -> list[str]:
        """Return all differences from the size and position of the OCT volume. Raises `PhaseError`."""
        return [str(found.fault(str(self.path))) for found in check_geometry(self.geometry(), expected)]

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
        return float(lowest), float(highest)

    def chosen(self, b_scans: Collection[int]) -> dict[int, Plane]:
        """Return copies of some B-scans (y, x) by number, counted from 1. Raises `PhaseError`."""
        found = {z: plane.copy() for z, plane in enumerate(self.planes(), start=1) if z in b_scans}
        if missing := sorted(set(b_scans) - set(found)):
            raise PhaseError(f"{self.path}: expected B-scan {missing[0]}, found a volume without it")
        return found

    def marks(self, b_scans: Collection[int]) -> dict[int, NDArray[np.uint8]]:
        """Return the confidences of some B-scans. Raises `PhaseError` where others are marked, too."""
        found, others = {}, []
        for z, plane in enumerate(self.planes(), start=1):
            if z in b_scans:
                found[z] = self.levels(plane, z)
            elif np.nan_to_num(plane).any():
                others.append(str(z))
        if others:
            wanted = f"marks in the B-scans of {_FILE} alone ({', '.join(map(str, sorted(b_scans)))})"
            raise PhaseError(f"{self.path}: expected {wanted}, found some in B-scan {', '.join(others)}")
        return found

    def levels(self, plane: Plane, b_scan: int) -> NDArray[np.uint8]:
        """Return a B-scan of confidences 0 to 5 as integers. Raises `PhaseError` for anything else."""
        levels = plane.astype(np.uint8) if plane.dtype.kind in "iu" else np.nan_to_num(plane).astype(np.uint8)
        wrong = plane[(levels != plane) | (levels > CONFIDENCES[-1])]
        if wrong.size:
            found = f"{in_digits(float(wrong[0]), *CONFIDENCES)} in B-scan {b_scan}"
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


# --- The B-scans that all annotators and the supervisor annotated twice ---

SUPERVISOR = "supervisor"
RUNS = ("run1", "run2")
_FILE, _FOLDER, IMAGES = "evaluation.csv", "evaluation", "images"
_MAX_B_SCANS = 100_000
_B_SCANS_EACH = 5
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
                for number, plane in scans[volume].marks(numbers).items():
                    levels[number][key] = plane
            for number in numbers:
                yield AnnotatedBScan(volume, number, planes[number], intensities, levels[number])


def open_evaluation_set(folder: Path, volumes: Collection[str]) -> EvaluationSet:
    """Open the evaluation set of a folder without reading more of its volumes than their headers.

    ``volumes``: the volumes of the benchmark, of which each must have five B-scans. Raises `PhaseError` with
    every fault.
    """
    b_scans: dict[str, list[int]] = defaultdict(list)
    with organiser_table(folder / _FILE, ("volume", "b_scan"), holds="B-scan") as table:
        for row in table.rows:
            number = row.whole("b_scan", 1, _MAX_B_SCANS)
            if number in b_scans[row.cells["volume"]]:
                row.fault("b_scan", f"{row.cells['volume']}, B-scan {number} is in an earlier row too")
            b_scans[row.cells["volume"]].append(number)
    problems = [
        f"{_FILE}: expected the volumes of {VOLUMES}, found {name!r}"
        for name in sorted(set(b_scans) - set(volumes))
    ]
    problems += [
        f"{_FILE}, {name}: expected {_B_SCANS_EACH} B-scans, found {len(b_scans.get(name, ()))}"
        for name in sorted(volumes)
        if len(b_scans.get(name, ())) != _B_SCANS_EACH
    ]
    parts = folder / _FOLDER
    annotators = sorted(path.name for path in parts.iterdir() if path.is_dir()) if parts.is_dir() else []
    if SUPERVISOR not in annotators:
        problems.append(f"{parts / SUPERVISOR}: is not a folder")
    if len(annotators) < 2:
        problems.append(f"{parts}: expected a folder for every annotator, found none")
    images = scans_in(folder / IMAGES)
    problems += missing(b_scans, images, folder / IMAGES)
    annotations = {}
    for annotator in annotators:
        for run in RUNS:
            annotations[annotator, run] = scans_in(parts / annotator / run)
            problems += missing(b_scans, annotations[annotator, run], parts / annotator / run)
    PhaseError.raise_all(problems)
    for volume in b_scans:
        geometry = images[volume].geometry()
        for scans in annotations.values():
            problems += scans[volume].faults_of_geometry(geometry)
    PhaseError.raise_all(problems)
    return EvaluationSet(
        {volume: tuple(sorted(b_scans[volume])) for volume in sorted(b_scans)},
        tuple(annotator for annotator in annotators if annotator != SUPERVISOR),
        images,
        annotations,
    )


def missing(volumes: Collection[str], found: Mapping[str, Scan], folder: Path) -> list[str]:
    """Return a line for each volume that is not in a folder."""
    return [f"{folder}/{volume}: is missing" for volume in sorted(volumes) if volume not in found]


def images_of(folder: Path, volumes: Collection[str]) -> dict[str, Scan]:
    """Return the OCT volumes of a folder. Raises `PhaseError` for all missing ones."""
    images = scans_in(folder / IMAGES)
    PhaseError.raise_all(missing(volumes, images, folder / IMAGES))
    return images
