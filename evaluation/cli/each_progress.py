"""Progress of a run over many submissions: a line for each that ends, and a bar beneath on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Task

Ended = Callable[[str], None]
"""Takes the line of a finished submission."""


@contextmanager
def each_progress(total: int, tell: Callable[[Sequence[str]], None]) -> Iterator[Ended]:
    """Yield the writer of the submissions' lines; ``tell`` writes a line where stdout is no terminal."""
    if not sys.stdout.isatty():
        yield lambda line: tell([line])
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    started = time.monotonic()

    class Rate(ProgressColumn):
        """Submissions per minute since the start of the run."""

        def render(self, task: Task) -> Text:
            minutes = (time.monotonic() - started) / 60
            return Text(f"{task.completed / minutes:.1f}/min" if task.completed else "")

    columns = (
        TextColumn("submissions"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, transient=True) as progress:
        bar = progress.add_task("submissions", total=total)

        def ended(line: str) -> None:
            progress.console.print(line, markup=False, highlight=False, soft_wrap=True)
            progress.advance(bar)

        yield ended
