"""A real Dask scheduler and real worker processes on loopback, which tests may kill."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from distributed import Client

from test.repository import REPOSITORY

_SETTINGS = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False",
    # A worker that a nanny starts or replaces need not import Dask anew, which takes two seconds.
    "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "fork",
}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Dask:
    """A scheduler at one address and its workers, each with a nanny that replaces it when it dies."""

    def __init__(self, folder: Path, workers: int, nanny: str = "--nanny", **environment: str) -> None:
        self.folder, self._workers, self._nanny = folder, workers, nanny
        self._environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), **_SETTINGS, **environment}
        self._port = free_port()
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Dask:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def start(self) -> None:
        """Start scheduler and workers; a client waits for them."""
        self._run("dask_scheduler", "--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard")
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    break
            time.sleep(0.05)
        for _ in range(self._workers):
            self.add_worker()

    def wait_for_workers(self) -> None:
        """Wait until all of them can be given tasks."""
        with Client(self.address) as client:
            client.wait_for_workers(len(self._processes) - 1)

    def add_worker(
        self, memory_limit: str = "2GiB", cwd: Path | str = REPOSITORY, **environment: str
    ) -> None:
        """Start a further worker, which may differ from the others."""
        self._run(
            "dask_worker",
            *(self.address, "--nthreads", "1", "--memory-limit", memory_limit, "--no-dashboard"),
            *(self._nanny, "--host", "127.0.0.1", "--local-directory", str(self.folder)),
            cwd=cwd,
            **environment,
        )

    def _run(self, command: str, *arguments: str, cwd: Path | str = REPOSITORY, **environment: str) -> None:
        self._processes.append(
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{command}", *arguments],
                cwd=cwd,
                env={**self._environment, **environment},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )

    def end(self) -> None:
        """Kill everything at once, as a cluster that loses its power."""
        for process in self._processes:
            for member in (*_children(process.pid), process.pid):
                try:
                    os.kill(member, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            process.wait()
        self._processes.clear()


def _children(process: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
