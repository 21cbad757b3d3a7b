"""The results of a submission on Codabench: the scores of its leaderboard, and the page for participants.

A scoring program finds the submission in /app/input/res and the reference in /app/input/ref. Its files in
/app/output end on the leaderboard (`scores.json`, a number by the key of a column) and on the page of the
submission (`detailed_results.html`); without scores the submission has failed, and has no line on the
leaderboard. Source: the compute worker of codalab/codabench.
"""

import math
import re
from html import escape
from pathlib import Path

from evaluation.io.files import write_atomically
from evaluation.phase.phase import Phase
from evaluation.platform.result_file import MetricsFile, render

FOLDERS = {"input": Path("/app/input/res"), "output": Path("/app/output")}
REFERENCE = "/app/input/ref"
SCORES, PAGE = "scores.json", "detailed_results.html"


def column_key(name: str) -> str:
    """Return the key of a metric's column, which holds letters, digits and underscores."""
    return re.sub(r"\W+", "_", name, flags=re.ASCII)


def columns_of(phase: Phase) -> list[str]:
    """Return the metrics and composites of the leaderboard, the score first."""
    return [*phase.board.ranked, *phase.board.unranked]


def write_results(phase: Phase, metrics: MetricsFile, folder: Path) -> str | None:
    """Write the scores and the page of a submission; return why it has no scores, None if it has.

    A line that lacks the score would lead the leaderboard: a submission without it has no line. In any other
    column that is missing, of a task that was left out, the worst value stands. Raises `OSError`.
    """
    figures = phase.challenge.figures_of(phase.tasks)
    values = {name: one.value for name in figures if (one := metrics.figure(name)) is not None}
    score, *others = columns_of(phase)
    worst = {name: figures[name].worst for name in others if math.isfinite(figures[name].worst)}
    scores = {column_key(name): value for name, value in (worst | values).items() if name in (score, *others)}
    missing = None
    if score not in values:
        missing = f"No place on the leaderboard: it ranks by {figures[score].title!r}, which is missing here"
    rows = "".join(
        f"<tr><td>{escape(figures[name].title)}</td><td>{value}</td></tr>\n" for name, value in values.items()
    )
    table = f"<table>\n<tr><th>Metric</th><th>Value</th></tr>\n{rows}</table>\n"
    write_page(phase.config.title, f"<p>{escape(missing)}</p>\n{table}" if missing else table, folder)
    if missing is None:
        write_atomically(folder / SCORES, render(scores))
    return missing


def write_rejection(message: str, folder: Path) -> None:
    """Write the page of a submission without scores. Raises `OSError`."""
    write_page("No result", f"<p>{escape(message)}</p>\n", folder)


def write_page(title: str, content: str, folder: Path) -> None:
    """Write a page with a title. Raises `OSError`."""
    head = f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
    text = f"{head}<h1>{escape(title)}</h1>\n{content}</html>\n"
    write_atomically(folder / PAGE, text.encode())
