"""Commands that combine what several say: `fuse` for annotators, `ensemble` for submissions."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from evaluation.cli.common import (
    Argument,
    Handler,
    add_all,
    command,
    progress_bar,
    say,
    share_below_one,
    tell,
)
from evaluation.core.fault import PhaseError
from evaluation.organiser.annotators.agreement import not_compared
from evaluation.organiser.annotators.annotations import open_annotators
from evaluation.organiser.annotators.combine import CombinationRules
from evaluation.organiser.annotators.ensemble import write_ensemble
from evaluation.organiser.annotators.reference import fuse_annotators, write_reference_report
from evaluation.organiser.annotators.study import study_as_annotations
from evaluation.organiser.cli.shared import add_fused, report_folder
from evaluation.organiser.leaves import found_leaf
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from evaluation.phase.registry import Rules
from evaluation.platform import machine

# --- How annotators or submissions are combined ---

_COMBINATION = (
    Argument.choice("--tie", "the result where as many annotators say yes as no", "background", "foreground"),
    Argument.choice(
        "--boxes", "how boxes are combined: weighted boxes fusion or non-maximum suppression", "wbf", "nms"
    ),
    Argument(
        "--box-iou",
        "boxes belong together whose intersection over union is above this (default: 0.55)",
        type=share_below_one,
        default=0.55,
        metavar="SHARE",
    ),
)


def _rules_of(arguments: argparse.Namespace) -> CombinationRules:
    """Return how values are combined."""
    return CombinationRules(arguments.tie, arguments.boxes, arguments.box_iou)


_ANNOTATORS = (
    Argument.path("input", "FOLDER", "phase.toml, cases.csv, readers/<annotator>/… and dropped.csv"),
    Argument.path(
        "exports",
        "ANSWERS",
        "answers, questions, display sets and images of a reader study on grand-challenge.org, as JSON or "
        "csv, in place of readers/",
        nargs="*",
    ),
    Argument.path(
        "--masks",
        "FOLDER",
        "the masks that readers drew, downloaded from the platform, named by their names or keys",
    ),
    Argument.path("--output", "FOLDER", "the phase folder to write", required=True),
    Argument.path("--report", "FOLDER", "where to write the report (default: OUTPUT-report)"),
    *_COMBINATION,
)
_LEAVES = ("justraigs_graders.fuse_graders", "cyst_benchmark.fuse_cysts")


def _add_fuse(parser: argparse.ArgumentParser) -> None:
    """Declare one sub-command for each kind of input, with its arguments."""
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    annotators = add_fused(
        kinds, "evaluation.organiser", "annotators", "masks, boxes, points and labels of several annotators"
    )
    annotators.set_defaults(fuse=_fuse_annotators)
    add_all(_ANNOTATORS, annotators)
    for name in _LEAVES:
        if module := found_leaf(name):
            module.add_part(kinds)


@partial(Handler, _add_fuse)
def run_fuse(arguments: argparse.Namespace) -> int:
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
    rules = _rules_of(arguments)
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


@command(
    Argument.path("submissions", "SUBMISSION", "folders of submissions, two or more", nargs="+"),
    Argument.path("--ground-truth", "FOLDER", "the phase folder", required=True),
    Argument.path("--output", "FOLDER", "where to write", required=True),
    Argument("--tasks", "comma-separated tasks (default: all tasks of the phase)", metavar="TASK,…"),
    *_COMBINATION,
)
def run_ensemble(arguments: argparse.Namespace) -> int:
    """Write the ensemble. Raises `PhaseError` with the faults of the submissions or the phase."""
    if not arguments.ground_truth.is_dir():
        raise PhaseError(f"{arguments.ground_truth}: is not a folder")
    members = _by_name(arguments.submissions)
    # Only the form is used, so that the phase can be unsealed.
    phase = load_phase(arguments.ground_truth, scan(arguments.ground_truth))
    names = (
        arguments.tasks.split(",") if arguments.tasks else [task.name for task in phase.tasks if task.fields]
    )
    tasks = Rules(phase.challenge, phase.options).select_tasks(names, None, phase.form.interfaces)
    form = replace(phase.form, tasks=tuple(task.name for task in tasks), run_time=None)
    with progress_bar("cases", len(form.cases)) as progress:
        rules, output = _rules_of(arguments), arguments.output
        present, counts = write_ensemble(form, tasks, members, output, rules, progress)
    cases = ", ".join(f"{name} in {count}" for name, count in counts.items())
    say(
        f"{output}: {len(members)} submissions, {', '.join(present)}",
        f"values of cases: {cases}",
    )
    return 0


def _by_name(folders: Sequence[Path]) -> dict[str, Path]:
    """Return the folders by name, or by whole path where two names are equal."""
    names = [folder.name for folder in folders]
    chosen = names if len(set(names)) == len(names) else [str(folder) for folder in folders]
    if len(set(chosen)) < len(chosen):
        twice = sorted({name for name in chosen if chosen.count(name) > 1})
        raise PhaseError(*(f"{name}: given more than once" for name in twice))
    return dict(zip(chosen, folders, strict=True))
