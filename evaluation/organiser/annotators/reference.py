"""Build the reference of a phase from several annotators, and report on them.

The report: `report.json`, `agreement.csv`, `annotators.csv`, and `adjudication.csv`, the cases with
disagreement.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Variant
from evaluation.core.form import CaseForm
from evaluation.core.outcome import CaseJob, Progress, Scored, no_progress, organisers_problems
from evaluation.evaluate import scorer_setup
from evaluation.io.handover import encode
from evaluation.organiser.annotators.agreement import (
    AgreementFigure,
    CaseDisagreement,
    FieldAgreement,
    most_disputed,
)
from evaluation.organiser.annotators.annotations import (
    ANNOTATORS,
    AnnotatorsFolder,
    OpenSubmission,
    open_submissions,
    read_like_references,
)
from evaluation.organiser.annotators.combine import CombinationRules, combine
from evaluation.organiser.output import whole_folder, write_report, write_rows
from evaluation.organiser.submission_writer import SampleCase, write_phase
from evaluation.phase.config import FILE_NAME
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform import machine
from evaluation.workers.batches import batches_of
from evaluation.workers.pool import PoolSettings
from evaluation.workers.reader import ReaderSetup
from evaluation.workers.reading import ReadBatch, read_batches
from evaluation.workers.reports import ValuesOfBatch
from evaluation.workers.scoring import score_cases

_CASE_SECONDS = 120.0
_CASES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class AnnotatorScore:
    """One metric of one annotator; ``cases`` counts those completed for which the metric is defined."""

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
    # Annotators give boxes no confidence and may exclude a case: what they give is read like a reference.
    here = any(field.kind != field.reference.kind for field in given.fused)
    tasks = [read_like_references(task, {field.name for field in given.fused}) for task in phase.tasks]
    return tuple(
        score
        for annotator in open_submissions(folders, form, tasks)
        for score in _scores(phase, annotator, given, workers, here)
    )


def _scores(
    phase: Phase, annotator: OpenSubmission, given: AnnotatorsFolder, workers: int, here: bool
) -> Iterator[AnnotatorScore]:
    jobs = [CaseJob(case, row) for case, row in zip(phase.cases.forms, phase.rows, strict=True)]
    setup = scorer_setup(phase, phase.form.tasks, workers)
    root = annotator.index.root
    reading = ReaderSetup.of(annotator.form, root, setup.memory_bytes)
    settings = PoolSettings(workers, _CASE_SECONDS)
    if here:
        done = _read_here(phase, annotator, given)
    else:
        sources = []
        for position in range(len(phase.rows)):
            dropped = given.dropped_of(annotator.name, position)
            kept = annotator.index.sources[position].items()
            sources.append({name: source for name, source in kept if name not in dropped})
        batches = list(batches_of(root, phase.cases.forms, sources, fields_of(phase.tasks), workers))
        read = read_batches(batches, reading, settings, machine.held_memory())
        PhaseError.raise_all(annotator.described(read.faults))
        done = read.batches
    outcomes = score_cases(jobs, done, setup, reading, settings)
    problems = organisers_problems(outcomes)
    for job, outcome in zip(jobs, outcomes, strict=True):
        if isinstance(outcome, Scored) and outcome.failure is not None:
            problems.append(f"{annotator.name}: {job.case.name}: {outcome.failure}")
    PhaseError.raise_all(problems)
    for task in phase.tasks:
        annotated = [
            (job.case.name, outcome.rows[task.name])
            for job, outcome in zip(jobs, outcomes, strict=True)
            if isinstance(outcome, Scored) and task.name in outcome.rows and task.name not in outcome.worst
        ]
        if annotated:
            table = CaseTable([name for name, _ in annotated], [row for _, row in annotated])
            values = metric_values(task.metrics, table)
            for metric in task.metrics:
                if not math.isnan(value := values[metric.name]):
                    cases = int(np.count_nonzero(metric.estimator.strata(table) >= 0))
                    yield AnnotatorScore(annotator.name, task.name, metric.name, cases, value)


def _read_here(phase: Phase, annotator: OpenSubmission, given: AnnotatorsFolder) -> tuple[ReadBatch, ...]:
    """Return an annotator's values in the form of readers. Raises `PhaseError` with every fault."""
    fields, fused = {field.name: field for field in fields_of(phase.tasks)}, {one.name for one in given.fused}
    faults: list[str] = []
    batches = []
    for first in range(0, len(phase.rows), _CASES_AT_ONCE):
        positions = range(first, min(first + _CASES_AT_ONCE, len(phase.rows)))
        values = ValuesOfBatch(fields, math.inf)
        for position in positions:
            complete = fields.keys() - set(given.dropped_of(annotator.name, position))
            submitted = {}
            for name, value in annotator.read(position, complete, faults).items():
                field, case = fields[name], phase.cases.forms[position]
                found = _as_submitted(field, value, case) if name in fused else value
                if found is not None:
                    submitted[name] = found
            values.add(position, submitted)
        document = memoryview(b"".join(encode(values.packed())))
        batches.append(ReadBatch({position: position for position in positions}, values=document))
    PhaseError.raise_all(faults)
    return tuple(batches)


