"""The geometry that the case table gives the image of a case."""

from __future__ import annotations

from evaluation.core.fault import PhaseError, ReadError
from evaluation.core.form import CaseForm
from evaluation.io.tables import parse_number
from evaluation.io.volumes.header import Geometry

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
    depth = _numbers(case, column, 1)
    spacing = _numbers(case, "spacing_mm", 3)
    if depth is None or depth[0] < 1 or depth[0] != int(depth[0]):
        found = case.columns.get(column, "")
        raise PhaseError(f"{place}, {column}: expected a number of {planes}, found {found!r}")
    if spacing is None or min(spacing) <= 0:
        found = case.columns.get("spacing_mm", "")
        raise PhaseError(f"{place}, spacing_mm: expected three lengths, found {found!r}")
    return Geometry(
        (int(depth[0]), case.height, case.width),
        spacing,  # type: ignore[arg-type]  # three, as checked
        _numbers(case, "origin_mm", 3),  # type: ignore[arg-type]
        _numbers(case, "direction", 9),  # type: ignore[arg-type]
    )


def plane_geometry_of(case: CaseForm) -> Geometry:
    """Return the geometry of an image of one plane, shape (1, y, x).

    The column ``spacing_mm`` may be empty or missing; otherwise it has two lengths, x and y, and the third
    spacing is 1. Three lengths belong to a volume of the same case and are ignored. Raises `PhaseError`.
    """
    of_volume = len(case.columns.get("spacing_mm", "").split()) == 3
    spacing = None if of_volume else _numbers(case, "spacing_mm", 2)
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


def _numbers(case: CaseForm, column: str, count: int) -> tuple[float, ...] | None:
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
    return " ".join(f"{number:.12g}" for number in numbers or ())
