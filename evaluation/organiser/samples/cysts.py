"""Synthetic cyst phases: OCT volumes, annotators, references, and submissions of known quality."""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluation.challenges.cysts.rules import CHALLENGE, CystsOptions
from evaluation.cli.common import Argument
from evaluation.core.challenge import Values
from evaluation.io.kinds.volume import Volume
from evaluation.io.tables import write_csv
from evaluation.io.volume_header import UPRIGHT, Geometry, geometry_columns
from evaluation.io.volumes import write_volume
from evaluation.organiser.samples.images import Quality, configured, write_archive_sample
from evaluation.organiser.submission_writer import SampleCase

# --- Synthetic OCT volumes: retinal layers, speckle, cysts of varying contrast and size, and annotators ---

VENDORS = {"C": "cirrus", "T": "topcon", "N": "nidek", "S": "spectralis"}
VENDOR_OF_CASE = "CTNSTCTCTCTCNSTCTCTCTCNSTT"
"""Vendor of each of 26 cases (9 Cirrus, 11 Topcon, 3 Nidek, 3 Spectralis); further cases repeat the order."""

QUALITIES = ("high", "medium", "low")
INTERVAL = np.array([0.0, 0.35, 0.5, 0.62, 0.74, 0.86], dtype=np.float32)
"""The confidence of each level: the mean distinction of the supervisor's cysts of that level."""

# (B-scans, pixels in depth, pixels in width) of four scanners for 6 mm × 2 mm × 6 mm of the macula
_SHAPES = {
    "cirrus": (128, 1024, 512),
    "topcon": (256, 885, 512),
    "nidek": (5, 512, 512),
    "spectralis": (49, 496, 512),
}
_EXTENT_MM = (6.0, 2.0, 6.0)
_MIN_SHAPE = (5, 24, 24)
_CONTRAST_OF_QUALITY = {"high": 0.75, "medium": 0.55, "low": 0.4}
# Lower bound of each layer in mm below the inner limiting membrane, and its brightness.
_LAYERS = ((0.03, 150), (0.09, 95), (0.12, 115), (0.2, 80), (0.25, 105), (0.3, 60), (0.34, 190), (0.4, 120))
_VITREOUS, _CHOROID = 18, 70
_CYST_DEPTH_MM = (0.08, 0.26)


@dataclass(frozen=True)
class SimulatedCyst:
    """An ellipsoid; centre and semi-axes in mm, in the order z, y, x; contrast in [0, 1]."""

    centre_mm: tuple[float, float, float]
    semi_axes_mm: tuple[float, float, float]
    contrast: float

    @property
    def level(self) -> int:
        """The confidence, 1 to 5, that an annotator without error gives it."""
        return min(5, 1 + int(5 * self.contrast))


@dataclass(frozen=True)
class OctCase:
    """The true anatomy of one volume."""

    name: str
    vendor: str
    quality: str
    geometry: Geometry
    cysts: tuple[SimulatedCyst, ...]

    @property
    def spacing_mm(self) -> tuple[float, float, float]:
        """Spacing in the order z, y, x."""
        x, y, z = self.geometry.spacing_mm or (1.0, 1.0, 1.0)
        return z, y, x


def draw_cases(count: int, scale: float, rng: Generator, most_b_scans: int | None = None) -> list[OctCase]:
    """Return cases of four vendors and three qualities.

    ``scale`` multiplies width and depth in pixels, at the same extent in mm, and the number of B-scans, at
    the same distance; ``most_b_scans`` limits this number further. Raises ValueError for a count below 1 or a
    scale outside (0, 1].
    """
    if count < 1 or not 0 < scale <= 1:
        expected = "at least one case and a scale above 0 up to 1"
        raise ValueError(f"expected {expected}, found {count} and {scale:g}")
    seen = dict.fromkeys(_SHAPES, 0)
    cases = []
    for position in range(count):
        vendor = VENDORS[VENDOR_OF_CASE[position % len(VENDOR_OF_CASE)]]
        quality = QUALITIES[seen[vendor] % len(QUALITIES)]
        seen[vendor] += 1
        geometry = _geometry(vendor, scale, most_b_scans)
        cysts = _draw_cysts(geometry, quality, rng)
        cases.append(OctCase(f"V{position + 1:02d}", vendor, quality, geometry, cysts))
    return cases


