"""A cluster worker's part of a task: it fetches files from elsewhere, and scores in a lane.

Each thread of the worker has a lane. A phase at an address is read once per worker; the lane verifies its
seal.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation.core.fault import PhaseError
from evaluation.organiser.rescoring.lanes import SteadyLane
from evaluation.organiser.rescoring.submissions import fetch, local_path
from evaluation.organiser.rescoring.task import ATTEMPTS, Answer, ScoringTask, failed

_MEBIBYTE = 1 << 20
# The process of a lane, which decodes nothing, beside its workers.
_LANE_MB = 512
_LEAST_MB = 512
_of_thread = threading.local()
_phases: dict[tuple[str, str], Path] = {}
_one_fetches = threading.Lock()


def score_on_worker(task: ScoringTask) -> Answer:
    """Score a submission on a thread of a Dask worker."""
    from distributed import get_worker

    worker = get_worker()
    # Dask removes this folder, even if the worker was killed.
    folder = Path(worker.local_directory)
    if not hasattr(_of_thread, "lane"):
        _of_thread.lane = SteadyLane(folder)
    answer = score_fetched(task, folder, _share_mb(worker, task.workers), _of_thread.lane)
    return replace(answer, worker=worker.address)


def score_fetched(task: ScoringTask, folder: Path, memory_mb: int | None, lane: SteadyLane) -> Answer:
    """Fetch a remote phase and submission into a folder, three times at most, and score in a lane."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            phase = _fetched_phase(task, folder)
            with _fetched(task, folder) as submission:
                here = replace(task, phase=str(phase), submission=str(submission), memory_mb=memory_mb)
                return lane.score(here)
        except PhaseError as error:
            return failed("; ".join(error.problems))
        except Exception as error:  # file systems of fsspec raise any exception
            if attempt == ATTEMPTS:
                return failed(f"{task.submission}: {type(error).__name__}: {error}", elsewhere=True)
    raise AssertionError("unreachable")


def _fetched_phase(task: ScoringTask, folder: Path) -> Path:
    if (path := local_path(task.phase)) is not None:
        return path
    key = (task.phase, task.seal)
    with _one_fetches:
        if key not in _phases or not _phases[key].is_dir():
            _phases[key] = fetch(task.phase, Path(tempfile.mkdtemp(prefix="phase-", dir=folder)))
        return _phases[key]


@contextlib.contextmanager
def _fetched(task: ScoringTask, folder: Path) -> Iterator[Path]:
    path = local_path(task.submission)
    if path is not None or task.scored:
        yield path or folder
    elif task.once:
        yield _fetched_for_slices(task, folder)
    else:
        with tempfile.TemporaryDirectory(prefix="submission-", dir=folder) as temporary:
            yield fetch(task.submission, Path(temporary))


def _fetched_for_slices(task: ScoringTask, folder: Path) -> Path:
    """Return a submission, kept until slices of another one are scored on this thread."""
    if getattr(_of_thread, "once", None) != task.once:
        if before := getattr(_of_thread, "fetched", None):
            before.cleanup()
        _of_thread.once = None
        _of_thread.fetched = tempfile.TemporaryDirectory(prefix="submission-", dir=folder)
        _of_thread.submission = fetch(task.submission, Path(_of_thread.fetched.name))
        _of_thread.once = task.once
    submission: Path = _of_thread.submission
    return submission


def _share_mb(worker: Any, workers: int) -> int | None:
    """Return the memory of one process that reads or scores cases, None where the worker has no limit."""
    limit = worker.memory_manager.memory_limit
    if not limit:
        return None
    share: int = limit // _MEBIBYTE // max(1, worker.state.nthreads)
    return max(_LEAST_MB, (share - _LANE_MB) // max(1, workers))
