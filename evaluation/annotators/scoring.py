"""Every reader scored against the result like a team (ADAM, Table 14)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

from evaluation.annotators.annotations import READERS, ReadersFolder
from evaluation.annotators.submissions import OpenSubmission, open_submissions
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.fault import PhaseError
from evaluation.core.outcome import CaseJob, Scored, organisers_problems
from evaluation.evaluate import scorer_setup
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform import machine
from evaluation.workers.batches import batches_of
from evaluation.workers.pool import PoolSettings
from evaluation.workers.reader import ReaderSetup
from evaluation.workers.reading import read_batches
from evaluation.workers.scoring import score_cases

_CASE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class ReaderScore:
    """One metric of one reader, over the cases that he annotated."""

    reader: str
    task: str
    metric: str
    cases: int
    value: float


def score_readers(folder: Path, given: ReadersFolder, workers: int) -> tuple[ReaderScore, ...]:
    """Return every metric that exists of every reader, by the challenge's own scoring.

    A reader is scored on the cases of a task of which he gave every field; what was dropped is not his. The
    reference is the one in ``folder``, to which he contributed: the figures are those of a team that knew a
    share of it.
    """
    phase = load_phase(folder, scan(folder))
    form = replace(phase.form, submission="archive", missing="worst", optional_tasks=())
    folders = {one.name: given.folder / READERS / one.name for one in given.readers}
    return tuple(
        score
        for reader in open_submissions(folders, form, phase.tasks)
        for score in _scores(phase, reader, given, workers)
    )


def _scores(phase: Phase, reader: OpenSubmission, given: ReadersFolder, workers: int) -> list[ReaderScore]:
    sources = []
    for position in range(len(phase.rows)):
        dropped = given.dropped_fields(reader.name, position)
        kept = reader.sources(position).items()
        sources.append({name: source for name, source in kept if name not in dropped})
    jobs = [CaseJob(case, row) for case, row in zip(phase.cases.forms, phase.rows, strict=True)]
    setup = scorer_setup(phase, phase.form.tasks, workers)
    root = reader.index.root
    reading = ReaderSetup(replace(reader.form, cases=()), root, setup.memory_bytes)
    settings = PoolSettings(workers, _CASE_SECONDS)
    batches = list(batches_of(root, phase.cases.forms, sources, workers))
    read = read_batches(batches, reading, settings, machine.held_memory())
    if read.faults:
        raise PhaseError(*reader.described(read.faults))
    outcomes = score_cases(jobs, read.batches, setup, reading, settings)
    problems = organisers_problems(outcomes)
    for job, outcome in zip(jobs, outcomes, strict=True):
        if isinstance(outcome, Scored) and outcome.failure is not None:
            problems.append(f"{reader.name}: {job.case.name}: {outcome.failure}")
    if problems:
        raise PhaseError(*problems)
    scores = []
    for task in phase.tasks:
        annotated = [
            (job.case.name, outcome.rows[task.name])
            for job, outcome in zip(jobs, outcomes, strict=True)
            if isinstance(outcome, Scored) and task.name in outcome.rows and task.name not in outcome.worst
        ]
        if annotated:
            table = CaseTable([name for name, _ in annotated], [row for _, row in annotated])
            scores += [
                ReaderScore(reader.name, task.name, name, len(table), value)
                for name, value in metric_values(task.metrics, table).items()
                if not math.isnan(value)
            ]
    return scores
