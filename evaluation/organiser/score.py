"""Writes the phase that scores two folders of label maps or two tables, and the submission to it."""

import json
import math
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared.aliases import key_of_name, meant_by
from evaluation.challenges.declared.declarable import METRICS, metrics_for
from evaluation.core.fault import FaultKind, PhaseError, ReadError
from evaluation.core.form import name_key
from evaluation.core.formats import META_IMAGE, Dimensions, format_of_name
from evaluation.core.outcome import Progress
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.io.files import FileStream
from evaluation.io.kinds.label_map import LARGEST_LABEL, MOST_LABELS
from evaluation.io.metaimage import read_plane_geometry
from evaluation.io.pixels import values_in_words
from evaluation.io.tables import parse_number, write_csv
from evaluation.io.volumes import open_volume, read_numbers
from evaluation.organiser.case_files import table_from_files
from evaluation.phase.cases import columns_of, encoding_of, organiser_table
from evaluation.phase.config import name_from

_USUAL = {
    "label_map": ("dice", "hd95"),
    "scores": ("auc", "ap"),
    "decisions": ("sensitivity", "specificity", "f1", "accuracy"),
    "classes": ("accuracy", "balanced_accuracy", "macro_f1"),
    "numbers": ("mae", "rmse", "pearson_correlation"),
}
"""The metrics that are taken where none are asked for."""


@dataclass(frozen=True)
class ScoreChoices:
    """What a user asks for: two folders or tables, metrics, the names of labels, and how tables are read.

    names: by number. tolerance_mm: of surface Dice. key: the column of the cases. positive: the cell of the
    class that is looked for, of two. copied: whether the phase gets files of its own rather than links.
    """

    labels: Path
    predictions: Path
    metrics: tuple[str, ...] = ()
    names: Mapping[int, str] | None = None
    tolerance_mm: float = 1.0
    key: str | None = None
    positive: str | None = None
    copied: bool = False


def write_phase_of(
    choices: ScoreChoices, phase: Path, submission: Path, progress: Progress
) -> tuple[str, ...]:
    """Write the phase and the submission of two folders or two tables; return what does not match.

    Raises `PhaseError` for what cannot be scored.
    """
    labels, predictions = choices.labels, choices.predictions
    missing = [f"{path}: no such file or folder" for path in (labels, predictions) if not path.exists()]
    PhaseError.raise_all(missing)
    if labels.is_dir() != predictions.is_dir():
        raise PhaseError(f"expected two folders or two tables, found {labels} and {predictions}")
    phase.mkdir(parents=True, exist_ok=True)
    submission.mkdir(parents=True, exist_ok=True)
    if labels.is_dir():
        return _of_folders(choices, phase, submission, progress)
    return _of_tables(choices, phase, submission)


def _write_configuration(phase: Path, name: str, tables: Sequence[str]) -> None:
    head = f'name = "{name_from(name) or "labels"}"\nmissing = "worst"\n'
    (phase / "phase.toml").write_text("\n".join([head, *tables]), encoding="utf-8")


def _metric_lines(
    kind: str, usual: str, choices: ScoreChoices, field: str = "", labels: Sequence[str] = ()
) -> str:
    """Return the tables of a field's metrics; ``labels``: the only ones to score. Raises `PhaseError`."""
    lines, faults = [], []
    for asked in choices.metrics or _USUAL[usual]:
        found = meant_by(asked, kind)
        if not found:
            known = ", ".join(metrics_for(kind))
            faults.append(f"--metrics {asked}: expected a metric of {kind}, such as {known}")
            continue
        one = found[0]
        written = [f'metric = "{one.metric}"']
        if one.metric == "surface_dice":
            written.append(f"tolerance_mm = {choices.tolerance_mm:g}")
        elif one.keys:
            written.append(one.keys)
        if field:
            written.append(f"field = {_toml(field)}")
        table = METRICS.named(one.metric)
        if labels and table is not None and "labels" in table.model_fields:
            written.append(f"labels = {_toml(labels)}")
        lines.append(f"{key_of_name(asked)} = {{ {', '.join(written)} }}")
    PhaseError.raise_all(faults)
    return "\n".join(dict.fromkeys(lines)) + "\n"


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- Which predictions belong to which labels, by their names ---


@dataclass(frozen=True)
class _Pairs:
    """The cases of labels, and what predictions have for them; ``notes`` name what does not match."""

    labels: Mapping[str, str]
    predictions: Mapping[str, str]
    notes: tuple[str, ...]


