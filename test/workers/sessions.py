"""Processes of one session, as /proc shows them."""

import contextlib
from pathlib import Path


def session(leader: int) -> list[int]:
    """Return the processes of a session that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, session_of = path.read_text().rpartition(")")[2].split()[:4]
            if int(session_of) == leader and state != "Z":
                found.append(int(path.parent.name))
    return found
