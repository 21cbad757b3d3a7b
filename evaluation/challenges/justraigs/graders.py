"""The case table of a JustRAIGS phase from the organisers' files: graders' table and mapping of stacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from evaluation.challenges.justraigs.agreed_labels import final_label
from evaluation.challenges.justraigs.kinds import (
    FEATURE_COLUMNS,
    FINAL_COLUMN,
    LABEL_COLUMNS,
    AgreedFeatures,
    GradedEye,
)
from evaluation.challenges.justraigs.rules import FEATURES, NOT_REFERABLE, REFERABLE, UNGRADABLE
from evaluation.core.fault import PhaseError, ReadError
from evaluation.core.form import STACK_INDEX, STACK_NAME, name_key
from evaluation.io.buffer import ReadBuffer
from evaluation.io.json_files import parse_json
from evaluation.io.kinds.flags import Flags
from evaluation.io.tables import ColumnSpec, read_table, write_csv

GRADERS = ("G1", "G2", "G3")
ABBREVIATIONS = ("ANRS", "ANRI", "RNFLDS", "RNFLDI", "BCLVS", "BCLVI", "NVT", "DH", "LD", "LC")
"""How the graders' table names the features, in the order of `FEATURES`."""

MAIN_LABELS = (REFERABLE, NOT_REFERABLE, UNGRADABLE)
CASE_COLUMNS = (
    "name",
    STACK_NAME,
    STACK_INDEX,
    "cluster",
    "age",
    FINAL_COLUMN,
    *LABEL_COLUMNS,
    *FEATURE_COLUMNS,
)
_EYE, _FINAL, _FELLOW, _AGE = "Eye ID", "Final Label", "Fellow Eye ID", "Age"
_MARKS: Mapping[str, bool | None] = {"": None, "0": False, "1": True, "0.0": False, "1.0": True}
_KIND = AgreedFeatures(len(FEATURES), MAIN_LABELS, REFERABLE)
_LARGEST_FILE = 1 << 30
_MOST_ROWS = 1_000_000


@dataclass(frozen=True)
class Eye:
    """One row of the graders' table."""

    line: int
    name: str
    fellow: str
    age: str
    graded: GradedEye


@dataclass(frozen=True)
class StackEntry:
    """One image of the archive: the stack in which it lies, and where."""

    stack: str
    index: int
    eye: str


def write_case_table(graders: Path, mapping: Path, path: Path) -> int:
    """Write the case table of the eyes in a mapping and return their number.

    Raises `PhaseError` listing every fault of the two files: among them a final label that the graders'
    labels do not give, and a disagreement without a specialist.
    """
    eyes = read_graders(graders)
    rows = case_rows(eyes, read_mapping(mapping), graders.name)
    write_csv(path, CASE_COLUMNS, rows)
    return len(rows)


def read_graders(path: Path) -> list[Eye]:
    """Return the rows of a graders' table (comma, semicolon or tab). Raises `PhaseError` with every fault."""
    features = [f"{grader} {feature}" for grader in GRADERS for feature in ABBREVIATIONS]
    names = [_EYE, _FINAL, _FELLOW, _AGE, *(f"Label {grader}" for grader in GRADERS), *features]
    table = read_table(_read(path), [ColumnSpec(name) for name in names], most_rows=_MOST_ROWS)
    problems = [str(problem.fault(path.name)) for problem in table.problems]
    eyes = []
    for row in table.rows:
        name, final, fellow, age, *rest = row.cells
        labels = tuple(label.upper() for label in rest[:3])
        where = f"{path.name}, line {row.line}"
        problems += _label_problems(where, name, final.upper(), labels)
        marks = []
        for column, cell in zip(features, rest[3:], strict=True):
            if cell not in _MARKS:
                problems.append(f"{where}, {column}: expected 0, 1 or nothing, found {cell!r}")
            marks.append(_MARKS.get(cell))
        count = len(FEATURES)
        flags: tuple[Flags, ...] = tuple(tuple(marks[i : i + count]) for i in range(0, 3 * count, count))
        eyes.append(Eye(row.line, name, fellow, age, GradedEye(labels, flags)))
    if problems:
        raise PhaseError(*problems)
    return eyes