def _pairs_of(labels: Sequence[str], predictions: Sequence[str]) -> _Pairs:
    """Return labels and predictions by the names of the cases, which are those of the labels.

    Names are compared without the extension of a file and in any letter case. Raises `PhaseError` for names
    that occur twice, and where none match.
    """
    of_labels, of_predictions = _by_key(labels, "labels"), _by_key(predictions, "predictions")
    if not of_labels.keys() & of_predictions.keys():
        found = f"{values_in_words(labels) or 'none'} and {values_in_words(predictions) or 'none'}"
        raise PhaseError(f"expected labels and predictions of the same names, found {found}")
    missing = [name for key, name in of_labels.items() if key not in of_predictions]
    unknown = [name for key, name in of_predictions.items() if key not in of_labels]
    notes = []
    if missing:
        notes.append(f"without a prediction, counted as worst: {values_in_words(missing)}")
    if unknown:
        notes.append(f"without a label, left out: {values_in_words(unknown)}")
    cases = {key: name[: len(name_key(name))] for key, name in of_labels.items()}
    return _Pairs(
        {case: of_labels[key] for key, case in cases.items()},
        {case: of_predictions[key] for key, case in cases.items() if key in of_predictions},
        tuple(notes),
    )


def _by_key(names: Iterable[str], of: str) -> dict[str, str]:
    found: dict[str, list[str]] = defaultdict(list)
    for name in names:
        found[name_key(name)].append(name)
    PhaseError.raise_all(
        [f"{of}: expected every name once, found {', '.join(same)}" for same in found.values() if same[1:]]
    )
    return {key: name for key, (name,) in found.items()}


def _images_in(folder: Path) -> list[str]:
    """Return the names of the images and volumes in a folder, sorted. Raises `PhaseError` for none."""
    names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    images = [name for name in names if (row := format_of_name(name)) is not None and row.dimensions]
    if not images:
        found = values_in_words(names) or "nothing"
        raise PhaseError(f"{folder}: expected images or volumes, found {found}")
    return images


