"""Evaluations of submissions by the command, each in a process of its own that is held to limits.

`in_processes` starts the command as anybody does, with its workers; `Forks` forks it from a process in which
all is imported. Without workers this takes a tenth of the time.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from test.repository import REPOSITORY

# For what hangs: what takes long is seen by the benchmarks, on a machine whose speed is known.
SECONDS = 200
MEMORY = 1 << 30
SCORED = "scored"
"""A file that a fork leaves where scoring began."""

_EVENT = struct.Struct("iIII")
_IN_OPEN, _IN_FOLDER = 0x20, 0x40000000
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "always"}
# A process of one thread is safe to fork.
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": "1",
}


@dataclass(frozen=True)
class Run:
    """The output of a run, and whether it opened any file of the reference, as all scoring does."""

    status: int
    stdout: bytes
    stderr: bytes
    metrics: bytes | None
    scored: bool


def arguments_of(submission: Path) -> list[str]:
    """Return the arguments of the command in a folder that holds the phase."""
    return ["evaluate", "--input", str(submission), "--ground-truth", "phase", "--output", "output"]


def limited() -> None:
    """Hold this process, and each that it starts, to 200 s of processor time and 1 GB of memory."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def in_processes(phases: tuple[Path, ...], submission: Path, folder: Path) -> list[Run]:
    """Evaluate against each of the phases, at the same time, from folders in which paths are the same."""
    folders = [_folder_of(phase, folder) for phase in phases]
    with ExitStack() as files:
        witnesses = [files.enter_context(witness(phase)) for phase in phases]
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "evaluation", *arguments_of(submission)],
                cwd=here,
                stdout=files.enter_context((here / "stdout").open("wb")),
                stderr=files.enter_context((here / "stderr").open("wb")),
                env=ENVIRONMENT,
                preexec_fn=limited,
            )
            for here in folders
        ]
        statuses = [process.wait(600) for process in processes]
        opened = [any_opened() for any_opened in witnesses]
    return [_run(*ended) for ended in zip(statuses, folders, opened, strict=True)]


@contextmanager
def witness(phase: Path) -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether any file in the folders of a phase was opened since."""
    libc = ctypes.CDLL(None, use_errno=True)
    events = libc.inotify_init1(os.O_NONBLOCK)
    try:
        for folder in phase.rglob("*"):
            if folder.is_dir():
                assert libc.inotify_add_watch(events, os.fsencode(folder), _IN_OPEN) >= 0

        def any_opened() -> bool:
            data = b""
            with suppress(BlockingIOError):
                data = os.read(events, 1 << 16)
            position, opened = 0, False
            while position < len(data):
                _, mask, _, length = _EVENT.unpack_from(data, position)
                opened |= not mask & _IN_FOLDER  # a folder is opened to list it
                position += _EVENT.size + length
            return opened

        yield any_opened
    finally:
        os.close(events)


class Forks:
    """Evaluations in forks of one process; to be closed."""

    def __init__(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-m", "test.hostile.fork"],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**ENVIRONMENT, **ONE_THREAD},
        )

    def __call__(
        self, phases: tuple[Path, ...], submission: Path, folder: Path, workers: int = 0
    ) -> list[Run]:
        """Evaluate against each of the phases, one after the other; see `in_processes`."""
        runs = []
        for phase in phases:
            here = _folder_of(phase, folder)
            request = [str(here), [*arguments_of(submission), "--workers", str(workers)]]
            self._parent.stdin.write(json.dumps(request) + "\n")
            self._parent.stdin.flush()
            status = int(self._parent.stdout.readline())
            runs.append(_run(status, here, (here / SCORED).exists()))
        return runs

    def close(self) -> None:
        """End the process."""
        self._parent.communicate(timeout=100)


def _folder_of(phase: Path, folder: Path) -> Path:
    here = folder / phase.parent.name
    here.mkdir()
    (here / "phase").symlink_to(phase)
    return here


def _run(status: int, here: Path, scored: bool) -> Run:
    file = here / "output" / "metrics.json"
    streams = ((here / name).read_bytes() for name in ("stdout", "stderr"))
    return Run(status, *streams, file.read_bytes() if file.exists() else None, scored)
