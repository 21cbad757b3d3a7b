"""Runs a function in a separate Python process, so that nothing of the caller's process changes.

Workers, their server, signal handlers, descriptors and the environment belong to that process. It can be
started from any thread and from programs without a guard of `__main__`.
"""

import importlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

from evaluation.core.child_processes import program_of
from evaluation.core.fault import PhaseError
from evaluation.core.trouble import trouble_of
from evaluation.io.files import scratch_folder

Progress = Callable[[int], None]
_Message = tuple[Literal["progress", "result", "phase", "machine", "system", "defect"], Any]
_MAX_LOG_CHARACTERS = 4000


class ChildDied(Exception):  # noqa: N818 - named like `Died`, a result
    """Raised if a child died before it answered; the text says how, ``words`` are the last of its log."""

    def __init__(self, how: str, words: str) -> None:
        self.words = words
        super().__init__(how)


class Child:
    """A Python process that gets content and answers, both pickled, in a function "module:function()".

    It finds the same modules as this one and ends with it. Its temporary files are below a folder, by default
    the system's, and are removed even if it was killed. Raises `MachineTrouble` and `OSError` where it cannot
    be started.
    """

    def __init__(self, function: str, folder: Path | None = None) -> None:
        environment = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        with ExitStack() as opened:
            scratch = opened.enter_context(scratch_folder("child-", folder))
            self._log = opened.enter_context(tempfile.TemporaryFile(dir=scratch))
            self._process = subprocess.Popen(  # noqa: S603 - this Python and this package
                [sys.executable, "-c", program_of(function)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env={**environment, **os.environ, "TMPDIR": str(scratch)},
            )
            self._closing = opened.pop_all()

    def fileno(self) -> int:
        """Return the descriptor that becomes readable with an answer, for `selectors`."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def give(self, content: object) -> None:
        """Hand over content; `answer` raises where the process has died."""
        with suppress(OSError):
            _send(self._process.stdin, content)

    def answer(self) -> Any:
        """Return the next answer, waiting for it. Raises `ChildDied`."""
        try:
            return pickle.load(self._process.stdout)  # type: ignore[arg-type]  # noqa: S301 - ours
        except (EOFError, pickle.UnpicklingError):
            status = self._process.wait()
            self._log.seek(0)
            words = self._log.read().decode("utf-8", "replace").strip()[-_MAX_LOG_CHARACTERS:]
            how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with {status}"
            raise ChildDied(how, words) from None

    def close(self) -> None:
        """End the process and its children, and remove its files."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        self._closing.close()


@contextmanager
def parent() -> Iterator[tuple[Callable[[], Any], Callable[[object], None]]]:
    """Yield, in a child, what returns the next content and what answers; other output goes to the log."""
    with os.fdopen(os.dup(0), "rb") as given, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        yield partial(pickle.load, given), partial(_send, answers)


def _send(stream: Any, content: object) -> None:
    pickle.dump(content, stream)
    stream.flush()


def run_isolated(function: str, arguments: Mapping[str, Any], progress: Progress | None = None) -> Any:
    """Run a function, named "module:function", in a separate process and return its result.

    The function gets the arguments and a ``progress`` that calls the caller's. Arguments and result must be
    picklable. Raises `PhaseError`, `MachineTrouble` and `OSError` as the function does, and `RuntimeError`
    for any other exception and for a process that dies.
    """
    with closing(Child("evaluation.isolated:main()")) as child:
        child.give((function, dict(arguments)))
        try:
            kind, content = child.answer()
            while kind == "progress":
                if progress is not None:
                    progress(content)
                kind, content = child.answer()
        except ChildDied as died:
            raise RuntimeError(f"the evaluating process {died}: {died.words}") from None
    match kind:
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


def main() -> None:
    """Run the function that the calling process names; the entry point of the new process."""
    with parent() as (given, answer):
        function, arguments = given()
        answer(_answer(function, arguments, lambda done: answer(("progress", done))))


def _answer(function: str, arguments: Mapping[str, Any], progress: Progress) -> _Message:
    module, _, name = function.partition(":")
    try:
        call = getattr(importlib.import_module(module), name)
        return "result", call(**arguments, progress=progress)
    except PhaseError as error:
        return "phase", error.problems
    except Exception as error:
        if trouble := trouble_of(error, "work on"):
            return "machine", trouble
        if isinstance(error, OSError):
            return "system", (error.errno, error.strerror or str(error), error.filename)
        return "defect", traceback.format_exc()
