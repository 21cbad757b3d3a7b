"""Pictures of single cases, from predictions and references that are read again."""

import dataclasses
import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.core.challenge import Task, Values, fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field
from evaluation.core.form import CaseForm, name_key
from evaluation.core.formats import FORMATS, META_IMAGE_HEADER, extensions_of, image_formats
from evaluation.core.outcome import Progress
from evaluation.core.trouble import raise_trouble_of
from evaluation.organiser.leaves import found_leaf
from evaluation.organiser.report import objects as object_drawing
from evaluation.organiser.report import overlays
from evaluation.organiser.report.case_views import CaseView, OpenCase, drawn_view, view_of
from evaluation.organiser.report.objects import Location, location_of
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.platform import machine
from evaluation.platform.submission import index_submission
from evaluation.workers.submission_reader import CaseReader
from evaluation.workers.unpacking import unpacked

# --- The original images of cases, from the organiser's folder ---

_EXTENSIONS = extensions_of(row for row in FORMATS if row.pillow)
_VOLUMES = extensions_of((*image_formats(3, on_request=True), META_IMAGE_HEADER))
_WINDOW = (0.5, 99.5)
"""Percentiles of a volume's values that are drawn as black and as white."""
Shape = tuple[int, int, int]


class Photographs:
    """The images of a folder by case; a file has the name of its case, with any extension."""

    def __init__(self, folder: Path | None) -> None:
        if not (folder is None or folder.is_dir()):
            raise PhaseError(f"{folder}: is not a folder")
        # Of several files of one name, the first counts.
        files = sorted(folder.rglob("*"), reverse=True) if folder else []
        named = [(name_key(path.name), path) for path in files]
        self._paths = {name: path for name, path in named if path.suffix.casefold() in _EXTENSIONS}
        self._volumes = {name: path for name, path in named if path.name.casefold().endswith(_VOLUMES)}

    def of(self, case: CaseForm) -> NDArray[np.uint8] | None:
        """Return the colours of a case's image at the size of the case, shape (height, width, 3).

        None without an image. Raises `PhaseError` for one that cannot be decoded.
        """
        path = self._paths.get(name_key(case.name))
        if path is None or not (case.width and case.height):
            return None
        try:
            with Image.open(path) as image:
                colours = image.convert("RGB")
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise_trouble_of(error, "read", path)
            raise PhaseError(f"{path}: cannot be read: {error}") from None
        if colours.size != (case.width, case.height):
            colours = colours.resize((case.width, case.height), Image.Resampling.BILINEAR)
        return np.asarray(colours)

    def volume_of(self, case: CaseForm, shape: Shape) -> NDArray[np.uint8] | None:
        """Return the grey values of a case's volume, shape (z, y, x); None without an image.

        Raises `PhaseError` for one that cannot be read or has another shape.
        """
        path = self._volumes.get(name_key(case.name))
        if path is None:
            return None
        import SimpleITK

        try:
            values = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path))).astype(np.float64)
        except RuntimeError as error:
            raise PhaseError(f"{path}: cannot be read: {error}") from None
        if values.shape != shape:
            expected, found = (" × ".join(map(str, sides[::-1])) for sides in (shape, values.shape))
            raise PhaseError(f"{path}: expected the size of the reference, {expected}, found {found}")
        low, high = np.percentile(values, _WINDOW)
        scaled = (values - low) / max(float(high - low), 1e-12)
        return np.asarray((255 * scaled.clip(0, 1)).round().astype(np.uint8))


# --- The picture of one case in one task: its masks, its volume, its boxes or its points ---

PictureKind = Literal["regions", "instances", object_drawing.Drawing, "photograph"]
"""Masks or volumes, instances, points or boxes, the image alone."""

_MOST_PANELS = 3
_PLANES = ("plane of a scan", "across y", "across x")


@dataclass(frozen=True)
class CaseImage:
    """A picture of a case in a task: caption, data URI, and its panels from left to right.

    ``numbered``: the meanings of the numbers in the picture, from 1 on.
    """

    kind: PictureKind
    source: str
    panels: tuple[str, ...] = ()
    numbered: tuple[str, ...] = ()

    def shows(self, words: Callable[[str], str]) -> str:
        """Return a sentence on its panels, after a space; empty without any. ``words``: of a region."""
        order = "From left to right" if len(self.panels) > 1 else "Shows"
        return f" {order}: {', '.join(map(words, self.panels))}." if self.panels else ""


