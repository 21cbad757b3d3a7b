"""Views of all cases for the viewer of a page: an image and layers over it, all planes in one file."""

import base64
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.core.challenge import Options, Task, Values
from evaluation.core.form import CaseForm
from evaluation.metrics.crops import Box
from evaluation.organiser.report import overlays

_MOST_PLANES = 24
_SIDE_OF_PLANE, _SIDE_OF_IMAGE = 256, 768
_QUALITY = 50
Masks = NDArray[np.bool_]
"""Planes of a structure, shape (planes, y, x); an image has one."""


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
    pairs: list[tuple[Masks, Masks]] = []
    names: list[str] = []
    case = opened.form
    for field in task.fields_for(case):
        if field.name not in opened.submitted:
            continue
        values = opened.submitted[field.name], opened.references[field.name]
        regions = overlays.regions_in(field)
        if regions and regions.dimensions == 3:
            found = list(overlays.solids(field, case, *values))
            depth, height, width = found[0].predicted.shape
            spacing = found[0].spacing_mm or (1.0, 1.0, 1.0)
            planes = _chosen_planes([one.reference for one in found])
            cuts = [(one.predicted[planes], one.reference[planes]) for one in found]
            original = volume((depth, height, width))
            ground = None if original is None else original[planes]
            there = _there((one.structure, one.predicted, one.reference) for one in found)
            shown = tuple(planes.tolist()), depth, there, spacing[1] / spacing[2]
            return _view(cuts, ground, _SIDE_OF_PLANE, *shown)
        if regions:
            whole, masks = Box(0, case.height, 0, case.width), list(overlays.regions(field, *values))
            pairs += [
                (overlays.cut(one.predicted, whole)[None], overlays.cut(one.reference, whole)[None])
                for one in masks
            ]
            names += _there((one.structure, one.predicted.values, one.reference.values) for one in masks)
    if not pairs:
        return None
    ground = None if photograph is None else photograph[None]
    return _view(pairs, ground, _SIDE_OF_IMAGE, (0,), 1, tuple(names))


def _there(found: Iterable[tuple[str, Masks, Masks]]) -> tuple[str, ...]:
    return tuple(name for name, predicted, reference in found if predicted.any() or reference.any())


def _chosen_planes(references: Sequence[Masks]) -> NDArray[np.int64]:
    """Return at most 24 planes, evenly over those with a reference and a tenth more at both ends."""
    held = np.flatnonzero(np.any([one.any(axis=(1, 2)) for one in references], axis=0))
    last = len(references[0]) - 1
    first, end = (int(held[0]), int(held[-1])) if held.size else (0, last)
    margin = 1 + (end - first) // 10
    span = max(0, first - margin), min(last, end + margin)
    return np.unique(np.linspace(*span, min(_MOST_PLANES, span[1] - span[0] + 1)).round().astype(np.int64))


def _view(
    pairs: Sequence[tuple[Masks, Masks]],
    ground: NDArray[np.uint8] | None,
    side: int,
    planes: tuple[int, ...],
    of_planes: int,
    structures: tuple[str, ...],
    aspect: float = 1.0,
) -> CaseView:
    step = math.ceil(max(pairs[0][0].shape[1:]) / side)
    areas = np.zeros(pairs[0][0][:, ::step, ::step].shape, np.uint8)
    outlines = np.zeros_like(areas)
    for predicted, reference in pairs:
        one, other = predicted[:, ::step, ::step], reference[:, ::step, ::step]
        areas[one & other], areas[other & ~one], areas[one & ~other] = 1, 2, 3
        for plane in range(len(planes)):
            outlines[plane][overlays.edge(other[plane])] = 1
            outlines[plane][overlays.edge(one[plane])] = 2
    height, width = len(areas[0]), len(areas[0][0])
    columns = math.ceil(math.sqrt(len(planes)))
    image = None
    if ground is not None:
        pictures = (Image.fromarray(plane).resize((width, height), Image.Resampling.BOX) for plane in ground)
        grid = _grid(np.stack([np.asarray(picture) for picture in pictures]), columns)
        image = overlays.file_of(Image.fromarray(grid), "JPEG", quality=_QUALITY)
    layers = (
        _indexed(_grid(areas, columns), (overlays.AGREEMENT, overlays.MISSED, overlays.FALSE)),
        _indexed(_grid(outlines, columns), (REFERENCE_LINE, PREDICTED_LINE)),
    )
    return CaseView(image, *layers, planes, of_planes, (height, width), aspect, structures)


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
