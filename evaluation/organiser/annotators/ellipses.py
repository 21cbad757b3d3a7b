"""Ellipses as annotations: REFUGE's experts drew tilted ones around disc and cup (section 3.1)."""

import math
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil, cos, floor, hypot, isfinite, sin
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Files
from evaluation.core.form import CaseForm, name_key
from evaluation.core.formats import extension_of_masks
from evaluation.core.views import Regions
from evaluation.metrics.crops import EMPTY, Crop, VolumeCrop
from evaluation.organiser.annotators.annotations import ANNOTATORS
from evaluation.organiser.submission_writer import write_case_file
from evaluation.phase.cases import TableRow, organiser_table, read_cases
from evaluation.phase.registry import read_configuration


@dataclass(frozen=True)
class Ellipse:
    """A filled ellipse: centre and semi-axes in pixels, tilt in radians.

    The centre of the first pixel is the point (0, 0); x runs to the right and y downwards. A positive tilt
    turns the x semi-axis towards the y axis (clockwise on the screen, y runs downwards). Raises ValueError
    where a semi-axis is not positive or a number is not finite.
    """

    center_x: float
    center_y: float
    semi_axis_x: float
    semi_axis_y: float
    tilt_radians: float = 0.0

    def __post_init__(self) -> None:
        if not all(isfinite(value) for value in (self.center_x, self.center_y, self.tilt_radians)):
            raise ValueError(f"ellipse: expected a finite centre and tilt, found {self}")
        if not all(isfinite(axis) and axis > 0 for axis in (self.semi_axis_x, self.semi_axis_y)):
            raise ValueError(f"ellipse: expected finite semi-axes above 0, found {self}")

    @property
    def half_width(self) -> float:
        """Half the horizontal extent in pixels."""
        return hypot(self.semi_axis_x * cos(self.tilt_radians), self.semi_axis_y * sin(self.tilt_radians))

    @property
    def half_height(self) -> float:
        """Half the vertical extent in pixels."""
        return hypot(self.semi_axis_x * sin(self.tilt_radians), self.semi_axis_y * cos(self.tilt_radians))

    def moved(self, x: float, y: float) -> "Ellipse":
        """Return the ellipse moved by a vector in pixels."""
        return replace(self, center_x=self.center_x + x, center_y=self.center_y + y)


def rasterise(ellipse: Ellipse, width: int, height: int) -> Crop:
    """Mark the pixels with centres in the ellipse or on its border.

    The crop is the bounding box, clipped to the image of `width` × `height` pixels; an ellipse outside
    the image, or one that contains no pixel centre of any row or column, gives a crop without pixels.
    """
    half_width, half_height = ellipse.half_width, ellipse.half_height
    top, bottom = _pixel_span(ellipse.center_y, half_height, height)
    left, right = _pixel_span(ellipse.center_x, half_width, width)
    # Every row meets the ellipse in one interval: cheaper than the quadratic form at every pixel.
    below_center = np.arange(top, bottom) - ellipse.center_y
    sheared = (ellipse.semi_axis_x**2 - ellipse.semi_axis_y**2) * (
        sin(ellipse.tilt_radians) * cos(ellipse.tilt_radians)
    )
    middle = ellipse.center_x + below_center * (sheared / half_height**2)
    half_chord = (
        ellipse.semi_axis_x
        * ellipse.semi_axis_y
        / half_height**2
        * np.sqrt(np.maximum(half_height**2 - below_center**2, 0.0))
    )
    columns = np.arange(left, right)
    values = (columns >= (middle - half_chord)[:, None]) & (columns <= (middle + half_chord)[:, None])
    return Crop(values, top, left)


def _pixel_span(center: float, half_extent: float, size: int) -> tuple[int, int]:
    """First pixel within the extent and first one after it, clipped to the image."""
    first = min(max(ceil(center - half_extent), 0), size)
    return first, max(min(floor(center + half_extent) + 1, size), first)


# --- Tables of ellipses, in place of masks ---

_ELLIPSES_FILE = "ellipses.csv"
_NUMBERS = ("center_x", "center_y", "radius_x", "radius_y", "rotation")
_COLUMNS = ("name", "region", *_NUMBERS)
Ellipses = Mapping[str, Ellipse]


