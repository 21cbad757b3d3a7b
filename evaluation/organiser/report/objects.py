"""Pictures of points and boxes: hits and misses, in the image, a plane, or seen along each axis."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from evaluation.challenges.declared.boxes import BoxMetric
from evaluation.challenges.declared.detections import Verdicts
from evaluation.challenges.declared.points import PointMetric
from evaluation.challenges.declared.rules import DeclaredOptions
from evaluation.core.challenge import Options, Task, Values
from evaluation.core.field import Field, Kind
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.points import Keypoints, PointInImage, Points, PointSet
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.boxes import iou_of_corners, match_boxes
from evaluation.metrics.crops import Box
from evaluation.metrics.points import match_pairs
from evaluation.organiser.report import overlays

# --- The hits among the boxes of one image at one threshold ---

HIT = 0.5
"""Least intersection over union of a hit, in figures of one threshold."""


def case_hits(predicted: Floats, reference: Floats, threshold: float, inclusive: bool) -> Bools:
    """Return which predicted boxes of one image are hits, shape (boxes,).

    predicted, reference: shape (boxes, 6), class index, confidence and corners in pixels.
    """
    called, true = (rows[:, 0].astype(np.int64) for rows in (predicted, reference))
    made = predicted[:, 2:], called, predicted[:, 1]
    matches = match_boxes(*made, reference[:, 2:], true, inclusive)
    return np.asarray((matches.claimed < threshold) & (threshold <= matches.iou))


def inclusive_corners(options: Options) -> bool:
    """Return whether both corners of a box belong to it, as the phase chose."""
    return bool(getattr(options, "inclusive_corners", False))


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
class Objects:
    """The objects drawn for one case in one field, at least one unless the whole image is shown.

    joined: pairs of positions between which a line is drawn. surroundings: show the surroundings of the
    objects rather than the whole image. in_pixels: positions are pixels of the case's image.
    """

    drawn: tuple[Drawn, ...]
    joined: tuple[tuple[Position, Position], ...] = ()
    surroundings: bool = False
    in_pixels: bool = True

    @property
    def axes(self) -> int:
        """The number of axes of the positions, 2 without any."""
        return len(self.drawn[0].lower) if self.drawn else 2


@dataclass(frozen=True)
class Location:
    """Predicted and true position (x, y) of a landmark in pixels, both visible."""

    predicted: Position
    reference: Position


def location_of(field: Field, predicted: Any, reference: Any) -> Location | None:
    """Return both positions of a landmark, None unless both are visible."""
    kind = field.kind
    if isinstance(kind, PointInImage) and kind.is_visible(predicted) and kind.is_visible(reference):
        return Location((predicted.x, predicted.y), (reference.x, reference.y))
    return None


def has_objects(kind: Kind) -> bool:
    """Return whether values of a kind are points or boxes, in an image or in space."""
    return isinstance(kind, PointInImage | BoxList | Points | Keypoints | BoxesInSpace)


Drawing = Literal["boxes", "box", "points", "objects"]
"""Boxes that hit or not; one box; landmarks; points that hit or not."""


def drawing_of(kind: Kind) -> Drawing:
    """Return the drawing of the points or boxes of a kind."""
    single = isinstance(kind, Points | BoxesInSpace) and kind.single
    if isinstance(kind, BoxList | BoxesInSpace):
        return "box" if single else "boxes"
    return "points" if single or isinstance(kind, PointInImage | Keypoints) else "objects"


def objects_of(
    options: Options, task: Task, field: Field, predicted: Any, references: Values
) -> Objects | None:
    """Return the drawing of a field of points or boxes; None without any to draw."""
    kind, reference = field.kind, references[field.name]
    if isinstance(kind, BoxList):
        return Objects(tuple(_listed_boxes(predicted, reference, inclusive_corners(options))))
    if isinstance(kind, PointInImage):
        at = location_of(field, predicted, reference)
        return None if at is None else _landmarks({0: at.predicted}, {0: at.reference})
    assert isinstance(kind, Points | Keypoints | BoxesInSpace), f"nothing is drawn of {type(kind).__name__}"
    in_pixels = kind.space.unit == "pixels"
    if (drawing := drawing_of(kind)) == "points":
        return replace(_landmarks(_by_class(predicted), _by_class(reference)), in_pixels=in_pixels)
    if drawing == "box":
        below = replace(_box(reference.rows[0, 2:].tolist(), overlays.AGREEMENT), wide=True)
        above = _box(predicted.rows[0, 2:].tolist(), overlays.FALSE)
        return Objects((below, above), surroundings=True, in_pixels=in_pixels)
    verdicts = _verdicts(options, task, field, predicted, references)
    sides = _boxes if isinstance(kind, BoxesInSpace) else _points
    drawn = tuple(sides(predicted, reference, verdicts))
    return Objects(drawn, in_pixels=in_pixels) if drawn else None


def matching_metric(options: Options, task: Task, field: Field) -> tuple[str, BoxMetric | PointMetric] | None:
    """Return the first metric of a declared task that finds hits in a field, and its name, or None."""
    if not isinstance(options, DeclaredOptions) or task.name not in options.tasks:
        return None
    for name, table in options.tasks[task.name].metrics.items():
        of_field = table.field == field.name or (table.field is None and len(options.fields) == 1)
        if of_field and isinstance(table, BoxMetric | PointMetric):
            return name, table
    return None


def _verdicts(options: Options, task: Task, field: Field, predicted: Any, references: Values) -> Verdicts:
    """Return the hits by the field's metric, else at `HIT`: each box takes the best free one of its class."""
    if known := matching_metric(options, task, field):
        return known[1].matched(field.name, predicted, references).verdicts()
    found, true = predicted.rows, references[field.name].rows
    same = found[:, 0, None] == true[None, :, 0]
    iou = iou_of_corners(found[:, None, 2:], true[None, :, 2:], inclusive_corners=False)
    overlap = np.where(same, iou, 0.0)
    matches = match_pairs(1 - overlap, overlap >= HIT, "by_confidence", found[:, 1])
    return Verdicts(~matches.false, matches.false, matches.hit >= 0)


