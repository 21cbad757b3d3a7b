"""The header of a volume: size, type of the values and position in space."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from evaluation.core.fault import FaultKind, PhaseError, ReadError, apart, counted, in_digits
from evaluation.core.form import CaseForm
from evaluation.io.pixels import NUMBERS
from evaluation.io.tables import parse_number

SPACING_TOLERANCE = 1e-4
"""Spacings are equal if they differ by less than this share: a twentieth of a voxel over 512 of them."""

ORIGIN_TOLERANCE = 1e-2
"""Origins are equal if they differ, along every axis, by less than this share of the spacing.

A format of single precision cannot hold every origin so exactly: its rounding is allowed as well.
"""

_SINGLE_PRECISION = 2.0**-23

DIRECTION_TOLERANCE = 1e-3
"""Directions are equal if no cosine differs by more than this: small rotations in NIfTI are off by half."""

MAX_VOXELS, MAX_PLANE = 1 << 40, 1 << 30
"""More than is held of a volume, and of a plane at once: a header that promises more is damaged."""

LONGEST_HEADER = 1 << 16
"""A text header has fewer bytes."""

EXCHANGED = "the axes are exchanged"

Three = tuple[float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]
NOWHERE: Three = (0.0, 0.0, 0.0)
UPRIGHT: Nine = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Geometry:
    """Size and position of a volume; ``shape`` is (z, y, x), everything else is in the order x, y, z.

    ``direction`` holds the matrix of direction cosines row by row; its columns are the axes, as in
    SimpleITK's `GetDirection`. None: the file does not give it, or the phase does not compare it.
    """

    shape: tuple[int, int, int]
    spacing_mm: Three | None = None
    origin_mm: Three | None = None
    direction: Nine | None = None


@dataclass(frozen=True, slots=True)
class VolumeHeader:
    """The geometry of a file and the type of its values, byte order included."""

    geometry: Geometry
    dtype: np.dtype[Any]


def check_geometry(found: Geometry, expected: Geometry, plane: str = "plane") -> list[ReadError]:
    """Return all differences of two geometries beyond the tolerances of this module.

    Only properties of both are compared: a TIFF stack has a size only. A file with a spacing alone is upright
    at the origin, as ITK reads it. ``plane`` is the word for a plane in messages.
    """
    problems = []
    if found.shape != expected.shape:
        wanted, other_size = (_size(geometry.shape, plane) for geometry in (expected, found))
        hint = _hint_of_shape(found, expected)
        problems.append(ReadError(FaultKind.WRONG_SIZE, wanted, other_size, hint=hint))
    scale, origin = expected.spacing_mm or (1.0, 1.0, 1.0), expected.origin_mm or NOWHERE
    of_origin = [
        max(ORIGIN_TOLERANCE * length, _SINGLE_PRECISION * abs(position))
        for length, position in zip(scale, origin, strict=True)
    ]
    has_spacing = found.spacing_mm is not None
    found_origin = found.origin_mm or (NOWHERE if has_spacing else None)
    found_direction = found.direction or (UPRIGHT if has_spacing else None)
    for name, unit, one, other, tolerances in (
        ("spacing", " mm", expected.spacing_mm, found.spacing_mm, [SPACING_TOLERANCE * s for s in scale]),
        ("origin", " mm", expected.origin_mm, found_origin, of_origin),
        ("direction", "", expected.direction, found_direction, [DIRECTION_TOLERANCE] * 9),
    ):
        if one is None or other is None or _are_near(one, other, tolerances):
            continue
        first, second = apart(one, other)
        wanted = f"{name} {first}{unit}" + " (x, y, z)" * bool(unit)
        hint = _hint_of_axes(other, one, tolerances)
        problems.append(ReadError(FaultKind.WRONG_VALUE, wanted, f"{second}{unit}", hint=hint))
    return problems


def _are_near(one: Sequence[float], other: Sequence[float], tolerances: Sequence[float]) -> bool:
    return all(abs(a - b) <= limit for a, b, limit in zip(one, other, tolerances, strict=True))


def _hint_of_axes(
    found: Sequence[float], expected: Sequence[float], tolerances: Sequence[float]
) -> str | None:
    """Return the hint for numbers of swapped or reversed axes."""
    if _are_near([abs(number) for number in found], [abs(number) for number in expected], tolerances):
        return "some axes point the other way"
    # The numbers of an axis are one of a spacing or an origin, and a column of a direction.
    rows = np.reshape(found, (-1, 3))
    for order in permutations(range(3)):
        moved = rows[:, list(order)].ravel().tolist()
        if _are_near(moved, expected, tolerances):
            return EXCHANGED
    return None


def _hint_of_shape(found: Geometry, expected: Geometry) -> str | None:
    if sorted(found.shape) == sorted(expected.shape):
        return EXCHANGED
    if found.spacing_mm is None or expected.spacing_mm is None:
        return None
    extents = zip(found.shape[::-1], found.spacing_mm, expected.shape[::-1], expected.spacing_mm, strict=True)
    if all(abs(n * mm - m * other) <= max(mm, other) for n, mm, m, other in extents):
        return "resampled? A prediction has the voxels of the original volume"
    return None


def header_of(
    size_xyz: Sequence[int],
    dtype: np.dtype[Any] | None,
    spacing: Sequence[float] | None,
    origin: Sequence[float] | None,
    direction: Sequence[float] | None,
    volume: str,
) -> VolumeHeader:
    """Return the header of a file after checking its numbers.

    ``volume`` names the file in messages, for example "a MetaImage volume". Raises `ReadError`.
    """
    if dtype is None:
        raise ReadError(FaultKind.WRONG_VALUE, NUMBERS, "another type of values")
    if len(size_xyz) != 3 or min(size_xyz) < 1:
        found = " × ".join(map(str, size_xyz)) or "nothing"
        raise ReadError(FaultKind.WRONG_SIZE, "a volume of three axes", found)
    if math.prod(size_xyz) > MAX_VOXELS or math.prod(size_xyz[:2]) > MAX_PLANE:
        expected = f"at most {MAX_VOXELS} voxels, {MAX_PLANE} of them in a plane"
        raise ReadError(FaultKind.TOO_LARGE, expected, " × ".join(map(str, size_xyz)))
    for name, numbers, count in (("spacing", spacing, 3), ("origin", origin, 3), ("direction", direction, 9)):
        if numbers is not None and (len(numbers) != count or not all(map(math.isfinite, numbers))):
            raise ReadError(FaultKind.UNREADABLE, volume, f"an invalid {name}")
    if spacing is not None and min(spacing) <= 0:
        raise ReadError(FaultKind.UNREADABLE, volume, "a spacing that is not above 0")
    if direction is not None and (skewed := skew_of(tuple(direction))):
        raise skewed
    x, y, z = size_xyz
    place = (None if numbers is None else tuple(numbers) for numbers in (spacing, origin, direction))
    return VolumeHeader(Geometry((z, y, x), *place), dtype)  # type: ignore[arg-type]  # lengths as checked


def lines_of_header(read: Callable[[int], bytes], volume: str) -> Iterator[str]:
    """Yield the lines of a text header without their ends; ``read`` returns the next bytes of the file.

    No byte behind the last line is read. Raises `ReadError` for a header that is long or does not end.
    """
    line = bytearray()
    for _ in range(LONGEST_HEADER):
        byte = read(1)
        if byte == b"\n":
            yield line.decode("latin-1")
            line.clear()
        elif byte:
            line += byte
        else:
            break
    raise ReadError(FaultKind.UNREADABLE, volume, "an invalid header")


def numbers_of(text: str, separator: str | None = None) -> list[float]:
    """Return the numbers of a text header. Raises `ValueError`, also for a notation of Python alone."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return [float(number) for number in text.split(separator)]


