"""The two streams of a container: stdout for the organiser, the last line of stderr for the participant."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable

from evaluation.platform.messages import MAX_LINE_LENGTH

# The platform keeps the last 500 lines and drops lines above 64 KiB; some room is left for libraries.
_MAX_LOG_LINES = 450
_MAX_LOG_LINE_BYTES = 60_000


class Streams:
    """Takes over stderr at the start of a run, so that no library, worker or exit handler can write after us.

    Descriptor 2 is duplicated and then pointed at stdout. The participant's one line alone goes to the
    duplicate; on success nothing does.
    """

    def __init__(self) -> None:
        self._participant = os.dup(2)
        os.set_inheritable(self._participant, False)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.dup2(1, 2)

    def tell_organiser(self, texts: Iterable[str]) -> None:
        """Write texts to stdout: valid UTF-8, no more and no longer lines than the platform keeps.

        Of too many, the first and the very last are kept. A stdout that takes nothing is no reason to fail.
        """
        lines = [line for text in texts for line in text.split("\n")]
        if len(lines) > _MAX_LOG_LINES:
            left_out = len(lines) - _MAX_LOG_LINES + 1
            lines[_MAX_LOG_LINES - 2 : -1] = [f"… and {left_out} more lines"]
        with contextlib.suppress(OSError):
            for line in lines:
                data = line.encode("utf-8", "backslashreplace")[:_MAX_LOG_LINE_BYTES]
                _write(1, data.decode("utf-8", "ignore").encode("utf-8") + b"\n")

    def tell_participant(self, line: str) -> None:
        """Write the one line that participants see."""
        with contextlib.suppress(OSError):
            _write(self._participant, line[:MAX_LINE_LENGTH].encode("utf-8", "backslashreplace") + b"\n")


def _write(descriptor: int, data: bytes) -> None:
    """Write all of the data, past every buffer that could be written again at exit."""
    while data:
        data = data[os.write(descriptor, data) :]