def picture_of(
    task: Task,
    opened: OpenCase,
    photograph: overlays.Colours | None,
    volume: Callable[[Shape], overlays.Greys | None],
) -> CaseImage | None:
    """Return the picture of a case in a task: its first volume, boxes, points, or all of its masks.

    If a task's values cannot be drawn, it is the photograph. ``volume`` returns the original image, of shape
    (z, y, x), of a value with three axes.
    """
    case, lossy = opened.form, photograph is not None
    size = case.height, case.width
    if photograph is not None and not any(is_shown(field) for field in task.fields):
        return CaseImage("photograph", _encoded(overlays.fitted(photograph), lossy))
    found: list[overlays.ComparedStructure] = []
    for field, predicted, reference in opened.values(task):
        if known := object_drawing.metric_of_instances(opened.options, task, field):
            pair = predicted, reference
            if panel := object_drawing.instance_panel(known[1], field, *pair, size, photograph):
                return CaseImage("instances", _encoded(panel, lossy))
        if regions := overlays.regions_in(field):
            structures = list(overlays.structures(field, case, predicted, reference))
            if regions.dimensions == 3:
                one = max(structures, key=lambda structure: structure.difference)
                original = volume(one.shape)
                picture = _encoded(overlays.solid_panels(one, original), original is not None)
                return CaseImage("regions", picture, (f"{one.name}: {_PLANES[0]}", *_PLANES[1:]))
            found += structures
        elif object_drawing.objects_in(field):
            objects = object_drawing.objects_of(opened.options, task, field, predicted, opened.references)
            if objects and (objects.drawn or all(size)):
                lossy = lossy and objects.axes == 2 and objects.in_pixels
                picture = _encoded(object_drawing.object_panels(objects, size, photograph), lossy)
                panels = object_drawing.VIEW_NAMES if objects.axes == 3 else ()
                return CaseImage(objects.kind, picture, panels, objects.numbered)
    there = [one for one in found if one.is_there]
    most = sorted(there, key=lambda structure: structure.difference, reverse=True)[:_MOST_PANELS]
    shown = [one for one in there if any(one is other for other in most)]
    if not shown:
        return None
    picture = _encoded(overlays.region_panels(shown, photograph), lossy)
    return CaseImage("regions", picture, tuple(one.name for one in shown))


def is_shown(field: Field) -> bool:
    """Return whether values of a field can be drawn."""
    return bool(overlays.regions_in(field) or object_drawing.objects_in(field))


def is_read(field: Field) -> bool:
    """Return whether a report needs the submitted values of a field: to draw them, or as numbers."""
    return is_shown(field) or overlays.is_number(field)


def _encoded(picture: Image.Image, lossy: bool) -> str:
    """Return a picture as a data URI: a photograph as JPEG, any other as PNG of few colours."""
    if lossy:
        return overlays.data_uri("jpeg", overlays.file_of(picture, "JPEG", quality=85))
    few = picture.quantize(64, dither=Image.Dither.NONE)
    return overlays.data_uri("png", overlays.file_of(few, "PNG", optimize=True))


# --- Read predictions and references again: sizes and positions of all cases, pictures of some ---
#
# Runs in a process of its own (see `evaluation.isolated`), since it decodes files of a submission.

_PORTION = 16


@dataclass(frozen=True)
class CaseReading:
    """The values of one case: sizes, measurements, locations by field, pictures and views by task.

    ``measured``: for the further analyses of the challenge, in a leaf room.
    """

    name: str
    sizes: tuple[overlays.ComparedNumber, ...]
    measurements: tuple[overlays.ComparedNumber, ...]
    locations: Mapping[str, Location]
    pictures: Mapping[str, CaseImage]
    views: Mapping[str, CaseView] = dataclasses.field(default_factory=dict)
    measured: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Request:
    """A request for values of a phase and a submission, with the cases to draw by task.

    submission: None for the reference itself, which shows only fields submitted in the reference's form.
    only_pictures: only these and the views of all cases, no sizes and positions.
    """

    phase: Path
    submission: Path | None
    pictures: Mapping[str, Sequence[str]]
    images: Path | None
    workers: int
    only_pictures: bool = False


