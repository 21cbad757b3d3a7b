"""Scores, but ends the whole worker for one of the submissions, or has no room on some of the workers."""

import contextlib
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from evaluation.organiser.parallel.cluster import score_on_worker
from evaluation.organiser.rescoring.task import Answer, ScoringTask


def score_or_end(task: ScoringTask) -> Answer:
    if task.place == "folder":
        os.kill(os.getpid(), signal.SIGKILL)
    return score_on_worker(task)


def score_once_held(task: ScoringTask) -> Answer:
    """Score, but the first worker that holds a submission tells its number in a file, and waits."""
    from distributed import get_worker

    with contextlib.suppress(FileExistsError):
        part, held = (Path(get_worker().local_directory).parent / name for name in ("part", "held"))
        with part.open("x") as file:
            file.write(str(os.getpid()))
        os.link(part, held)  # whole at once
        time.sleep(1000)
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
