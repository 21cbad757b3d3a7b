"""Commands in a process of their own that need not import the package: a fork of one that has.

`rank` of a small table takes 2.15 s of processor time, 2.09 for its imports, and tests and pages run hundreds
of commands. Here a server imports all commands once and forks a process for each call, which is
`python -m evaluation` with the arguments, folder, environment and streams of its caller. Imports, signals and
streams at the start of a command are tested with processes that start from nothing.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

_REPOSITORY = Path(__file__).parents[1]
_LATER = ("pandas", "scipy.stats", "sklearn.metrics", "rich.progress", "rich.table", "jinja2", "vl_convert")
"""Packages that commands import when they need them."""
WITHOUT_WORKERS = """\
scores='^-m evaluation (evaluate|check|report submission|report leaderboard) '
told='--(workers|help)'
if [[ "$*" =~ $scores && ! "$*" =~ $told ]]; then set -- "$@" --workers 0; fi"""
"""Lines of bash for `write_program`: commands score in their own process, which starts no others for it."""


def run(
    *arguments: object,
    cwd: Path = _REPOSITORY,
    timeout: float = 100,
    output: int | None = None,
    server: str = "",
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run `python -m evaluation` as `subprocess.run` does, and capture stderr and stdout.

    ``output`` is another descriptor for stdout, ``server`` a `strict_server`, ``environment`` holds further
    variables.
    """
    words = [*map(str, arguments)]
    variables = {**os.environ, **environment}
    if sys.platform != "linux":
        command = [sys.executable, "-m", "evaluation", *words]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=cwd, env=variables, timeout=timeout, check=False
        )
    with (
        Path(os.devnull).open() as nothing,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stdout,
        tempfile.TemporaryFile("w+", encoding="utf-8") as stderr,
    ):
        streams = [nothing.fileno(), stdout.fileno() if output is None else output, stderr.fileno()]
        status = _ask(server or _server(), words, cwd, variables, streams, timeout)
        for stream in (stdout, stderr):
            stream.seek(0)
        return subprocess.CompletedProcess(words, status, stdout.read(), stderr.read())


def write_program(path: Path, first: str = "") -> None:
    """Write an executable `python`: the server runs its `-m evaluation`, this Python all else.

    ``first`` holds lines of bash before both, which may change the arguments.
    """
    lines = ["#!/bin/bash", first]
    if sys.platform == "linux":
        client = f'exec {sys.executable} -ISs {__file__} {_server()} "$@"'
        # Images are made of the package's own folder, which the server does not have in a copy.
        lines.append(
            f'[[ "$1 $2" == "-m evaluation" && $3 != build && $3 != export ]] && shift 2 && {client}'
        )
    path.write_text("\n".join([*lines, f'exec {sys.executable} "$@"', ""]))
    path.chmod(0o755)


_started: list[subprocess.Popen[bytes]] = []
"""Kept, since forks of this process (`test.forks`) have no handler that would end the server, nor keep it."""


def strict_server(repository: Path = _REPOSITORY) -> str:
    """Return the address of a server of a repository in Python's development mode: a warning is an error."""
    return _server(repository, "-X", "dev", "-W", "error")


@cache
def _server(repository: Path = _REPOSITORY, *options: str) -> str:
    """Return the address of this process's server; it ends with this process."""
    folder = tempfile.mkdtemp(prefix="evaluation-started-")
    address = f"{folder}/socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        process = subprocess.Popen(
            [sys.executable, *options, "-m", "test.started", str(listening.fileno())],
            cwd=repository,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "default"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[listening.fileno()],
        )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(process.kill)
    _started.append(process)
    return address


# --- The caller: a test, or a program that a shell starts ---


def _ask(
    address: str,
    arguments: list[str],
    cwd: Path,
    environment: dict[str, str],
    streams: list[int],
    timeout: float | None,
) -> int:
    """Have the server run a command, and return its exit status: −n after signal n."""
    call = json.dumps({"arguments": arguments, "cwd": str(cwd), "environment": environment}).encode()
    with socket.socket(socket.AF_UNIX) as server:
        server.settimeout(timeout)
        server.connect(address)
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))
        server.sendmsg([len(call).to_bytes(8, "big")], [rights])
        server.sendall(call)
        with server.makefile("r") as answers:
            process = int(answers.readline())
            try:
                return int(answers.readline())
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                raise


# --- The server ---


def _serve(descriptor: int) -> None:
    """Import all commands, and fork a process for each call until the caller's process ends."""
    import gc

    from evaluation.cli.main import COMMANDS
    from evaluation.core.child_processes import end_with_parent

    end_with_parent()
    for command in COMMANDS.values():
        importlib.import_module(command.place.partition(":")[0])
    for name in _LATER:
        importlib.import_module(name)
    if len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208
        raise RuntimeError("a process with threads cannot be forked safely")
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that answer
    listening = socket.socket(fileno=descriptor)
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _answer(connection)
        connection.close()


def _answer(connection: socket.socket) -> None:
    """Run a call in a new process, and tell its number and its status."""
    length, streams, _, _ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as calls:
        call = json.loads(calls.read(int.from_bytes(length, "big")))
    process = os.fork()
    if process == 0:
        connection.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        _run(call["arguments"], call["cwd"], call["environment"])
    for stream in streams:
        os.close(stream)
    connection.sendall(f"{process}\n".encode())
    _, status = os.waitpid(process, 0)
    connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    os._exit(0)


def _run(arguments: list[str], cwd: str, environment: dict[str, str]) -> None:
    """Be `python -m evaluation` in a folder."""
    import runpy
    import traceback

    from evaluation.phase import named

    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    # Those of the server know whether its own files can be sought.
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", 1, encoding="utf-8", closefd=False)  # noqa: SIM115
    os.posix_spawn = _fork_server  # type: ignore[assignment]
    sys.path.insert(0, cwd)  # the package is found from any folder, as if it were installed
    sys.argv = [f"{cwd}/evaluation/__main__.py", *arguments]
    if Path(cwd, "evaluation").is_dir():
        named._REPOSITORY = Path(cwd)  # a copy of the repository has phases of its own
    status: object = 1
    try:
        runpy.run_module("evaluation", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        status = ended.code
    except KeyboardInterrupt:
        status = 130
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()
    code = status if isinstance(status, int) else 0 if status is None else 1
    if sys.flags.dev_mode:
        sys.exit(code)  # what is left open warns at the end
    os._exit(code)


def _fork_server(path: str, command: list[str], environment: dict[str, str], **options: object) -> int:
    """Start the server of the workers as `os.posix_spawn` does, but as a fork, in which all is imported."""
    process = os.fork()
    if process == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, options["setsigmask"])
        atexit._clear()
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
            with contextlib.suppress(OSError):
                if int(name) > 2 and not os.get_inheritable(int(name)):
                    os.close(int(name))
        os.environ.update(environment)
        exec(command[2], {})  # it ends the process
    return process


if __name__ == "__main__":
    if len(sys.argv) == 2 and sys.argv[1].isdigit():
        _serve(int(sys.argv[1]))
    else:
        sys.exit(_ask(sys.argv[1], sys.argv[2:], Path.cwd(), dict(os.environ), [0, 1, 2], None))
