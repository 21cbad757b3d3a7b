"""`describe`: the data of a phase, or of several phases beside each other, for its organiser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.cli.common import add_json, add_phases, progress_bar, say
from evaluation.core.fault import PhaseError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evaluation.organiser.describe import Description
    from evaluation.phase.phase import Phase

_LOG_WIDTH = 160


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add_phases(parser)
    add(
        "--by",
        action="append",
        default=[],
        metavar="COLUMN",
        help="also group by a column of cases.csv (always: the phases, the column `set`, the "
        "subgroups of phase.toml, and classes of the reference); repeatable",
    )
    add(
        "--against",
        metavar="GROUP",
        help="compare each other group with this one (default: every pair of groups)",
    )
    add("--alpha", type=float, default=0.05, metavar="P", help="level of significance (default: %(default)s)")
    add(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="write description.json, csv files and description.tex there; they hold labels",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Describe, write and print. Raises `PhaseError`."""
    from evaluation.organiser.describe import describe
    from evaluation.organiser.describe_tables import write_description
    from evaluation.phase.named import named_phase
    from evaluation.platform.result_file import render

    if not 0 < arguments.alpha < 1:
        raise PhaseError(f"--alpha: expected a number between 0 and 1, found {arguments.alpha:g}")
    phases = [named_phase(name) for name in arguments.phases]
    with progress_bar("cases", sum(len(phase.rows) for phase in phases)) as progress:
        description = describe(phases, arguments.by, arguments.against, arguments.alpha, progress)
    paths = write_description(description, arguments.output) if arguments.output else []
    if arguments.json:
        sys.stdout.write(render(description, organisers=True).decode("utf-8"))
        return 0
    _print(description, phases)
    say(*paths)
    return 0


def _print(description: Description, phases: Iterable[Phase]) -> None:
    from rich.table import Table

    from evaluation.cli.console import TableConsole, one_line
    from evaluation.organiser.report.board.methods import tables_in_words
    from evaluation.organiser.report.sentences import names_of

    console = TableConsole(_LOG_WIDTH)
    for table in tables_in_words(description, names_of(*phases)):
        shown = Table(title=one_line(table.title), title_justify="left")
        for title, is_right in zip(table.columns, table.right, strict=True):
            shown.add_column(one_line(title), justify="right" if is_right else "left")
        for row in table.rows:
            shown.add_row(*map(one_line, row))
        console.print(shown)
        if table.note:
            console.print(one_line(table.note))
    for notice in description.notices:
        console.print(one_line(f"note: {notice}"))