def _size(shape: tuple[int, int, int], plane: str) -> str:
    z, y, x = shape
    return f"{counted(z, plane)} of {x} × {y} pixels"


_TILTED = "a gantry tilt or a shear? Resample the image and its masks to a grid with right angles"
_SCALED = "multiply the spacing by it, and divide the direction"


def skew_of(direction: tuple[float, ...]) -> ReadError | None:
    """Return the error for axes that are not orthonormal within `DIRECTION_TOLERANCE`, None for any others.

    Distances and volumes follow from spacings alone, and would be wrong with such axes. ``direction`` is a
    matrix as that of `Geometry`.
    """
    axes = [direction[column::3] for column in range(3)]
    lengths = [math.hypot(*axis) for axis in axes]
    for name, length in zip("xyz", lengths, strict=True):
        if not abs(length - 1) <= DIRECTION_TOLERANCE:
            found = f"an axis {name} of length {in_digits(length, 1, digits=4)}"
            return ReadError(FaultKind.WRONG_VALUE, "direction cosines, of length 1", found, hint=_SCALED)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        cosine = sum(a * b for a, b in zip(axes[one], axes[other], strict=True))
        if abs(cosine) > DIRECTION_TOLERANCE:
            angle = math.degrees(math.acos(max(-1.0, min(1.0, cosine / (lengths[one] * lengths[other])))))
            found = f"axes {'xyz'[one]} and {'xyz'[other]} at {in_digits(angle, 90, digits=4)}°"
            return ReadError(FaultKind.WRONG_VALUE, "axes at right angles", found, hint=_TILTED)
    return None