def _by_class(points: PointSet) -> dict[int, Position]:
    return dict(zip(points.classes.tolist(), _positions(points.positions), strict=True))


def _landmarks(found: Mapping[int, Position], true: Mapping[int, Position]) -> Objects:
    """Return a ring at every reference and a cross at every prediction, joined, and numbered if several."""
    several = len({*true, *found}) > 1
    rings = (
        Drawn("ring", at, at, overlays.AGREEMENT, str(place + 1) if several else "")
        for place, at in true.items()
    )
    crosses = (Drawn("cross", at, at, overlays.FALSE) for at in found.values())
    joined = tuple((found[place], at) for place, at in true.items() if place in found)
    return Objects((*rings, *crosses), joined, surroundings=True)


def _listed_boxes(predicted: Boxes, reference: Boxes, inclusive: bool) -> Iterator[Drawn]:
    """Yield hits, false boxes and missed boxes with their colours, at the threshold of `HIT`."""
    hit = case_hits(predicted.rows, reference.rows, HIT, inclusive)
    iou = iou_of_corners(predicted.rows[hit, None, 2:], reference.rows[None, :, 2:], inclusive)
    same = predicted.rows[hit, None, 0] == reference.rows[None, :, 0]
    missed = np.ones(len(reference.rows), dtype=np.bool_)
    if iou.size:
        missed[np.argmax(np.where(same, iou, -1), axis=1)] = False
    sides = (
        (predicted.rows[hit], overlays.AGREEMENT),
        (predicted.rows[~hit], overlays.FALSE),
        (reference.rows[missed], overlays.MISSED),
    )
    for rows, colour in sides:
        for corners in rows[:, 2:].tolist():
            yield _box(corners, colour)


def _points(predicted: PointSet, reference: PointSet, verdicts: Verdicts) -> Iterator[Drawn]:
    radii = np.nan_to_num(reference.diameters / 2)[:, None]
    lower, upper = (_positions(reference.positions + sign * radii) for sign in (-1, 1))
    for low, high, found in zip(lower, upper, verdicts.found.tolist(), strict=True):
        yield Drawn("ring", low, high, overlays.AGREEMENT if found else overlays.MISSED)
    for at, colour in zip(_positions(predicted.positions), _colours(verdicts), strict=True):
        yield Drawn("cross", at, at, colour)


def _boxes(predicted: Boxes, reference: Boxes, verdicts: Verdicts) -> Iterator[Drawn]:
    for corners, colour in zip(predicted.rows[:, 2:].tolist(), _colours(verdicts), strict=True):
        yield _box(corners, colour)
    for corners in reference.rows[~verdicts.found, 2:].tolist():
        yield _box(corners, overlays.MISSED)


def _box(corners: list[float], colour: str) -> Drawn:
    axes = len(corners) // 2
    return Drawn("box", tuple(corners[:axes]), tuple(corners[axes:]), colour)


