"""How all commands report errors: which errors are expected, and how they are printed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from evaluation.core.fault import FormFault, PhaseError

EXPECTED = (PhaseError, FormFault, OSError, ModuleNotFoundError)
"""Errors that a user can correct; any other is a defect of the program and ends in a traceback."""


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

    ``consequence`` is a last line that says what was not done.
    """
    try:
        return command()
    except EXPECTED as error:
        tell(problems_of(error), consequence)
        return 1


def tell(problems: Sequence[str], consequence: str = "") -> None:
    """Write problems to stderr, each on a line of its own."""
    lines = [*problems, consequence] if consequence else problems
    sys.stderr.write("".join(f"{line}\n" for line in lines))
