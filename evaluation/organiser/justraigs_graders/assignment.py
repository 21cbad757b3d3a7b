"""The entry exam of JustRAIGS' graders, and who grades which images."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.challenges.justraigs.kinds import FINAL_COLUMN
from evaluation.challenges.justraigs.rules import NOT_REFERABLE, REFERABLE
from evaluation.core.fault import PhaseError
from evaluation.io.tables import write_csv
from evaluation.organiser import justraigs_tables as tables
from evaluation.organiser.justraigs_graders import grading
from evaluation.organiser.justraigs_tables import BLOCK, assign_pairs, blocks
from evaluation.organiser.output import write_rows
from evaluation.phase.cases import organiser_table

# --- Assignment of graders to images of JustRAIGS: pairs by blocks, and replacements of removed graders ---


@dataclass(frozen=True, slots=True)
class Regrading:
    """One grading to repeat: the former grader, the label, and the new grader.

    ``role`` is the grader's position in the eye, from 0 on. ``new_grader`` is empty if nobody is left.
    """

    eye: str
    role: int
    grader: str
    label: str
    final: str
    new_grader: str


def redistribute(
    eyes: Sequence[tables.Eye], removed: Collection[str], seed: int = 0, block: int = BLOCK
) -> list[Regrading]:
    """Return the gradings of removed graders with their new graders, sorted by eye and role.

    First graders follow first graders, and specialists follow specialists; nobody grades an eye twice. Eyes
    with the same graders who stay are dealt out in blocks, with one draw of new graders each. Raises
    ValueError for a block below 1.
    """
    pools = [_pool(eyes, (0, 1), removed), _pool(eyes, (grading.SPECIALIST,), removed)]
    groups: dict[tuple[tuple[int, ...], tuple[str, ...]], list[tables.Eye]] = defaultdict(list)
    for eye in sorted(eyes, key=lambda eye: eye.name):
        roles = tuple(role for role in eye.roles if eye.graders[role] in removed)
        if roles:
            others = sorted(eye.graders[role] for role in eye.roles if role not in roles)
            groups[roles, tuple(others)].append(eye)
    rng = np.random.Generator(np.random.PCG64(seed))
    found = []
    for (roles, staying), members in sorted(groups.items(), key=lambda item: item[0]):
        for part in blocks(members, block):
            taken = set(staying)
            for role in roles:
                candidates = [name for name in pools[role == grading.SPECIALIST] if name not in taken]
                chosen = candidates[int(rng.integers(len(candidates)))] if candidates else ""
                taken.add(chosen)
                for eye in part:
                    of_role = eye.graders[role], eye.graded.labels[role]
                    found.append(Regrading(eye.name, role, *of_role, eye.final, chosen))
    return sorted(found, key=lambda regrading: (regrading.eye, regrading.role))


def _pool(eyes: Sequence[tables.Eye], roles: Collection[int], removed: Collection[str]) -> list[str]:
    """Return the graders who have one of the roles in any eye and stay, sorted."""
    return sorted({eye.graders[role] for eye in eyes for role in eye.roles if role in roles} - set(removed))


# --- The entry exam of graders: their answers on images with known labels, against limits ---

NAME, PASSED = "name", "passed"


def hold_exam(table: Path) -> list[grading.GraderFigures]:
    """Return the figures of every candidate in a table of answers, sorted by name.

    The columns (comma, semicolon or tab): "name" of an image, its label "final_label", and one for each
    candidate, with the answers RG, NRG or U. An empty answer is wrong, as is U for a gradable image; images
    whose label is U do not count. Raises `PhaseError` with every fault, such as an unknown label, a repeated
    image, a table without a candidate, or one without an image of each class.
    """
    gradings, known = [], ", ".join(tables.MAIN_LABELS)
    with organiser_table(table, (NAME, FINAL_COLUMN), holds="image") as answers:
        candidates = [column for column in answers.columns if column and column not in (NAME, FINAL_COLUMN)]
        if not candidates:
            answers.faults.append(f"{answers.file}: expected a column for each candidate, found none")
        for row in answers.rows:
            final = row.cells[FINAL_COLUMN].upper()
            if final not in tables.MAIN_LABELS:
                row.fault(FINAL_COLUMN, f"expected {known}, found {row.cells[FINAL_COLUMN]!r}")
            for candidate in candidates:
                answer = row.cells[candidate].upper()
                if answer and answer not in tables.MAIN_LABELS:
                    row.fault(candidate, f"expected {known} or nothing, found {row.cells[candidate]!r}")
                gradings.append(grading.Grading(candidate, answer, final))
        for name, count in Counter(row.cells[NAME] for row in answers.rows).items():
            if count > 1 or not name:
                answers.faults.append(
                    f"{answers.file}: expected one row for each image, found {count} of {name!r}"
                )
        found = {row.cells[FINAL_COLUMN].upper() for row in answers.rows}
        answers.faults.extend(
            f"{answers.file}, {FINAL_COLUMN}: expected at least one {label}, found none"
            for label in (REFERABLE, NOT_REFERABLE)
            if label not in found
        )
    return grading.figures_of(gradings)


def write_results(
    path: Path, found: Sequence[grading.GraderFigures], limits: grading.GraderLimits = grading.ENTRY_EXAM
) -> None:
    """Write a row for every candidate: sensitivity and specificity with intervals, and who passed.

    The default limits are the lowest figures of those who passed the challenge's exam (design document,
    annotation of the test cases, c).
    """
    rows = ((*grading.row_of(one), not one.is_below(limits)) for one in found)
    write_rows(path, (*grading.COLUMNS, PASSED), rows)


# --- Two graders for every image, a new pair for each block of images ---

_EYE, _GRADER = "Eye ID", "grader"
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")


def write_pairs(images: Path, graders: Path, output: Path, seed: int = 0, block: int = BLOCK) -> int:
    """Write the pair of graders of every image and return the number of blocks.

    The images have the column "Eye ID" or "name" and keep their order. The graders have the column "grader";
    who is not "passed", as `graders exam` writes it, gets no images. Specialists are not among them: they
    only grade images on which a pair disagrees. The table that is written has the columns "Eye ID", "Grader
    G1" and "Grader G2", as in the graders' table of `fuse graders`, and "Block". Raises `PhaseError` with
    every fault of the tables, and for fewer than two graders.
    """
    problems: list[str] = []
    found: list[list[str]] = []
    for read, path in ((_images, images), (_graders, graders)):
        try:
            found.append(read(path))
        except PhaseError as error:
            problems += error.problems
    PhaseError.raise_all(problems)
    names, pool = found
    assignments = assign_pairs(names, pool, seed, block)
    rows = ([one.image, *one.graders, str(one.block)] for one in assignments)
    write_csv(output, (_EYE, "Grader G1", "Grader G2", "Block"), rows)
    return assignments[-1].block


def _images(path: Path) -> list[str]:
    with organiser_table(path, (), (_EYE, NAME), holds="image") as table:
        key = next((column for column in (_EYE, NAME) if column in table.columns), None)
        if key is None:
            raise PhaseError(f"{table.file}: expected a column {_EYE!r} or {NAME!r}, found none")
        names = [row.cells[key] for row in table.rows]
        _each_once(names, "image", table.file, table.faults)
    return names


def _graders(path: Path) -> list[str]:
    with organiser_table(path, (_GRADER,), (PASSED,), holds="grader") as table:
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
