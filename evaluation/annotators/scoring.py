"""Score every annotator against the combined reference like a team (ADAM, Table 14)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.annotators.annotations import ANNOTATORS, AnnotatorsFolder, read_like_references
from evaluation.annotators.submissions import OpenSubmission, open_submissions
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field
from evaluation.core.outcome import CaseJob, Scored, organisers_problems
from evaluation.evaluate import scorer_setup
from evaluation.io.handover import encode
from evaluation.io.kinds.boxes import BoxList
from evaluation.io.kinds.class_label import ClassLabel
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform import machine
from evaluation.workers.batch_reading import ReadBatch
from evaluation.workers.batches import batches_of
from evaluation.workers.pool import PoolSettings
from evaluation.workers.reader import ReaderSetup
from evaluation.workers.reading import read_batches
from evaluation.workers.scoring import score_cases
from evaluation.workers.values import ValuesOfBatch

_CASE_SECONDS = 120.0
_CASES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class AnnotatorScore:
    """One metric of one annotator over the ``cases`` that the annotator completed."""

    annotator: str
    task: str
    metric: str
    cases: int
    value: float


def score_annotators(folder: Path, given: AnnotatorsFolder, workers: int) -> tuple[AnnotatorScore, ...]:
    """Return every defined metric of every annotator, computed by the challenge's own scoring.

    An annotator is scored on the cases with every field of the task annotated and nothing dropped. The
    annotator contributed to the reference, which is in ``folder``, so the figures are optimistic.
    """
    phase = load_phase(folder, scan(folder))
    form = replace(phase.form, submission="archive", missing="worst", optional_tasks=())
    folders = {one.name: given.folder / ANNOTATORS / one.name for one in given.annotators}
    # Annotators give boxes no confidence and may exclude a case: these are not read like submitted values.
    here = any(isinstance(field.kind, BoxList | ClassLabel) for field in fields_of(phase.tasks))
    tasks = [read_like_references(task) for task in phase.tasks] if here else phase.tasks
    return tuple(
        score
        for annotator in open_submissions(folders, form, tasks)
        for score in _scores(phase, annotator, given, workers, here)
    )


def _scores(
    phase: Phase, annotator: OpenSubmission, given: AnnotatorsFolder, workers: int, here: bool
) -> list[AnnotatorScore]:
    jobs = [CaseJob(case, row) for case, row in zip(phase.cases.forms, phase.rows, strict=True)]
    setup = scorer_setup(phase, phase.form.tasks, workers)
    root = annotator.index.root
    reading = ReaderSetup(replace(annotator.form, cases=()), root, setup.memory_bytes, home=setup.home)
    settings = PoolSettings(workers, _CASE_SECONDS)
    if here:
        done = _read_here(phase, annotator, given)
    else:
        sources = []
        for position in range(len(phase.rows)):
            dropped = given.incomplete_fields(annotator.name, position)
            kept = annotator.sources(position).items()
            sources.append({name: source for name, source in kept if name not in dropped})
        batches = list(batches_of(root, phase.cases.forms, sources, fields_of(phase.tasks), workers))
        read = read_batches(batches, reading, settings, machine.held_memory())
        if read.faults:
            raise PhaseError(*annotator.described(read.faults))
        done = read.batches
    outcomes = score_cases(jobs, done, setup, reading, settings)
    problems = organisers_problems(outcomes)
    for job, outcome in zip(jobs, outcomes, strict=True):
        if isinstance(outcome, Scored) and outcome.failure is not None:
            problems.append(f"{annotator.name}: {job.case.name}: {outcome.failure}")
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
                AnnotatorScore(annotator.name, task.name, name, len(table), value)
                for name, value in metric_values(task.metrics, table).items()
                if not math.isnan(value)
            ]
    return scores


def _read_here(phase: Phase, annotator: OpenSubmission, given: AnnotatorsFolder) -> tuple[ReadBatch, ...]:
    """Return an annotator's values in the form of readers. Raises `PhaseError` with every fault."""
    fields = {field.name: field for field in fields_of(phase.tasks)}
    faults: list[str] = []
    batches = []
    for first in range(0, len(phase.rows), _CASES_AT_ONCE):
        positions = range(first, min(first + _CASES_AT_ONCE, len(phase.rows)))
        values = ValuesOfBatch(fields, math.inf)
        for position in positions:
            dropped = given.incomplete_fields(annotator.name, position)
            annotated = annotator.read(position, fields, faults, dropped)
            values.add(position, _as_submitted(annotated, fields))
        document = memoryview(b"".join(encode(values.packed())))
        batches.append(ReadBatch({position: position for position in positions}, b"", document, {}))
    if faults:
        raise PhaseError(*faults)
    return tuple(batches)


def _as_submitted(annotated: Mapping[str, Any], fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return annotated values in the form of a submission: without a class where the case is excluded."""
    found = {}
    for name, value in annotated.items():
        if not isinstance(fields[name].kind, ClassLabel):
            found[name] = value
        elif not math.isnan(value):
            found[name] = int(value)
    return found
