"""The server from which workers fork, started before anything heavy is imported in the main process."""

from __future__ import annotations

import multiprocessing
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext

_PRELOAD = ["evaluation.workers.pool"]


def worker_context() -> ForkServerContext:
    """Return the context in which workers start: forked from a server with the imports already made."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOAD)
    return context


def warm_up() -> None:
    """Start the server, so that its imports run beside those of this process."""
    worker_context()
    forkserver.ensure_running()
