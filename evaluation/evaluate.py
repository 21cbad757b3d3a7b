"""The evaluation of one submission, from its files to the content of `metrics.json`.

    /input → index of sources → read every case → any fault? reject → score → aggregate → metrics.json
             (readers: processes that have no way to a label)      (scorers: plain arrays come in)

A rejection, its time and its memory depend on the submission alone: no reference is opened before the whole
submission has been read without a fault. `check` is the first stage. Everything that runs cases of a phase is
built here; `evaluation.workers` says how the two stages are kept apart.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import Faults, FormFault, PhaseError
from evaluation.core.form import CaseForm, Form
from evaluation.core.limits import case_seconds
from evaluation.core.outcome import (
    CaseJob,
    Outcome,
    Progress,
    Scored,
    no_progress,
    organisers_problems,
)
from evaluation.phase import registry
from evaluation.phase.phase import Phase
from evaluation.phase.scores import Scores
from evaluation.platform import machine
from evaluation.workers.pool import PoolSettings
from evaluation.workers.reader import ReaderSetup
from evaluation.workers.reading import ReadSubmission, read_submission
from evaluation.workers.scorer import ScorerSetup
from evaluation.workers.scoring import score_cases, score_nothing

if TYPE_CHECKING:
    from evaluation.platform.result_file import MetricsFile
    from evaluation.summary import Figures

_MIN_CASE_SECONDS = 60.0
_REFERENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Result(Scores):
    """The scores of a submission, all its figures, and the content of `metrics.json` made of them."""

    figures: Figures = field(kw_only=True)
    metrics: MetricsFile = field(kw_only=True)


@dataclass(frozen=True)
class Rejection:
    """The faults for which a submission is rejected, and notes on them for the organiser alone."""

    faults: Faults
    notes: tuple[str, ...] = ()


def evaluate(
    phase: Phase,
    submission: Path,
    workers: int,
    started: float | None = None,
    progress: Progress = no_progress,
) -> Result | Rejection:
    """Return the result of a submission folder, or the faults for which it is rejected.

    ``started`` (of `time.monotonic`) is the start of the phase's budget. Raises `PhaseError` for a fault of
    the organiser's, `MachineTrouble`, and `DeadlineExceeded` where the phase fails at its deadline.
    """
    scores = read_and_score(phase, submission, workers, started, progress)
    if isinstance(scores, Rejection):
        return scores
    from evaluation.summary import figures_of, summarise  # the first case need not wait for it

    figures = figures_of(scores)
    return Result(**vars(scores), figures=figures, metrics=summarise(scores, figures))


def read_and_score(
    phase: Phase,
    submission: Path,
    workers: int,
    started: float | None = None,
    progress: Progress = no_progress,
) -> Scores | Rejection:
    """Return the scores of a submission without figures; see `evaluate`."""
    settings = _pool_settings(phase, workers, started)
    limits = phase.config.limits
    memory = machine.worker_memory(workers, limits.worker_memory_mb)
    reader = ReaderSetup.of(phase.form, submission, memory, limits.case_seconds or math.inf)
    room, half = machine.held_memory(), _half(progress, 0)
    read = read_submission(phase.form, reader, settings, room, half, partial(_meanwhile, phase))
    if read.faults:
        return Rejection(read.faults, read.notes)
    run_seconds = read.run_seconds or (None,) * len(phase.rows)
    cases = zip(phase.cases.forms, phase.rows, run_seconds, strict=True)
    jobs = [CaseJob(form, row, "score", seconds) for form, row, seconds in cases]
    setup = scorer_setup(phase, read.tasks, workers)
    outcomes = score_cases(jobs, read.batches, setup, reader, settings, _half(progress, len(jobs)))
    return scores_of(phase, read.tasks, outcomes, read.run_seconds)


def _meanwhile(phase: Phase) -> None:
    """Verify the seal and import the modules of later steps, while a reader lists the files."""
    phase.verify_seal()
    import evaluation.platform.result_file
    import evaluation.summary  # noqa: F401


def check(form: Form, submission: Path, workers: int, progress: Progress = no_progress) -> ReadSubmission:
    """Return the faults of a submission, exactly as `evaluate` would find them, without any label."""
    setup = ReaderSetup.of(form, submission, machine.worker_memory(workers, None))
    settings = PoolSettings(workers, _MIN_CASE_SECONDS)
    return read_submission(form, setup, settings, None, progress)


def check_files(
    form: Form, submission: Path, workers: int, progress: Progress = no_progress
) -> ReadSubmission:
    """Return the same of a zip, a table or a folder, also one with the runs of an algorithm.

    Raises `PhaseError` for runs that do not tell their image.
    """
    # The container never unpacks: it does without these imports.
    from evaluation.workers.unpacking import listed_runs, of_run, unpacked

    try:
        with (
            unpacked(submission, workers=workers) as unzipped,
            listed_runs(unzipped, form) as (folder, places),
        ):
            checked = check(form, folder, workers, progress)
    except FormFault as fault:
        return ReadSubmission(Faults(fault.faults))
    faults = Faults()
    faults.add((of_run(fault, places) for fault in checked.faults), checked.faults.more)
    return replace(checked, faults=faults)


def scores_of_nothing(phase: Phase, tasks: Sequence[Task], workers: int) -> Scores:
    """Return the scores of an empty submission, which show the figures that exist for the reference.

    Raises `PhaseError` where the reference cannot be read.
    """
    return scores_of(
        phase, [task.name for task in tasks], run_reference(phase, "worst", workers, tasks=tasks)
    )


def run_reference(
    phase: Phase,
    mode: Literal["worst", "validate"],
    workers: int,
    progress: Progress = no_progress,
    tasks: Sequence[Task] | None = None,
) -> list[Outcome]:
    """Return the outcomes of all cases without a submission, in some or all tasks; see `CaseJob`."""
    names = tuple(task.name for task in (phase.tasks if tasks is None else tasks))
    jobs = [CaseJob(case, row, mode) for case, row in zip(phase.cases.forms, phase.rows, strict=True)]
    fields = fields_of(phase.tasks)
    seconds = max((case_seconds(case, fields) for case in phase.cases.forms), default=0)
    settings = PoolSettings(workers, max(_REFERENCE_SECONDS, seconds))
    return score_nothing(jobs, scorer_setup(phase, names, workers), settings, progress)


def scorer_setup(phase: Phase, tasks: tuple[str, ...], workers: int) -> ScorerSetup:
    """Return the setup with which a worker scores cases of a phase in the named tasks."""
    return ScorerSetup(
        form=replace(phase.form, cases=()),
        tasks=tasks,
        options=phase.options.as_values(),
        reference=phase.reference,
        memory_bytes=machine.worker_memory(workers, phase.config.limits.worker_memory_mb),
        home=registry.file_of(phase.challenge.name),
        functions=registry.functions_of(phase.folder, phase.challenge.name),
    )


def _half(progress: Progress, done_before: int) -> Progress:
    """Return a progress callback that counts reading and scoring as half a case each."""
    return lambda done: progress((done_before + done) // 2)


def _pool_settings(phase: Phase, workers: int, started: float | None) -> PoolSettings:
    limits = phase.config.limits
    share = limits.budget_seconds * max(1, workers) / len(phase.rows)
    return PoolSettings(
        workers=workers,
        case_seconds=limits.case_seconds or max(_MIN_CASE_SECONDS, share),
        deadline=(time.monotonic() if started is None else started) + limits.budget_seconds,
        fill_at_deadline=phase.config.on_deadline == "worst",
    )


def scores_of(
    phase: Phase,
    tasks: Collection[str],
    outcomes: Sequence[Outcome],
    run_seconds: tuple[float | None, ...] = (),
) -> Scores:
    """Return the scores of all cases in some tasks. Raises `PhaseError` for an outcome that is none."""
    unscored = [
        f"case {case.name}: even its worst values could not be computed"
        for case, outcome in zip(phase.cases.forms, outcomes, strict=True)
        if not isinstance(outcome, Scored)
    ]
    PhaseError.raise_all(organisers_problems(outcomes) or unscored)
    scored = tuple(outcome for outcome in outcomes if isinstance(outcome, Scored))
    entered = tuple(task for task in phase.tasks if task.name in tasks)
    return Scores(phase, entered, tables_of(entered, phase.cases.forms, scored), scored, run_seconds)


def tables_of(
    tasks: Sequence[Task], cases: Sequence[CaseForm], outcomes: Sequence[Scored]
) -> Mapping[str, CaseTable]:
    """Return the case table of every task by its name."""
    tables = {}
    for task in tasks:
        chosen = [i for i, outcome in enumerate(outcomes) if task.name in outcome.rows]
        tables[task.name] = CaseTable(
            [cases[i].name for i in chosen], [outcomes[i].rows[task.name] for i in chosen]
        )
    return tables
