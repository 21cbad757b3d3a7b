"""The answers of a reader study as a folder of annotations, see `annotations`."""

import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError, counted
from evaluation.core.field import Field, Files
from evaluation.core.form import CaseForm, name_key
from evaluation.core.formats import extension_of_masks
from evaluation.core.sources import CellsSource, JsonSource, Source
from evaluation.metrics.crops import Crop
from evaluation.organiser.annotators.annotations import ANNOTATORS, read_like_references
from evaluation.organiser.reader_study import Question, ReaderAnswer, ReaderStudy, letters_of, read_study
from evaluation.organiser.submission_writer import ArchiveWriter, write_case_file
from evaluation.phase.cases import read_cases
from evaluation.phase.registry import read_configuration
from evaluation.workers.submission_reader import CaseReader

Lengths = tuple[float, float]
_SPACING = "spacing_mm"


@contextmanager
def study_as_annotations(
    folder: Path, exports: Sequence[Path], masks: Path | None
) -> Iterator[tuple[Path, str]]:
    """Yield a temporary copy of an organiser's folder with the answers of readers, and their counts in words.

    A question belongs to the field whose name, title or socket is its text, letter case and punctuation
    aside, and one of polygons also by the name of a region; others are left out and told. ``masks``: a folder
    of the images that were drawn, named by their names or keys on the platform. Raises `PhaseError` with
    every fault.
    """
    study = read_study(exports)
    configuration = read_configuration(folder)
    every = {field.name for field in fields_of(configuration.tasks)}
    fields = fields_of([read_like_references(task, every) for task in configuration.tasks])
    asked = {field.name: found for field in fields if (found := _questions_of(field, study.questions))}
    if not asked:
        names = ", ".join(field.name for field in fields)
        texts = ", ".join(repr(question.text) for question in study.questions)
        raise PhaseError(f"expected a question that is called like a field ({names}), found {texts}")
    form_columns = configuration.challenge.form_columns_of(configuration.config.submission)
    table = read_cases(folder, form_columns)
    cases = {
        name_key(case.name): replace(case, columns={_SPACING: row.cells.get(_SPACING, ""), **case.columns})
        for case, row in zip(table.forms, table.rows, strict=True)
    }
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "annotations"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(ANNOTATORS))
        answered = [field for field in fields if field.name in asked]
        _write(study, copy / ANNOTATORS, answered, asked, cases, masks)
        unused = [one.text for one in study.questions if not any(one in of for of in asked.values())]
        more = [f"questions of no field: {', '.join(unused)}"] if unused else []
        yield copy, "; ".join([counted(len(study.answers), "answer"), *filter(None, [study.told]), *more])


def _questions_of(field: Field, questions: Sequence[Question]) -> list[Question]:
    names = {letters_of(name) for name in (field.name, field.title, field.socket.slug)}
    return [
        one
        for one in questions
        if letters_of(one.text) in names or (one.is_polygon and _region_of(field, one) is not None)
    ]


def _region_of(field: Field, question: Question) -> int | None:
    """Return the position of the region that a question of polygons is about: its name, or the only one."""
    names = [letters_of(name) for name in field.kind.regions.names] if field.kind.regions else []
    if (text := letters_of(question.text)) in names:
        return names.index(text)
    own = text in {letters_of(field.name), letters_of(field.title)}
    return 0 if own and len(names) == 1 else None


def _write(
    study: ReaderStudy,
    folder: Path,
    fields: Sequence[Field],
    asked: Mapping[str, Sequence[Question]],
    cases: Mapping[str, CaseForm],
    masks: Path | None,
) -> None:
    drawn = {path.name.partition(".")[0].casefold(): path for path in masks.iterdir()} if masks else {}
    problems: list[str] = []
    by_reader: dict[str, dict[str, list[tuple[Field, ReaderAnswer]]]] = defaultdict(lambda: defaultdict(list))
    for answer in study.answers:
        case = next((cases[key] for name in answer.names if (key := name_key(name)) in cases), None)
        if case is None:
            found = " or ".join(answer.names)
            problems.append(f"{answer.place}: expected a case of cases.csv, found {found}")
            continue
        of = [field for field in fields if answer.question in asked[field.name]]
        place_of_reader = re.sub(r"[^\w.@+-]", "_", answer.reader).lstrip(".") or "_"
        by_reader[place_of_reader][case.name] += [(field, answer) for field in of]
    for reader, of_cases in sorted(by_reader.items()):
        place = folder / reader
        place.mkdir(parents=True)
        writer = ArchiveWriter(place, fields)
        for case in cases.values():
            values: dict[str, Any] = {}
            polygons: dict[str, dict[int, Any]] = defaultdict(dict)
            for field, answer in of_cases.get(case.name, ()):
                try:
                    if isinstance(field.archive, Files) and answer.image:
                        _copy_mask(place, field.archive, case, _file_of(answer, study, drawn))
                    elif isinstance(field.archive, Files) and answer.question.is_polygon:
                        if (region := _region_of(field, answer.question)) is None:
                            raise PhaseError(
                                f"{field.title}: expected a question for each region of the mask"
                            )
                        polygons[field.name][region] = answer.value
                    else:
                        values[field.name] = _value(field, case, answer)
                except PhaseError as error:
                    problems += (f"{answer.place}: {problem}" for problem in error.problems)
            try:
                for field in fields:
                    if field.name in polygons:
                        _draw(place, field, case, polygons[field.name])
                writer.add(case.name, values)
            except PhaseError as error:
                problems += (f"{reader}, {case.name}: {problem}" for problem in error.problems)
        writer.close()
    PhaseError.raise_all(problems)


