"""A JustRAIGS phase from the graders' table, and the report on the graders.

The table has the organisers' columns, and may say in columns "Grader G1" and so on who G1, G2 and G3
were; without them these three count as graders. The report:

    report.json, graders.csv   sensitivity and specificity of every grader against the final label
    regrade.csv                all images of the graders below a limit
    agreement.csv              kappas of the two first graders, by label
    labels.csv                 final label and agreed features of every eye
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from evaluation.challenges.justraigs.graders import (
    CASE_COLUMNS,
    GRADERS,
    case_rows,
    read_graders,
    read_mapping,
)
from evaluation.challenges.justraigs.grading import (
    LOWEST_SENSITIVITY,
    LOWEST_SPECIFICITY,
    AgreedEye,
    GraderFigures,
    agreed_eye,
    agreement_of,
    figures_of,
    gradings_of,
    to_regrade,
)
from evaluation.challenges.justraigs.rules import CHALLENGE, FEATURES, JustraigsOptions
from evaluation.core.fault import FaultKind, PhaseError, ReadError
from evaluation.io.buffer import ReadBuffer
from evaluation.io.tables import ColumnSpec, read_table, write_csv
from evaluation.metrics.intervals import wilson_interval
from evaluation.phase.cases import FILE_NAME as CASES
from evaluation.phase.config import FILE_NAME
from evaluation.phase.draft import read_configuration
from evaluation.phase.output import whole_folder, write_report, write_rows

_LARGEST_FILE = 1 << 30
_MOST_ROWS = 1_000_000
_OF_GRADER = (
    "grader",
    "eyes",
    "referable",
    "sensitivity",
    "sensitivity_lower",
    "sensitivity_upper",
    "not_referable",
    "specificity",
    "specificity_lower",
    "specificity_upper",
    "flagged",
)


def fuse_graders(graders: Path, mapping: Path, configuration: Path, output: Path, report: Path) -> None:
    """Write a phase folder, ready to seal, and a report on the labels and those who gave them.

    graders: the graders' table; it may name who each of G1, G2 and G3 was in columns "Grader G1" and so on.
    mapping: the archive's mapping of stacks. configuration: the `phase.toml` of the phase. Raises
    `PhaseError` with every fault.
    """
    if configuration.name != FILE_NAME:
        raise PhaseError(f"{configuration}: expected a {FILE_NAME}")
    options = read_configuration(configuration.parent, only=CHALLENGE.name).options
    assert isinstance(options, JustraigsOptions)
    eyes = read_graders(graders)
    identities = _read_identities(graders, len(eyes))
    with whole_folder(output) as phase:
        (phase / FILE_NAME).write_bytes(configuration.read_bytes())
        write_csv(phase / CASES, CASE_COLUMNS, case_rows(eyes, read_mapping(mapping), graders.name))
    agreed = [agreed_eye(eye, options.specialist_alone) for eye in eyes]
    gradings = gradings_of(eyes, identities)
    figures = figures_of(gradings)
    again = to_regrade(gradings, figures)
    agreement = agreement_of(eyes)
    rows = [_row(of_grader) for of_grader in figures]
    write_rows(report / "graders.csv", _OF_GRADER, rows)
    write_rows(
        report / "regrade.csv",
        ("name", "grader", "label", "final_label"),
        ((grading.eye, grading.grader, grading.label, grading.final) for grading in again),
    )
    write_rows(
        report / "agreement.csv",
        ("label", "measure", "grader_1", "grader_2", "eyes", "value"),
        ((a.field, a.measure, a.first, a.second, a.cases, a.value) for a in agreement),
    )
    write_rows(
        report / "labels.csv",
        ("name", "final_label", "decided_by", *FEATURES),
        ((eye.name, eye.final, eye.decided_by, *_marks(eye)) for eye in agreed),
    )
    write_report(
        report / "report.json",
        {
            "eyes": len(eyes),
            "final_labels": dict(sorted(Counter(eye.final for eye in agreed).items())),
            "decided_by": dict(sorted(Counter(eye.decided_by for eye in agreed).items())),
            "without_agreed_label": sum(
                eye.features is not None and not any(flag is not None for flag in eye.features)
                for eye in agreed
            ),
            "limits": {
                "sensitivity": float(LOWEST_SENSITIVITY),
                "specificity": float(LOWEST_SPECIFICITY),
            },
            "graders": [dict(zip(_OF_GRADER, row, strict=True)) for row in rows],
            "images_to_regrade": len({grading.eye for grading in again}),
            "agreement": [asdict(found) for found in agreement],
        },
    )


def _row(of_grader: GraderFigures) -> tuple[object, ...]:
    return (
        of_grader.grader,
        of_grader.eyes,
        of_grader.referable,
        *_proportion(of_grader.found, of_grader.referable),
        of_grader.not_referable,
        *_proportion(of_grader.cleared, of_grader.not_referable),
        of_grader.flagged,
    )


def _proportion(part: int, whole: int) -> tuple[float, float, float]:
    """Return a share with its Wilson interval; NaN where there is nothing to have a share of."""
    if not whole:
        return (math.nan,) * 3
    interval = wilson_interval(part, whole)
    return part / whole, interval.lower, interval.upper


def _marks(eye: AgreedEye) -> list[object]:
    flags = eye.features or (None,) * len(FEATURES)
    return [None if flag is None else int(flag) for flag in flags]


def _read_identities(path: Path, eyes: int) -> list[tuple[str, ...]] | None:
    """Return who graded every eye, None where the table does not say. Raises `PhaseError`."""
    columns = [ColumnSpec(f"Grader {grader}") for grader in GRADERS]
    try:
        data = ReadBuffer().read(path.parent, path.name, limit_bytes=_LARGEST_FILE)
    except ReadError as error:
        raise PhaseError(str(error.fault(str(path)))) from None
    table = read_table(data, [ColumnSpec("Eye ID"), *columns], most_rows=_MOST_ROWS)
    absent = [problem for problem in table.problems if problem.kind is FaultKind.MISSING]
    if len(absent) == len(columns):
        return None
    if table.problems:
        raise PhaseError(*(str(problem.fault(path.name)) for problem in table.problems))
    if len(table.rows) != eyes:
        raise PhaseError(f"{path.name}: expected {eyes} eyes, found {len(table.rows)}")
    return [row.cells[1:] for row in table.rows]
