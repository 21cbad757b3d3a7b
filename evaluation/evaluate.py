"""The evaluation of one submission, from its files to the content of `metrics.json`.

    /input → index of sources → read every case → any fault? reject → score → aggregate → metrics.json
             (readers: processes that have no way to a label)      (scorers: plain arrays come in)

A rejection, its time and its memory depend on the submission alone: no reference is opened before the whole
submission has been read without a fault. `check` is the first stage. Everything that runs cases of a phase is
built here; `evaluation.workers` says how the two stages are kept apart.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
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
from evaluation.workers.reading import read_submission
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


@dataclass(frozen=True)
class CaseOutcomes:
    """Outcomes of the cases of a submission, in the order of the phase.

    ``tasks`` are the tasks that the submission enters.
    """

    tasks: tuple[str, ...]
    run_seconds: tuple[float | None, ...]
    outcomes: Sequence[Outcome]


@dataclass(frozen=True)
class Checked:
    """The result of a check of a submission's form: faults, and notices that are no faults."""

    faults: Faults
    notices: tuple[str, ...] = ()


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
    scored = read_and_score(phase, submission, workers, started, progress)
    return scored if isinstance(scored, Rejection) else result_of(phase, scored)


def read_and_score(
    phase: Phase,
    submission: Path,
    workers: int,
    started: float | None = None,
    progress: Progress = no_progress,
) -> CaseOutcomes | Rejection:
    """Return the outcome of every case of a submission; see `evaluate`."""
    settings = _pool_settings(phase, workers, started)
    limits = phase.config.limits
    reader = _reader_setup(phase.form, submission, workers, limits.worker_memory_mb, limits.case_seconds)
    room, half = machine.held_memory(), _half(progress, 0)
    read = read_submission(phase.form, reader, settings, room, half, partial(_meanwhile, phase))
    if read.faults:
        return Rejection(read.faults, read.notes)
    run_seconds = read.run_seconds or (None,) * len(phase.rows)
    cases = zip(phase.cases.forms, phase.rows, run_seconds, strict=True)
    jobs = [CaseJob(form, row, "score", seconds) for form, row, seconds in cases]
    setup = scorer_setup(phase, read.tasks, workers)
    outcomes = score_cases(jobs, read.batches, setup, reader, settings, _half(progress, len(jobs)))
    PhaseError.raise_all(organisers_problems(outcomes))
    return CaseOutcomes(read.tasks, read.run_seconds, outcomes)


def _meanwhile(phase: Phase) -> None:
    """Verify the seal and import the modules of later steps, while a reader lists the files."""
    phase.verify_seal()
    import evaluation.platform.result_file
    import evaluation.summary  # noqa: F401


def result_of(phase: Phase, cases: CaseOutcomes) -> Result:
    """Return the result of a submission whose cases are all scored. Raises `PhaseError`."""
    from evaluation.summary import figures_of, summarise  # the first case need not wait for it

    tasks = tuple(task for task in phase.tasks if task.name in cases.tasks)
    scored = _scored(phase, cases.outcomes)
    tables = tables_of(tasks, phase.cases.forms, scored)
    scores = Scores(phase, tasks, tables, scored, cases.run_seconds)
    figures = figures_of(scores)
    return Result(**vars(scores), figures=figures, metrics=summarise(scores, figures))


def check(form: Form, submission: Path, workers: int, progress: Progress = no_progress) -> Checked:
    """Return the faults of a submission, exactly as `evaluate` would find them, without any label."""
    setup = _reader_setup(form, submission, workers)
    settings = PoolSettings(workers, _MIN_CASE_SECONDS)
    read = read_submission(form, setup, settings, None, progress)
    return Checked(read.faults, read.notices)


def check_files(form: Form, submission: Path, workers: int, progress: Progress = no_progress) -> Checked:
    """Return the faults of a zip, a table or a folder, also one with the runs of an algorithm.

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
        return Checked(Faults(fault.faults))
    faults = Faults()
    faults.add((of_run(fault, places) for fault in checked.faults), checked.faults.more)
    return replace(checked, faults=faults)


def scores_of_nothing(phase: Phase, tasks: Sequence[Task], workers: int) -> Scores:
    """Return the scores of an empty submission, which show the figures that exist for the reference.

    Raises `PhaseError` where the reference cannot be read.
    """
    outcomes = run_reference(phase, "worst", workers, tasks=tasks)
    PhaseError.raise_all(organisers_problems(outcomes))
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


def _reader_setup(
    form: Form,
    submission: Path,
    workers: int,
    memory_mb: int | None = None,
    case_seconds: float | None = None,
) -> ReaderSetup:
    memory = machine.worker_memory(workers, memory_mb)
    seconds = math.inf if case_seconds is None else case_seconds
    return ReaderSetup.of(form, os.path.realpath(submission), memory, seconds)


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


def _scored(phase: Phase, outcomes: Sequence[Outcome]) -> tuple[Scored, ...]:
    """Return the outcomes as scores. Raises `PhaseError` if one of them is none."""
    PhaseError.raise_all(
        [
            f"case {case.name}: even its worst values could not be computed"
            for case, outcome in zip(phase.cases.forms, outcomes, strict=True)
            if not isinstance(outcome, Scored)
        ]
    )
    return tuple(outcome for outcome in outcomes if isinstance(outcome, Scored))


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
