"""Progress callbacks."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int], None]
"""Takes the number of cases done so far."""


def no_progress(done: int) -> None:
    """Take the number of cases done and show nothing."""
