"""Runs a function in a separate Python process, so that nothing of the caller's process changes.

Workers, their server, signal handlers, descriptors and the environment belong to that process. It can be
started from any thread and from programs without a guard of `__main__`.
"""

import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, Literal

from evaluation.core.child_processes import program_of
from evaluation.core.fault import PhaseError
from evaluation.core.trouble import trouble_of

Progress = Callable[[int], None]
_Message = tuple[Literal["progress", "result", "phase", "machine", "system", "defect"], Any]
_MAX_LOG_CHARACTERS = 4000


def run_isolated(function: str, arguments: Mapping[str, Any], progress: Progress | None = None) -> Any:
    """Run a function, named "module:function", in a separate process and return its result.

    The function gets the arguments and a ``progress`` that calls the caller's. Arguments and result must be
    picklable. Raises `PhaseError`, `MachineTrouble` and `OSError` as the function does, and `RuntimeError`
    for any other exception and for a process that dies.
    """
    program = program_of("evaluation.isolated:main()")
    environment = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")} | os.environ
    command, pipe = [sys.executable, "-c", program], subprocess.PIPE
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, env=environment) as process,  # noqa: S603
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _send(process.stdin, (function, dict(arguments)))
            process.stdin.close()
            return _result(process.stdout, progress)
        except (EOFError, BrokenPipeError):
            process.wait()
            log.seek(0)
            told = log.read().decode("utf-8", "replace")[-_MAX_LOG_CHARACTERS:]
            raise RuntimeError(f"the evaluating process ended with {process.returncode}: {told}") from None
        finally:
            process.kill()  # after its result it only has to end; after an interrupt it must


def _result(stream: Any, progress: Progress | None) -> Any:
    while True:
        kind, content = pickle.load(stream)  # noqa: S301 - from our own process
        match kind:
            case "progress":
                if progress is not None:
                    progress(content)
            case "result":
                return content
            case "phase":
                raise PhaseError(*content)
            case "machine":
                raise content
            case "system":
                raise OSError(*content)
            case _:
                raise RuntimeError(f"a defect of the evaluation:\n{content}")


def _send(stream: Any, content: object) -> None:
    pickle.dump(content, stream)
    stream.flush()


def main() -> None:
    """Run the function that the calling process names; the entry point of the new process."""
    function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our own process
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # whatever else is printed goes to the log
        _send(answers, _answer(function, arguments, answers))


def _answer(function: str, arguments: Mapping[str, Any], answers: BinaryIO) -> _Message:
    module, _, name = function.partition(":")
    try:
        call = getattr(importlib.import_module(module), name)
        return "result", call(**arguments, progress=lambda done: _send(answers, ("progress", done)))
    except PhaseError as error:
        return "phase", error.problems
    except Exception as error:
        if trouble := trouble_of(error, "work on"):
            return "machine", trouble
        if isinstance(error, OSError):
            return "system", (error.errno, error.strerror or str(error), error.filename)
        return "defect", traceback.format_exc()
