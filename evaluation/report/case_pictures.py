"""The picture of one case in one task: its masks, its volume, its boxes or its point."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from PIL import Image

from evaluation.core.challenge import Task
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes import Boxes, BoxList
from evaluation.io.kinds.point import Point, PointInImage
from evaluation.metrics.box_matching import box_iou
from evaluation.metrics.overlap import overlap_of
from evaluation.report.detection import HIT, case_hits
from evaluation.report.overlays import (
    AGREEMENT,
    FALSE,
    MISSED,
    Colours,
    Corners,
    box_panel,
    point_panel,
    region_panels,
    solid_panels,
)
from evaluation.report.regions import Region, has_regions, has_solids, regions, solids

Pairs = Mapping[str, tuple[Any, Any]]
"""Predicted and reference values by field."""

_MOST_PANELS = 3
_PLANES = ("plane of a scan", "plane across y", "plane across x")


@dataclass(frozen=True)
class Location:
    """Predicted and true position (x, y) of a landmark in pixels; only where both are visible."""

    predicted: tuple[float, float]
    reference: tuple[float, float]


@dataclass(frozen=True)
class CaseImage:
    """A picture of a case in a task: what it shows, a data URI, and its panels from left to right."""

    kind: Literal["regions", "boxes", "points"]
    source: str
    panels: tuple[str, ...] = ()


def picture_of(
    task: Task, case: CaseForm, pairs: Pairs, photograph: Colours | None, inclusive: bool
) -> CaseImage | None:
    """Return the picture of a case in a task: its first volume, boxes, point, or all of its masks."""
    size, lossy = (case.height, case.width), photograph is not None
    found: list[Region] = []
    for field in task.fields_for(case):
        if field.name not in pairs:
            continue
        predicted, reference = pairs[field.name]
        if has_solids(field.kind):
            one = max(
                solids(field, case, predicted, reference),
                key=lambda solid: int(np.count_nonzero(solid.predicted != solid.reference)),
            )
            planes = tuple(f"{one.structure}, {plane}" for plane in _PLANES)
            return CaseImage("regions", _encoded(solid_panels(one), lossy=False), planes)
        if isinstance(field.kind, BoxList):
            boxes = _corners(predicted, reference, inclusive)
            return CaseImage("boxes", _encoded(box_panel(boxes, size, photograph), lossy))
        if isinstance(predicted, Point):
            if location := location_of(field, predicted, reference):
                ends = (location.predicted, location.reference)
                return CaseImage("points", _encoded(point_panel(*ends, size, photograph), lossy))
        elif has_regions(field.kind):
            found += regions(field, predicted, reference)
    there = [region for region in found if region.predicted.values.any() or region.reference.values.any()]
    most = sorted(there, key=_difference, reverse=True)[:_MOST_PANELS]
    shown = [region for region in there if any(region is one for one in most)]
    if not shown:
        return None
    panels = _encoded(region_panels(shown, size, photograph), lossy)
    return CaseImage("regions", panels, tuple(region.structure for region in shown))


def location_of(field: Field, predicted: Point, reference: Point) -> Location | None:
    """Return both positions of a landmark, None unless both are visible."""
    kind = field.kind
    if isinstance(kind, PointInImage) and kind.is_visible(predicted) and kind.is_visible(reference):
        return Location((predicted.x, predicted.y), (reference.x, reference.y))
    return None


def _corners(predicted: Boxes, reference: Boxes, inclusive: bool) -> list[Corners]:
    """Return hits, false boxes and missed boxes with their colours, at the threshold of `HIT`."""
    hit = case_hits(predicted.rows, reference.rows, HIT, inclusive).hit
    iou = box_iou(predicted.rows[hit, None, 2:], reference.rows[None, :, 2:], inclusive)
    same = predicted.rows[hit, None, 0] == reference.rows[None, :, 0]
    missed = np.ones(len(reference.rows), dtype=np.bool_)
    if iou.size:
        missed[np.argmax(np.where(same, iou, -1), axis=1)] = False
    return [
        *(Corners(x1, y1, x2, y2, AGREEMENT) for x1, y1, x2, y2 in predicted.rows[hit, 2:].tolist()),
        *(Corners(x1, y1, x2, y2, FALSE) for x1, y1, x2, y2 in predicted.rows[~hit, 2:].tolist()),
        *(Corners(x1, y1, x2, y2, MISSED) for x1, y1, x2, y2 in reference.rows[missed, 2:].tolist()),
    ]


def _difference(region: Region) -> int:
    """Return by how many pixels prediction and reference differ."""
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