def _as_submitted(field: Field, value: Any, case: CaseForm) -> Any:
    """Return a value in the reference's form as the perfect prediction; None where it excludes the case."""
    choices = field.reference.kind.choices
    if choices and choices.neither and None in choices.of(value):
        return None
    if field.is_like_its_reference:
        return value
    return field.kind.rehearse(value, case, Variant.PERFECT)


_NOBODY = "expected a value of at least one annotator, found none"


@dataclass(frozen=True)
class FusedReference:
    """The figures of a built reference: annotators per value, agreement, and scores against the result.

    ``annotators_of_cases`` counts, for every field, the cases by their number of annotators.
    """

    annotators: tuple[str, ...]
    kept: tuple[str, ...]
    annotators_of_cases: Mapping[str, Mapping[int, int]]
    values_of_annotators: Mapping[str, Mapping[str, int]]
    dropped: int
    agreement: tuple[AgreementFigure, ...]
    disagreement: tuple[CaseDisagreement, ...]
    scores: tuple[AnnotatorScore, ...]


def fuse_annotators(
    given: AnnotatorsFolder,
    output: Path,
    rules: CombinationRules,
    workers: int,
    progress: Progress = no_progress,
) -> FusedReference:
    """Build a phase folder, ready to seal, from several annotators' files.

    Raises `PhaseError` with every fault of every annotation, and for every value without any annotation.
    """
    faults: list[str] = []
    disagreement: list[CaseDisagreement] = []
    agreement = {field.name: FieldAgreement(field.name, field.reference.kind) for field in given.fused}
    counts: dict[str, Counter[int]] = {field.name: Counter() for field in given.fused}
    values_by_annotator = {one.name: Counter[str]() for one in given.annotators}

    def fused_cases() -> Iterator[SampleCase]:
        for position, (form, row) in enumerate(zip(given.cases.forms, given.cases.rows, strict=True)):
            values = _values_of_case(given, position, faults)
            reference = {}
            for field in given.fused:
                if not field.cases(form):
                    continue
                case_values = values[field.name]
                counts[field.name][len(case_values)] += 1
                for annotator in case_values:
                    values_by_annotator[annotator][field.name] += 1
                kind = field.reference.kind
                if case_values:
                    disagreement.extend(agreement[field.name].add(form.name, case_values))
                    value = combine(kind, list(case_values.values()), form, rules)
                    reference[field.name] = kind.writable(value, form)
                else:
                    faults.append(f"{form.name}, {field.name}: {_NOBODY}")
            progress(position + 1)
            if not faults:
                columns = {name: cell for name, cell in row.cells.items() if name != "name"}
                yield SampleCase(form.name, columns, reference)

    with whole_folder(output) as phase:
        configuration = (given.folder / FILE_NAME).read_text(encoding="utf-8")
        write_phase(phase, configuration, given.fused, fused_cases())
        PhaseError.raise_all(faults)
        scores = score_annotators(phase, given, workers)
    return FusedReference(
        annotators=tuple(one.name for one in given.annotators),
        kept=tuple(field.name for task in given.tasks for field in task.fields if field not in given.fused),
        annotators_of_cases={name: dict(sorted(number.items())) for name, number in counts.items()},
        values_of_annotators=values_by_annotator,
        dropped=sum(map(len, given.dropped.values())),
        agreement=tuple(found for field_counts in agreement.values() for found in field_counts.result()),
        disagreement=tuple(most_disputed(disagreement)),
        scores=scores,
    )


def _values_of_case(given: AnnotatorsFolder, position: int, faults: list[str]) -> dict[str, dict[str, Any]]:
    """Return the values of a case by field and annotator, without dropped values."""
    values: dict[str, dict[str, Any]] = {field.name: {} for field in given.fused}
    for one in given.annotators:
        dropped = given.dropped_of(one.name, position)
        kept = [name for name in values if name not in dropped]
        for name, value in one.read(position, kept, faults).items():
            values[name][one.name] = value
    return values


def write_reference_report(folder: Path, fused: FusedReference, rules: CombinationRules) -> None:
    """Write the report into a folder. It names annotators and is meant for the organiser only."""
    scores: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for score in fused.scores:
        scores[score.annotator][score.task][score.metric] = {"cases": score.cases, "value": score.value}
    write_report(
        folder / "report.json",
        {
            "rules": asdict(rules),
            "kept_from_cases_csv": fused.kept,
            "dropped_values": fused.dropped,
            "annotators_of_cases": fused.annotators_of_cases,
            "agreement": [asdict(found) for found in fused.agreement],
            "annotators": {
                annotator: {"values": fused.values_of_annotators[annotator], "scores": scores[annotator]}
                for annotator in fused.annotators
            },
        },
    )
    columns = ("field", "measure", "annotator_1", "annotator_2", "cases", "value")
    write_rows(folder / "agreement.csv", columns, map(astuple, fused.agreement))
    columns_of_cases = ("field", "measure", "case", "annotators", "mean", "largest", "farthest", "votes")
    write_rows(folder / "adjudication.csv", columns_of_cases, map(astuple, fused.disagreement))
    columns_of_scores = ("annotator", "task", "metric", "cases", "value")
    write_rows(folder / "annotators.csv", columns_of_scores, map(astuple, fused.scores))
