"""Results on disk, kept with the digests of their inputs and found again while these hold.

    OUTPUT/<place>/             metrics.json, cases.json and the outputs of the phase, or rejected.txt
    OUTPUT/.kept/<digest>.json  the record of a place, by its digest: the digests of inputs and files
    OUTPUT/.kept/phase/         the manifest of the phase of the last run

No submission can be named like one of these files, and none begins with a dot.

A result is withdrawn before another takes its place, `metrics.json` is written last and the record after it.
So a folder holds a whole result or none, and a result without a record is made again.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from evaluation.core.trouble import MachineTrouble
from evaluation.io.files import fcntl, sha256_of, sha256_of_file, write_atomically
from evaluation.organiser.ranking.results import CASES, METRICS, REJECTED, TEAMS
from evaluation.organiser.rescoring.task import Answer
from evaluation.phase.config import is_path_of_output

FOLDER = ".kept"
SEALED = f"{FOLDER}/phase"
_FILES = (CASES, REJECTED, METRICS)
CHANGES = "changes.json"
_RESERVED = frozenset({*_FILES, CHANGES, TEAMS})

_OFFSET_BYTES = 7


class Results:
    """The results below one folder; a context in which places can be claimed.

    ``made_of``: the inputs of a result besides its submission, as plain data: the seal of the phase, its
    origin, the code. A claim is a lock on one byte of a file, which ends with the process: it keeps two runs,
    on any machines, from scoring one submission into a folder at once.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        """Create the folder. Raises `OSError`."""
        folder = self._folder / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        self._claims = os.open(folder / ".claims", os.O_RDWR | os.O_CREAT, 0o666)
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._claims)

    def kept(self, place: str, made_of: Mapping[str, object]) -> str | None:
        """Return the digest of the submission of a whole result with these inputs; None without one."""
        try:
            record = json.loads(self._record(place).read_bytes())
            digests = {}
            for name in self._names(place):
                with contextlib.suppress(FileNotFoundError):
                    digests[name] = sha256_of_file(self._folder / place / name)
            is_same = record["made_of"] == made_of and record["files"] == digests
            return record["submission"] if is_same else None
        except (OSError, MachineTrouble, ValueError, KeyError, TypeError, RecursionError):
            return None

    def publish(self, place: str, made_of: Mapping[str, object], answer: Answer) -> None:
        """Replace the result, by none if an error is raised; only a lasting one is kept.

        Raises `MachineTrouble` and `OSError`.
        """
        folder = self._folder / place
        self._withdraw(place)
        files = dict(answer.files) or {REJECTED: f"{answer.line}\n".encode()}
        try:
            for name in sorted(files, key=METRICS.__eq__):
                write_atomically(folder / name, files[name])
            record = {
                "made_of": made_of,
                "submission": answer.digest if answer.lasting else None,
                "files": {name: sha256_of(data) for name, data in files.items()},
            }
            content = json.dumps(record, indent=1, sort_keys=True) + "\n"
            write_atomically(self._record(place), content.encode("ascii"))
        except (OSError, MachineTrouble):
            self._withdraw(place, files)
            raise

    def _withdraw(self, place: str, files: Iterable[str] = ()) -> None:
        for name in sorted(self._names(place) | {*files}, key=METRICS.__ne__):
            (self._folder / place / name).unlink(missing_ok=True)
        self._record(place).unlink(missing_ok=True)

    def _names(self, place: str) -> set[str]:
        """Return the files that a result may have: those of every phase, and the outputs in its record."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            recorded = json.loads(self._record(place).read_bytes())["files"]
            return {*_FILES, *filter(is_path_of_output, recorded)}
        return {*_FILES}

    def is_rejection(self, place: str) -> bool:
        """Return whether the present result is a rejection."""
        return (self._folder / place / REJECTED).exists()

    def _record(self, place: str) -> Path:
        return self._folder / FOLDER / f"{sha256_of(place.encode('utf-8', 'surrogateescape'))}.json"

    def take(self, place: str, wait: bool = False) -> bool:
        """Claim a place, and return whether it was free; with ``wait``, first wait until it is.

        On Windows, and in a file system without locks, every claim is granted.
        """
        if fcntl is None:
            return True
        with contextlib.suppress(OSError):
            try:
                kind = fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB)
                fcntl.lockf(self._claims, kind, 1, _offset(place))
            except (BlockingIOError, PermissionError):
                return False
        return True

    def release(self, place: str) -> None:
        """Give up a claim, which may not be held."""
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.lockf(self._claims, fcntl.LOCK_UN, 1, _offset(place))


def is_reserved(place: str) -> bool:
    """Return whether a submission has the name of a file of results, in any letter case."""
    return any(part.casefold() in _RESERVED for part in place.split("/"))


def _offset(place: str) -> int:
    return int.from_bytes(hashlib.sha256(place.encode("utf-8", "surrogateescape")).digest()[:_OFFSET_BYTES])
