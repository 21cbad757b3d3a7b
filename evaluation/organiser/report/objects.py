"""Pictures of points, boxes and instances: hits and misses, in the image, a plane, or along each axis."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from PIL import Image, ImageDraw

from evaluation.challenges.declared.detections import ObjectMetric, Verdicts
from evaluation.challenges.declared.lesions import LesionTable
from evaluation.challenges.declared.rules import field_tables, metric_tables
from evaluation.challenges.declared.tables import MetricTable
from evaluation.core import views
from evaluation.core.challenge import Options, Task, Values
from evaluation.core.field import Field
from evaluation.metrics.arrays import Floats
from evaluation.metrics.boxes import iou_of_corners, match_boxes
from evaluation.metrics.crops import EMPTY, Box, Crop, around
from evaluation.metrics.matching import overlaps_of
from evaluation.metrics.segmentation import edge
from evaluation.organiser.report import overlays

HIT = 0.5
"""Least intersection over union of a hit, in figures of one threshold."""

# --- The drawing of points and boxes: where each is, in which colour, and which belong together ---

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
class DrawnObjects:
    """The objects drawn for one case in one field, at least one unless the whole image is shown.

    joined: pairs of positions between which a line is drawn. surroundings: show the surroundings of the
    objects rather than the whole image. in_pixels: positions are pixels of the case's image. numbered: the
    meanings of the numbers in the picture, from 1 on.
    """

    drawn: tuple[Drawn, ...]
    joined: tuple[tuple[Position, Position], ...] = ()
    surroundings: bool = False
    in_pixels: bool = True
    numbered: tuple[str, ...] = ()
    kind: "Drawing" = "points"

    @property
    def axes(self) -> int:
        """The number of axes of the positions, 2 without any."""
        return len(self.drawn[0].lower) if self.drawn else 2


@dataclass(frozen=True)
class Location:
    """Predicted and true position (x, y) of a landmark in pixels, both visible."""

    predicted: Position
    reference: Position


def objects_in(field: Field) -> views.Objects | None:
    """Return the points or boxes of a field, None where prediction and reference have not both any."""
    return field.kind.objects if field.reference.kind.objects else None


def _rows_of(field: Field, predicted: Any, reference: Any) -> tuple[Floats, Floats]:
    own, true = field.kind.objects, field.reference.kind.objects
    if not (own and true):
        raise TypeError(f"nothing is drawn of {type(field.kind).__name__}")
    return own.of(predicted), true.of(reference)


def location_of(field: Field, predicted: Any, reference: Any) -> Location | None:
    """Return both positions of a landmark in an image, None unless both are visible."""
    view = objects_in(field)
    if not view or (view.form, view.axes, view.unit) != ("point", 2, "pixels") or view.classes:
        return None
    found, true = _rows_of(field, predicted, reference)
    if view.number == "any" or not (len(found) and len(true)):
        return None
    return Location(*(tuple(rows[0, 2:4].tolist()) for rows in (found, true)))


Drawing = Literal["boxes", "box", "points", "objects"]
"""Boxes that hit or not; one box; landmarks; points that hit or not."""


def objects_of(
    options: Options, task: Task, field: Field, predicted: Any, references: Values
) -> DrawnObjects | None:
    """Return the drawing of a field with `objects_in`; None without any to draw.

    Hits are those of the field's metric; without such a metric, boxes hit at `HIT`, and of points none is
    known to hit.
    """
    view = field.kind.objects
    found, true = _rows_of(field, predicted, references[field.name])
    assert view is not None
    in_pixels, several = view.unit == "pixels", view.number == "any"
    known = matching_metric(options, task, field) if several else None
    if view.form == "point" and not known:
        named = view.classes if view.number in ("each", "some") and len(view.classes) > 1 else ()
        drawn, joined = _landmarks(found, true, bool(named), joined=not several)
        return DrawnObjects(drawn, joined, not several, in_pixels, named) if drawn else None
    if not several:
        (below,) = _drawn_as("box", true, [overlays.AGREEMENT])
        both = replace(below, wide=True), *_drawn_as("box", found, [overlays.FALSE])
        return DrawnObjects(both, surroundings=True, in_pixels=in_pixels, kind="box")
    verdicts = _overlapping(view, found, true)
    if known:
        verdicts = known[1].matched(field.name, predicted, references).verdicts()
    if view.form == "point":
        colours = [overlays.AGREEMENT if one else overlays.MISSED for one in verdicts.found]
        rings = _drawn_as("ring", true, colours)
        points = *rings, *_drawn_as("cross", _middles(found), _colours(verdicts))
        return DrawnObjects(points, in_pixels=in_pixels, kind="objects") if points else None
    missed = true[~verdicts.found]
    boxes = (
        *_drawn_as("box", found, _colours(verdicts)),
        *_drawn_as("box", missed, [overlays.MISSED] * len(missed)),
    )
    is_shown = boxes or (in_pixels and view.axes == 2)
    return DrawnObjects(boxes, in_pixels=in_pixels, kind="boxes") if is_shown else None


def matching_metric(options: Options, task: Task, field: Field) -> tuple[str, ObjectMetric] | None:
    """Return the first metric of a declared task that finds hits in a field, and its name, or None."""
    known = _tables(options, task, field)
    return next(((name, table) for name, table in known if isinstance(table, ObjectMetric)), None)


def metric_of_instances(options: Options, task: Task, field: Field) -> tuple[str, LesionTable] | None:
    """Return the first metric of a declared task that matches the instances of a field one to one."""
    for name, table in _tables(options, task, field):
        if isinstance(table, LesionTable) and table.matching != "any":
            return name, table
    return None


def _tables(options: Options, task: Task, field: Field) -> Iterator[tuple[str, MetricTable]]:
    """Yield the metrics of a field in a declared task, with their names."""
    is_only = len(field_tables(options)) == 1
    for name, table in metric_tables(options, task.name).items():
        if table.field == field.name or (table.field is None and is_only):
            yield name, table


def _overlapping(view: views.Objects, predicted: Floats, reference: Floats) -> Verdicts:
    """Return the hits at `HIT` among the boxes of one image."""
    boxes, classes = predicted[:, 2:], [rows[:, 0].astype(np.int64) for rows in (predicted, reference)]
    found = match_boxes(boxes, classes[0], predicted[:, 1], reference[:, 2:], classes[1], view.inclusive)
    hit = np.asarray((found.claimed < HIT) & (found.iou >= HIT))
    iou = iou_of_corners(predicted[hit, None, 2:], reference[None, :, 2:], view.inclusive)
    same = predicted[hit, None, 0] == reference[None, :, 0]
    is_found = np.zeros(len(reference), dtype=np.bool_)
    if iou.size:
        is_found[np.argmax(np.where(same, iou, -1), axis=1)] = True
    return Verdicts(hit, ~hit, is_found)


def _landmarks(
    found: Floats, true: Floats, numbered: bool, joined: bool
) -> tuple[tuple[Drawn, ...], tuple[tuple[Position, Position], ...]]:
    """Return a ring at every reference and a cross at every prediction, and the positions to join."""
    crosses = _drawn_as("cross", _middles(found), [overlays.FALSE] * len(found))
    rings = _drawn_as("ring", _middles(true), [overlays.AGREEMENT] * len(true))
    classes = [rows[:, 0].astype(int).tolist() for rows in (found, true)]
    predicted = {place: one.lower for place, one in zip(classes[0], crosses, strict=True)}
    pairs = [(predicted.get(place), one.lower) for place, one in zip(classes[1], rings, strict=True)]
    if numbered:
        rings = [replace(one, label=str(place + 1)) for place, one in zip(classes[1], rings, strict=True)]
    joins = tuple((start, end) for start, end in pairs if joined and start)
    return (*rings, *crosses), joins


def _middles(rows: Floats) -> Floats:
    """Return rows of points without their size."""
    middle = np.mean(np.split(rows[:, 2:], 2, axis=1), axis=0)
    return np.hstack([rows[:, :2], middle, middle])


def _drawn_as(shape: Shape, rows: Floats, colours: Iterable[str]) -> list[Drawn]:
    """Return the objects of rows, each in its colour."""
    axes = rows.shape[1] // 2 - 1
    corners = ((tuple(row[2 : 2 + axes]), tuple(row[2 + axes :])) for row in rows.tolist())
    return [Drawn(shape, *ends, colour) for ends, colour in zip(corners, colours, strict=True)]


def _colours(verdicts: Verdicts) -> list[str]:
    kinds = zip(verdicts.hit.tolist(), verdicts.false.tolist(), strict=True)
    return [
        overlays.AGREEMENT if hit else overlays.FALSE if false else overlays.LEFT_OUT for hit, false in kinds
    ]


# --- Pictures of points and boxes: in the image, in a plane, or along each of three axes ---

_MARK = 7
"""Half of the width of the mark of a point, in pixels of the picture."""
_LINE, _WIDE = 3, 7
_LABEL_SIZE = 15
_MARGIN = 0.15
_SURROUNDINGS = 0.08
_SMALLEST = 1.0
_VIEWS = ((0, 1), (0, 2), (1, 2))
"""Axes to the right and down (y) or up (z) of each panel of three axes."""
VIEW_NAMES = ("seen along z", "seen along y", "seen along x")


@dataclass(frozen=True)
class _View:
    """A rectangle of a plane: its ends along the axes to the right and down, and which axes these are."""

    axes: tuple[int, int]
    left: float
    right: float
    top: float
    bottom: float

    def place(self, position: Position, scale: float) -> tuple[float, float]:
        """Return a position's coordinates in a picture; z points up, and y points down as in an image."""
        x, y = (position[axis] for axis in self.axes)
        down = self.bottom - y if self.axes[1] == 2 else y - self.top
        return (x - self.left) * scale, down * scale


