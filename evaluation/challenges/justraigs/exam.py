"""The entry exam of graders: their answers on images with known labels, against limits.

The table of answers is a csv file (comma, semicolon or tab) with the columns

    name          an image
    final_label   its label: RG, NRG or U
    ...           one column for each candidate, with the answers RG, NRG or U; the heading is the name

An empty answer is wrong, as is U for a gradable image. Images whose label is U do not count. By default,
candidates with a sensitivity of at least 85 % and a specificity of at least 92 % pass: the lowest of those
who passed the exam of the challenge (design document, annotation of the test cases, c).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from evaluation.challenges.justraigs.grader_figures import COLUMNS, row_of
from evaluation.challenges.justraigs.graders import MAIN_LABELS
from evaluation.challenges.justraigs.grading import (
    ENTRY_EXAM,
    GraderFigures,
    GraderLimits,
    Grading,
    figures_of,
)
from evaluation.challenges.justraigs.kinds import FINAL_COLUMN
from evaluation.challenges.justraigs.rules import NOT_REFERABLE, REFERABLE
from evaluation.phase.organiser_tables import organiser_table
from evaluation.phase.output import write_rows

NAME, PASSED = "name", "passed"


@dataclass(frozen=True)
class Candidate:
    """The figures of one candidate, and whether they reach the limits."""

    figures: GraderFigures
    passed: bool


def hold_exam(table: Path, limits: GraderLimits = ENTRY_EXAM) -> list[Candidate]:
    """Return the result of every candidate in a table of answers, sorted by name.

    Raises `PhaseError` with every fault, such as an unknown label, a repeated image, a table without a
    candidate, or one without an image of each class.
    """
    gradings = []
    with organiser_table(table, (NAME, FINAL_COLUMN), holds="image", exported=True) as answers:
        candidates = [column for column in answers.columns if column and column not in (NAME, FINAL_COLUMN)]
        if not candidates:
            answers.faults.append(f"{answers.file}: expected a column for each candidate, found none")
        for row in answers.rows:
            final = row.cells[FINAL_COLUMN].upper()
            if final not in MAIN_LABELS:
                row.fault(FINAL_COLUMN, f"expected {', '.join(MAIN_LABELS)}, found {final!r}")
            for candidate in candidates:
                answer = row.cells[candidate].upper()
                if answer and answer not in MAIN_LABELS:
                    row.fault(candidate, f"expected {', '.join(MAIN_LABELS)} or nothing, found {answer!r}")
                gradings.append(Grading(row.cells[NAME], candidate, answer, final))
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
    return [Candidate(figures, not figures.is_below(limits)) for figures in figures_of(gradings)]


def write_results(path: Path, candidates: list[Candidate]) -> None:
    """Write a row for every candidate: sensitivity and specificity with intervals, and who passed."""
    write_rows(path, (*COLUMNS, PASSED), ((*row_of(one.figures), one.passed) for one in candidates))
