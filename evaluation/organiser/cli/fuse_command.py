"""`fuse`: build the reference of a phase from several annotators."""

import argparse
from pathlib import Path

from evaluation.cli.common import progress_bar, say, tell
from evaluation.organiser.annotators.agreement import not_compared
from evaluation.organiser.annotators.annotations import open_annotators
from evaluation.organiser.annotators.reference import fuse_annotators, write_reference_report
from evaluation.organiser.annotators.study import study_as_annotations
from evaluation.organiser.cli.shared import add_combination, add_fused, report_folder, rules_of
from evaluation.organiser.leaves import found_leaf
from evaluation.platform import machine

_LEAVES = ("justraigs_graders.fuse_graders", "cyst_benchmark.fuse_cysts")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare one sub-command for each kind of input, with its arguments."""
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    annotators = add_fused(
        kinds, "evaluation.organiser", "annotators", "masks, boxes, points and labels of several annotators"
    )
    annotators.set_defaults(fuse=_fuse_annotators)
    words = "phase.toml, cases.csv, readers/<annotator>/… and dropped.csv"
    annotators.add_argument("input", type=Path, metavar="FOLDER", help=words)
    words = (
        "answers, questions, display sets and images of a reader study on grand-challenge.org, as JSON or "
        "csv, in place of readers/"
    )
    annotators.add_argument("exports", type=Path, nargs="*", metavar="ANSWERS", help=words)
    words = "the masks that readers drew, downloaded from the platform, named by their names or keys"
    annotators.add_argument("--masks", type=Path, metavar="FOLDER", help=words)
    words = "the phase folder to write"
    annotators.add_argument("--output", type=Path, required=True, metavar="FOLDER", help=words)
    words = "where to write the report (default: OUTPUT-report)"
    annotators.add_argument("--report", type=Path, metavar="FOLDER", help=words)
    add_combination(annotators)
    for name in _LEAVES:
        if module := found_leaf(name):
            module.add_part(kinds)


def run(arguments: argparse.Namespace) -> int:
    """Build the reference and print the paths. Raises `PhaseError` with the faults of the input files."""
    say(*arguments.fuse(arguments))
    return 0


def _fuse_annotators(arguments: argparse.Namespace) -> list[Path]:
    if arguments.exports:
        with study_as_annotations(arguments.input, arguments.exports, arguments.masks) as (folder, told):
            tell([f"Note: {told}"])
            return _fuse_folder(arguments, folder)
    return _fuse_folder(arguments, arguments.input)


def _fuse_folder(arguments: argparse.Namespace, folder: Path) -> list[Path]:
    rules = rules_of(arguments)
    given = open_annotators(folder)
    tell(
        f"Note: {column}: cases.csv has this column already; what {', '.join(names)} say is ignored. "
        "Remove the column to combine their values"
        for column, names in given.ignored.items()
    )
    with progress_bar("cases", len(given.cases.forms)) as progress:
        fused = fuse_annotators(given, arguments.output, rules, machine.worker_count(), progress)
    left_out = not_compared({field.name: field.reference.kind for field in given.fused})
    tell(f"Note: {line}" for line in left_out)
    write_reference_report(report_folder(arguments), fused, rules)
    return [arguments.output, report_folder(arguments)]
