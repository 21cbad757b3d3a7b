"""Scores, but ends the whole worker for one of the submissions."""

import os
import signal

from evaluation.rescoring.cluster_worker import score_on_worker
from evaluation.rescoring.task import Answer, Task


def score_or_end(task: Task) -> Answer:
    if task.place == "folder":
        os.kill(os.getpid(), signal.SIGKILL)
    return score_on_worker(task)