def _label_problems(where: str, name: str, final: str, labels: Sequence[str]) -> list[str]:
    problems = [] if name else [f"{where}, {_EYE}: expected the name of an eye, found nothing"]
    for position, label in enumerate(labels):
        if label not in MAIN_LABELS and (label or position < 2):
            expected = f"expected {', '.join(MAIN_LABELS)}, found {label!r}"
            problems.append(f"{where}, Label {GRADERS[position]}: {expected}")
    if problems:
        return problems
    given = final_label(*labels)
    if not given:
        return [f"{where}, Label G3: expected a specialist where G1 and G2 disagree, found nothing"]
    if final != given:
        return [f"{where}, {_FINAL}: expected {given} as the graders' labels give it, found {final!r}"]
    return []


def read_mapping(path: Path) -> list[StackEntry]:
    """Return the entries of `archive_item_to_content_mapping.json`. Raises `PhaseError` with every fault."""
    try:
        content = parse_json(_read(path))
    except ReadError as error:
        raise PhaseError(str(error.fault(path.name))) from None
    if not isinstance(content, list):
        raise PhaseError(f"{path.name}: expected a list of images, found something else")
    entries, problems = [], []
    for position, item in enumerate(content):
        keys = (STACK_NAME, STACK_INDEX, "image")
        stack, index, image = (item.get(key) if isinstance(item, dict) else None for key in keys)
        if (
            isinstance(stack, str)
            and isinstance(index, int)
            and not isinstance(index, bool)
            and isinstance(image, str)
        ):
            entries.append(StackEntry(stack, index, PurePosixPath(image).stem))
        else:
            problems.append(f"{path.name}[{position}]: expected {', '.join(keys)}, found {str(item)[:80]}")
    if problems:
        raise PhaseError(*problems)
    return entries


def case_rows(eyes: Sequence[Eye], entries: Sequence[StackEntry], file: str) -> list[list[str]]:
    """Return the rows of the case table, sorted by name: the eyes of the mapping, with persons as clusters.

    Eyes that the mapping does not name belong to another phase. Raises `PhaseError` listing every eye that
    is named twice, or not graded, or whose fellow eye has another fellow.
    """
    by_key = {name_key(eye.name): eye for eye in eyes}
    problems = _repeated((eye.name for eye in eyes), f"{file}: {{}} stands {{}} times")
    problems += _repeated((entry.eye for entry in entries), "mapping: {} stands {} times")
    missing = [entry.eye for entry in entries if name_key(entry.eye) not in by_key]
    problems += [
        f"{file}: expected a row for {name}, which the mapping names, found none" for name in missing
    ]
    for eye in eyes:
        other = by_key.get(name_key(eye.fellow)) if eye.fellow else None
        if other is not None and name_key(other.fellow) != name_key(eye.name):
            expected = f"expected {other.name} to have the fellow eye {eye.name}"
            problems.append(f"{file}, line {eye.line}: {expected}, found {other.fellow or 'none'}")
    if problems:
        raise PhaseError(*problems)
    chosen = sorted(
        ((entry, by_key[name_key(entry.eye)]) for entry in entries), key=lambda pair: pair[1].name
    )
    return [
        [
            eye.name,
            entry.stack,
            str(entry.index),
            min(eye.name, by_key[name_key(eye.fellow)].name) if name_key(eye.fellow) in by_key else "",
            eye.age,
            *_KIND.write_cells(eye.graded),
        ]
        for entry, eye in chosen
    ]


def _repeated(names: Iterable[str], message: str) -> list[str]:
    counts = Counter(map(name_key, names))
    return [message.format(name, count) for name, count in counts.items() if count > 1]


def _read(path: Path) -> memoryview:
    try:
        return ReadBuffer().read(path.parent, path.name, limit_bytes=_LARGEST_FILE)
    except ReadError as error:
        raise PhaseError(str(error.fault(str(path)))) from None
