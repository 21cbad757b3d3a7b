"""Axis-parallel boxes in the platform's JSON of four corners."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.core.fault import Fault, FormFault
from evaluation.core.form import CaseForm
from evaluation.core.source import JsonSource, fault_at
from evaluation.io.box_lines import MAX_COORDINATE, Outside
from evaluation.io.kinds.annotation_json import (
    BOXES,
    Annotation,
    Triple,
    read_annotation,
    read_annotations,
    written_alone,
    written_annotation,
    written_list,
)

_TOLERANCE = 1e-6
"""Largest rounding error of the corners of an axis-parallel box."""

Corners = tuple[float, float, float, float]
_CORNERS = ("x1", "y1", "x2", "y2")


def boxes_of_json(
    source: JsonSource, most: int, single: bool = False
) -> Iterator[tuple[Annotation, Corners] | FormFault]:
    """Yield x1, y1, x2, y2 of every box of a socket, or its faults; at most ``most`` boxes.

    Raises `FormFault` if the whole is malformed.
    """
    annotations = [read_annotation(source, BOXES)] if single else read_annotations(source, BOXES, most)
    for found in annotations:
        if isinstance(found, FormFault):
            yield found
            continue
        corners = _axis_parallel(found.coordinates)
        if corners is None:
            yield fault_at(found.source, "corners of an axis-parallel box in one plane", "others")
        else:
            yield found, corners


def within_image(
    source: JsonSource, corners: Corners, case: CaseForm, outside: Outside, remedy: str, faults: list[Fault]
) -> tuple[Corners, bool]:
    """Return the corners by the rule for boxes that leave the image, and whether the box left it.

    Corners are moved to the border or kept, or each coordinate outside is a fault, whose message ends with
    ``remedy``. Without a size of the image, coordinates are limited, too.
    """
    x1, y1, x2, y2 = corners
    is_inside = x1 >= 0 and y1 >= 0 and x2 <= (case.width or x2) and y2 <= (case.height or y2)
    right, bottom = (float(size or MAX_COORDINATE) for size in (case.width, case.height))
    if outside == "clip":
        x1, x2 = (min(max(x, 0.0), right) for x in (x1, x2))
        y1, y2 = (min(max(y, 0.0), bottom) for y in (y1, y2))
        return (x1, y1, x2, y2), not is_inside or (x1, y1, x2, y2) != corners
    low = 0.0
    if outside == "keep":
        low, right, bottom = -float(MAX_COORDINATE), float(MAX_COORDINATE), float(MAX_COORDINATE)
    for name, value, high in zip(_CORNERS, corners, (right, bottom) * 2, strict=True):
        if not low <= value <= high:
            expected = f"{name} from {low:.12g} to {high:.12g}{remedy}"
            faults += fault_at(source, expected, f"{value:.12g}").faults
    return corners, not is_inside


def written_box(corners: Corners, name: str | None, probability: float | None) -> dict[str, object]:
    """Return a box as an entry of a list, its corners one after the other; z is 0."""
    x1, y1, x2, y2 = corners
    around = [(x1, y1, 0.0), (x2, y1, 0.0), (x2, y2, 0.0), (x1, y2, 0.0)]
    return written_annotation(around, BOXES, name, probability)


def written_boxes(entries: list[dict[str, object]], single: bool = False) -> dict[str, object]:
    """Return the value of a socket."""
    return written_alone(entries[0], BOXES) if single else written_list(entries, BOXES)


def _axis_parallel(corners: tuple[Triple, ...]) -> Corners | None:
    """Return the axis-parallel box of four corners in any order, None if they form no such box."""
    xs, ys, zs = zip(*corners, strict=True)
    x1, x2, y1, y2 = min(xs), max(xs), min(ys), max(ys)
    if max(zs) - min(zs) > _TOLERANCE:
        return None
    for x, y in ((x1, y1), (x1, y2), (x2, y1), (x2, y2)):
        if not any(abs(found[0] - x) <= _TOLERANCE and abs(found[1] - y) <= _TOLERANCE for found in corners):
            return None
    return x1, y1, x2, y2