def object_panels(
    found: DrawnObjects, size: tuple[int, int], photograph: overlays.Colours | None
) -> Image.Image:
    """Return one panel, or with three axes three panels side by side.

    size: height and width of the case's image in pixels, 0 where they are not known. photograph: None, or
    colours of shape (height, width, 3).
    """
    if found.axes == 3:
        return overlays.beside([_on_nothing(found, axes) for axes in _VIEWS])
    if not (found.in_pixels and all(size)):
        return _on_nothing(found, (0, 1))
    window = _window(found, size)
    (top, left), (bottom, right) = window.corner, window.end
    view = _View((0, 1), left, right, top, bottom)
    return _drawn(found, view, overlays.fitted(overlays.ground(window, photograph)))


def _window(found: DrawnObjects, size: tuple[int, int]) -> Box:
    """Return the part of an image that is shown, in whole pixels."""
    whole = Box.whole(size)
    if not found.surroundings:
        return whole
    reach = _SURROUNDINGS * max(size)
    (left, right), (top, bottom) = _ends(found, 0), _ends(found, 1)
    end = int(bottom + reach) + 1, int(right + reach) + 1
    return Box((int(top - reach), int(left - reach)), end).intersection(whole)


def _ends(found: DrawnObjects, axis: int) -> tuple[float, float]:
    return min(one.lower[axis] for one in found.drawn), max(one.upper[axis] for one in found.drawn)


