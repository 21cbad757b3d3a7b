"""The one frame of errors around the commands: what ends them with status 1 and in which words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from evaluation.core.fault import FormFault, PhaseError

EXPECTED = (PhaseError, FormFault, OSError)
"""What users can mend; anything else is a fault of the program and shows where it happened."""


def problems_of(error: Exception) -> list[str]:
    """Return an expected error as lines for the user, one for each problem."""
    if isinstance(error, PhaseError):
        return list(error.problems)
    if isinstance(error, FormFault):
        return [str(fault) for fault in error.faults]
    if isinstance(error, OSError):
        return [f"{error.filename or 'a file'}: {error.strerror or error}"]
    return [str(error)]


def status_of(command: Callable[[], int], consequence: str = "") -> int:
    """Return the exit status of a command: its own, or 1 after writing an expected error to stderr.

    consequence: a last line that says what the error kept from happening.
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
