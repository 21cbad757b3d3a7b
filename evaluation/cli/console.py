"""Tables and lines on the terminal or in a log."""

import sys
from collections.abc import Iterable
from typing import NoReturn

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from evaluation.core.fault import printable

_MOST_CHARACTERS = 1000


class TableConsole(Console):
    """A console for stdout that is wide enough for tables in a log, which has no width.

    Raises `BrokenPipeError` if stdout is closed, like all other output.
    """

    def __init__(self, log_width: int, *, highlight: bool = False) -> None:
        width = None if sys.stdout.isatty() else log_width
        super().__init__(width=width, highlight=highlight)

    def on_broken_pipe(self) -> NoReturn:
        """Raise `BrokenPipeError`; `evaluation.cli.common` ends the command."""
        raise BrokenPipeError


def one_line(text: str) -> str:
    """Return text with names of strangers for a console: one line, no control characters, no markup."""
    return escape(printable(text, _MOST_CHARACTERS))


def text_table(
    title: str | None,
    texts: Iterable[str],
    numbers: Iterable[str],
    rows: Iterable[Iterable[str]],
    notes: Iterable[str] = (),
) -> Table:
    """Return a table of plain text with columns of texts, then of numbers on the right, then of notes."""
    table = Table(*map(one_line, texts), title=title and one_line(title), title_justify="left")
    for heading in numbers:
        table.add_column(one_line(heading), justify="right")
    for heading in notes:
        table.add_column(one_line(heading))
    for row in rows:
        table.add_row(*map(one_line, row))
    return table
