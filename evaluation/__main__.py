"""Entry point: without arguments the job of the container, else the commands of `evaluation.cli`."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def _stop(signal_number: int, frame: FrameType | None) -> None:
    """End at once on SIGTERM, with the status that the platform expects and without a result."""
    os._exit(128 + signal.SIGTERM)  # the system ends all workers with this process, see `workers.server`


if __name__ == "__main__":
    # First of all: as process 1 of a container, Python would ignore SIGTERM without a handler.
    signal.signal(signal.SIGTERM, _stop)
    # Workers are processes; threads of linear algebra would only cost start-up time and memory.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    from evaluation.cli.main import main

    sys.exit(main(sys.argv[1:]))
