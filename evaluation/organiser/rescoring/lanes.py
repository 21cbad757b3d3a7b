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
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.core.challenge import fields_of
from evaluation.core.fault import Faults, FormFault, PhaseError
from evaluation.core.limits import limits_of
from evaluation.core.outcome import Outcome
from evaluation.core.trouble import MachineTrouble, trouble_of
from evaluation.evaluate import CaseOutcomes, Rejection, Result, evaluate, read_and_score, result_of
from evaluation.io.files import scratch_folder
from evaluation.organiser.ranking.results import CASES, REJECTED
from evaluation.organiser.rescoring.submissions import submission_digest
from evaluation.organiser.rescoring.task import ATTEMPTS, Answer, Answers, Engine, ScoringTask, environment
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.registry import tasks_of_form
from evaluation.platform import machine, messages
from evaluation.platform.result_file import FILE_NAME as METRICS
from evaluation.platform.result_file import render
from evaluation.summary import organiser_records
from evaluation.workers.batches import WHOLE, packed_outcomes, unpacked_outcomes
from evaluation.workers.confinement import missing_confinement
from evaluation.workers.pool import DeadlineExceeded
from evaluation.workers.reading import DEADLY
from evaluation.workers.reports import Used
from evaluation.workers.unpacking import unpacked

# --- The outcomes of slices of a submission: packed for transport, and joined ---


def packed_slice(cases: CaseOutcomes) -> bytes:
    """Return the outcomes as bytes, for `put_together`."""
    outcomes = packed_outcomes(list(cases.outcomes.values()))
    return pickle.dumps((cases.tasks, cases.run_seconds, tuple(cases.outcomes), outcomes, cases.used))


def put_together(phase: Phase, slices: Sequence[bytes]) -> CaseOutcomes:
    """Return the outcomes of all cases from the slices' outcomes.

    Raises `PhaseError` where slices contradict each other or together exceed the limits of a submission,
    which must then be scored as a whole.
    """
    outcomes: dict[int, Outcome] = {}
    used, about = Used(), set()
    for packed in slices:
        tasks, run_seconds, positions, of_slice, of_reading = pickle.loads(packed)  # noqa: S301 - of a lane
        about.add((tasks, run_seconds))
        outcomes.update(zip(positions, unpacked_outcomes(of_slice), strict=True))
        used += of_reading
    limits = limits_of(phase.form.cases, fields_of(tasks_of_form(phase.form)))
    is_whole = len(about) == 1 and outcomes.keys() == set(range(len(phase.rows)))
    exceeds = used.bytes > limits.bytes or used.items > limits.items
    if exceeds or not is_whole:
        raise PhaseError("the slices of the submission do not fit together")
    ((tasks, run_seconds),) = about
    return CaseOutcomes(tasks, run_seconds, outcomes, used)


class Scorer(Engine):
    """Scores one submission after the other in this process; each phase is loaded and verified once."""

    def __init__(self) -> None:
        self._phases: dict[tuple[str, str, str], Phase] = {}

    def run(self, tasks: Iterator[ScoringTask | None]) -> Answers:
        """Yield every task with its answer, in order."""
        while (task := next(tasks, None)) is not None:
            yield task, self.answer(task)

    def answer(self, task: ScoringTask) -> Answer:
        """Return the answer for a submission, and let no exception out; its locations must be paths."""
        try:
            return self._answer(task)
        except PhaseError as error:
            return Answer.failed("; ".join(error.problems))
        except Exception as error:
            if trouble := trouble_of(error, "score", getattr(error, "filename", None) or task.place):
                return Answer.failed(str(trouble), elsewhere=True)
            if isinstance(error, OSError):
                place = f"{error.filename}: " if error.filename else ""
                return Answer.failed(f"{place}{error.strerror or error}", elsewhere=True)
            return Answer.failed(f"fault of the evaluation itself:\n{traceback.format_exc(limit=-8)}")

    def _answer(self, task: ScoringTask) -> Answer:
        if task.isolated and (missing := missing_confinement()):
            return Answer.failed(f"--require-isolation: {missing}", unsuited=True)
        if difference := task.environment.difference(environment()):
            return Answer.failed(f"the worker has another environment: {difference}", unsuited=True)
        if task.scored:
            phase = self._phase(task)
            return _scored(result_of(phase, put_together(phase, task.scored)), "")
        submission = Path(task.submission)
        digest = submission_digest(submission)
        if digest == task.kept:
            return Answer("kept", "kept: the submission and what scores it have not changed", digest)
        phase = self._phase(task)
        try:
            with unpacked(submission, workers=task.workers) as folder:
                result = (
                    evaluate(phase, folder, task.workers)
                    if task.part == WHOLE
                    else read_and_score(phase, folder, task.workers, part=task.part)
                )
        except FormFault as fault:  # an archive that cannot be unpacked
            result = Rejection(Faults(fault.faults))
        except DeadlineExceeded:
            return Answer.failed(f"the budget of {phase.config.limits.budget_seconds} s was used up")
        if submission_digest(submission) != digest:
            return Answer.failed("the submission changed while it was scored")
        if isinstance(result, Rejection):
            return _rejected(result, digest)
        if isinstance(result, CaseOutcomes):
            return Answer("slice", "", digest, outcomes=packed_slice(result))
        return _scored(result, digest)

    def _phase(self, task: ScoringTask) -> Phase:
        """Return the phase of a task with the task's limit of memory, where the phase has none itself."""
        key = (task.phase, task.seal, task.source)
        if key not in self._phases:
            phase = load_phase(Path(task.phase), source=task.source)
            if phase.manifest.digest != task.seal:
                raise PhaseError(f"{task.phase}: was sealed again since the run began")
            self._phases[key] = phase
        phase = self._phases[key]
        limits = phase.config.limits
        if limits.worker_memory_mb is not None or task.memory_mb is None:
            return phase
        limits = limits.model_copy(update={"worker_memory_mb": task.memory_mb})
        return replace(phase, config=phase.config.model_copy(update={"limits": limits}))


