"""Scores one submission after the other in one process."""

import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from evaluation.core.fault import Faults, FormFault, PhaseError
from evaluation.core.trouble import trouble_of
from evaluation.evaluate import Rejection, Result, evaluate
from evaluation.organiser.ranking.results import CASES, REJECTED
from evaluation.organiser.rescoring.submissions import submission_digest
from evaluation.organiser.rescoring.task import Answer, Answers, Engine, ScoringTask, environment
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform import messages
from evaluation.platform.result_file import FILE_NAME as METRICS
from evaluation.platform.result_file import render
from evaluation.summary import organiser_records
from evaluation.workers.confinement import missing_confinement
from evaluation.workers.pool import DeadlineExceeded
from evaluation.workers.reading import DEADLY
from evaluation.workers.unpacking import unpacked


class Scorer(Engine):
    """Scores one submission after the other in this process; each phase is loaded and verified once."""

    def __init__(self) -> None:
        self._phases: dict[tuple[str, str, str], Phase] = {}

    def run(self, tasks: Iterator[ScoringTask]) -> Answers:
        """Yield every task with its answer, in order."""
        for task in tasks:
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
        submission = Path(task.submission)
        digest = submission_digest(submission)
        if digest == task.kept:
            return Answer("kept", "kept: the submission and what scores it have not changed", digest)
        phase = self._phase(task)
        try:
            with unpacked(submission, workers=task.workers) as folder:
                result = evaluate(phase, folder, task.workers)
        except FormFault as fault:  # an archive that cannot be unpacked
            result = Rejection(Faults(fault.faults))
        except DeadlineExceeded:
            return Answer.failed(f"the budget of {phase.config.limits.budget_seconds} s was used up")
        if submission_digest(submission) != digest:
            return Answer.failed("the submission changed while it was scored")
        if isinstance(result, Rejection):
            return _rejected(result, digest)
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
    if outputs := result.phase.config.outputs:
        from evaluation.charts.published import documents

        files |= documents(result, result.metrics, outputs)
    files[METRICS] = render(result.metrics)
    failures = sum(outcome.failure is not None for outcome in result.outcomes)
    line = f"scored, {failures} cases failed and took their worst values" if failures else "scored"
    if undefined := sum(bool(outcome.undefined) for outcome in result.outcomes):
        line += f", {undefined} cases have figures that their predictions undo and that count as worst"
    return Answer("scored", line, digest, files, lasting=not failures)


def _rejected(rejection: Rejection, digest: str) -> Answer:
    report = messages.organiser_report(rejection.faults)
    lines = [messages.participant_line(rejection.faults), *rejection.notes, *report]
    files = {REJECTED: "".join(f"{line}\n" for line in lines).encode()}
    # A reader may have died for lack of memory.
    lasting = not any(fault.found == DEADLY for fault in rejection.faults)
    return Answer("rejected", lines[0], digest, files, lasting)
