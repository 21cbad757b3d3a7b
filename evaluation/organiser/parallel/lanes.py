"""A process that scores submissions in turn, which leaves nothing of one for the next, and its caller's view.

It opens a submission's files only to compute the digest. Imports and the server of the workers start once;
what unpacks, reads and scores is forked for each submission (see `evaluation.workers`). The process ends with
its caller, and its temporary files are removed even if it was killed.
"""

import contextlib
import os
import pickle
import selectors
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluation.core.child_processes import program_of
from evaluation.core.trouble import MachineTrouble, trouble_of
from evaluation.io.files import scratch_folder
from evaluation.organiser.rescoring.scorer import Scorer
from evaluation.organiser.rescoring.task import ATTEMPTS, Answer, Answers, Engine, ScoringTask
from evaluation.platform import machine

_LOG_CHARACTERS = 400


class LaneDied(Exception):  # noqa: N818 - named like `Died`, a result
    """Raised if the process died before it answered; the text says how."""


class Lane:
    """One such process; its temporary files are below a folder, by default the system's.

    Raises `MachineTrouble` and `OSError` where it cannot be started.
    """

    def __init__(self, folder: Path | None = None) -> None:
        # The process must find the same modules.
        program = program_of(f"{__name__}:main()")
        environment = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        with contextlib.ExitStack() as opened:
            scratch = opened.enter_context(scratch_folder("lane-", folder))
            self._log = opened.enter_context(tempfile.TemporaryFile(dir=scratch))
            self._process = subprocess.Popen(  # noqa: S603 - this Python and this module
                [sys.executable, "-c", program],
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

    def give(self, task: ScoringTask) -> None:
        """Hand over a task; `answer` raises where the process has died."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            _send(self._process.stdin, task)

    def answer(self) -> Answer:
        """Return the answer to the task, waiting for it. Raises `LaneDied`."""
        try:
            answer: Answer = pickle.load(self._process.stdout)  # type: ignore[arg-type]  # noqa: S301 - ours
        except (EOFError, pickle.UnpicklingError):
            status = self._process.wait()
            if status < 0:
                raise LaneDied(f"its process was killed by {signal.Signals(-status).name}") from None
            self._log.seek(0)
            words = self._log.read().decode("utf-8", "replace").strip()[-_LOG_CHARACTERS:]
            raise LaneDied(f"its process ended with {status}" + (f" ({words})" if words else "")) from None
        return answer

    def close(self) -> None:
        """End the process and its children, and remove its files."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        self._closing.close()


def main() -> None:
    """Do tasks until there are no more; the entry point of the process."""
    from evaluation.workers.processes import collect_rarely, warm_up

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal; the caller ends us
    if machine.CAN_ISOLATE:
        warm_up()
        collect_rarely()
    scorer = Scorer()
    with os.fdopen(os.dup(0), "rb") as tasks, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # other output goes to the log
        with contextlib.suppress(EOFError):
            while True:
                _send(answers, scorer.answer(pickle.load(tasks)))  # noqa: S301 - from our caller


def _send(stream: Any, content: object) -> None:
    pickle.dump(content, stream)
    stream.flush()


# --- Submissions scored on this machine in several processes at once ---


class Lanes(Engine):
    """Several processes that each score one submission at a time; see `Lane` for the folder."""

    def __init__(self, count: int, folder: Path | None = None) -> None:
        self._count, self._folder = count, folder
        self._lanes: set[Lane] = set()

    def __exit__(self, *error: object) -> None:
        for lane in list(self._lanes):
            self._end(lane)

    def run(self, tasks: Iterator[ScoringTask]) -> Answers:
        """Yield every task with its answer, as they end.

        If its process dies, a task is given to a new one, three times in all. Where no more processes can be
        started, those that run take all tasks; without any, a task has failed.
        """
        again: deque[tuple[ScoringTask, int]] = deque()
        idle = list(self._lanes)
        with selectors.DefaultSelector() as busy:
            while True:
                while len(busy.get_map()) < self._count:
                    task, attempts = again.popleft() if again else (next(tasks, None), 0)
                    if task is None:
                        break
                    try:
                        lane = idle.pop() if idle else Lane(self._folder)
                    except (OSError, MachineTrouble) as error:
                        if busy.get_map():
                            again.appendleft((task, attempts))
                            break
                        trouble = trouble_of(error, "start", "a process") or error
                        yield task, Answer.failed(str(trouble), elsewhere=True)
                        continue
                    self._lanes.add(lane)
                    lane.give(task)
                    busy.register(lane, selectors.EVENT_READ, (task, attempts + 1))
                if not busy.get_map():
                    return
                for key, _ in busy.select():
                    lane, (task, attempts) = key.fileobj, key.data  # type: ignore[assignment]
                    busy.unregister(lane)
                    try:
                        answer = lane.answer()
                    except LaneDied as died:
                        self._end(lane)
                        # A process does one task at a time, so no other submission can be to blame.
                        if attempts < ATTEMPTS:
                            again.append((task, attempts))
                        else:
                            reason = f"{died}, {ATTEMPTS} times out of {ATTEMPTS}"
                            yield task, Answer.failed(reason, elsewhere=True)
                    else:
                        idle.append(lane)
                        yield task, answer

    def score(self, task: ScoringTask) -> Answer:
        """Return the answer to a single task."""
        ((_, answer),) = self.run(iter([task]))
        return answer

    def _end(self, lane: Lane) -> None:
        self._lanes.discard(lane)
        lane.close()
