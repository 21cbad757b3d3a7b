"""The code behind a result: version and sources of the package, and its numerical libraries."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import evaluation

_LIBRARIES = ("numpy", "scipy", "SimpleITK", "pillow", "grand-challenge-metrics")


@dataclass(frozen=True)
class Environment:
    """Version of the package, digest of its sources, versions of libraries; equal ones give equal results."""

    version: str
    sources: str
    libraries: str

    def difference(self, other: Environment) -> str | None:
        """Return the differences from this environment in words, None where there are none."""
        if self.version != other.version:
            return f"version {self.version} of the package here, {other.version} there"
        if self.libraries != other.libraries:
            return f"{self.libraries} here, {other.libraries} there"
        if self.sources != other.sources:
            return f"other sources of the package, both of version {self.version}"
        return None


def environment() -> Environment:
    """Return the environment of this process."""
    return _environment(os.environ.get("EVALUATION_CHALLENGES"))


@cache
def _environment(further: str | None) -> Environment:
    """Return the environment with further challenges in a folder; sources are read once."""
    digest = hashlib.sha256()
    for root in map(Path, (*evaluation.__path__, *([further] if further else []))):
        for path in sorted(root.rglob("*.py")):
            data = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()}\0{len(data)}\0".encode() + data)
    libraries = ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES)
    return Environment(evaluation.__version__, digest.hexdigest(), libraries)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
