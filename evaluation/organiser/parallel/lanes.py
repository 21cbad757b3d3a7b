"""A process that scores submissions in turn, which leaves nothing of one for the next, and its caller's view.

It opens a submission's files only to compute the digest. Imports and the server of the workers start once;
what unpacks, reads and scores is forked for each submission (see `evaluation.workers`). The process ends with
its caller, and its temporary files are removed even if it was killed.
"""

import contextlib
import selectors
import signal
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from evaluation.core.trouble import MachineTrouble, trouble_of
from evaluation.isolated import Child, ChildDied, parent
from evaluation.organiser.rescoring.scorer import Scorer
from evaluation.organiser.rescoring.task import ATTEMPTS, Answer, Answers, Engine, ScoringTask
from evaluation.platform import machine

_LOG_CHARACTERS = 400


def main() -> None:
    """Do tasks until there are no more; the entry point of the process."""
    from evaluation.workers.processes import collect_rarely, warm_up

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal; the caller ends us
    if machine.CAN_ISOLATE:
        warm_up()
        collect_rarely()
    scorer = Scorer()
    with parent() as (given, answer), contextlib.suppress(EOFError):
        while True:
            answer(scorer.answer(given()))


# --- Submissions scored on this machine in several processes at once ---


class Lanes(Engine):
    """Several processes that each score one submission at a time; see `Child` for the folder."""

    def __init__(self, count: int, folder: Path | None = None) -> None:
        self._count, self._folder = count, folder
        self._lanes: set[Child] = set()

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
                        lane = idle.pop() if idle else Child(f"{__name__}:main()", self._folder)
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
                    except ChildDied as died:
                        self._end(lane)
                        # A process does one task at a time, so no other submission can be to blame.
                        if attempts < ATTEMPTS:
                            again.append((task, attempts))
                        else:
                            words = f" ({died.words[-_LOG_CHARACTERS:]})" if died.words else ""
                            reason = f"its process {died}{words}, {ATTEMPTS} times out of {ATTEMPTS}"
                            yield task, Answer.failed(reason, elsewhere=True)
                    else:
                        idle.append(lane)
                        yield task, answer

    def score(self, task: ScoringTask) -> Answer:
        """Return the answer to a single task."""
        ((_, answer),) = self.run(iter([task]))
        return answer

    def _end(self, lane: Child) -> None:
        self._lanes.discard(lane)
        lane.close()