def _on_nothing(found: DrawnObjects, axes: tuple[int, int]) -> Image.Image:
    """Return the objects in a square of a plane without an image, with a margin, of one size in all views."""
    ends = [_ends(found, axis) for axis in range(found.axes)]
    half = (0.5 + _MARGIN) * max(_SMALLEST, *(high - low for low, high in ends))
    (x, y) = ((ends[axis][0] + ends[axis][1]) / 2 for axis in axes)
    ground = Image.new("RGB", (overlays.PANEL, overlays.PANEL), overlays.BACKGROUND)
    return _drawn(found, _View(axes, x - half, x + half, y - half, y + half), ground)


def _drawn(found: DrawnObjects, view: _View, picture: Image.Image) -> Image.Image:
    """Return a picture of a view with the objects in it."""
    scale = picture.width / (view.right - view.left)
    draw = ImageDraw.Draw(picture)
    for ends in found.joined:
        draw.line([view.place(end, scale) for end in ends], fill="#ffffff", width=1)
    for one in found.drawn:
        _draw(draw, one, [view.place(end, scale) for end in (one.lower, one.upper)])
    return picture


def _draw(draw: ImageDraw.ImageDraw, one: Drawn, ends: list[tuple[float, float]]) -> None:
    """Draw an object between its ends in a picture, a point at least as large as its mark."""
    (left, right), (top, bottom) = (sorted(along) for along in zip(*ends, strict=True))
    width = _WIDE if one.wide else _LINE
    if one.shape == "box":
        draw.rectangle((left, top, right, bottom), outline=one.colour, width=width)
        return
    x, y = (left + right) / 2, (top + bottom) / 2
    wide, high = (max(_MARK, (end - start) / 2) for start, end in ((left, right), (top, bottom)))
    first, last = (x - wide, y - high), (x + wide, y + high)
    if one.shape == "ring":
        draw.ellipse((first, last), outline=one.colour, width=width)
    else:
        draw.line((first, last), fill=one.colour, width=width)
        draw.line((first[0], last[1], last[0], first[1]), fill=one.colour, width=width)
    if one.label:
        at, size = (last[0] + 2, first[1] - _LABEL_SIZE / 2), _LABEL_SIZE
        draw.text(at, one.label, fill="#ffffff", stroke_width=1, stroke_fill="#000000", font_size=size)