def draw_image(case: OctCase, rng: Generator) -> NDArray[np.uint8]:
    """Return the OCT volume (z, y, x): layers that are deeper at the fovea, dark cysts, and speckle."""
    depth, height, width = case.geometry.shape
    step_z, step_y, step_x = case.spacing_mm
    brightness = np.full(case.geometry.shape, _CHOROID, dtype=np.float32)
    y = (np.arange(height) * step_y)[:, np.newaxis]
    x = np.arange(width, dtype=np.float64)[np.newaxis] * step_x
    for z in range(depth):
        distance = np.hypot(x - width * step_x / 2, z * step_z - depth * step_z / 2)
        # The inner limiting membrane is 0.15 mm deeper at the fovea.
        below = y - (0.3 * height * step_y + 0.15 * np.exp(-((distance / 0.7) ** 2)))
        plane = brightness[z]
        for limit, value in reversed(_LAYERS):
            plane[below < limit] = value
        plane[below < 0] = _VITREOUS
    for cyst in case.cysts:
        box, inside = _rasterise(cyst, case)
        brightness[box][inside] *= 1 - cyst.contrast
    looks = 4.0
    speckle = rng.gamma(looks, 1 / looks, case.geometry.shape).astype(np.float32)
    image: NDArray[np.uint8] = np.clip(brightness * speckle, 0, 255).astype(np.uint8)
    return image


@dataclass(frozen=True, slots=True)
class Habits:
    """How somebody annotates.

    ``missed``: probability of overlooking a cyst of level 1; it decreases with the level. ``deviation``:
    relative error of centre and size. ``level_deviation``: standard deviation of the level. ``shift``: of
    every level.
    """

    missed: float
    deviation: float
    level_deviation: float
    shift: int = 0


def read_cysts(case: OctCase, rng: Generator, habits: Habits) -> NDArray[np.uint8]:
    """Return the levels (z, y, x), 0 to 5, that an annotator of these habits marks."""
    levels = np.zeros(case.geometry.shape, dtype=np.uint8)
    for cyst in case.cysts:
        random = rng.standard_normal(7)
        if rng.random() < habits.missed / cyst.level:
            continue
        axes = np.array(cyst.semi_axes_mm)
        seen = replace(
            cyst,
            centre_mm=tuple(np.array(cyst.centre_mm) + habits.deviation * axes * random[:3]),
            semi_axes_mm=tuple(axes * np.exp(habits.deviation * random[3:6])),
        )
        level = int(np.clip(round(cyst.level + habits.level_deviation * random[6]), 1, 5))
        shifted = min(max(level + habits.shift, 1), 5)
        box, inside = _rasterise(seen, case)
        np.maximum(levels[box], shifted, out=levels[box], where=inside)
    return levels


