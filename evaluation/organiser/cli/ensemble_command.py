"""`ensemble`: several submissions of one phase combined into one that can be scored like any other."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.cli.common import progress_bar, say, whole_number
from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.organiser.cli.shared import add_combination, rules_of

if TYPE_CHECKING:
    from evaluation.organiser.annotators.ensemble import Chosen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("submissions", type=Path, nargs="+", metavar="SUBMISSION", help="folders of submissions, two or more")
    add("--ground-truth", type=Path, required=True, metavar="FOLDER", help="the phase folder")
    add("--output", type=Path, required=True, metavar="FOLDER", help="where to write")
    add("--tasks", metavar="TASK,…", help="comma-separated tasks (default: all tasks of the phase)")
    add_combination(parser)
    add(
        "--top",
        type=whole_number(2),
        metavar="K",
        help="combine only the first K teams of a leaderboard; the name of a folder is that of its team",
    )
    add(
        "--leaderboard",
        type=Path,
        metavar="FOLDER|CSV",
        help="of --top: what rank --output wrote, best of another set of cases than the one to be predicted",
    )
    add("--board", metavar="NAME", help="of --leaderboard (default: the overall one, or the only one)")
    add(
        "--report",
        type=Path,
        metavar="FOLDER",
        help="write how far the members agree, and on which cases they do not; no label is read",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the ensemble. Raises `PhaseError` with the faults of the submissions or the phase."""
    from evaluation.organiser.annotators.agreement import not_compared
    from evaluation.organiser.annotators.ensemble import IN_WORDS, write_agreement, write_ensemble
    from evaluation.phase.manifest import scan
    from evaluation.phase.phase import load_phase
    from evaluation.phase.registry import Rules

    if not arguments.ground_truth.is_dir():
        raise PhaseError(f"{arguments.ground_truth}: is not a folder")
    chosen = _chosen(arguments)
    members = dict(chosen.folders) if chosen else _by_name(arguments.submissions)
    # Only the form is used, so that the phase can be unsealed.
    phase = load_phase(arguments.ground_truth, scan(arguments.ground_truth))
    names = (
        arguments.tasks.split(",") if arguments.tasks else [task.name for task in phase.tasks if task.fields]
    )
    tasks = Rules(phase.challenge, phase.options).select_tasks(names, None, phase.form.interfaces)
    form = replace(phase.form, tasks=tuple(task.name for task in tasks), run_time=None)
    with progress_bar("cases", len(form.cases)) as progress:
        written = write_ensemble(form, tasks, members, arguments.output, rules_of(arguments), progress)
    cases = ", ".join(f"{name} in {count}" for name, count in written.cases.items())
    say(
        f"{arguments.output}: {len(written.submissions)} submissions, {', '.join(written.tasks)}",
        f"values of cases: {cases}",
    )
    how = chosen.members(phase) if chosen else "by hand"
    if chosen:
        say(IN_WORDS[how])
    if how == "on these cases":
        say(f"In teams.csv, chosen_on = {phase.config.name} marks it")
    if arguments.report:
        write_agreement(arguments.report, written)
        of_fields = {field.name: field.kind for field in fields_of(tasks) if field.name in written.cases}
        say(*not_compared(of_fields))
        say(arguments.report)
    return 0


def _chosen(arguments: argparse.Namespace) -> Chosen | None:
    from evaluation.organiser.annotators.ensemble import best_of_board

    if (arguments.top is None) != (arguments.leaderboard is None):
        raise PhaseError("--top, --leaderboard: expected both or neither")
    if arguments.top is None:
        return None
    given = _by_name(arguments.submissions)
    chosen = best_of_board(arguments.leaderboard, given, arguments.top, arguments.board)
    say(f"the first {arguments.top} by {chosen.column}: {', '.join(chosen.folders)}")
    return chosen


def _by_name(folders: Sequence[Path]) -> dict[str, Path]:
    """Return the folders by name, or by whole path where two names are equal."""
    names = [folder.name for folder in folders]
    chosen = names if len(set(names)) == len(names) else [str(folder) for folder in folders]
    if len(set(chosen)) < len(chosen):
        twice = sorted({name for name in chosen if chosen.count(name) > 1})
        raise PhaseError(*(f"{name}: given more than once" for name in twice))
    return dict(zip(chosen, folders, strict=True))
