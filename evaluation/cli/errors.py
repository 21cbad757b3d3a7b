"""Error reports of all commands: which errors are expected, and how they are printed."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Sequence

from evaluation.core.fault import FormFault, PhaseError

EXPECTED = (PhaseError, FormFault, OSError, ModuleNotFoundError)
"""Errors that a user can correct; any other is a defect of the program and ends in a traceback."""


CLOSED_PIPE = 141
"""The exit status if stdout is closed, as in shells after SIGPIPE."""


def problems_of(error: Exception) -> list[str]:
    """Return an expected error as lines for the user, one for each problem."""
    if isinstance(error, PhaseError):
        return list(error.problems)
    if isinstance(error, FormFault):
        return [str(fault) for fault in error.faults]
    if isinstance(error, ModuleNotFoundError):
        return [
            f"the Python package {error.name!r} is not installed in {sys.prefix}: install this package with "
            "'pip install .', or run ./run.sh, which installs everything into .venv"
        ]
    if isinstance(error, OSError):
        return [f"{error.filename or 'a file'}: {error.strerror or error}"]
    return [str(error)]


def status_of(command: Callable[[], int], consequence: str = "") -> int:
    """Return the exit status of a command: its own, or 1 after writing an expected error to stderr.

    Where its output is not read to the end, as in `rank … | head`, the status is `CLOSED_PIPE`.

    ``consequence``: a last line on the missing result.
    """
    try:
        try:
            status = command()
        except SystemExit:  # of --help
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except EXPECTED as error:
        if isinstance(error, BrokenPipeError) and _is_closed():
            return CLOSED_PIPE
        tell(problems_of(error), consequence)
        return 1
    return status


def _is_closed() -> bool:
    """Return whether stdout is closed at the other end; its pending output is then discarded."""
    descriptor = sys.stdout.fileno()
    if hasattr(select, "poll"):  # not on Windows, where no other pipe is known to break
        poll = select.poll()
        poll.register(descriptor, 0)
        if not poll.poll(0):
            return False
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
    return True


def tell(problems: Sequence[str], consequence: str = "") -> None:
    """Write problems to stderr, each on a line of its own."""
    lines = [*problems, consequence] if consequence else problems
    sys.stderr.write("".join(f"{line}\n" for line in lines))