def _place(source: Path, target: Path, *, copied: bool) -> None:
    """Make a file appear in another folder, as a link where it need not be ``copied`` and can be one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not copied:
        with suppress(OSError):  # another file system, or one without links
            os.link(source.resolve(), target)
            return
    shutil.copyfile(source, target)


# --- Folders of label maps and masks ---

_FIELD, _LABELS = "segmentation", "labels"
_MOST_BYTES = 1 << 40


def _of_folders(choices: ScoreChoices, phase: Path, submission: Path, progress: Progress) -> tuple[str, ...]:
    labels, predictions = choices.labels, choices.predictions
    pairs = _pairs_of(_images_in(labels), _images_in(predictions))
    dimensions = {_dimensions(labels, name) for name in pairs.labels.values()}
    if len(dimensions) > 1:
        raise PhaseError(f"{labels}: expected images or volumes, found both")
    (axes,) = dimensions
    numbers: dict[Path, set[int]] = {labels: set(), predictions: set()}
    faults: list[str] = []
    files = [(labels, file) for file in pairs.labels.values()]
    files += [(predictions, file) for file in pairs.predictions.values()]
    for done, (folder, file) in enumerate(files, start=1):
        try:
            numbers[folder] |= _numbers_in(folder, file, axes)
        except ReadError as error:
            faults.append(str(error.fault(str(folder / file))))
        progress(done)
    PhaseError.raise_all(faults)
    true, predicted = numbers[labels] - {0}, numbers[predictions] - {0}
    if not true:
        raise PhaseError(f"{labels}: expected label maps, found 0 in every pixel")
    known = sorted(true | predicted)
    if len(known) > MOST_LABELS or known[0] < 0 or known[-1] > LARGEST_LABEL:
        expected = f"at most {MOST_LABELS} labels from 0 to {LARGEST_LABEL}"
        raise PhaseError(
            f"{labels}: expected {expected}, found {values_in_words(known)}; see kind instance_map"
        )
    notes = list(pairs.notes)
    unnamed = "label {}" if len(known) > 1 else "foreground"
    named = {number: (choices.names or {}).get(number, unnamed.format(number)) for number in known}
    others = [named[number] for number in known if number not in true]
    if others:
        notes.append(f"in predictions alone, not scored: {', '.join(others)}")
    scored = [named[number] for number in known if number in true]
    listed = ", ".join(f"{number} = {_toml(name)}" for number, name in named.items())
    field = f'[fields.{_FIELD}]\nkind = "label_map"\ndimensions = {axes}\nlabels = {{ {listed} }}\n'
    field += f'reference_folder = "{_LABELS}"\n{_extensions(pairs.labels, pairs.predictions)}'
    metrics = _metric_lines("label_map", "label_map", choices, labels=scored if others else ())
    _write_configuration(phase, labels.resolve().name, [field, f"[tasks.{_FIELD}.metrics]\n{metrics}"])
    for case, file in pairs.labels.items():
        _place(labels / file, phase / _LABELS / f"{case}{_extension(file)}", copied=choices.copied)
    for case, file in pairs.predictions.items():
        _place(predictions / file, submission / _FIELD / f"{case}{_extension(file)}", copied=False)
    table = table_from_files(phase)
    PhaseError.raise_all(table.differing)
    table.write()
    return tuple(notes)


def _extension(file: str) -> str:
    row = format_of_name(file)
    assert row is not None
    return next(one for one in row.extensions if file.lower().endswith(one))


def _extensions(*of: Mapping[str, str]) -> str:
    """Return the key of the extensions, where files have one that is read on request alone."""
    rows = {format_of_name(file) for files in of for file in files.values()}
    if not any(row is not None and row.on_request for row in rows):
        return ""
    listed = dict.fromkeys(_extension(file) for files in of for file in files.values())
    return f"extensions = {_toml(list(listed))}\n"


def _dimensions(folder: Path, file: str) -> Dimensions:
    """Return whether a file is an image or a volume. Raises `PhaseError`."""
    row = format_of_name(file)
    assert row is not None
    if len(row.dimensions) == 1:
        return row.dimensions[0]
    if row is META_IMAGE:
        with suppress(ReadError), FileStream(str(folder), file, _MOST_BYTES) as stream:
            read_plane_geometry(stream, (folder / file).stat().st_size)
            return 2
        return 3
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(folder / file) as image:
            return 3 if getattr(image, "n_frames", 1) > 1 else 2
    except UnidentifiedImageError:
        raise PhaseError(f"{folder / file}: expected {row.name}, found other content") from None


def _numbers_in(folder: Path, file: str, axes: Dimensions) -> set[int]:
    """Return the numbers in a label map. Raises `ReadError`, also for numbers that are not whole."""
    if axes == 2:
        return _whole(read_numbers(memoryview((folder / file).read_bytes()), file, None))
    found: set[int] = set()
    with FileStream(str(folder), file, _MOST_BYTES) as stream:
        for plane in open_volume(stream, file).planes():
            found |= _whole(plane.crop.values)
    return found


def _whole(values: NDArray[Any]) -> set[int]:
    distinct = np.unique(values)
    bad = distinct[~(distinct % 1 == 0)]
    if bad.size:
        hint = "probabilities? Label maps and masks are scored here"
        raise ReadError(FaultKind.WRONG_VALUE, "whole numbers", f"{bad[0]:g}", hint=hint)
    return set(map(int, distinct.tolist()))


# --- Two tables, column by column ---

_KEYS = ("case", "name", "id", "image", "image_id", "case_id", "filename", "file")
_YES = {"1", "true", "yes", "positive", "present", "1.0"}
_MOST_CLASSES = 20


@dataclass(frozen=True)
class _Table:
    """The columns of a table by name, and the names of the cases, row by row."""

    cases: list[str]
    columns: Mapping[str, list[str]]


def _of_tables(choices: ScoreChoices, phase: Path, submission: Path) -> tuple[str, ...]:
    paths = choices.labels, choices.predictions
    shared = [[column for column in columns_of(path, encoding_of(path)) if column] for path in paths]
    key = _key_of(shared, choices.key)
    true, made = (_read(path, key, columns) for path, columns in zip(paths, shared, strict=True))
    pairs = _pairs_of(true.cases, made.cases)
    scored = _columns(true, made)
    rows = {name: number for number, name in enumerate(true.cases)}
    of_made = {name: number for number, name in enumerate(made.cases)}
    tables: list[str] = []
    faults: list[str] = []
    for column, other in scored:
        name = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_") or "value"
        name = name if name[:1].isalpha() else f"column_{name}"
        cells = [made.columns[other][of_made[file]] for file in pairs.predictions.values()]
        try:
            kind, usual, keys = _kind_of(column, true.columns[column], cells, choices.positive)
        except PhaseError as error:
            faults += error.problems
            continue
        lines = [f"{of} = {_toml(value)}" for of, value in keys.items()]
        places = f"column = {_toml(other)}\nreference_column = {_toml(column)}"
        tables.append(f'[fields.{name}]\nkind = "{kind}"\n{places}\n' + "\n".join(lines) + "\n")
        metrics = _metric_lines(kind, usual, choices, name if scored[1:] else "")
        tables.append(f"[tasks.{name}.metrics]\n{metrics}")
    PhaseError.raise_all(faults)
    _write_configuration(phase, choices.labels.stem, tables)
    kept = [*(column for column, _ in scored), *([CLUSTER_COLUMN] if CLUSTER_COLUMN in true.columns else [])]
    write_csv(
        phase / "cases.csv",
        ["name", *kept],
        [[case, *(true.columns[one][rows[file]] for one in kept)] for case, file in pairs.labels.items()],
    )
    others = [other for _, other in scored]
    write_csv(
        submission / "predictions.csv",
        ["case", *others],
        [
            [case, *(made.columns[one][of_made[file]] for one in others)]
            for case, file in pairs.predictions.items()
        ],
    )
    return pairs.notes


def _key_of(columns: Sequence[Sequence[str]], asked: str | None) -> str:
    """Return the column that names the cases in both tables. Raises `PhaseError`."""
    common = [one for one in columns[0] if one.casefold() in {other.casefold() for other in columns[1]}]
    wanted = _KEYS if asked is None else (asked.casefold(),)
    found = next((one for name in wanted for one in common if one.casefold() == name), None)
    if found is None:
        expected = " or ".join(wanted)
        raise PhaseError(
            f"expected the names of the cases in a column {expected} of both tables, found in common "
            f"{', '.join(common) or 'none'}; --key COLUMN names it"
        )
    return found


def _read(path: Path, key: str, columns: Sequence[str]) -> _Table:
    with organiser_table(path, (key,), encoding=encoding_of(path)) as table:
        rows = [row.cells for row in table.rows]
    others = (one for one in columns if one.casefold() != key.casefold())
    return _Table([row[key] for row in rows], {one: [row[one] for row in rows] for one in others})


def _columns(true: _Table, made: _Table) -> list[tuple[str, str]]:
    """Return the columns that are compared: of one name, or the only one of each table."""
    # The case table has its own columns of these names.
    names = {name.casefold(): name for name in made.columns if name.casefold() != "name"}
    pairs = [
        (name, names[name.casefold()])
        for name in true.columns
        if name.casefold() in names and name != CLUSTER_COLUMN
    ]
    alone = [name for name in true.columns if name != CLUSTER_COLUMN]
    if not pairs and len(alone) == len(made.columns) == 1:
        return [(alone[0], next(iter(made.columns)))]
    if not pairs:
        found = f"{', '.join(true.columns) or 'none'} and {', '.join(made.columns) or 'none'}"
        raise PhaseError(f"expected columns of the same name in both tables, found {found}")
    return pairs


def _kind_of(
    column: str, true: Sequence[str], made: Sequence[str], positive: str | None
) -> tuple[str, str, dict[str, object]]:
    """Return the kind of a column, which metrics are usual for it, and the keys of its field.

    Two values in the labels and other numbers in the predictions are classes and scores; few values that the
    predictions have too are classes; all other numbers are compared as such. Raises `PhaseError`.
    """
    cells = sorted(set(true) - {""}, key=lambda cell: (_number(cell) is None, _number(cell) or 0, cell))
    numbers, predicted = [_number(cell) for cell in cells], [_number(cell) for cell in made if cell]
    are_numbers = None not in numbers and None not in predicted
    is_covered = {cell for cell in made if cell} <= set(cells)
    if len(cells) == 2 and None not in predicted and not is_covered:
        yes = positive or next((cell for cell in cells if cell.casefold() in _YES), None)
        if yes not in cells:
            raise PhaseError(
                f"{column}: --positive CELL: expected {' or '.join(cells)}, found {yes or 'none'}"
            )
        no = [cell for cell in cells if cell != yes]
        bounds = (
            {"minimum": 0, "maximum": 1} if all(0 <= one <= 1 for one in predicted if one is not None) else {}
        )
        return "number", "scores", {**bounds, "positive": [yes], "negative": no}
    if is_covered and 1 < len(cells) <= _MOST_CLASSES and not (are_numbers and _are_measured(numbers)):
        if positive in cells and len(cells) == 2:
            cells = [cell for cell in cells if cell != positive] + [positive]
        return "class", "decisions" if len(cells) == 2 else "classes", {"classes": cells}
    if are_numbers:
        values = [one for one in (*numbers, *predicted) if one is not None]
        return "number", "numbers", {"minimum": min(values), "maximum": max(values)}
    unknown = [cell for cell in made if cell and cell not in cells] or cells
    expected = f"numbers, or classes of the labels ({values_in_words(cells)})"
    raise PhaseError(f"{column}: expected {expected}, found {values_in_words(sorted(set(unknown)))}")


def _are_measured(numbers: Sequence[float | None]) -> bool:
    return any(one is not None and one % 1 for one in numbers)


def _number(cell: str) -> float | None:
    with suppress(ReadError):
        value = parse_number(cell)
        return value if math.isfinite(value) else None
    return None
