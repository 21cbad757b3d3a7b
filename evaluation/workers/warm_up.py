"""The server from which workers fork, started before anything heavy is imported in the main process."""

from __future__ import annotations

import gc
import os
import tempfile
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess

_PRELOAD = ["evaluation.workers.pool"]
# SimpleITK decodes most images; imported once here, it is not imported by every worker.
_PRELOAD_OF_IMAGES = [*_PRELOAD, "SimpleITK"]
# glibc would hand the pages of every decoded image back and fault fresh ones in for the next: kept, a PNG
# mask of 1634 × 1634 is decoded in a quarter of the time. Read by glibc when a process starts.
_KEEP_PAGES = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where there is no other place for the server's socket
_LEFT_BY_ITSELF = 255
_OBJECTS_BETWEEN_COLLECTIONS = 200_000


class WorkerProcess(ForkServerProcess):
    """A process that is not to end before it is told to."""

    @property
    def exitcode(self) -> int | None:
        """Status of the ended process; 0 is shown as 255, since pebble takes that for a regular end."""
        status = super().exitcode
        return _LEFT_BY_ITSELF if status == 0 else status


class WorkerContext(ForkServerContext):
    """The context in which workers start: forked from a server with the imports already made."""

    Process = WorkerProcess


def worker_context() -> WorkerContext:
    """Return the context in which workers start."""
    context = WorkerContext()
    context.set_forkserver_preload(_PRELOAD_OF_IMAGES)
    return context


def warm_up(images: bool = True) -> None:
    """Start the server, so that its imports run beside those of this process. Raises `OSError`.

    Without ``images`` what only they need is not imported, which takes as long as all the rest.
    """
    os.environ.update(_KEEP_PAGES)
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        if os.access(_SHARED_MEMORY, os.W_OK):
            tempfile.tempdir = _SHARED_MEMORY
    context = worker_context()
    if not images:
        context.set_forkserver_preload(_PRELOAD)
    forkserver.ensure_running()


def collect_rarely() -> None:
    """Look for cycles of dead objects only now and then.

    Ten thousand cases make many objects and hardly a cycle: Python's default would spend a tenth of the time
    of a run on looking.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
