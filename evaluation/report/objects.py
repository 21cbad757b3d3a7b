"""The drawing of points and boxes: where each is, in which colour, and which belong together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared.boxes import BoxMetric
from evaluation.challenges.declared.detections import Verdicts
from evaluation.challenges.declared.points import PointMetric
from evaluation.challenges.declared.rules import DeclaredOptions
from evaluation.core.challenge import Task, Values
from evaluation.core.field import Field, Kind
from evaluation.io.kinds.boxes import Boxes
from evaluation.io.kinds.boxes_in_space import BoxesInSpace
from evaluation.io.kinds.keypoints import Keypoints
from evaluation.io.kinds.points import Points, PointSet
from evaluation.io.kinds.space import Space
from evaluation.metrics.box_matching import box_iou
from evaluation.metrics.point_matching import match_pairs
from evaluation.phase.phase import Phase
from evaluation.report.box_hits import HIT
from evaluation.report.overlays import AGREEMENT, FALSE, LEFT_OUT, MISSED

Position = tuple[float, ...]
Shape = Literal["ring", "cross", "box"]


@dataclass(frozen=True)
class Drawn:
    """A point or a box: its lower and its upper corner along x, y and, with three axes, z.

    The corners of a point are equal, unless its size is known. ``wide`` lines stay visible below others in
    the same place.
    """

    shape: Shape
    lower: Position
    upper: Position
    colour: str
    label: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Objects:
    """The objects drawn for one case in one field, at least one.

    joined: pairs of positions between which a line is drawn. surroundings: show the surroundings of the
    objects rather than the whole image. in_pixels: positions are pixels of the case's image.
    """

    drawn: tuple[Drawn, ...]
    joined: tuple[tuple[Position, Position], ...] = ()
    surroundings: bool = False
    in_pixels: bool = True

    @property
    def axes(self) -> int:
        """The number of axes of the positions."""
        return len(self.drawn[0].lower)


def space_of(kind: Kind) -> Space | None:
    """Return the space of points and boxes, None for any other kind."""
    return kind.space if isinstance(kind, Points | Keypoints | BoxesInSpace) else None


def are_single(kind: Kind) -> bool:
    """Return whether values of a kind are one point or box per case."""
    return isinstance(kind, Keypoints) or (isinstance(kind, Points | BoxesInSpace) and kind.single)


def landmark_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of landmarks that are numbered in a picture; none where there is only one."""
    return kind.names if isinstance(kind, Keypoints) and len(kind.names) > 1 else ()


def objects_of(phase: Phase, task: Task, field: Field, predicted: Any, references: Values) -> Objects | None:
    """Return the drawing of a field that has positions in space; None where there is no object."""
    kind, reference = field.kind, references[field.name]
    space = space_of(kind)
    if space is None:
        raise TypeError(f"nothing is drawn of {type(kind).__name__}")
    in_pixels = space.unit == "pixels"
    if are_single(kind):
        single = _landmarks if isinstance(predicted, PointSet) else _pair_of_boxes
        return replace(single(predicted, reference), surroundings=True, in_pixels=in_pixels)
    verdicts = _verdicts(phase, task, field, predicted, references)
    sides = _boxes if isinstance(kind, BoxesInSpace) else _points
    drawn = tuple(sides(predicted, reference, verdicts))
    return Objects(drawn, in_pixels=in_pixels) if drawn else None


def matching_metric(phase: Phase, task: Task, field: Field) -> tuple[str, BoxMetric | PointMetric] | None:
    """Return the first metric of a declared task that finds hits in a field, and its name, or None."""
    if not isinstance(phase.options, DeclaredOptions) or task.name not in phase.options.tasks:
        return None
    for name, table in phase.options.tasks[task.name].metrics.items():
        of_field = table.field == field.name or (table.field is None and len(phase.options.fields) == 1)
        if of_field and isinstance(table, BoxMetric | PointMetric):
            return name, table
    return None


def _verdicts(phase: Phase, task: Task, field: Field, predicted: Any, references: Values) -> Verdicts:
    if found := matching_metric(phase, task, field):
        return found[1].verdicts(field.name, predicted, references)
    return _verdicts_by_overlap(predicted.rows, references[field.name].rows)


def _verdicts_by_overlap(found: NDArray[np.float64], true: NDArray[np.float64]) -> Verdicts:
    """Return the hits at `HIT`; each box takes the best free one of its class."""
    same = found[:, 0, None] == true[None, :, 0]
    overlap = np.where(same, box_iou(found[:, None, 2:], true[None, :, 2:], inclusive_corners=False), 0.0)
    matches = match_pairs(1 - overlap, overlap >= HIT, "by_confidence", found[:, 1])
    return Verdicts(~matches.false, matches.false, matches.hit >= 0)


def _landmarks(predicted: PointSet, reference: PointSet) -> Objects:
    """Return a ring at every reference and a cross at every prediction, joined, and numbered if several."""
    pairs = list(zip(_positions(predicted.positions), _positions(reference.positions), strict=True))
    labels = [str(number) for number in range(1, len(pairs) + 1)] if len(pairs) > 1 else [""]
    rings = (Drawn("ring", at, at, AGREEMENT, label) for (_, at), label in zip(pairs, labels, strict=True))
    crosses = (Drawn("cross", at, at, FALSE) for at, _ in pairs)
    return Objects((*rings, *crosses), tuple(pairs))


def _pair_of_boxes(predicted: Boxes, reference: Boxes) -> Objects:
    below = replace(_box(reference.rows[0, 2:].tolist(), AGREEMENT), wide=True)
    return Objects((below, _box(predicted.rows[0, 2:].tolist(), FALSE)))


def _points(predicted: PointSet, reference: PointSet, verdicts: Verdicts) -> Iterator[Drawn]:
    radii = np.nan_to_num(reference.diameters / 2)[:, None]
    lower, upper = (_positions(reference.positions + sign * radii) for sign in (-1, 1))
    for low, high, found in zip(lower, upper, verdicts.found.tolist(), strict=True):
        yield Drawn("ring", low, high, AGREEMENT if found else MISSED)
    for at, colour in zip(_positions(predicted.positions), _colours(verdicts), strict=True):
        yield Drawn("cross", at, at, colour)


def _boxes(predicted: Boxes, reference: Boxes, verdicts: Verdicts) -> Iterator[Drawn]:
    for corners, colour in zip(predicted.rows[:, 2:].tolist(), _colours(verdicts), strict=True):
        yield _box(corners, colour)
    for corners in reference.rows[~verdicts.found, 2:].tolist():
        yield _box(corners, MISSED)


def _box(corners: list[float], colour: str) -> Drawn:
    axes = len(corners) // 2
    return Drawn("box", tuple(corners[:axes]), tuple(corners[axes:]), colour)


def _colours(verdicts: Verdicts) -> list[str]:
    kinds = zip(verdicts.hit.tolist(), verdicts.false.tolist(), strict=True)
    return [AGREEMENT if hit else FALSE if false else LEFT_OUT for hit, false in kinds]


def _positions(positions: NDArray[np.float64]) -> list[Position]:
    return [tuple(position) for position in positions.tolist()]
