"""Digests of bytes that have been read."""

from __future__ import annotations

import hashlib
from pathlib import Path


def sha256_of(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 digest as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: Path) -> str:
    """Return the digest of a file, of which little is held at a time. Raises `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
