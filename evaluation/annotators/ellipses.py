"""Ellipses as annotations: REFUGE's experts drew tilted ellipses around optic disc and cup (section 3.1).

readers/<annotator>/ellipses.csv   name, region, center_x, center_y, radius_x, radius_y, rotation

One row for each region of an image, such as optic disc; in pixels, the centre of the first one being (0, 0).
The radii are semi-axes. The rotation is in degrees, clockwise on the screen, as CVAT and SVG write it; an
empty cell is 0. A region without a row is absent from the image; an image without any row was not annotated.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Files
from evaluation.core.form import CaseForm, name_key
from evaluation.io.kinds.label_mask import LabelMask
from evaluation.phase.cases import read_cases
from evaluation.phase.configuration import read_configuration
from evaluation.phase.organiser_tables import TableRow, organiser_table
from evaluation.platform.submission_writer import write_case_file
from evaluation.synthesis.ellipses import Ellipse, rasterise

FILE_NAME = "ellipses.csv"
_NUMBERS = ("center_x", "center_y", "radius_x", "radius_y", "rotation")
_COLUMNS = ("name", "region", *_NUMBERS)
_ANNOTATORS = "readers"
Ellipses = Mapping[str, Ellipse]


@contextmanager
def ellipses_as_masks(folder: Path) -> Iterator[Path]:
    """Yield a folder of annotations with masks in place of ellipses, see `annotations`.

    It is a temporary copy, or the folder itself if that has no ellipses. Raises `PhaseError` with every fault
    of the tables, for an annotator with ellipses and masks, and for a challenge without a field for them.
    """
    tables = sorted((folder / _ANNOTATORS).glob(f"*/{FILE_NAME}"))
    if not tables:
        yield folder
        return
    configuration = read_configuration(folder)
    field, layout, kind = _field_of(configuration.tasks)
    forms = read_cases(folder, configuration.challenge.form_columns_of(configuration.config.submission)).forms
    problems: list[str] = []
    drawn: dict[str, dict[str, Ellipses]] = {}
    for table in tables:
        annotator = table.parent.name
        try:
            drawn[annotator] = read_ellipses(table, kind, forms)
        except PhaseError as error:
            problems += (f"{annotator}: {problem}" for problem in error.problems)
        if (table.parent / layout.folder).exists():
            problems.append(f"{annotator}: expected {FILE_NAME} or {layout.folder}/, found both")
    if problems:
        raise PhaseError(*problems)
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "annotations"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(FILE_NAME))
        for annotator, of_cases in drawn.items():
            for case in forms:
                if case.name in of_cases:
                    mask = mask_of(kind, of_cases[case.name], case)
                    place = copy / _ANNOTATORS / annotator
                    write_case_file(place, field.kind, layout, case.name, mask, _lossless(layout))
        yield copy


def read_ellipses(path: Path, kind: LabelMask, cases: tuple[CaseForm, ...]) -> dict[str, Ellipses]:
    """Return the ellipses of a table by case and region. Raises `PhaseError` with every fault."""
    names = {name_key(case.name): case.name for case in cases}
    found: dict[str, dict[str, Ellipse]] = defaultdict(dict)
    with organiser_table(path, _COLUMNS) as table:
        for row in table.rows:
            name, region = names.get(name_key(row.cells["name"])), row.cells["region"]
            if name is None:
                row.fault("name", f"expected a case of cases.csv, found {row.cells['name']!r}")
            if region not in kind.labels.values():
                row.fault("region", f"expected one of {', '.join(kind.labels.values())}, found {region!r}")
            elif name is not None and region in found[name]:
                row.fault("region", f"{region} of {name} is also in an earlier row")
            if (ellipse := _ellipse(row)) is not None and name is not None:
                found[name][region] = ellipse
    return dict(found)


def mask_of(kind: LabelMask, ellipses: Ellipses, case: CaseForm) -> NDArray[np.uint8]:
    """Return the image (y, x) with the regions of the ellipses, inner ones drawn over outer ones."""
    image = np.full((case.height, case.width), kind.background, dtype=np.uint8)
    for label, _ in kind.regions():
        ellipse = ellipses.get(kind.labels[label])
        if ellipse is not None:
            patch = rasterise(ellipse, case.width, case.height)
            image[patch.top : patch.bottom, patch.left : patch.right][patch.values] = label
    return image


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


def _field_of(tasks: tuple[Task, ...]) -> tuple[Field, Files, LabelMask]:
    fields = [
        (field, field.archive, field.reference.kind)
        for field in fields_of(tasks)
        if isinstance(field.archive, Files) and isinstance(field.reference.kind, LabelMask)
    ]
    if len(fields) != 1:
        raise PhaseError(
            f"{FILE_NAME}: expected a challenge with one mask of labelled regions, found {len(fields)}"
        )
    return fields[0]


def _lossless(layout: Files) -> str:
    return ".png" if ".png" in layout.extensions else layout.extensions[0]