def read_cases(request: Request, progress: Progress) -> list[CaseReading]:
    """Return the values of every case, in the order of the phase.

    Raises `PhaseError` where the submission or a photograph cannot be read.
    """
    given = unpacked(request.submission, workers=request.workers) if request.submission else nullcontext()
    with given as folder:
        reader = _SubmissionReader(request, folder)
        positions = range(len(reader.phase.cases.forms))
        forked: AbstractContextManager[Pool | None] = nullcontext()
        if request.workers > 1 and machine.CAN_ISOLATE:
            # Arguments of a forked process are not pickled.
            forked = multiprocessing.get_context("fork").Pool(request.workers, _begin, (reader,))
        found: list[CaseReading] = []
        with forked as pool:
            for value in pool.imap(_read, positions, _PORTION) if pool else map(reader.read, positions):
                found.append(value)
                progress(len(found))
    return found


class _SubmissionReader:
    """Reads the cases of one submission and its phase in one process."""

    def __init__(self, request: Request, folder: Path | None) -> None:
        self.phase: Phase = load_phase(request.phase)
        self._fields = {field.name: field for field in fields_of(self.phase.tasks) if is_read(field)}
        self._submitted = self._of_reference if folder is None else self._of(folder)
        self._reference = OpenReference(self.phase.reference, references_of(self.phase.tasks))
        leaf = None if folder is None else found_leaf("analyses.analysis")
        self._measures = leaf.measures_of(self.phase) if leaf else ()
        self._photographs = Photographs(request.images)
        self._request = request

    def read(self, position: int) -> CaseReading:
        """Return the values of a case, without fields that were not submitted or have no reference."""
        case, row, options = self.phase.cases.forms[position], self.phase.rows[position], self.phase.options
        references = ReferenceValues(self._reference, case, row)
        predicted = self._submitted(position, references)
        submitted = {name: value for name, value in predicted.items() if references[name] is not None}
        opened = OpenCase(case, row.cells, submitted, references, options)
        pictures = self._pictures(opened)
        views = self._views_of(opened, pictures)
        if self._request.only_pictures:
            return CaseReading(case.name, (), (), {}, pictures, views)
        sizes: list[overlays.ComparedNumber] = []
        measurements: list[overlays.ComparedNumber] = []
        locations: dict[str, Location] = {}
        for name, value in submitted.items():
            field, pair = self._fields[name], (value, references[name])
            sizes += overlays.sizes(field, case, *pair)
            measurements += overlays.measurements(field, *pair)
            if location := location_of(field, *pair):
                locations[name] = location
        measured = tuple(row for measure in self._measures for row in measure(opened))
        found = tuple(sizes), tuple(measurements), locations
        return CaseReading(case.name, *found, pictures, views, measured)

    def _of(self, folder: Path) -> Callable[[int, Values], Values]:
        """Return the reader of the submitted values. Raises `PhaseError` for a faulty submission."""
        index = index_submission(folder, self.phase.form, self.phase.tasks)
        if index.faults:
            raise PhaseError(*map(str, index.faults))
        files = CaseReader(index.root, self.phase.tasks, self.phase.missing)

        def read(position: int, references: Values) -> Values:
            sources = index.sources[position].items()
            of_case = {name: source for name, source in sources if name in self._fields}
            return files.read(self.phase.cases.forms[position], of_case)[0]

        return read

    def _of_reference(self, position: int, references: Values) -> Values:
        case = self.phase.cases.forms[position]
        return {
            name: references[name]
            for name, field in self._fields.items()
            if field.cases(case) and field.is_like_its_reference
        }

    def _views_of(self, opened: OpenCase, pictures: Mapping[str, CaseImage]) -> dict[str, CaseView]:
        """Return the views of a case by task; points and boxes are a picture that is drawn already."""
        images = self._photographs.of(opened.form), partial(self._photographs.volume_of, opened.form)
        found: dict[str, CaseView] = {}
        for task in self.phase.tasks:
            view = view_of(task, opened, *images)
            if view is None and any(is_shown(field) for field in task.fields):
                drawn = pictures.get(task.name) or picture_of(task, opened, *images)
                view = drawn_view(drawn.source) if drawn else None
            if view:
                found[task.name] = view
        return found

    def _pictures(self, opened: OpenCase) -> dict[str, CaseImage]:
        """Return the requested pictures of a case by task."""
        case = opened.form
        wanted = [task for task in self.phase.tasks if case.name in self._request.pictures.get(task.name, ())]
        images = (self._photographs.of(case), partial(self._photographs.volume_of, case)) if wanted else ()
        pictures = {task.name: picture_of(task, opened, *images) for task in wanted}
        return {name: picture for name, picture in pictures.items() if picture}


_readers: list[_SubmissionReader] = []


def _begin(reader: _SubmissionReader) -> None:
    _readers[:] = [reader]


def _read(position: int) -> CaseReading:
    return _readers[0].read(position)
