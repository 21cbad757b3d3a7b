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
_IS_WINDOWS = sys.platform == "win32"


class Streams:
    """Takes over stderr at the start of a run, so that no library, worker or exit handler writes there later.

    Descriptor 2 is duplicated and then redirected to stdout. Only the participant's line is written to the
    duplicate, and nothing on success.

    On Windows, which never runs the container, Python's own streams are used: only they can write every
    character to a console.
    """

    def __init__(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self._participant = None if _IS_WINDOWS else os.dup(2)
        if self._participant is not None:
            os.set_inheritable(self._participant, False)
            os.dup2(1, 2)

    def tell_organiser(self, texts: Iterable[str]) -> None:
        """Write texts to stdout: valid UTF-8, no more and no longer lines than the platform keeps.

        Of too many lines, the first ones and the last one are kept. Errors of stdout are ignored.
        """
        lines = [line for text in texts for line in text.split("\n")]
        if len(lines) > _MAX_LOG_LINES:
            left_out = len(lines) - _MAX_LOG_LINES + 1
            lines[_MAX_LOG_LINES - 2 : -1] = [f"… and {left_out} more lines"]
        with contextlib.suppress(OSError):
            for line in lines:
                data = line.encode("utf-8", "backslashreplace")[:_MAX_LOG_LINE_BYTES]
                if self._participant is None:
                    sys.stdout.write(data.decode("utf-8", "ignore") + "\n")
                else:
                    _write(1, data.decode("utf-8", "ignore").encode("utf-8") + b"\n")

    def tell_participant(self, line: str) -> None:
        """Write the line that participants see."""
        with contextlib.suppress(OSError):
            data = line[:MAX_LINE_LENGTH].encode("utf-8", "backslashreplace") + b"\n"
            if self._participant is None:
                sys.stderr.write(data.decode("utf-8"))
            else:
                _write(self._participant, data)


def _write(descriptor: int, data: bytes) -> None:
    """Write all of the data without a buffer that would be flushed again at exit."""
    while data:
        data = data[os.write(descriptor, data) :]
