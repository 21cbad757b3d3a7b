"""The picture of one case in one task: its masks, its volume, its boxes or its points."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from PIL import Image

from evaluation.core.challenge import Task, Values
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes import Boxes, BoxList
from evaluation.io.kinds.boxes_in_space import BoxesInSpace
from evaluation.io.kinds.point import Point, PointInImage
from evaluation.metrics.box_matching import box_iou
from evaluation.metrics.overlap import overlap_of
from evaluation.phase.phase import Phase
from evaluation.report.box_hits import HIT, case_hits, inclusive_corners
from evaluation.report.object_panels import VIEW_NAMES, object_panels
from evaluation.report.objects import Drawn, Objects, are_single, landmark_names, objects_of, space_of
from evaluation.report.overlays import (
    AGREEMENT,
    FALSE,
    MISSED,
    Colours,
    Greys,
    fitted,
    region_panels,
    solid_panels,
)
from evaluation.report.photographs import Shape
from evaluation.report.regions import Region, has_regions, has_solids, regions, solids

PictureKind = Literal["regions", "boxes", "box", "points", "objects", "photograph"]
"""Masks or volumes; boxes that hit or not; one box; landmarks; points that hit or not; the image alone."""

_KINDS_OF_BOXES: tuple[PictureKind, PictureKind] = ("box", "boxes")
_KINDS_OF_POINTS: tuple[PictureKind, PictureKind] = ("points", "objects")
_MOST_PANELS = 3
_PLANES = ("plane of a scan", "plane across y", "plane across x")


@dataclass(frozen=True)
class Location:
    """Predicted and true position (x, y) of a landmark in pixels, both visible."""

    predicted: tuple[float, float]
    reference: tuple[float, float]


@dataclass(frozen=True)
class CaseImage:
    """A picture of a case in a task: caption, data URI, and its panels from left to right.

    ``numbered``: the meanings of the numbers in the picture, from 1 on.
    """

    kind: PictureKind
    source: str
    panels: tuple[str, ...] = ()
    numbered: tuple[str, ...] = ()


def picture_of(
    phase: Phase,
    task: Task,
    case: CaseForm,
    submitted: Values,
    references: Values,
    photograph: Colours | None,
    volume: Callable[[Shape], Greys | None] = lambda shape: None,
) -> CaseImage | None:
    """Return the picture of a case in a task: its first volume, boxes, points, or all of its masks.

    If a task's values cannot be drawn, it is the photograph. ``submitted``: the submitted values of the case
    that have a reference. ``volume`` returns the original image, of shape (z, y, x), of a value with three
    axes.
    """
    size, lossy = (case.height, case.width), photograph is not None
    if photograph is not None and not any(is_shown(field) for field in task.fields):
        return CaseImage("photograph", _encoded(fitted(photograph), lossy))
    found: list[Region] = []
    for field in task.fields_for(case):
        if field.name not in submitted:
            continue
        predicted, reference = submitted[field.name], references[field.name]
        if has_solids(field.kind):
            return _picture_of_volume(field, case, predicted, reference, volume)
        if has_regions(field.kind):
            found += regions(field, predicted, reference)
        elif space_of(field.kind) is not None:
            if objects := objects_of(phase, task, field, predicted, references):
                return _picture_of_objects(field, objects, size, photograph)
        elif isinstance(field.kind, BoxList):
            inclusive = inclusive_corners(phase)
            boxes = Objects(tuple(_boxes(predicted, reference, inclusive)))
            return CaseImage("boxes", _encoded(object_panels(boxes, size, photograph), lossy))
        elif isinstance(predicted, Point) and (location := location_of(field, predicted, reference)):
            return _picture_of_point(location, size, photograph)
    there = [region for region in found if region.predicted.values.any() or region.reference.values.any()]
    most = sorted(there, key=_difference, reverse=True)[:_MOST_PANELS]
    shown = [region for region in there if any(region is one for one in most)]
    if not shown:
        return None
    panels = _encoded(region_panels(shown, size, photograph), lossy)
    return CaseImage("regions", panels, tuple(region.structure for region in shown))


def is_shown(field: Field) -> bool:
    """Return whether values of a field can be drawn."""
    kind = field.kind
    if has_regions(kind) or has_solids(kind) or isinstance(kind, BoxList | PointInImage):
        return True
    return space_of(kind) is not None


def location_of(field: Field, predicted: Point, reference: Point) -> Location | None:
    """Return both positions of a landmark, None unless both are visible."""
    kind = field.kind
    if isinstance(kind, PointInImage) and kind.is_visible(predicted) and kind.is_visible(reference):
        return Location((predicted.x, predicted.y), (reference.x, reference.y))
    return None


def _picture_of_volume(
    field: Field,
    case: CaseForm,
    predicted: Any,
    reference: Any,
    volume: Callable[[Shape], Greys | None],
) -> CaseImage:
    one = max(
        solids(field, case, predicted, reference),
        key=lambda solid: int(np.count_nonzero(solid.predicted != solid.reference)),
    )
    planes = tuple(f"{one.structure}, {plane}" for plane in _PLANES)
    depth, height, width = one.predicted.shape
    original = volume((depth, height, width))
    return CaseImage("regions", _encoded(solid_panels(one, original), original is not None), planes)


def _picture_of_point(location: Location, size: tuple[int, int], photograph: Colours | None) -> CaseImage:
    ring = Drawn("ring", location.reference, location.reference, AGREEMENT)
    cross = Drawn("cross", location.predicted, location.predicted, FALSE)
    joined = ((location.predicted, location.reference),)
    found = Objects((ring, cross), joined, surroundings=True)
    return CaseImage("points", _encoded(object_panels(found, size, photograph), photograph is not None))


def _picture_of_objects(
    field: Field, found: Objects, size: tuple[int, int], photograph: Colours | None
) -> CaseImage:
    lossy = photograph is not None and found.axes == 2 and found.in_pixels
    boxes = isinstance(field.kind, BoxesInSpace)
    single, several = _KINDS_OF_BOXES if boxes else _KINDS_OF_POINTS
    kind = single if are_single(field.kind) else several
    panels = VIEW_NAMES if found.axes == 3 else ()
    picture = _encoded(object_panels(found, size, photograph), lossy)
    return CaseImage(kind, picture, panels, landmark_names(field.kind))


def _boxes(predicted: Boxes, reference: Boxes, inclusive: bool) -> Iterator[Drawn]:
    """Yield hits, false boxes and missed boxes with their colours, at the threshold of `HIT`."""
    hit = case_hits(predicted.rows, reference.rows, HIT, inclusive).hit
    iou = box_iou(predicted.rows[hit, None, 2:], reference.rows[None, :, 2:], inclusive)
    same = predicted.rows[hit, None, 0] == reference.rows[None, :, 0]
    missed = np.ones(len(reference.rows), dtype=np.bool_)
    if iou.size:
        missed[np.argmax(np.where(same, iou, -1), axis=1)] = False
    sides = (
        (predicted.rows[hit], AGREEMENT),
        (predicted.rows[~hit], FALSE),
        (reference.rows[missed], MISSED),
    )
    for rows, colour in sides:
        for x1, y1, x2, y2 in rows[:, 2:].tolist():
            yield Drawn("box", (x1, y1), (x2, y2), colour)


def _difference(region: Region) -> int:
    """Return the number of pixels in which prediction and reference differ."""
    counts = overlap_of(region.predicted, region.reference)
    return counts.prediction + counts.reference - 2 * counts.intersection


def _encoded(picture: Image.Image, lossy: bool) -> str:
    """Return a picture as a data URI: a photograph as JPEG, any other as PNG of few colours."""
    buffer = io.BytesIO()
    if lossy:
        picture.save(buffer, "JPEG", quality=85)
    else:
        picture.quantize(64, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f"data:image/{'jpeg' if lossy else 'png'};base64,{data}"
