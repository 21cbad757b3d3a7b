"""The server from which workers fork, started before anything heavy is imported in the main process."""

from __future__ import annotations

import gc
import multiprocessing
import os
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext

_PRELOAD = ["evaluation.workers.pool"]
# SimpleITK decodes most images; imported once here, it is not imported by every worker.
_PRELOAD_OF_IMAGES = [*_PRELOAD, "SimpleITK"]
# glibc would hand the pages of every decoded image back and fault fresh ones in for the next: kept, a PNG
# mask of 1634 × 1634 is decoded in a quarter of the time. Read by glibc when a process starts.
_KEEP_PAGES = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}

_OBJECTS_BETWEEN_COLLECTIONS = 200_000


def worker_context() -> ForkServerContext:
    """Return the context in which workers start: forked from a server with the imports already made."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOAD_OF_IMAGES)
    return context


def warm_up(images: bool = True) -> None:
    """Start the server, so that its imports run beside those of this process.

    Without ``images`` what only they need is not imported, which takes as long as all the rest.
    """
    os.environ.update(_KEEP_PAGES)
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
