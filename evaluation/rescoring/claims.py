"""Locks that keep two runs, on one machine or several, from scoring one submission into a folder at once."""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evaluation.rescoring.kept import FOLDER

# Windows has no such module; there, claims do not work.
_fcntl: Any = None if sys.platform == "win32" else importlib.import_module("fcntl")
_OFFSET_BYTES = 7


class Claims:
    """The claims of this process, each a lock on one byte of a file, which ends with the process.

    A file system without locks grants every claim.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def take(self, place: str, wait: bool = False) -> bool:
        """Claim a place, and return whether it was free; with ``wait``, first wait until it is."""
        if _fcntl is None:
            return True
        try:
            _fcntl.lockf(
                self._descriptor, _fcntl.LOCK_EX | (0 if wait else _fcntl.LOCK_NB), 1, _offset(place)
            )
        except (BlockingIOError, PermissionError):
            return False
        except OSError:
            return True
        return True

    def release(self, place: str) -> None:
        """Give up a claim, which may not be held."""
        if _fcntl is not None:
            try:
                _fcntl.lockf(self._descriptor, _fcntl.LOCK_UN, 1, _offset(place))
            except OSError:
                return


@contextmanager
def open_claims(output: Path) -> Iterator[Claims]:
    """Create a folder and yield the claims on the results below it. Raises `OSError`."""
    folder = output / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / ".claims", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield Claims(descriptor)
    finally:
        os.close(descriptor)


def _offset(place: str) -> int:
    return int.from_bytes(hashlib.sha256(place.encode("utf-8", "surrogateescape")).digest()[:_OFFSET_BYTES])
