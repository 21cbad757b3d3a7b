"""Progress of long commands: a bar on a terminal, none in a log."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from evaluation.workers.progress import no_progress


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a callback for the number of finished items; it shows a bar if stdout is a terminal."""
    if not sys.stdout.isatty():
        yield no_progress
        return
    from rich.progress import Progress

    with Progress(transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=done)
