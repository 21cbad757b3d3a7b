"""The two streams of a container: stdout for the organiser, the last line of stderr for the participant."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from evaluation.platform.messages import LONGEST_LINE

_LONGEST_LOG_LINE = 60_000


class Streams:
    """Takes over stderr at the start of a run, so that no library, worker or exit handler can write after us.

    Descriptor 2 is duplicated and then pointed at stdout. The participant's one line alone goes to the
    duplicate; on success nothing does.
    """

    def __init__(self) -> None:
        self._participant = os.dup(2)
        os.set_inheritable(self._participant, False)
        sys.stderr.flush()
        os.dup2(1, 2)

    def tell_organiser(self, lines: Iterable[str]) -> None:
        """Write lines to stdout, as valid UTF-8, each below the length that the platform drops."""
        for line in lines:
            data = line.encode("utf-8", "backslashreplace")[:_LONGEST_LOG_LINE]
            sys.stdout.buffer.write(data.decode("utf-8", "ignore").encode("utf-8") + b"\n")
        sys.stdout.buffer.flush()

    def tell_participant(self, line: str) -> None:
        """Write the one line that participants see."""
        os.write(self._participant, line[:LONGEST_LINE].encode("utf-8", "backslashreplace") + b"\n")
