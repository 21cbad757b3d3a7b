"""`audit`: how many bits about its labels a phase reveals to each submission, and the effect of rounding."""

from __future__ import annotations

import argparse
import math
import sys
from itertools import groupby

from evaluation.cli.arguments import add_phase
from evaluation.cli.errors import tell
from evaluation.core.fault import PhaseError
from evaluation.organiser.audit import VALUE, Disclosure, audit
from evaluation.phase.named import named_phase
from evaluation.phase.phase import Phase
from evaluation.platform import machine

_DIGITS = (4, 3, 2)
_MAX_COUNTED = 10**9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_phase(parser, several=True)


def run(arguments: argparse.Namespace) -> int:
    """Print a table for every phase; return 1 if one of them has problems."""
    status = 0
    for name in arguments.phases:
        try:
            phase = named_phase(name)
            disclosure = audit(phase, machine.worker_count())
        except PhaseError as error:
            tell(error.problems, f"{name}: not audited")
            status = 1
            continue
        _print(phase, disclosure)
    return status


def _print(phase: Phase, disclosure: Disclosure) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False, markup=False)
    title = f"{phase.config.name}: bits about the reference that one submission reveals, at most"
    table = Table("metric", title=title, title_justify="left")
    for heading in ("its values", "its bits", "further numbers", "all bits", *map(_at, _DIGITS)):
        table.add_column(heading, justify="right")
    for (task, metric), group in groupby(disclosure.figures, lambda figure: (figure.task, figure.metric)):
        value, *further = figures = list(group)
        values = value.values(disclosure.digits.get(f"{task}.{metric}"))
        table.add_row(
            f"{task}.{metric}",
            f"{values:,}" if values < _MAX_COUNTED else "12 digits",
            f"{disclosure.bits([value]):.1f}",
            str(sum(figure.numbers for figure in further)),
            *(f"{disclosure.bits(figures, digits):.1f}" for digits in (None, *_DIGITS)),
        )
    console.print(table)
    for labels in disclosure.labels:
        total = labels.positives + labels.negatives
        console.print(f"{labels.task}: {labels.positives} positives of {total} are {labels.bits:.1f} bits.")
        telling = disclosure.telling_of(labels)
        values_only = [figure for figure in telling if figure.what == VALUE]
        for what, figures in (("values alone", values_only), ("all numbers", telling)):
            for digits in (None, *_DIGITS):
                told = disclosure.bits(figures, digits)
                needed = math.ceil(labels.bits / told) if told else math.inf
                console.print(f"  {what}, {_at(digits)}: {told:.1f} bits, so at least {needed} submissions")
    console.print(
        "The remedy is rounding in phase.toml, intervals and subgroups included: "
        '[digits] "task.metric" = 3; and resamples = 0 publishes no intervals.\n'
    )


def _at(digits: int | None) -> str:
    return "as published" if digits is None else f"{digits} decimals"
