"""Two graders for every image, a new pair for each block of images.

The table of images is a csv file with the column "Eye ID" or "name"; the images keep their order. The table
of graders has the column "grader", and may have the column "passed", as `graders exam` writes it: who did
not pass gets no images. The table that is written has the columns "Eye ID", "Grader G1" and "Grader G2", as
in the graders' table of `fuse graders`, and "Block". Specialists are not among the graders: they only grade
images on which a pair disagrees.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from evaluation.challenges.justraigs.assignment import BLOCK, assign_pairs
from evaluation.challenges.justraigs.exam import NAME, PASSED
from evaluation.core.fault import PhaseError
from evaluation.io.tables import write_csv
from evaluation.phase.organiser_tables import organiser_table

_EYE, _GRADER = "Eye ID", "grader"
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")


def write_pairs(images: Path, graders: Path, output: Path, seed: int = 0, block: int = BLOCK) -> int:
    """Write the pair of graders of every image and return the number of blocks.

    Raises `PhaseError` with every fault of the tables, and for fewer than two graders.
    """
    problems: list[str] = []
    names, pool = [], []
    try:
        names = _images(images)
    except PhaseError as error:
        problems += error.problems
    try:
        pool = _graders(graders)
    except PhaseError as error:
        problems += error.problems
    if problems:
        raise PhaseError(*problems)
    assignments = assign_pairs(names, pool, seed, block)
    rows = ([one.image, *one.graders, str(one.block)] for one in assignments)
    write_csv(output, (_EYE, "Grader G1", "Grader G2", "Block"), rows)
    return assignments[-1].block


def _images(path: Path) -> list[str]:
    with organiser_table(path, (), (_EYE, NAME), holds="image", exported=True) as table:
        key = next((column for column in (_EYE, NAME) if column in table.columns), None)
        if key is None:
            raise PhaseError(f"{table.file}: expected a column {_EYE!r} or {NAME!r}, found none")
        names = [row.cells[key] for row in table.rows]
        _each_once(names, "image", table.file, table.faults)
    return names


def _graders(path: Path) -> list[str]:
    with organiser_table(path, (_GRADER,), (PASSED,), holds="grader", exported=True) as table:
        names = []
        for row in table.rows:
            passed = row.cells.get(PASSED, _YES[0])
            if passed.casefold() not in (*_YES, *_NO):
                row.fault(PASSED, f"expected True or False, found {passed!r}")
            if passed.casefold() in _YES:
                names.append(row.cells[_GRADER])
        _each_once(names, "grader", table.file, table.faults)
        if len(names) < 2:
            table.faults.append(f"{table.file}: expected two graders or more, found {len(names)}")
    return names


def _each_once(names: list[str], what: str, file: str, faults: list[str]) -> None:
    for name, count in Counter(names).items():
        if not name:
            faults.append(f"{file}: expected the name of every {what}, found {count} empty ones")
        elif count > 1:
            faults.append(f"{file}: duplicate {what} {name!r} ({count} rows)")
