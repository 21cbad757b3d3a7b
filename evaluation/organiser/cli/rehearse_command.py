"""`rehearse`: scores submissions derived from a phase's own reference, to test every metric."""

import argparse
import math

from evaluation.cli.common import add_phase, progress_bar, say
from evaluation.cli.console import TableConsole, text_table
from evaluation.core.fault import PhaseError
from evaluation.organiser.rehearsal import MOST_CASES, MOST_PIXELS, Rehearsal, rehearse
from evaluation.phase.named import named_phase


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_phase(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the figures of each submission. Raises `PhaseError` naming the metrics that break a rule."""
    phase = named_phase(arguments.phase)
    with progress_bar("cases", len(phase.rows)) as progress:
        rehearsal = rehearse(phase, progress=progress)
    _print(rehearsal, f"{phase.config.name}: rehearsed on {rehearsal.cases} of {len(phase.rows)} cases")
    if rehearsal.cases < len(phase.rows):
        most = f"{MOST_CASES} cases and {MOST_PIXELS // 1_000_000} million pixels"
        say(f"note: the other cases were left out, evenly spaced: at most {most} are rehearsed")
    say(*(f"note: {note}" for note in (*rehearsal.notes, *rehearsal.wins)))
    say(*(f"note: {name} was not tested: no case enters it" for name in rehearsal.untried))
    if rehearsal.without_perfect:
        names = ", ".join(rehearsal.without_perfect)
        reason = "a field writes no values, or has no reference of its own"
        say(f"note: without a perfect submission, since {reason}: {names}")
    if rehearsal.problems:
        raise PhaseError(*rehearsal.problems)
    return 0


def _print(rehearsal: Rehearsal, title: str) -> None:
    named = dict.fromkeys(name for figures in rehearsal.figures.values() for name in figures)
    submissions = [name for name in named if "half" not in name]
    rows = []
    for name, figures in rehearsal.figures.items():
        cells = [figures.get(submission, math.nan) for submission in submissions]
        rows.append([name, *("" if math.isnan(cell) else f"{cell:.4f}" for cell in cells)])
    TableConsole(140, highlight=True).print(text_table(title, ("metric",), submissions, rows))
