"""`evaluate --each`: many teams' submissions against one phase, each into a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evaluation.cli.progress import progress_bar
from evaluation.core.fault import PhaseError
from evaluation.evaluate import Rejection, evaluate
from evaluation.phase.phase import Phase
from evaluation.platform import messages
from evaluation.platform.result_file import render, write_atomically, write_metrics
from evaluation.ranking.results_folder import CASES, METRICS, REJECTED
from evaluation.summary import organiser_records
from evaluation.workers.pool import DeadlineExceeded


def evaluate_each(phase: Phase, folder: Path, output: Path, workers: int) -> Iterator[str]:
    """Score every sub-folder as one submission and yield a line about each.

    OUTPUT/<team>/ gets metrics.json and cases.json, or rejected.txt with the participant's line and every
    fault. Earlier files of that team are removed. Raises `PhaseError`.
    """
    teams = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not teams:
        raise PhaseError(f"{folder}: holds no folders; expected one for each team")
    width = max(len(team.name) for team in teams)
    for team in teams:
        place = output / team.name
        for name in (METRICS, CASES, REJECTED):
            (place / name).unlink(missing_ok=True)
        try:
            with progress_bar(team.name, len(phase.rows)) as progress:
                result = evaluate(phase, team, workers, None, progress)
        except DeadlineExceeded:
            line = f"not scored: the budget of {phase.config.limits.budget_seconds} s was used up"
            write_atomically(place / REJECTED, f"{line}\n".encode())
            yield f"{team.name:<{width}}  {line}"
            continue
        if isinstance(result, Rejection):
            lines = [messages.participant_line(result.faults), *messages.organiser_report(result.faults)]
            write_atomically(place / REJECTED, "".join(f"{line}\n" for line in lines).encode())
            yield f"{team.name:<{width}}  {lines[0]}"
        else:
            records = organiser_records(result, result.figures)
            write_atomically(place / CASES, render(records, organisers=True, rounded=False))
            write_metrics(result.metrics, place)
            yield f"{team.name:<{width}}  scored"