def _value(field: Field, case: CaseForm, answer: ReaderAnswer) -> Any:
    """Return an answer as the reference's kind reads it. Raises `PhaseError`."""
    value, file, kind = answer.value, "answer", field.kind
    if kind.objects is None or kind.objects.unit == "pixels":
        value = _in_pixels(value, _spacing_of(case))
    if isinstance(value, dict) and isinstance(value.get("point"), list) and kind.socket_kind != "Point":
        value = value["point"][:2]
    source: Source = JsonSource(value, file, answer.question.text)
    if isinstance(value, bool | float | str):
        text = value if isinstance(value, str) else repr(value).removesuffix(".0")
        text = str(int(value)) if isinstance(value, bool) else text
        source = CellsSource((text,), file, 1, (field.name,))
    try:
        read = kind.of_answers.read(source, case, CaseReader(".", (), "worst").files)
    except TypeError:
        raise PhaseError(f"{field.title} takes no answer of type {answer.question.answer_type}") from None
    except Exception as error:
        if not hasattr(error, "faults"):
            raise
        raise PhaseError(*map(str, error.faults)) from None
    return field.kind.writable(read, case)


def _in_pixels(value: Any, spacing_mm: Lengths) -> Any:
    """Return an annotation whose positions [x, y, …] are divided by the size of a pixel."""
    match value:
        case [float() | int() as x, float() | int() as y, *more]:
            return [x / spacing_mm[0], y / spacing_mm[1], *more]
        case list():
            return [_in_pixels(one, spacing_mm) for one in value]
        case dict():
            return {key: _in_pixels(one, spacing_mm) for key, one in value.items()}
    return value


# --- Masks: downloaded images, and polygons ---


def _file_of(answer: ReaderAnswer, study: ReaderStudy, drawn: Mapping[str, Path]) -> Path:
    name = study.images.get(str(answer.image), "").partition(".")[0].casefold()
    if (found := drawn.get(str(answer.image)) or drawn.get(name)) is None:
        raise PhaseError(f"expected the mask {answer.image} in the folder of --masks, found none")
    return found


def _copy_mask(place: Path, layout: Files, case: CaseForm, file: Path) -> None:
    extension = next((one for one in layout.extensions if file.name.casefold().endswith(one)), None)
    if extension is None:
        raise PhaseError(f"expected a file of {', '.join(layout.extensions)}, found {file.name}")
    path = place / layout.path(case.name, extension)
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, path)


def _draw(place: Path, field: Field, case: CaseForm, polygons: Mapping[int, Any]) -> None:
    """Write the mask of polygons by region; regions are listed from the inside out, the inner ones on top."""
    layout, kind, view = field.archive, field.kind, field.kind.regions
    assert isinstance(layout, Files)  # as the caller has found
    if not (view and view.value and view.dimensions == 2 and case.width and case.height):
        raise PhaseError(f"{field.title}: polygons need a mask of regions and the sizes of the images")
    masks, inside = [], np.zeros((1, case.height, case.width), bool)
    for region in range(len(view.names)):
        mask = np.zeros_like(inside)
        answer = polygons.get(region, {"polygons": []})
        for polygon in answer.get("polygons", [answer]):
            points = polygon.get("path_points")
            mask |= rasterised(points, case.width, case.height, _spacing_of(case))
        masks.append(Crop(mask & ~inside, (0, 0, 0)))
        inside |= mask
    extension = extension_of_masks(layout.extensions)
    image = kind.writable(view.value(masks, case), case)
    write_case_file(place, kind, layout, case.name, image, extension)


def _spacing_of(case: CaseForm) -> Lengths:
    """Return the size of a pixel in mm (x, y), 1 where the phase does not say it."""
    text = case.columns[_SPACING]
    try:
        x, y, *_ = map(float, text.split() or (1, 1))
        if min(x, y) > 0:
            return x, y
    except ValueError:
        pass
    raise PhaseError(f"cases.csv, {case.name}: expected lengths in mm as {_SPACING}, found {text!r}")


def rasterised(points: Any, width: int, height: int, spacing_mm: Lengths) -> NDArray[np.bool_]:
    """Return the pixels, shape (height, width), whose centres lie in a polygon.

    points: (x, y, …) in mm, the centre of the first pixel being (0, 0). Crossings are counted from the left
    (even-odd rule). Fewer than three points hold nothing. Raises `PhaseError` for points that are none.
    """
    try:
        corners = np.asarray([point[:2] for point in points], float).reshape(-1, 2) / spacing_mm
    except (TypeError, ValueError):
        raise PhaseError("path_points: expected a list of points") from None
    inside = np.zeros((height, width), bool)
    rows, columns = np.arange(height), np.arange(width)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        crossed = np.flatnonzero((y0 > rows) != (y1 > rows))
        crossings = x0 + (rows[crossed] - y0) * (x1 - x0) / (y1 - y0) if y0 != y1 else np.empty(0)
        inside[crossed] ^= columns < crossings[:, np.newaxis]
    return inside