# --- Pictures of instances: those that match, missed and false ones, by the metric that matches them ---


def instance_panel(
    table: LesionTable,
    field: Field,
    predicted: Any,
    reference: Any,
    size: tuple[int, int],
    photograph: overlays.Colours | None,
) -> Image.Image | None:
    """Return the plane with most voxels of instances that do not match, else of the reference.

    Instances of one class match by the rule of the metric. None for a field whose kind numbers none. size,
    photograph: as for `object_panels`.
    """
    own, true = field.kind.objects, field.reference.kind.objects
    if not (own and true and own.numbered and true.numbered):
        return None
    maps = own.numbered(predicted), true.numbered(reference)
    box = around(*maps)
    made, given = (one.within(box) for one in maps)
    classes = own.of(predicted)[:, 0], true.of(reference)[:, 0]
    pairs = overlaps_of(made, given, *map(len, classes))
    same = classes[0][pairs.pair_prediction] == classes[1][pairs.pair_reference]
    matched = pairs.take(same).matched(table.threshold, table.strict, table.matching, table.agreement)
    hit, found = (np.zeros(len(of) + 1, np.bool_) for of in classes)
    hit[matched.pair_prediction + 1], found[matched.pair_reference + 1] = True, True
    wrong = ((made > 0) & ~hit[made]) | ((given > 0) & ~found[given])
    counted = wrong if wrong.any() else given > 0
    plane = int(np.argmax(counted.sum(axis=(1, 2)))) if counted.size else 0
    content, sides = Box(box.corner[1:], box.end[1:]), size if all(size) else box.end[1:]
    window = overlays.window_of(content, sides)
    crops = (Crop(one[plane] if one.size else EMPTY.values, content.corner) for one in (made, given))
    predicted, reference = (crop.within(window) for crop in crops)
    is_hit, is_found = hit[predicted], found[reference]
    edges = edge(predicted), edge(reference)
    kinds = (
        (overlays.AGREEMENT, is_hit | is_found, (is_hit & edges[0]) | (is_found & edges[1])),
        (overlays.MISSED, (reference > 0) & ~is_found, edges[1] & ~is_found),
        (overlays.FALSE, (predicted > 0) & ~is_hit, edges[0] & ~is_hit),
    )
    return overlays.fitted(overlays.painted_over(overlays.ground(window, photograph), kinds))
