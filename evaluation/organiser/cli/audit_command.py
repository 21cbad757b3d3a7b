"""`audit`: how many bits about the labels each submission reveals."""

import argparse
import math
from collections.abc import Sequence
from itertools import groupby

from rich.table import Table

from evaluation.cli.common import add_phases, tell
from evaluation.cli.console import TableConsole, one_line, text_table
from evaluation.core.fault import PhaseError
from evaluation.organiser import audit
from evaluation.phase.named import named_phase
from evaluation.phase.phase import Phase
from evaluation.platform import machine

_DIGITS = (3, 2)
_IN_WORDS = tuple(f"{digits} decimals" for digits in _DIGITS)
_MAX_COUNTED = 10**9
_LEAST_CHANCE = 0.001


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_phases(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print tables for every phase; return 1 if one of them has problems. Raises `PhaseError`."""
    status = 0
    for name in arguments.phases:
        try:
            phase = named_phase(name)
            _print(phase, audit.audit(phase, machine.worker_count()))
        except PhaseError as error:
            tell(error.problems, f"{name}: not audited")
            status = 1
    return status


def _print(phase: Phase, disclosure: audit.Disclosure) -> None:
    console = TableConsole(120)
    rows = []
    for metric, group in groupby(disclosure.figures, lambda figure: figure.metric):
        value, *further = figures = list(group)
        values = value.values()
        row = metric, f"{values:,}" if values < _MAX_COUNTED else "12 digits", f"{value.bits():.1f}"
        bits = (f"{audit.bits_of(figures, digits):.1f}" for digits in (None, *_DIGITS))
        rows.append((*row, str(sum(figure.numbers for figure in further)), *bits))
    title = f"{phase.config.name}: bits about the reference that one submission reveals, at most"
    numbers = "its values", "its bits", "further numbers", "all bits", *_IN_WORDS
    console.print(text_table(title, ("metric",), numbers, rows))
    if disclosure.labels:
        console.print(_table_of_labels(disclosure))
    for line in _answer(phase, disclosure).splitlines():
        console.print(one_line(line))


def _table_of_labels(disclosure: audit.Disclosure) -> Table:
    rows = []
    for labels in disclosure.labels:
        figures = disclosure.made_of(labels)
        needed = " / ".join(_needed(labels, figures, digits) for digits in (None, *_DIGITS))
        row = labels.name, " + ".join(map(str, sorted(labels.counts))), f"{labels.bits:.1f}"
        told = f"{100 * disclosure.share(labels):.0f} %"
        rows.append((*row, f"{audit.bits_of(figures):.1f}", needed, told))
    title = "Hidden labels, and the fewest submissions that could tell all of them"
    told = f"told by {audit.in_words(disclosure.limit)}"
    numbers = "of each class", "bits", "bits of one submission", "submissions", told
    table = text_table(title, ("labels",), numbers, rows)
    table.caption = "submissions: as published / with " + " / with ".join(_IN_WORDS)
    table.caption_justify = "left"
    return table


def _needed(labels: audit.HiddenLabels, figures: Sequence[audit.PublishedFigure], digits: int | None) -> str:
    needed = labels.submissions(audit.bits_of(figures, digits))
    return "–" if math.isinf(needed) else f"{needed:g}"


def _answer(phase: Phase, disclosure: audit.Disclosure) -> str:
    """Return which labels the phase's own submissions could tell, and the remedies."""
    told = disclosure.learnable()
    accepted = [labels.name for labels in told if labels.accepted]
    others = [labels for labels in told if not labels.accepted]
    could = "could tell all labels of" if others else "cannot tell all labels of any"
    kind = "" if others else " other kind" if accepted else " kind"
    lines = [f"{phase.config.name}: with {audit.in_words(disclosure.limit)}, results {could}{kind}"]
    lines += [f"- {labels.name}. Would prevent it: {disclosure.remedies(labels)}." for labels in others]
    lines += [
        f"- {labels.name}: an ideal attack knows all of them with a chance of up to {100 * chance:.1f} %"
        for labels in disclosure.labels
        if labels not in told and (chance := disclosure.chance(labels)) >= _LEAST_CHANCE
    ]
    if accepted:
        lines.append(f"- They could tell these, which learnable_labels accepts: {', '.join(accepted)}")
    return "\n".join(lines) + "\n"
