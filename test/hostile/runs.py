"""Evaluations of submissions by the command, each in a process of its own that is held to limits.

It is forked from a process in which all is imported, which takes a tenth of the time without workers.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from test.repository import REPOSITORY

# For what hangs: what takes long is seen by the benchmarks, on a machine whose speed is known.
SECONDS = 200
MEMORY = 1 << 30
SCORED = "scored"
"""A file that a fork leaves where scoring began."""

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "always"}
# A process of one thread is safe to fork.
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": "1",
}


@dataclass(frozen=True)
class Run:
    """The output of a run, and whether its scoring began, which alone opens files of the reference."""

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
        """Evaluate against each of the phases in turn, from folders in which paths are the same."""
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