@contextmanager
def ellipses_as_masks(folder: Path) -> Iterator[Path]:
    """Yield a folder of annotations with masks in place of ellipses, see `annotations`.

    It is a temporary copy, or the folder itself if that has no ellipses. Raises `PhaseError` with every fault
    of the tables, for an annotator with ellipses and masks, and for a challenge without a field for them.
    """
    tables = sorted((folder / ANNOTATORS).glob(f"*/{_ELLIPSES_FILE}"))
    if not tables:
        yield folder
        return
    configuration = read_configuration(folder)
    field, layout, regions = _field_of(configuration.tasks)
    lossless = extension_of_masks(layout.extensions)
    forms = read_cases(folder, configuration.challenge.form_columns_of(configuration.config.submission)).forms
    problems: list[str] = []
    drawn: dict[str, dict[str, Ellipses]] = {}
    for table in tables:
        annotator = table.parent.name
        try:
            drawn[annotator] = read_ellipses(table, regions.names, forms)
        except PhaseError as error:
            problems += (f"{annotator}: {problem}" for problem in error.problems)
        if (table.parent / layout.folder).exists():
            problems.append(f"{annotator}: expected {_ELLIPSES_FILE} or {layout.folder}/, found both")
    PhaseError.raise_all(problems)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "annotations"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(_ELLIPSES_FILE))
        for annotator, of_cases in drawn.items():
            for case in forms:
                if case.name in of_cases:
                    value = value_of(regions, of_cases[case.name], case)
                    mask, place = field.kind.writable(value, case), copy / ANNOTATORS / annotator
                    write_case_file(place, field.kind, layout, case.name, mask, lossless)
        yield copy


def read_ellipses(path: Path, regions: Sequence[str], cases: tuple[CaseForm, ...]) -> dict[str, Ellipses]:
    """Return the ellipses of a table by case and region. Raises `PhaseError` with every fault.

    A row for each region of an image; in pixels, the centre of the first one being (0, 0).
    The radii are semi-axes. The rotation is in degrees, clockwise on the screen, as CVAT and SVG write it; an
    empty cell is 0. A region without a row is absent from the image; an image without any was not annotated.
    """
    names = {name_key(case.name): case.name for case in cases}
    found: dict[str, dict[str, Ellipse]] = defaultdict(dict)
    with organiser_table(path, _COLUMNS) as table:
        for row in table.rows:
            name, region = names.get(name_key(row.cells["name"])), row.cells["region"]
            if name is None:
                row.fault("name", f"expected a case of cases.csv, found {row.cells['name']!r}")
            if region not in regions:
                row.fault("region", f"expected one of {', '.join(regions)}, found {region!r}")
            elif name is not None and region in found[name]:
                row.fault("region", f"{region} of {name} is also in an earlier row")
            if (ellipse := _ellipse(row)) is not None and name is not None:
                found[name][region] = ellipse
    return dict(found)


def value_of(regions: Regions, ellipses: Ellipses, case: CaseForm) -> Any:
    """Return the value with the regions of the ellipses; where they overlap, the kind decides."""
    assert regions.value is not None  # as `_field_of` has found
    masks = []
    for name in regions.names:
        ellipse = ellipses.get(name)
        patch = EMPTY if ellipse is None else rasterise(ellipse, case.width, case.height)
        masks.append(VolumeCrop(patch.values[np.newaxis] > 0, (0, patch.top, patch.left)))
    return regions.value(masks, case)


def _ellipse(row: TableRow) -> Ellipse | None:
    numbers = {column: row.number(column) for column in _NUMBERS}
    for column in _NUMBERS[:-1]:
        if not row.cells[column]:
            row.fault(column, "expected a number, found nothing")
    for column in ("radius_x", "radius_y"):
        if numbers[column] <= 0:
            row.fault(column, f"expected a number above 0, found {row.cells[column]!r}")
    rotation = 0.0 if math.isnan(numbers["rotation"]) else math.radians(numbers["rotation"])
    x, y, radius_x, radius_y = (numbers[column] for column in _NUMBERS[:-1])
    if any(map(math.isnan, (x, y, radius_x, radius_y))) or min(radius_x, radius_y) <= 0:
        return None
    return Ellipse(x, y, radius_x, radius_y, rotation)


def _field_of(tasks: tuple[Task, ...]) -> tuple[Field, Files, Regions]:
    fields = [
        (field, field.archive, regions)
        for field in fields_of(tasks)
        if isinstance(field.archive, Files)
        and (regions := field.reference.kind.regions)
        and regions.value
        and regions.dimensions == 2
    ]
    if len(fields) != 1:
        raise PhaseError(
            f"{_ELLIPSES_FILE}: expected a challenge with one mask of labelled regions, found {len(fields)}"
        )
    return fields[0]
