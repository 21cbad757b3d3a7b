"""Entry point of `python -m evaluation` and of the console command `evaluation`."""

import atexit
import contextlib
import io
import os
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

_NEEDED = (3, 11)


def run() -> int:
    """Run the command of `sys.argv` as the only one of this process, and return its exit status."""
    if sys.version_info < _NEEDED:
        sys.stderr.write(f"evaluation needs Python {'.'.join(map(str, _NEEDED))} or later\n")
        return 1
    # First of all: as process 1 of a container, Python would ignore SIGTERM without a handler.
    signal.signal(signal.SIGTERM, _stop)
    # Workers are processes; threads of linear algebra would only cost start-up time and memory.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    # Plug-ins of pydantic are for other programs; looking for them reads the metadata of every package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a Windows log cannot hold every character
    from evaluation.cli.main import main

    return main(sys.argv[1:])


def main() -> NoReturn:
    """Run the command of `sys.argv` and end this process with its exit status."""
    try:
        status = run()
    except KeyboardInterrupt:  # before a command runs, which catches it itself
        sys.stderr.write("Stopped by Ctrl-C\n")
        status = 130
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Without threads or output that still wait, nothing is left to do but to take thousands of objects apart.
    if threading.active_count() == 1:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            atexit._run_exitfuncs()
            os._exit(status)
    sys.exit(status)


def _stop(signal_number: int, frame: FrameType | None) -> None:
    """End at once on SIGTERM, with the status that the platform expects and without a result."""
    os._exit(128 + signal.SIGTERM)  # the system ends all workers with this process, see `workers.server`


if __name__ == "__main__":
    main()
