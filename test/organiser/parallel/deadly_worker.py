"""Scores, but ends the whole worker for one of the submissions, or has no room on some of the workers."""

import contextlib
import os
import signal
from dataclasses import replace
from pathlib import Path

from evaluation.organiser.parallel.cluster import score_on_worker
from evaluation.organiser.rescoring.task import Answer, ScoringTask


def score_or_end(task: ScoringTask) -> Answer:
    if task.place == "folder":
        os.kill(os.getpid(), signal.SIGKILL)
    return score_on_worker(task)


def score_with_room(task: ScoringTask) -> Answer:
    """Score, but not on the worker that was first to be asked: it answers at once that it has no room."""
    from distributed import get_worker

    worker = get_worker()
    with contextlib.suppress(FileExistsError):
        (Path(worker.local_directory).parent / "full").symlink_to(worker.address)
    if (Path(worker.local_directory).parent / "full").readlink() == Path(worker.address):
        return replace(Answer.failed("No space left on device", elsewhere=True), worker=worker.address)
    return score_on_worker(task)


def score_without_room(task: ScoringTask) -> Answer:
    """Answer that this worker has no room, whichever it is."""
    from distributed import get_worker

    return replace(Answer.failed("No space left on device", elsewhere=True), worker=get_worker().address)
