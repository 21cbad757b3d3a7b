"""`fuse graders`: the reference of JustRAIGS from the labels of its graders, and a report on them."""

import argparse
from collections import Counter
from pathlib import Path

from evaluation.challenges.justraigs.rules import CHALLENGE, FEATURES, JustraigsOptions
from evaluation.cli.common import share
from evaluation.core.fault import PhaseError
from evaluation.organiser.cli.shared import Parts, add_fused, report_folder
from evaluation.organiser.justraigs_graders import grading, tables
from evaluation.organiser.output import whole_folder, write_report, write_rows
from evaluation.phase.cases import FILE_NAME as CASES
from evaluation.phase.config import FILE_NAME
from evaluation.phase.registry import read_configuration

_OF_GRADER = (*grading.COLUMNS, "self_decided", "flagged")


def add_part(parts: Parts) -> None:
    """Declare the part of `fuse` with its arguments."""
    parser = add_fused(parts, __package__, "graders", "labels of two graders and a specialist (JustRAIGS)")
    parser.set_defaults(fuse=_fuse)
    add = parser.add_argument
    add("table", type=Path, metavar="GRADERS_CSV", help="the graders' table")
    add(
        "--mapping",
        type=Path,
        metavar="JSON",
        help="mapping of the archive's stacks; a phase of predictions without it has all eyes of the table",
    )
    words = "the configuration of the phase, under any name"
    add("--phase", type=Path, required=True, metavar="FILE", help=words)
    add("--output", type=Path, required=True, metavar="FOLDER", help="the phase folder to write")
    words = "where to write the report (default: OUTPUT-report)"
    add("--report", type=Path, metavar="FOLDER", help=words)
    for name in ("sensitivity", "specificity"):
        add(
            f"--min-{name}",
            type=share,
            default=f"{float(getattr(grading.MONITORING, name)):g}",
            metavar="SHARE",
            help=f"lowest {name} of a grader, from 0 to 1 (default: %(default)s)",
        )


def _fuse(arguments: argparse.Namespace) -> list[Path]:
    report = report_folder(arguments)
    fuse_graders(
        arguments.table,
        arguments.mapping,
        arguments.phase,
        arguments.output,
        report,
        grading.GraderLimits(arguments.min_sensitivity, arguments.min_specificity),
    )
    return [arguments.output, report]


def fuse_graders(
    graders: Path,
    mapping: Path | None,
    configuration: Path,
    output: Path,
    report: Path,
    limits: grading.GraderLimits = grading.MONITORING,
) -> None:
    """Write a phase folder, ready to seal, and a report on the labels and the graders.

    graders: the graders' table. mapping: the archive's mapping of stacks; None for all eyes of the table, in
    a phase whose submissions are archives. configuration: the configuration of the phase, under any file
    name. limits: graders below them leave, and their images are graded again. Raises `PhaseError` with every
    fault.
    """
    given = read_configuration(configuration.parent, only=CHALLENGE.name, file=configuration.name)
    options = given.options
    assert isinstance(options, JustraigsOptions)
    if mapping is None and given.config.submission == "algorithm":
        raise PhaseError('--mapping: expected the mapping of stacks for submission = "algorithm", found none')
    eyes = tables.read_graders(graders)
    with whole_folder(output) as phase:
        (phase / FILE_NAME).write_bytes(configuration.read_bytes())
        tables.write_case_table(phase / CASES, eyes, mapping, graders.name)
    agreed = [eye.agreed_features(options.specialist_alone) for eye in eyes]
    figures = grading.figures_of(eyes)
    flagged = {of_grader.grader for of_grader in figures if of_grader.is_below(limits)}
    again = [
        (eye.name, tables.GRADERS[role], eye.graders[role], eye.graded.labels[role], eye.final)
        for eye in sorted(eyes, key=lambda eye: eye.name)
        for role in eye.roles
        if eye.graders[role] in flagged
    ]
    rows = (
        (*grading.row_of(of_grader), of_grader.self_decided, of_grader.grader in flagged)
        for of_grader in figures
    )
    of_graders = write_rows(report / "graders.csv", _OF_GRADER, rows)
    write_rows(report / "regrade.csv", ("name", "role", "grader", "label", "final_label"), again)
    nothing = [None] * len(FEATURES)
    marks = ([flag if flag is None else int(flag) for flag in flags or nothing] for flags in agreed)
    labels = ((eye.name, eye.final, eye.decided_by, *given) for eye, given in zip(eyes, marks, strict=True))
    write_rows(report / "labels.csv", ("name", "final_label", "decided_by", *FEATURES), labels)
    # The design has no specialist where both first graders agree.
    unexpected = [eye for eye in eyes if eye.graded.labels[2] and len({*eye.graded.labels[:2]}) == 1]
    columns_of_labels = (f"label_{grader.lower()}" for grader in tables.GRADERS)
    unexplained = ((eye.name, eye.line, *eye.graded.labels) for eye in unexpected)
    write_rows(report / "unexpected.csv", ("name", "line", *columns_of_labels), unexplained)
    write_report(
        report / "report.json",
        {
            "eyes": len(eyes),
            "final_labels": dict(sorted(Counter(eye.final for eye in eyes).items())),
            "decided_by": dict(sorted(Counter(eye.decided_by for eye in eyes).items())),
            "without_agreed_label": sum(flags is not None and set(flags) == {None} for flags in agreed),
            "specialist_although_graders_agree": len(unexpected),
            "limits": {"sensitivity": float(limits.sensitivity), "specificity": float(limits.specificity)},
            "graders": of_graders,
            "scored_on_own_decisions": [one.grader for one in figures if one.self_decided],
            "images_to_regrade": len({name for name, *_ in again}),
        },
    )
