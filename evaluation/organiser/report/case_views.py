"""Views of all cases for the viewer of a page: an image and layers over it, all planes in one file."""

import base64
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.core.challenge import Options, Task, Values
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.metrics.segmentation import edge
from evaluation.organiser.report import overlays

_MOST_PLANES = 24
_SIDE_OF_PLANE, _SIDE_OF_IMAGE = 256, 768
_QUALITY = 50


@dataclass(frozen=True)
class OpenCase:
    """A case with its cells of `cases.csv` by column, and its submitted values and references by field.

    ``submitted`` lacks fields that were not submitted or have no reference.
    """

    form: CaseForm
    cells: Mapping[str, str]
    submitted: Values
    references: Values
    options: Options

    def values(self, task: Task) -> Iterator[tuple[Field, Any, Any]]:
        """Yield each field of a task with its submitted value and its reference."""
        for field in task.fields_for(self.form):
            if field.name in self.submitted:
                yield field, self.submitted[field.name], self.references[field.name]


@dataclass(frozen=True)
class CaseView:
    """The files of a case in a task, each a grid of planes in ``columns``.

    ``image`` is a JPEG or None; ``areas`` and ``outlines`` are PNG with transparent ground, or None for a
    picture that is drawn already. ``planes`` are the positions in the volume, of ``of_planes``. ``size``:
    height and width of a plane in pixels; ``aspect``: the height of a pixel over its width. ``structures``:
    the names of the classes that are there in prediction or reference.
    """

    image: bytes | None
    areas: bytes | None
    outlines: bytes | None
    planes: tuple[int, ...]
    of_planes: int
    size: tuple[int, int]
    aspect: float = 1.0
    structures: tuple[str, ...] = ()

    @property
    def columns(self) -> int:
        """The number of planes side by side in a file."""
        return math.ceil(math.sqrt(len(self.planes)))


def drawn_view(source: str) -> CaseView:
    """Return the view of a picture that is drawn already, a data URI."""
    data = base64.b64decode(source.partition(",")[2])
    with Image.open(io.BytesIO(data)) as picture:
        return CaseView(data, None, None, (0,), 1, (picture.height, picture.width))


def view_of(
    task: Task,
    opened: OpenCase,
    photograph: overlays.Colours | None,
    volume: Callable[[tuple[int, int, int]], overlays.Greys | None],
) -> CaseView | None:
    """Return the view of the first volume of a task, else of all of its masks; None where it has neither.

    The planes of a volume are chosen by its reference alone, so that all teams show the same.
    """
    masks: list[overlays.ComparedStructure] = []
    for field, *values in opened.values(task):
        found = list(overlays.structures(field, opened.form, *values))
        regions = overlays.regions_in(field)
        if regions and regions.dimensions == 3:
            planes, original = _chosen_planes(found), volume(found[0].shape)
            return _view(found, None if original is None else original[planes], _SIDE_OF_PLANE, planes)
        masks += found
    if not masks:
        return None
    return _view(masks, None if photograph is None else photograph[None], _SIDE_OF_IMAGE, [0])


def _chosen_planes(found: Sequence[overlays.ComparedStructure]) -> list[int]:
    """Return at most 24 planes, evenly over those with a reference and a tenth more at both ends."""
    references = [one.reference for one in found]
    held = [one.corner[0] + np.flatnonzero(one.values.any(axis=(1, 2))) for one in references]
    last = found[0].shape[0] - 1
    places = np.concatenate(held)
    first, end = (int(places.min()), int(places.max())) if places.size else (0, last)
    margin = 1 + (end - first) // 10
    span = max(0, first - margin), min(last, end + margin)
    evenly = np.linspace(*span, min(_MOST_PLANES, span[1] - span[0] + 1))
    planes: list[int] = np.unique(evenly.round().astype(np.int64)).tolist()
    return planes


