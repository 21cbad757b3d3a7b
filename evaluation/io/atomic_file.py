"""Files that are written completely or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def write_atomically(path: Path, data: bytes, synced: bool = True) -> None:
    """Write a file completely or not at all, and make its folder if needed. Raises `OSError`.

    The data go into a new file of an unpredictable name first; an existing file or link of that name is an
    error, so that several processes, also hostile ones, can write into the same folder. If not ``synced``,
    the file is whole even if this process dies, but perhaps not if the machine fails; on a busy disk that
    saves up to a second.
    """
    import secrets  # not at the start of a command, which writes last

    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        file = temporary.open("xb")  # exclusive: never follows a link
    except OSError as error:
        error.filename = str(path)
        raise
    try:
        with file:
            file.write(data)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        # Keep the original error; clean-up may fail too.
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
