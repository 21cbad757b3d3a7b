"""Tasks of processes that score submissions, their answers, and the code that computes a result."""

import contextlib
import hashlib
import os
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, Self

import evaluation
from evaluation.phase.phase import Source

# --- The code behind a result: version and sources of the package, and its numerical libraries ---

# What figures depend on besides the package: what computes, and what decodes. Not Python: its versions from
# 3.11 on give the same bytes, which a test of the container compares.
_LIBRARIES = (
    *("numpy", "scipy", "SimpleITK", "scikit-learn", "pandas", "pillow", "zlib-ng"),
    *("grand-challenge-metrics", "pydantic"),
)


@dataclass(frozen=True)
class Environment:
    """Version of the package, digest of its sources, versions of libraries; equal ones give equal results."""

    version: str
    sources: str
    libraries: str

    def difference(self, other: "Environment") -> str | None:
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
    versions = dict.fromkeys(_LIBRARIES, "none")
    for name in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    libraries = ", ".join(f"{name} {number}" for name, number in versions.items())
    return Environment(evaluation.__version__, digest.hexdigest(), libraries)


# --- Tasks and answers of processes that score submissions ---

ATTEMPTS = 3
"""How often a submission is tried if its process dies."""


@dataclass(frozen=True)
class ScoringTask:
    """One submission to score, as plain data.

    ``place`` names the submission and is its folder below the results. ``phase`` and ``submission`` are paths
    or addresses. ``seal`` is the digest of the phase's manifest, ``kept`` the digest of the submission with
    an existing result. ``workers`` score its cases; ``memory_mb`` is for each of them, None for the phase's
    or machine's limit. ``isolated``: only where readers are confined in full (`missing_confinement`).
    """

    place: str
    phase: str
    source: Source
    seal: str
    submission: str
    environment: Environment
    kept: str | None = None
    workers: int = 1
    memory_mb: int | None = None
    isolated: bool = False


Kind = Literal["scored", "rejected", "kept", "failed"]


@dataclass(frozen=True)
class Answer:
    """The result of a submission, in words and as files by name.

    ``digest``: of the submission. ``lasting``: another run would give the same result, so that it may be
    kept; false where the machine ran out of time or memory. ``elsewhere``: another machine may not fail;
    ``unsuited``: the machine can do no task of this run. ``worker`` is the address of the cluster's worker
    that answered.
    """

    kind: Kind
    line: str
    digest: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    lasting: bool = False
    elsewhere: bool = False
    unsuited: bool = False
    worker: str = ""

    @classmethod
    def failed(cls, reason: str, elsewhere: bool = False, unsuited: bool = False) -> "Answer":
        """Return the answer for a submission that was not scored, for a reason that is not its own fault."""
        return cls("failed", f"not scored: {reason}", elsewhere=elsewhere or unsuited, unsuited=unsuited)


Answers = Generator[tuple[ScoringTask, Answer], None, None]


class Engine:
    """An engine that scores submissions; a context manager, since it may have processes to end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """End its processes, if it has any."""

    def run(self, tasks: Iterator[ScoringTask]) -> Answers:
        """Yield every task with its answer, as they end. Each task is taken when there is room for it.

        Raises `PhaseError` where nothing can be scored.
        """
        raise NotImplementedError
