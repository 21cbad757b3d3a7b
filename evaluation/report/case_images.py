"""Read predictions and references again: sizes and positions of all cases, pictures of some.

Runs in a process of its own (see `evaluation.isolated`), since it decodes files of a submission.
"""

from __future__ import annotations

import base64
import io
import multiprocessing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from evaluation.core.challenge import Task, fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes import Boxes, BoxList
from evaluation.io.kinds.point import Point, PointInImage
from evaluation.metrics.box_matching import box_iou
from evaluation.metrics.cup_to_disc import VerticalDiameter
from evaluation.metrics.overlap import overlap_of
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.platform import machine
from evaluation.platform.submission import index_submission
from evaluation.platform.unpack import unpacked
from evaluation.report.detection import HIT, case_hits, inclusive_corners
from evaluation.report.overlays import (
    AGREEMENT,
    FALSE,
    MISSED,
    Corners,
    box_panel,
    point_panel,
    region_panels,
    solid_panels,
)
from evaluation.report.photographs import Photographs
from evaluation.report.regions import (
    Ratio,
    Region,
    Size,
    has_regions,
    has_solids,
    ratios,
    regions,
    sizes,
    solids,
)
from evaluation.workers.case_reader import CaseReader
from evaluation.workers.reading import Progress

_MOST_PANELS = 3
_PLANES = ("plane of a scan", "plane across y", "plane across x")
_PORTION = 16


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


@dataclass(frozen=True)
class CaseValues:
    """What was read of one case: sizes, locations by field, and pictures by task."""

    name: str
    sizes: tuple[Size, ...]
    ratios: tuple[Ratio, ...]
    locations: Mapping[str, Location]
    pictures: Mapping[str, CaseImage]


@dataclass(frozen=True)
class Request:
    """What is read: of which phase and submission, and the tasks of which cases have a picture by name."""

    phase: str
    submission: str
    pictures: Mapping[str, Sequence[str]]
    images: str | None
    workers: int


def read_cases(request: Request, progress: Progress) -> list[CaseValues]:
    """Return what was read of every case, in the order of the phase.

    Raises `PhaseError` where the submission or a photograph cannot be read.
    """
    with unpacked(Path(request.submission)) as folder:
        reader = _Reader(request, folder)
        count = len(reader.phase.rows)
        portions = [range(start, min(start + _PORTION, count)) for start in range(0, count, _PORTION)]
        found: list[CaseValues] = []
        if request.workers > 1 and machine.CAN_ISOLATE:
            # What a forked process is given is not pickled.
            with multiprocessing.get_context("fork").Pool(request.workers, _begin, (reader,)) as pool:
                for values in pool.imap(_read_portion, portions):
                    found += values
                    progress(len(found))
        else:
            _begin(reader)
            for portion in portions:
                found += _read_portion(portion)
                progress(len(found))
    return found


class _Reader:
    """Reads the cases of one submission and its phase in one process."""

    def __init__(self, request: Request, folder: Path) -> None:
        self.phase: Phase = load_phase(Path(request.phase))
        self._fields = {field.name: field for field in fields_of(self.phase.tasks) if is_shown(field)}
        index = index_submission(folder, self.phase.form, self.phase.tasks)
        if index.faults:
            raise PhaseError(*map(str, index.faults))
        self._sources = index.sources
        self._files = CaseReader(index.root, self.phase.tasks, self.phase.missing)
        self._reference = OpenReference(self.phase.reference, references_of(self.phase.tasks))
        self._photographs = Photographs(Path(request.images) if request.images else None)
        self._wanted = request.pictures
        self._definition: VerticalDiameter = getattr(self.phase.options, "vertical_diameter", "column_count")

    def read(self, position: int) -> CaseValues:
        """Return what is read of a case; what was not submitted, or has no reference, is left out."""
        case = self.phase.cases.forms[position]
        sources = {name: source for name, source in self._sources[position].items() if name in self._fields}
        predicted, _ = self._files.read(case, sources)
        reference = ReferenceValues(self._reference, case, self.phase.rows[position])
        pairs = {
            name: (value, reference[name]) for name, value in predicted.items() if reference[name] is not None
        }
        return CaseValues(
            case.name,
            tuple(size for name, pair in pairs.items() for size in sizes(self._fields[name], case, *pair)),
            tuple(
                ratio
                for name, pair in pairs.items()
                for ratio in ratios(self._fields[name], *pair, self._definition)
            ),
            {
                name: location
                for name, pair in pairs.items()
                if isinstance(pair[0], Point) and (location := _location(self._fields[name], *pair))
            },
            {
                task.name: image
                for task in self.phase.tasks
                if case.name in self._wanted.get(task.name, ())
                and (image := self._picture(task, case, pairs))
            },
        )

    def _picture(self, task: Task, case: CaseForm, pairs: Mapping[str, tuple[Any, Any]]) -> CaseImage | None:
        """Return the picture of a case in a task: its first volume, boxes, point, or all of its masks."""
        photograph = self._photographs.of(case)
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
                boxes = _corners(predicted, reference, inclusive_corners(self.phase))
                return CaseImage("boxes", _encoded(box_panel(boxes, size, photograph), lossy))
            if isinstance(predicted, Point):
                if location := _location(field, predicted, reference):
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


_readers: list[_Reader] = []


def _begin(reader: _Reader) -> None:
    _readers[:] = [reader]


def _read_portion(positions: Sequence[int]) -> list[CaseValues]:
    return [_readers[0].read(position) for position in positions]


def is_shown(field: Field) -> bool:
    """Return whether values of a field can be drawn."""
    kind = field.kind
    return has_regions(kind) or has_solids(kind) or isinstance(kind, BoxList | PointInImage)


def _location(field: Field, predicted: Point, reference: Point) -> Location | None:
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
