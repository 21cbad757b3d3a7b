"""Measurements of boxes, points and flags of the reference: numbers, sizes and positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evaluation.core.field import Kind
from evaluation.io.kinds.boxes import Boxes, BoxList
from evaluation.io.kinds.boxes_in_space import BoxesInSpace
from evaluation.io.kinds.flags import FlagSet
from evaluation.io.kinds.keypoints import Keypoints
from evaluation.io.kinds.points import Points, PointSet
from evaluation.organiser.describe_quantities import Measurement, Quantity

_ALL = ("",)
_CORNERS = 2
"""The position of the first corner in a row of boxes, after class and confidence."""


def measured_objects(name: str, kind: Kind, value: Any, inclusive: bool) -> Iterator[Measurement]:
    """Yield the measurements of boxes, points and key points; nothing for any other value.

    The count of a class that a case lacks is None, so that the number of cases tells how many have it.
    ``inclusive``: both corners of a box belong to it.
    """
    if isinstance(value, Boxes):
        yield from _boxes(name, kind, value, inclusive)
    elif isinstance(kind, Keypoints) and isinstance(value, PointSet):
        for position, index in zip(value.positions, value.classes.tolist(), strict=True):
            for axis, coordinate in zip(kind.space.names, position.tolist(), strict=False):
                quantity = Quantity(f"{axis} of {kind.names[index]}", kind.space.unit, name)
                yield Measurement(quantity, coordinate)
    elif isinstance(value, PointSet):
        yield from _points(name, kind, value)


def flags_of(submitted: Kind | None, value: Any) -> dict[str, str] | None:
    """Return the flags of a case by name: "yes", "no", or "undecided"; None for any other value."""
    if not isinstance(submitted, FlagSet) or not isinstance(value, tuple):
        return None
    words = {True: "yes", False: "no", None: "undecided"}
    return {name: words[flag] for name, flag in zip(submitted.names, value, strict=True)}


def _boxes(name: str, kind: Kind, value: Boxes, inclusive: bool) -> Iterator[Measurement]:
    classes: Sequence[str] = ()
    unit = "pixels"
    if isinstance(kind, BoxList):
        classes = kind.classes
    elif isinstance(kind, BoxesInSpace):
        classes, unit = kind.attributes.classes, kind.space.unit
    axes = (value.rows.shape[1] - _CORNERS) // 2
    lower, upper = value.rows[:, _CORNERS : _CORNERS + axes], value.rows[:, _CORNERS + axes :]
    sides = upper - lower + (1.0 if inclusive else 0.0)
    for position, title in enumerate(classes or _ALL):
        chosen = value.rows[:, 0] == position
        yield _number(name, "boxes", title, int(np.count_nonzero(chosen)))
        content = np.prod(sides[chosen], axis=1)
        word = "area" if axes == 2 else "volume"
        measure = Quantity(_of(f"{word} of a box", title), _power(unit, axes), name, "object")
        yield Measurement(measure, tuple(content.tolist()))
        if axes == 2:
            width, height = sides[chosen & (sides[:, 1] > 0)].T
            ratio = Quantity(_of("width to height of a box", title), "", name, "object")
            yield Measurement(ratio, tuple((width / height).tolist()))
    if len(classes) > 1:
        yield _number(name, "boxes", "any class", len(value.rows))


def _points(name: str, kind: Kind, value: PointSet) -> Iterator[Measurement]:
    classes = kind.attributes.classes if isinstance(kind, Points) else ()
    unit = kind.space.unit if isinstance(kind, Points) else ""
    for position, title in enumerate(classes or _ALL):
        chosen = value.classes == position
        yield _number(name, "points", title, int(np.count_nonzero(chosen)))
        if isinstance(kind, Points) and kind.with_diameter:
            diameters = value.diameters[chosen]
            quantity = Quantity(_of("diameter of a point", title), unit, name, "object")
            yield Measurement(quantity, tuple(diameters[~np.isnan(diameters)].tolist()))
    if len(classes) > 1:
        yield _number(name, "points", "any class", len(value))


def _number(name: str, objects: str, title: str, count: int) -> Measurement:
    return Measurement(Quantity(_of(f"number of {objects}", title), "", name), float(count) or None)


def _of(what: str, title: str) -> str:
    return f"{what} of {title}" if title else what


def _power(unit: str, axes: int) -> str:
    if unit == "pixels":
        return unit
    return f"{unit}{'²' if axes == 2 else '³'}"
