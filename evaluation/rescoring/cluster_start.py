"""Start of a Dask cluster, on this machine or through Dask's packages for batch systems and Kubernetes."""

from __future__ import annotations

import contextlib
import importlib
import logging
import signal
import threading
from collections.abc import Iterator
from functools import partial
from multiprocessing import resource_tracker
from typing import Any

from evaluation.core.fault import PhaseError
from evaluation.platform import machine

QUEUES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "sge": "SGECluster",
    "lsf": "LSFCluster",
    "oar": "OARCluster",
    "htcondor": "HTCondorCluster",
    "moab": "MoabCluster",
}
"""Batch systems by their name here and in the configuration of dask-jobqueue, and its class for each."""


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Block SIGINT in all threads that are started within, and in their processes.

    A terminal sends it to the workers too, which would each print a traceback. The handler is restored
    afterwards, since importing dask_jobqueue replaces it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # The first started process unblocks the signal in its thread, unless this runs already.
    resource_tracker.ensure_running()
    handler = signal.getsignal(signal.SIGINT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_cluster(where: str, workers: int | None) -> Any:
    """Start and return a cluster; None where ``where`` is the address of a scheduler."""
    try:
        import distributed

        if where == "local":
            count = machine.worker_count(workers) or 1
            start = partial(
                distributed.LocalCluster,
                n_workers=count,
                threads_per_worker=1,
                silence_logs=logging.CRITICAL,
                dashboard_address=":0",
            )
        elif where == "kubernetes":
            # By default it draws its own progress on the terminal.
            start = partial(importlib.import_module("dask_kubernetes.operator").KubeCluster, quiet=True)
        elif where in QUEUES:
            start = getattr(importlib.import_module("dask_jobqueue"), QUEUES[where])
        else:
            if workers is not None:
                raise PhaseError(f"--workers: the scheduler at {where} has workers of its own")
            return None
    except ModuleNotFoundError as error:
        extra = "cluster" if where in ("local",) or "://" in where else where
        raise PhaseError(
            f"--cluster {where} needs the Python package {error.name!r}: install this package with its extra "
            f"{extra!r}"
        ) from None
    try:
        cluster = start()
    except Exception as error:  # Dask's packages report a lacking configuration in many ways
        raise PhaseError(f"--cluster {where}: {str(error) or type(error).__name__}") from None
    if where == "local":
        return cluster
    if workers is None:
        cluster.adapt()
    else:
        cluster.scale(workers)
    return cluster