def _colours(verdicts: Verdicts) -> list[str]:
    kinds = zip(verdicts.hit.tolist(), verdicts.false.tolist(), strict=True)
    return [
        overlays.AGREEMENT if hit else overlays.FALSE if false else overlays.LEFT_OUT for hit, false in kinds
    ]


def _positions(positions: NDArray[np.float64]) -> list[Position]:
    return [tuple(position) for position in positions.tolist()]


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

    @property
    def upwards(self) -> bool:
        """Whether the second axis points up: z does, and y points down as in an image."""
        return self.axes[1] == 2

    def place(self, position: Position, scale: float) -> tuple[float, float]:
        """Return a position's coordinates in a picture."""
        x, y = (position[axis] for axis in self.axes)
        down = self.bottom - y if self.upwards else y - self.top
        return (x - self.left) * scale, down * scale


def object_panels(found: Objects, size: tuple[int, int], photograph: overlays.Colours | None) -> Image.Image:
    """Return one panel, or with three axes three panels side by side.

    size: height and width of the case's image in pixels, 0 where they are not known. photograph: None, or
    colours of shape (height, width, 3).
    """
    if found.axes == 3:
        return overlays.beside([_on_nothing(found, axes) for axes in _VIEWS])
    if not (found.in_pixels and all(size)):
        return _on_nothing(found, (0, 1))
    window = _window(found, size)
    view = _View((0, 1), window.left, window.right, window.top, window.bottom)
    return _drawn(found, view, overlays.fitted(overlays.ground(window, photograph)))


def _window(found: Objects, size: tuple[int, int]) -> Box:
    """Return the part of an image that is shown, in whole pixels."""
    height, width = size
    whole = Box(0, height, 0, width)
    if not found.surroundings:
        return whole
    reach = _SURROUNDINGS * max(size)
    (left, right), (top, bottom) = _ends(found, 0), _ends(found, 1)
    part = Box(int(top - reach), int(bottom + reach) + 1, int(left - reach), int(right + reach) + 1)
    return part.intersection(whole)


def _ends(found: Objects, axis: int) -> tuple[float, float]:
    return min(one.lower[axis] for one in found.drawn), max(one.upper[axis] for one in found.drawn)


def _on_nothing(found: Objects, axes: tuple[int, int]) -> Image.Image:
    """Return the objects in a square of a plane without an image, with a margin, of one size in all views."""
    ends = [_ends(found, axis) for axis in range(found.axes)]
    half = (0.5 + _MARGIN) * max(_SMALLEST, *(high - low for low, high in ends))
    (x, y) = ((ends[axis][0] + ends[axis][1]) / 2 for axis in axes)
    ground = Image.new("RGB", (overlays.PANEL, overlays.PANEL), overlays.BACKGROUND)
    return _drawn(found, _View(axes, x - half, x + half, y - half, y + half), ground)


def _drawn(found: Objects, view: _View, picture: Image.Image) -> Image.Image:
    """Return a picture of a view with the objects in it."""
    scale = picture.width / (view.right - view.left)
    draw = ImageDraw.Draw(picture)
    for ends in found.joined:
        draw.line([view.place(end, scale) for end in ends], fill="#ffffff", width=1)
    for one in found.drawn:
        _draw(draw, one, *_corners(one, view, scale))
    return picture


def _corners(one: Drawn, view: _View, scale: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the corners of an object in a picture, at the upper left and at the lower right."""
    ends = [view.place(end, scale) for end in (one.lower, one.upper)]
    (left, right), (top, bottom) = (sorted(along) for along in zip(*ends, strict=True))
    if one.shape == "box":
        return (left, top), (right, bottom)
    x, y = (left + right) / 2, (top + bottom) / 2
    wide, high = (max(_MARK, (end - start) / 2) for start, end in ((left, right), (top, bottom)))
    return (x - wide, y - high), (x + wide, y + high)


def _draw(
    draw: ImageDraw.ImageDraw, one: Drawn, first: tuple[float, float], last: tuple[float, float]
) -> None:
    width = _WIDE if one.wide else _LINE
    if one.shape == "box":
        draw.rectangle((first, last), outline=one.colour, width=width)
    elif one.shape == "ring":
        draw.ellipse((first, last), outline=one.colour, width=width)
    else:
        draw.line((first, last), fill=one.colour, width=width)
        draw.line((first[0], last[1], last[0], first[1]), fill=one.colour, width=width)
    if one.label:
        at, size = (last[0] + 2, first[1] - _LABEL_SIZE / 2), _LABEL_SIZE
        draw.text(at, one.label, fill="#ffffff", stroke_width=1, stroke_fill="#000000", font_size=size)
