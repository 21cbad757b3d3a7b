"""`describe`: the data of a phase, or of several phases beside each other, for its organiser."""

import argparse
import sys
from collections.abc import Iterable

from rich.table import Table

from evaluation.cli.common import JSON, PHASES, Argument, command, progress_bar, say
from evaluation.cli.console import TableConsole, one_line
from evaluation.core.fault import PhaseError
from evaluation.organiser.describe import Description, describe
from evaluation.organiser.report.data import tables_in_words, write_description
from evaluation.organiser.report.sentences import names_of
from evaluation.phase.named import named_phase
from evaluation.phase.phase import Phase
from evaluation.platform.result_file import render

_LOG_WIDTH = 160


@command(
    PHASES,
    Argument(
        "--by",
        "also group by a column of cases.csv (always: the phases, the column `set`, the "
        "subgroups of phase.toml, and classes of the reference); repeatable",
        action="append",
        default=[],
        metavar="COLUMN",
    ),
    Argument(
        "--against", "compare each other group with this one (default: every pair of groups)", metavar="GROUP"
    ),
    Argument(
        "--alpha", "level of significance (default: %(default)s)", type=float, default=0.05, metavar="P"
    ),
    Argument.path(
        "--output", "FOLDER", "write description.json, csv files and description.tex there; they hold labels"
    ),
    JSON,
)
def run(arguments: argparse.Namespace) -> int:
    """Describe, write and print. Raises `PhaseError`."""
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
    console = TableConsole(_LOG_WIDTH)
    for table in tables_in_words(description, names_of(*phases)):
        shown = Table(title=one_line(table.title), title_justify="left")
        for column, is_right in zip(table.columns, table.right, strict=True):
            shown.add_column(one_line(column.title), justify="right" if is_right else "left")
        for row in table.shown:
            shown.add_row(*map(one_line, row))
        console.print(shown)
        if table.note:
            console.print(one_line(table.note))
    for notice in description.notices:
        console.print(one_line(f"note: {notice}"))