def combine(annotators: Sequence[NDArray[np.uint8]]) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Return the mean confidence, and the nearest level, 0 where neither of the two annotators marked."""
    first, second = annotators
    means = (INTERVAL[:, np.newaxis] + INTERVAL) / np.float32(2)
    nearest = 1 + np.abs(means[..., np.newaxis] - INTERVAL[1:]).argmin(axis=-1)
    nearest[0, 0] = 0
    return means[first, second], nearest.astype(np.uint8)[first, second]


def _geometry(vendor: str, scale: float, most_b_scans: int | None) -> Geometry:
    full = _SHAPES[vendor]
    shape = tuple(
        min(size, max(smallest, round(size * scale))) for size, smallest in zip(full, _MIN_SHAPE, strict=True)
    )
    depth, height, width = shape
    depth = depth if most_b_scans is None else min(depth, most_b_scans)
    spacing = (_EXTENT_MM[2] / width, _EXTENT_MM[1] / height, _EXTENT_MM[0] / full[0])
    return Geometry((depth, height, width), spacing, (0.0, 0.0, 0.0), UPRIGHT)


def _draw_cysts(geometry: Geometry, quality: str, rng: Generator) -> tuple[SimulatedCyst, ...]:
    depth, height, width = geometry.shape
    step_x, step_y, step_z = geometry.spacing_mm or (1.0, 1.0, 1.0)
    cysts = []
    for _ in range(int(rng.integers(6, 14))):
        radius = float(np.exp(rng.normal(math.log(0.16), 0.45)))
        z = float(rng.uniform(0.1, 0.9)) * depth * step_z
        x = float(rng.uniform(0.2, 0.8)) * width * step_x
        top = 0.3 * height * step_y
        y = top + float(rng.uniform(*_CYST_DEPTH_MM))
        # At least a pixel and a half, so that a coarse grid keeps every cyst.
        axes = (max(radius, 0.6 * step_z), max(radius / 3, 1.5 * step_y), max(radius, 1.5 * step_x))
        contrast = float(np.clip(rng.normal(_CONTRAST_OF_QUALITY[quality], 0.2), 0.05, 0.95))
        cysts.append(SimulatedCyst((z, y, x), axes, contrast))
    return tuple(cysts)


def _rasterise(cyst: SimulatedCyst, case: OctCase) -> tuple[tuple[slice, slice, slice], NDArray[np.bool_]]:
    """Return the voxels of a cyst: the bounding box and a mask in it."""
    slices, terms = [], []
    for axis, size in enumerate(case.geometry.shape):
        centre = cyst.centre_mm[axis] / case.spacing_mm[axis]
        radius = cyst.semi_axes_mm[axis] / case.spacing_mm[axis]
        first, last = max(0, math.ceil(centre - radius)), min(size - 1, math.floor(centre + radius))
        slices.append(slice(first, max(first, last + 1)))
        steps = (np.arange(slices[-1].start, slices[-1].stop) - centre) / radius
        terms.append((steps**2).reshape([-1 if other == axis else 1 for other in range(3)]))
    inside = terms[0] + terms[1] + terms[2] <= 1
    return (slices[0], slices[1], slices[2]), inside


# --- Synthetic annotations of three annotators and a supervisor, for `fuse cysts` ---

_SUPERVISOR, _RUNS = "supervisor", ("run1", "run2")
_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Where in a volume the five B-scans of the evaluation set lie."""


_EXPERT = Habits(missed=0.2, deviation=0.05, level_deviation=0.4)
ANNOTATORS = {
    "high": replace(_EXPERT, shift=1),
    "low": replace(_EXPERT, shift=-1),
    "rough": replace(_EXPERT, missed=0.5, deviation=0.25),
}
"""One annotator is more confident than the supervisor, one less; one misses cysts and draws roughly."""


def write_annotations(
    folder: Path,
    cases: Sequence[OctCase],
    configuration: str,
    rng: Generator,
    progress: Callable[[int], None],
) -> None:
    """Write the input of `fuse cysts`: volumes, the evaluation set in two runs, and the annotations.

    ``configuration``: the text of `phase.toml`. Raises `ValueError` for a volume of fewer than five B-scans.
    """
    b_scans: list[list[str]] = []
    for done, case in enumerate(cases, start=1):
        depth = case.geometry.shape[0]
        if depth < len(_SHARES):
            raise ValueError(f"{case.name}: expected at least {len(_SHARES)} B-scans, found {depth}")
        file = f"{case.name}.mha"
        _write(folder / "images" / file, draw_image(case, rng), case)
        listed = [int(depth * share) for share in _SHARES]
        b_scans += [[case.name, str(z + 1)] for z in listed]
        for name, habits in {_SUPERVISOR: _EXPERT, **ANNOTATORS}.items():
            for run in _RUNS:
                levels = read_cysts(case, rng, habits)
                levels[np.setdiff1d(np.arange(depth), listed)] = 0
                _write(folder / "evaluation" / name / run / file, levels, case)
            if name != _SUPERVISOR:
                _write(folder / "annotations" / name / file, read_cysts(case, rng, habits), case)
        progress(done)
    write_csv(folder / "evaluation.csv", ["volume", "b_scan"], b_scans)
    ranks = [[case.name, case.vendor, case.quality, case.quality, "medium"] for case in cases]
    header = ["volume", "vendor", *(f"quality_{name}" for name in ANNOTATORS)]
    write_csv(folder / "volumes.csv", header, ranks)
    (folder / "phase.toml").write_text(configuration, encoding="utf-8", newline="\n")


