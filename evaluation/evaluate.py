"""The evaluation of one submission, from its files to the content of `metrics.json`.

    /input → index of sources → per case, in a worker: read, then score → aggregate → metrics.json

Faults of all cases are collected; a rejected submission's scores are dropped unseen, so that a rejection
depends on nothing but the submission. Every run of cases, also for an organiser, is set up here.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.fault import Fault, PhaseError
from evaluation.core.form import CaseForm, CaseRow, Form
from evaluation.core.outcome import CaseJob, Faulty, Outcome, Scored, organisers_problems
from evaluation.phase.phase import Phase
from evaluation.phase.registry import tasks_of_form
from evaluation.phase.scores import Scores
from evaluation.platform import machine
from evaluation.platform.index import SubmissionIndex
from evaluation.platform.result_file import MetricsFile
from evaluation.platform.submission import index_submission
from evaluation.summary import Figures, figures_of, summarise
from evaluation.workers.case_runner import RunSetup
from evaluation.workers.pool import PoolSettings, Progress, no_progress, run_cases

_MIN_CASE_SECONDS = 30.0
_REFERENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Result(Scores):
    """The scores of a submission, all its figures, and the content of `metrics.json` that is made of them."""

    figures: Figures = field(kw_only=True)
    metrics: MetricsFile = field(kw_only=True)


@dataclass(frozen=True)
class Rejection:
    """The faults for which a submission is rejected; they depend on the submission alone."""

    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class Checked:
    """What a check of a submission's form found: its faults, and what is no fault but good to know."""

    faults: tuple[Fault, ...]
    notices: tuple[str, ...] = ()


def evaluate(
    phase: Phase,
    submission: Path,
    workers: int,
    started: float | None = None,
    progress: Progress = no_progress,
) -> Result | Rejection:
    """Return the result of a submission folder, or the faults for which it is rejected.

    ``started`` (of `time.monotonic`) is when the phase's budget began. Raises `PhaseError` for a fault of the
    organiser's, `DeadlineExceeded` where the phase fails at its deadline.
    """
    index = index_submission(submission, phase.form, phase.tasks)
    jobs = _jobs(index, phase.cases.forms, phase.rows)
    setup = setup_of(phase, index.tasks, index.root, workers)
    outcomes = run_cases(jobs, setup, _pool_settings(phase, workers, started), progress)
    if faults := _faults(index, outcomes):
        return Rejection(faults)
    tasks = tuple(task for task in phase.tasks if task.name in index.tasks)
    scored = _scored(phase, outcomes)
    tables = tables_of(tasks, phase.cases.forms, scored)
    scores = Scores(phase, tasks, tables, scored, tuple(index.run_seconds))
    figures = figures_of(scores)
    return Result(**vars(scores), figures=figures, metrics=summarise(scores, figures))


def check(form: Form, submission: Path, workers: int, progress: Progress = no_progress) -> Checked:
    """Return the faults of a submission, exactly as `evaluate` would find them, without any label."""
    index = index_submission(submission, form, tasks_of_form(form))
    jobs = _jobs(index, form.cases, itertools.repeat(None, len(form.cases)))
    setup = RunSetup(form, index.tasks, index.root, form.options, None, machine.worker_memory(workers, None))
    outcomes = run_cases(jobs, setup, PoolSettings(workers, _MIN_CASE_SECONDS), progress)
    return Checked(_faults(index, outcomes), index.notices)


def scores_of_nothing(phase: Phase, tasks: Sequence[Task], workers: int) -> Scores:
    """Return the scores of a submission that holds nothing; which figures exist, the reference decides.

    Raises `PhaseError` where the reference cannot be read.
    """
    outcomes = run_reference(phase, "worst", workers, tasks=tasks)
    if problems := organisers_problems(outcomes):
        raise PhaseError(*problems)
    scored = _scored(phase, outcomes)
    return Scores(phase, tuple(tasks), tables_of(tasks, phase.cases.forms, scored), scored)


def run_reference(
    phase: Phase,
    mode: Literal["worst", "validate"],
    workers: int,
    progress: Progress = no_progress,
    tasks: Sequence[Task] | None = None,
) -> list[Outcome]:
    """Return the outcomes of all cases without a submission, in some or all tasks; see `CaseJob`."""
    names = tuple(task.name for task in (phase.tasks if tasks is None else tasks))
    setup = setup_of(phase, names, str(phase.folder), workers)
    jobs = [
        CaseJob(case, {}, row, mode=mode) for case, row in zip(phase.cases.forms, phase.rows, strict=True)
    ]
    return run_cases(jobs, setup, PoolSettings(workers, _REFERENCE_SECONDS), progress)


def setup_of(phase: Phase, tasks: tuple[str, ...], submission: str, workers: int) -> RunSetup:
    """Return all that a worker needs to run cases of a phase in the tasks of those names."""
    return RunSetup(
        form=phase.form,
        tasks=tasks,
        submission=submission,
        options=phase.options.model_dump(mode="json"),
        reference=phase.reference,
        memory_bytes=machine.worker_memory(workers, phase.config.limits.worker_memory_mb),
    )


def _jobs(index: SubmissionIndex, cases: Sequence[CaseForm], rows: Iterable[CaseRow | None]) -> list[CaseJob]:
    run_seconds = index.run_seconds or itertools.repeat(None, len(cases))
    return [
        CaseJob(case, case_sources, row, run_seconds=seconds)
        for case, case_sources, row, seconds in zip(cases, index.sources, rows, run_seconds, strict=True)
    ]


def _pool_settings(phase: Phase, workers: int, started: float | None) -> PoolSettings:
    limits = phase.config.limits
    share = limits.budget_seconds * max(1, workers) / len(phase.rows)
    return PoolSettings(
        workers=workers,
        case_seconds=limits.case_seconds or max(_MIN_CASE_SECONDS, share),
        deadline=(time.monotonic() if started is None else started) + limits.budget_seconds,
        fill_at_deadline=phase.config.on_deadline == "worst",
    )


def _faults(index: SubmissionIndex, outcomes: Sequence[Outcome]) -> tuple[Fault, ...]:
    """Return all faults of a submission, which alone decide on its rejection.

    Raises `PhaseError` where there are none and an outcome is the organiser's fault.
    """
    case_faults = (outcome.faults for outcome in outcomes if isinstance(outcome, Faulty))
    # The cases of a stack all tell what is wrong with their file.
    faults = tuple(dict.fromkeys([*index.faults, *itertools.chain.from_iterable(case_faults)]))
    if not faults and (problems := organisers_problems(outcomes)):
        raise PhaseError(*problems)
    return faults


def _scored(phase: Phase, outcomes: Sequence[Outcome]) -> tuple[Scored, ...]:
    """Return the outcomes, all of which must be scores. Raises `PhaseError`."""
    scored = tuple(outcome for outcome in outcomes if isinstance(outcome, Scored))
    if len(scored) < len(outcomes):
        raise PhaseError(
            *(
                f"case {case.name}: even its worst values could not be computed"
                for case, outcome in zip(phase.cases.forms, outcomes, strict=True)
                if not isinstance(outcome, Scored)
            )
        )
    return scored


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