def _scored(result: Result, digest: str) -> Answer:
    records = organiser_records(result, result.figures)
    files = {CASES: render(records, organisers=True, rounded=False)}
    if outputs := result.phase.config.all_outputs:
        from evaluation.charts.published import documents

        files |= documents(result, result.metrics, outputs)
    files[METRICS] = render(result.metrics)
    failures = sum(outcome.failure is not None for outcome in result.outcomes)
    line = f"scored, {failures} cases failed and took their worst values" if failures else "scored"
    return Answer("scored", line, digest, files, lasting=not failures)


def _rejected(rejection: Rejection, digest: str) -> Answer:
    report = messages.organiser_report(rejection.faults)
    lines = [messages.participant_line(rejection.faults), *rejection.notes, *report]
    files = {REJECTED: "".join(f"{line}\n" for line in lines).encode()}
    # A reader may have died for lack of memory.
    lasting = not any(fault.found == DEADLY for fault in rejection.faults)
    return Answer("rejected", lines[0], digest, files, lasting)


_LOG_CHARACTERS = 400


class LaneDied(Exception):  # noqa: N818 - named like `Died`, a result
    """Raised if the process died before it answered; the text says how."""


class Lane:
    """One such process; its temporary files are below a folder, by default the system's.

    Raises `MachineTrouble` and `OSError` where it cannot be started.
    """

    def __init__(self, folder: Path | None = None) -> None:
        # The process must find the same modules.
        path = [entry for entry in sys.path if isinstance(entry, str)]
        program = f"import sys; sys.path[:] = {path!r}; from {__name__} import main; main()"
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
            raise LaneDied(self._cause()) from None
        return answer

    def close(self) -> None:
        """End the process and its children, and remove its files."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]
        self._closing.close()

    def _cause(self) -> str:
        status = self._process.wait()
        if status < 0:
            return f"its process was killed by {signal.Signals(-status).name}"
        self._log.seek(0)
        words = self._log.read().decode("utf-8", "replace").strip()[-_LOG_CHARACTERS:]
        return f"its process ended with {status}" + (f" ({words})" if words else "")


def main() -> None:
    """Do tasks until there are no more; the entry point of the process."""
    from evaluation.core.side_by_side import end_with_parent
    from evaluation.workers.processes import collect_rarely, warm_up

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal; the caller ends us
    end_with_parent()
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


@dataclass
class _AssignedTask:
    task: ScoringTask
    attempts: int = 0


class Lanes(Engine):
    """Several processes that each score one submission at a time; see `Lane` for the folder."""

    def __init__(self, count: int, folder: Path | None = None) -> None:
        self._count, self._folder = count, folder
        self._lanes: set[Lane] = set()

    def __exit__(self, *error: object) -> None:
        for lane in list(self._lanes):
            self._end(lane)

    def run(self, tasks: Iterator[ScoringTask | None]) -> Answers:
        """Yield every task with its answer, as they end.

        If its process dies, a task is given to a new one, three times in all. Where no more processes can be
        started, those that run take all tasks; without any, a task has failed.
        """
        again: deque[_AssignedTask] = deque()
        idle = list(self._lanes)
        with selectors.DefaultSelector() as busy:
            while True:
                while len(busy.get_map()) < self._count:
                    if again:
                        given = again.popleft()
                    elif (task := next(tasks, None)) is not None:
                        given = _AssignedTask(task)
                    else:
                        break
                    try:
                        lane = idle.pop() if idle else Lane(self._folder)
                    except (OSError, MachineTrouble) as error:
                        if busy.get_map():
                            again.appendleft(given)
                            break
                        trouble = trouble_of(error, "start", "a process") or error
                        yield given.task, Answer.failed(str(trouble), elsewhere=True)
                        continue
                    self._lanes.add(lane)
                    given.attempts += 1
                    lane.give(given.task)
                    busy.register(lane, selectors.EVENT_READ, given)
                if not busy.get_map():
                    return
                for key, _ in busy.select():
                    lane, given = key.fileobj, key.data  # type: ignore[assignment]
                    busy.unregister(lane)
                    try:
                        answer = lane.answer()
                    except LaneDied as died:
                        self._end(lane)
                        # A process does one task at a time, so no other submission can be to blame.
                        if given.attempts < ATTEMPTS:
                            again.append(given)
                        else:
                            reason = f"{died}, {ATTEMPTS} times out of {ATTEMPTS}"
                            yield given.task, Answer.failed(reason, elsewhere=True)
                    else:
                        idle.append(lane)
                        yield given.task, answer

    def score(self, task: ScoringTask) -> Answer:
        """Return the answer to a single task."""
        ((_, answer),) = self.run(iter([task]))
        return answer

    def _end(self, lane: Lane) -> None:
        self._lanes.discard(lane)
        lane.close()