# --- The geometry that the case table gives the image of a case ---

DEPTH, B_SCANS = "depth", "b_scans"
"""The column with the number of planes; volumes of optical coherence tomography have B-scans."""

GEOMETRY_COLUMNS = (DEPTH, "spacing_mm", "origin_mm", "direction")
"""Columns of the case table beside width and height; numbers in the order x, y, z, separated by spaces."""

B_SCAN_COLUMNS = (B_SCANS, *GEOMETRY_COLUMNS[1:])


def geometry_of(case: CaseForm) -> Geometry:
    """Return the geometry that the case table gives a volume.

    Origin and direction that are empty or missing are not compared. Raises `PhaseError`.
    """
    place = f"cases.csv, {case.name}"
    column, planes = (B_SCANS, "B-scans") if B_SCANS in case.columns else (DEPTH, "planes")
    depth = _numbers_in(case, column, 1)
    spacing = _numbers_in(case, "spacing_mm", 3)
    if depth is None or depth[0] < 1 or depth[0] != int(depth[0]):
        found = case.columns.get(column, "")
        raise PhaseError(f"{place}, {column}: expected a number of {planes}, found {found!r}")
    if spacing is None or min(spacing) <= 0:
        found = case.columns.get("spacing_mm", "")
        raise PhaseError(f"{place}, spacing_mm: expected three lengths, found {found!r}")
    direction = _numbers_in(case, "direction", 9)
    if direction is not None and (skewed := skew_of(direction)):
        raise PhaseError(f"{place}, direction: {skewed}; {skewed.hint}")
    return Geometry(
        (int(depth[0]), case.height, case.width),
        spacing,  # type: ignore[arg-type]  # three, as checked
        _numbers_in(case, "origin_mm", 3),  # type: ignore[arg-type]
        direction,  # type: ignore[arg-type]
    )


def plane_geometry_of(case: CaseForm) -> Geometry:
    """Return the geometry of an image of one plane, shape (1, y, x).

    The column ``spacing_mm`` may be empty or missing; otherwise it has two lengths, x and y, and the third
    spacing is 1. Three lengths belong to a volume of the same case and are ignored. Raises `PhaseError`.
    """
    of_volume = len(case.columns.get("spacing_mm", "").split()) == 3
    spacing = None if of_volume else _numbers_in(case, "spacing_mm", 2)
    if spacing is not None and min(spacing) <= 0:
        found = case.columns["spacing_mm"]
        raise PhaseError(f"cases.csv, {case.name}, spacing_mm: expected two lengths, found {found!r}")
    return Geometry((1, case.height, case.width), None if spacing is None else (spacing[0], spacing[1], 1.0))


def geometry_columns(geometry: Geometry, depth: str = B_SCANS) -> dict[str, str]:
    """Return the columns of the case table that `geometry_of` reads back; ``depth`` names one of them."""
    planes, height, width = geometry.shape
    return {
        "width": str(width),
        "height": str(height),
        depth: str(planes),
        "spacing_mm": _text(geometry.spacing_mm),
        "origin_mm": _text(geometry.origin_mm),
        "direction": _text(geometry.direction),
    }


def _numbers_in(case: CaseForm, column: str, count: int) -> tuple[float, ...] | None:
    """Return the numbers of a cell, None for an empty or missing one. Raises `PhaseError`."""
    text = case.columns.get(column, "")
    cells = text.split()
    try:
        numbers = tuple(map(parse_number, cells))
    except ReadError:
        numbers = ()
    if cells and len(numbers) != count:
        place = f"cases.csv, {case.name}, {column}"
        raise PhaseError(f"{place}: expected {count} numbers separated by spaces, found {text!r}")
    return numbers or None


def _text(numbers: tuple[float, ...] | None) -> str:
    return " ".join(f"{number + 0.0:.12g}" for number in numbers or ())
