"""`ensemble`: several submissions of one phase combined into one that can be scored like any other."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaluation.cli.fuse_command import add_rules, rules_of
from evaluation.cli.progress import progress_bar
from evaluation.core.fault import PhaseError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "submissions", type=Path, nargs="+", metavar="SUBMISSION", help="folders of submissions, two or more"
    )
    parser.add_argument("--ground-truth", type=Path, required=True, metavar="FOLDER", help="the phase folder")
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="where to write")
    parser.add_argument(
        "--tasks", metavar="TASK,…", help="comma-separated tasks (default: all tasks of the phase)"
    )
    add_rules(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the ensemble. Raises `PhaseError` with the faults of the submissions or the phase."""
    from evaluation.annotators.ensemble import write_ensemble
    from evaluation.phase.manifest import scan
    from evaluation.phase.phase import load_phase
    from evaluation.phase.registry import select_tasks

    if not arguments.ground_truth.is_dir():
        raise PhaseError(f"{arguments.ground_truth}: is not a folder")
    # Only the form is used, so that the phase can be unsealed.
    phase = load_phase(arguments.ground_truth, scan(arguments.ground_truth))
    names = (
        arguments.tasks.split(",") if arguments.tasks else [task.name for task in phase.tasks if task.fields]
    )
    tasks = select_tasks(phase.challenge, phase.options, names, None)
    form = replace(phase.form, tasks=tuple(task.name for task in tasks), run_time=None)
    with progress_bar("cases", len(form.cases)) as progress:
        written = write_ensemble(
            form,
            tasks,
            _by_name(arguments.submissions),
            arguments.output,
            rules_of(arguments),
            progress,
        )
    cases = ", ".join(f"{name} in {count}" for name, count in written.cases.items())
    sys.stdout.write(
        f"{arguments.output}: {len(written.submissions)} submissions, {', '.join(written.tasks)}\n"
        f"values of cases: {cases}\n"
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
