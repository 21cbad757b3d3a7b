"""The digest of a submission: of a file's bytes, or of a folder's content."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from evaluation.io.stream import sha256_of_file


def submission_digest(submission: Path) -> str:
    """Return the SHA-256 of a file, or of the names, kinds and contents of everything in a folder.

    Links are not followed and devices not opened; a file that cannot be read counts with its error. Raises
    `OSError` where the submission itself cannot be read.
    """
    if not submission.is_dir():
        return sha256_of_file(submission)
    digest = hashlib.sha256()
    for line in sorted(_lines(submission, "", os.listdir(submission))):  # noqa: PTH208 - names alone
        digest.update(line.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()


def _lines(root: Path, folder: str, names: list[str]) -> Iterator[str]:
    for name in names:
        path = f"{folder}{name}"
        here = root / path
        try:
            mode = here.lstat().st_mode
            if stat.S_ISDIR(mode):
                yield f"{path}/"
                yield from _lines(root, f"{path}/", os.listdir(here))  # noqa: PTH208
            elif stat.S_ISREG(mode):
                yield f"{path} {sha256_of_file(here)}"
            elif stat.S_ISLNK(mode):
                yield f"{path} -> {os.readlink(here)}"  # noqa: PTH115
            else:
                yield f"{path} {stat.S_IFMT(mode)}"
        except OSError as error:
            yield f"{path} error {error.errno}"