def _view(
    found: Sequence[overlays.ComparedStructure],
    ground: NDArray[np.uint8] | None,
    side: int,
    planes: list[int],
) -> CaseView:
    """Return the view of some planes; ``ground``: their images; ``side``: in pixels, about the largest."""
    depth, *sides = found[0].shape
    spacing = found[0].spacing_mm or (1.0, 1.0, 1.0)
    step = math.ceil(max(sides) / side)
    height, width = (len(range(0, length, step)) for length in sides)
    areas = np.zeros((len(planes), height, width), np.uint8)
    outlines = np.zeros_like(areas)
    for structure in found:
        predicted, reference = (mask[planes, ::step, ::step] for mask in structure.whole)
        areas[predicted & reference], areas[reference & ~predicted], areas[predicted & ~reference] = 1, 2, 3
        for plane in range(len(planes)):
            outlines[plane][edge(reference[plane])] = 1
            outlines[plane][edge(predicted[plane])] = 2
    columns = math.ceil(math.sqrt(len(planes)))
    image = None
    if ground is not None:
        pictures = (Image.fromarray(plane).resize((width, height), Image.Resampling.BOX) for plane in ground)
        grid = _grid(np.stack([np.asarray(picture) for picture in pictures]), columns)
        image = overlays.file_of(Image.fromarray(grid), "JPEG", quality=_QUALITY)
    return CaseView(
        image,
        _indexed(_grid(areas, columns), (overlays.AGREEMENT, overlays.MISSED, overlays.FALSE)),
        _indexed(_grid(outlines, columns), (REFERENCE_LINE, PREDICTED_LINE)),
        tuple(planes),
        depth,
        (height, width),
        spacing[1] / spacing[2],
        tuple(one.name for one in found if one.is_there),
    )


REFERENCE_LINE, PREDICTED_LINE = "#ffffff", "#ff5fd2"
"""Colours of outlines that differ from each other and from the areas."""


def _grid(planes: NDArray[np.uint8], columns: int) -> NDArray[np.uint8]:
    """Return planes of shape (planes, y, x, …) as one image, row after row."""
    rows = math.ceil(len(planes) / columns)
    full = np.zeros((rows * columns, *planes.shape[1:]), np.uint8)
    full[: len(planes)] = planes
    lines = [np.concatenate(list(full[row * columns : (row + 1) * columns]), axis=1) for row in range(rows)]
    return np.ascontiguousarray(np.concatenate(lines, axis=0))


def _indexed(values: NDArray[np.uint8], colours: Sequence[str]) -> bytes:
    """Return a PNG whose values from 1 on have the colours; 0 is transparent."""
    picture = Image.fromarray(values).convert("P")
    picture.putpalette([0, 0, 0, *(channel for colour in colours for channel in overlays.rgb(colour))])
    return overlays.file_of(picture, "PNG", transparency=0, optimize=True, bits=2)


# --- The viewer as a part of a page: cases with values, and the sources of their files ---

MOST_IN_PAGE = 8_000_000
"""Bytes of files up to which a page holds them itself; more are written into a folder beside it."""


_LAYERS = ("image.jpg", "areas.png", "outlines.png")


@dataclass(frozen=True)
class ViewedCase:
    """A case of a task: its view by team, None for a team without one, and its values by metric and team."""

    case: str
    task: str
    views: tuple[CaseView | None, ...]
    values: Mapping[str, tuple[float | None, ...]]


@dataclass(frozen=True)
class Viewer:
    """All cases of a page in one viewer; ``sides`` names the teams side by side."""

    sides: tuple[str, ...]
    cases: tuple[ViewedCase, ...]
    legend: ClassVar[tuple[tuple[str, str], ...]] = (
        *((overlays.AGREEMENT, "agreement"), (overlays.MISSED, "missed"), (overlays.FALSE, "false")),
        *((REFERENCE_LINE, "outline of the reference"), (PREDICTED_LINE, "outline of the prediction")),
    )

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The files of all views by name; teams share the image below their areas."""
        found: dict[str, bytes] = {}
        for number, one in enumerate(self.cases):
            known = None
            for side, view in enumerate(one.views):
                if view is None:
                    continue
                image = None if view.image == known else view.image
                known = view.image or known
                for layer, data in zip(_LAYERS, (image, view.areas, view.outlines), strict=True):
                    found |= {f"{number}-{side}-{layer}": data} if data else {}
        return found

    def content(self, folder: str | None) -> dict[str, Any]:
        """Return the cases for the page's program; ``folder``: of the files, None for files in the page."""

        def source(name: str) -> str | None:
            if name not in self.files:
                return None
            if folder is not None:
                return f"{folder}/{name}"
            return overlays.data_uri("png" if name.endswith("png") else "jpeg", self.files[name])

        cases = []
        for number, one in enumerate(self.cases):
            view = next(view for view in one.views if view)
            sides = [
                [source(f"{number}-{side}-{layer}") for layer in _LAYERS] for side in range(len(one.views))
            ]
            names = dict.fromkeys(name for view in one.views if view for name in view.structures)
            place = {"case": one.case, "task": one.task, "values": one.values}
            planes = {"planes": view.planes, "ofPlanes": view.of_planes, "size": view.size}
            grid = {"structured": bool(view.areas), "columns": view.columns, "aspect": view.aspect}
            cases.append({**place, **planes, **grid, "structures": list(names), "sides": sides})
        return {"sides": self.sides, "cases": cases}
