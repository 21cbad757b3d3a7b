"""Digests of bytes that have been read."""

from __future__ import annotations

import hashlib


def sha256_of(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 digest as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()
