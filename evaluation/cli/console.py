"""Tables and lines on the terminal or in a log."""

import sys
from typing import NoReturn

from rich.console import Console


class TableConsole(Console):
    """A console for stdout that is wide enough for tables in a log, which has no width.

    Raises `BrokenPipeError` if stdout is closed, like all other output.
    """

    def __init__(self, log_width: int, *, markup: bool = True, highlight: bool = False) -> None:
        width = None if sys.stdout.isatty() else log_width
        super().__init__(width=width, highlight=highlight, markup=markup)

    def on_broken_pipe(self) -> NoReturn:
        """Raise `BrokenPipeError`; `evaluation.cli.common` ends the command."""
        raise BrokenPipeError