def _write(path: Path, values: NDArray[np.uint8], case: OctCase) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_volume(values, case.geometry, "".join(path.suffixes)))


# --- Synthetic cyst phases: references of two simulated annotators, and submissions of known quality ---

_FEWEST_B_SCANS = 5
_ANNOTATOR = Habits(missed=0.3, deviation=0.08, level_deviation=0.6)
_GOOD = Habits(missed=0.3, deviation=0.1, level_deviation=0.5)
_POOR = Habits(missed=0.8, deviation=0.3, level_deviation=0.0)


ARGUMENTS = (
    Argument("--cases", "number of volumes", type=int, default=26),
    Argument("--scale", "of width, depth and number of B-scans", type=float, default=1.0),
    Argument.flag(
        "--annotations",
        "instead of a phase, write what `fuse cysts` builds one from: OCT volumes and annotations",
    ),
    Argument("--b-scans", "at most so many in a volume, 5 or more", type=int, metavar="N"),
)


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write a phase and four submissions below ``arguments.output`` and return their folders.

    With ``arguments.annotations``, write annotations there instead, and return that folder.
    """
    rng = Generator(np.random.PCG64(arguments.seed))
    if arguments.b_scans is not None and arguments.b_scans < _FEWEST_B_SCANS:
        raise ValueError(f"--b-scans: expected at least {_FEWEST_B_SCANS}, found {arguments.b_scans}")
    cases = draw_cases(arguments.cases, arguments.scale, rng, arguments.b_scans)
    options = f"\n[options]\nreaders = {list(ANNOTATORS)}\n" if arguments.annotations else ""
    configuration = configured("cysts", arguments, options=options)
    if arguments.annotations:
        write_annotations(arguments.output, cases, configuration, rng, progress)
        return [arguments.output]

    def draw(position: int) -> tuple[SampleCase, Callable[[Quality], Values]]:
        case = cases[position]
        confidence, level = combine([read_cysts(case, rng, _ANNOTATOR) for _ in range(2)])
        columns = {**geometry_columns(case.geometry), "vendor": case.vendor, "quality": case.quality}
        values = {"cysts": Volume(confidence, case.geometry), "level": Volume(level, case.geometry)}

        def predict(quality: Quality) -> Values:
            return {"cysts": Volume(_prediction(case, confidence, quality, rng), case.geometry)}

        return SampleCase(case.name, columns, values), predict

    tasks, extensions = CHALLENGE.tasks(CystsOptions()), {"cysts": ".mha"}
    return write_archive_sample(
        arguments, configuration, tasks, arguments.cases, draw, progress, extensions=extensions
    )


def _prediction(
    case: OctCase, confidence: NDArray[np.float32], quality: Quality, rng: Generator
) -> NDArray[Any]:
    """Return a submitted volume: the reference, a confidence map, a binary mask, or the cysts misplaced."""
    if quality is Quality.PERFECT:
        return confidence
    if quality is Quality.GOOD:
        return INTERVAL[read_cysts(case, rng, _GOOD)]
    if quality is Quality.POOR:
        return (read_cysts(case, rng, _POOR) > 0).astype(np.uint8)
    elsewhere = np.roll(confidence, case.geometry.shape[1] // 3, axis=1)
    return np.ascontiguousarray(elsewhere[:, :, ::-1])
