"""What is asked of a process that scores submissions, and what it answers."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Protocol

from evaluation.phase.phase import Source
from evaluation.rescoring.environment import Environment
from evaluation.workers.batches import WHOLE, Slice

ATTEMPTS = 3
"""How often a submission is tried whose process dies."""


@dataclass(frozen=True)
class Task:
    """One submission to score, as plain data.

    ``place`` names the submission and is its folder below the results. ``phase`` and ``submission`` are paths
    or addresses. ``seal`` is the digest of the phase's manifest, ``kept`` the digest of the submission whose
    result is there already. ``workers`` score its cases; ``memory_mb`` is for each of them, None for what the
    phase or the machine grants.

    A large submission is parted into so many ``slices`` (see `slicing`): ``part`` is the one to score, and
    ``once`` is the same for all of them, and for no others. With ``scored``, the outcomes of all slices,
    nothing is scored, and they are put together.
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
    slices: int = 1
    part: Slice = WHOLE
    once: str = ""
    scored: tuple[bytes, ...] = ()


Kind = Literal["scored", "rejected", "kept", "failed", "slice"]


@dataclass(frozen=True)
class Answer:
    """What became of a submission, in words and as files by name.

    ``digest`` is that of the submission. ``lasting`` tells that another run would come to the same, so that
    the result may be kept: not where the machine ran out of time or memory. ``elsewhere`` tells of a failure
    that another machine may not have; ``worker`` is the address of the cluster's worker that answered. Of a
    slice that was scored, ``outcomes`` is what the task has that puts all together.
    """

    kind: Kind
    line: str
    digest: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    lasting: bool = False
    elsewhere: bool = False
    worker: str = ""
    outcomes: bytes = b""


def failed(reason: str, elsewhere: bool = False) -> Answer:
    """Return the answer for a submission that was not scored, for a reason that is not its own fault."""
    return Answer("failed", f"not scored: {reason}", elsewhere=elsewhere)


Answers = Generator[tuple[Task, Answer], None, None]


class Engine(Protocol):
    """What scores submissions; a context manager, since it has processes to end."""

    def __enter__(self) -> Engine: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def run(self, tasks: Iterator[Task | None]) -> Answers:
        """Yield every task with its answer, as they end. Each task is taken when there is room for it.

        None among them says that there is none before another one has ended. Raises `PhaseError` where
        nothing can be scored.
        """
