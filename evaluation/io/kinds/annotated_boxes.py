"""Axis-parallel boxes in the platform's JSON of four corners."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.core.fault import FormFault
from evaluation.core.source import JsonSource, fault_at
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
"""Corners may differ by so much from those of an axis-parallel box: rounding, not a rotation."""

Corners = tuple[float, float, float, float]


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


def written_box(corners: Corners, name: str | None, probability: float | None) -> dict[str, object]:
    """Return a box as an entry of a list, its corners one after the other; z is 0."""
    x1, y1, x2, y2 = corners
    around = [(x1, y1, 0.0), (x2, y1, 0.0), (x2, y2, 0.0), (x1, y2, 0.0)]
    return written_annotation(around, BOXES, name, probability)


def written_boxes(entries: list[dict[str, object]], single: bool = False) -> dict[str, object]:
    """Return the value of a socket."""
    return written_alone(entries[0], BOXES) if single else written_list(entries, BOXES)


def _axis_parallel(corners: tuple[Triple, ...]) -> Corners | None:
    """Return the box of four corners in any order, None if they are not those of an axis-parallel box."""
    xs, ys, zs = zip(*corners, strict=True)
    x1, x2, y1, y2 = min(xs), max(xs), min(ys), max(ys)
    if max(zs) - min(zs) > _TOLERANCE:
        return None
    for x, y in ((x1, y1), (x1, y2), (x2, y1), (x2, y2)):
        if not any(abs(found[0] - x) <= _TOLERANCE and abs(found[1] - y) <= _TOLERANCE for found in corners):
            return None
    return x1, y1, x2, y2
