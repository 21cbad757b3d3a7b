"""Validation of a phase: every fault of its folder, and the metrics that are always undefined."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.challenges.declared.detections import MOST_OBJECTS
from evaluation.challenges.declared.rules import field_tables, metric_tables
from evaluation.challenges.declared.tables import MetricTable
from evaluation.charts.published import has_curve
from evaluation.core.aggregation import metric_values
from evaluation.core.challenge import fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import AnyField, CaseColumns
from evaluation.core.limits import max_rows
from evaluation.core.outcome import OrganiserFault, Progress, Scored, no_progress, organisers_problems
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.evaluate import run_reference, scores_of
from evaluation.organiser.audit import disclosure_of, faults_of_splits, warnings_of
from evaluation.phase.cases import subgroup_faults
from evaluation.phase.config import DECLARED, FILE_NAME
from evaluation.phase.manifest import Manifest
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.reference import OpenReference
from evaluation.phase.registry import file_of, find_file
from evaluation.platform import machine
from evaluation.platform.result_file import plain_key


@dataclass(frozen=True)
class Validation:
    """A phase without faults, and notices for its organiser."""

    phase: Phase
    notices: tuple[str, ...]


def validate_phase(
    folder: Path, scanned: Manifest, workers: int, progress: Progress = no_progress
) -> Validation:
    """Return the phase in a folder after reading its whole reference. Raises `PhaseError` with all faults."""
    problems: list[str] = []
    phase = load_phase(folder, scanned, faults_of_files=problems)
    if too_large := _faults_of_memory(phase, workers):
        raise PhaseError(*problems, *too_large)
    if problems:
        phase = _with_files(phase)
    if phase.form.submission == "algorithm" and any(f.socket.stacked for f in fields_of(phase.tasks)):
        _ = phase.form.stacks  # raises if the mapping is inconsistent
    outcomes = run_reference(phase, "validate", workers, progress)
    problems += organisers_problems(outcomes)
    problems += [
        f"case {case.name}: its reference cannot be read (its reader crashes or takes too long)"
        for case, outcome in zip(phase.cases.forms, outcomes, strict=True)
        if not isinstance(outcome, Scored | OrganiserFault)
    ]
    problems += _faults_of_keys(phase)
    PhaseError.raise_all(problems)
    counts = _objects_of(phase)
    PhaseError.raise_all(_faults_of_counts(phase, counts))
    scores = scores_of(phase, phase.form.tasks, outcomes)
    tables = scores.tables
    missing = [
        f"{task.name}.{name}"
        for task in phase.tasks
        for name, value in metric_values(task.metrics, tables[task.name]).items()
        if math.isnan(value)
    ]
    required = phase.board.needed
    problems = [
        f"phase.toml: {name} is always undefined: no case enters it" for name in missing if name in required
    ]
    problems += faults_of_splits(phase, tables)
    PhaseError.raise_all(problems)
    notices = [f"{name} is undefined in this phase: no case enters it" for name in missing]
    notices += warnings_of(disclosure_of(scores))
    notices += [
        f"{task.name}: {notice}" for task in phase.tasks for notice in task.notices(tables[task.name])
    ]
    notices += [*_notices_of_counts(phase, counts), *_notices_of_missing(phase)]
    return Validation(
        phase, (*notices, *_notices_of_empty(phase), *_notices_of_groups(phase), *_notices_of_home(phase))
    )


_LARGE_VOXELS = 1 << 30
_BYTES_PER_VOXEL = 2
_BYTES_PER_VOXEL_OF_NUMBERS = 10
_GIGABYTE = 10**9


def _faults_of_memory(phase: Phase, workers: int) -> list[str]:
    """Return a fault for each field of images that are too large for a metric that needs them whole."""
    granted = machine.worker_memory(max(1, workers), phase.config.limits.worker_memory_mb) or 0
    problems = []
    for field in fields_of(phase.tasks):
        sizes = {field.kind.pixels(case): case.name for case in phase.cases.forms if field.cases(case)}
        voxels = max(sizes, default=0)
        whole = [name for name, metric in _metrics_of(field, phase) if metric.needs_whole()]
        # Of both maps a byte of each voxel, beside which most metrics take several times as much. Numbers of
        # objects take three of the one map, and seven of the other while it is read.
        view = field.kind.objects
        numbered = view is not None and view.of_numbered is not None
        needed = (_BYTES_PER_VOXEL_OF_NUMBERS if numbered else _BYTES_PER_VOXEL) * voxels
        if voxels > _LARGE_VOXELS and whole and needed > granted:
            problems.append(
                f"fields.{field.name}: {', '.join(whole)} needs both images of a case as a whole, for "
                f"{sizes[voxels]} with {voxels} voxels at least {needed / _GIGABYTE:.1f} GB in a worker; "
                f"limits.worker_memory_mb or this machine gives {granted / _GIGABYTE:.1f} GB. Overlap and "
                "differences of volumes are counted in slabs"
            )
    return problems


def _metrics_of(field: AnyField, phase: Phase) -> Iterator[tuple[str, MetricTable]]:
    """Yield the declared metrics of a field by name."""
    for task in phase.tasks:
        for name, metric in metric_tables(phase.options, task.name).items():
            if (metric.field or field.name) == field.name:
                yield name, metric


def _with_files(phase: Phase) -> Phase:
    """Return the phase with the cases alone whose reference files are there."""
    cases, files = phase.cases, phase.reference_paths
    fields = [field for field in references_of(phase.tasks) if field.name in files]
    kept = [
        (case, row)
        for case, row in zip(cases.forms, cases.rows, strict=True)
        if all(
            case.name in files[field.name] or field.reference.optional or not field.cases(case)
            for field in fields
        )
    ]
    forms, rows = tuple(case for case, _ in kept), tuple(row for _, row in kept)
    return replace(phase, cases=replace(cases, forms=forms, rows=rows))


def _notices_of_home(phase: Phase) -> Iterator[str]:
    """Yield a notice where a challenge that is programmed beside the phase is not the one that scores it."""
    file, name = find_file(phase.folder), phase.challenge.name
    if file is not None and file_of(name) is None:
        reason = "declares its fields" if name == DECLARED else f"names the bundled challenge {name!r}"
        yield f"{file}: is not run, since {FILE_NAME} {reason}; to score by it, name it there as `challenge`"


def _notices_of_empty(phase: Phase) -> Iterator[str]:
    """Yield a notice for each field with structures that no file has: all of them, or some labels."""
    for field in references_of(phase.tasks):
        regions = field.reference.kind.regions
        if not (paths := phase.reference_paths.get(field.name)) or regions is None:
            continue
        lacking = list(regions.names)
        for value in _values_of(field, phase):
            masks = zip(regions.names, regions.of(value), strict=True)
            marked = {name for name, mask in masks if name in lacking and mask.any()}
            lacking = [name for name in lacking if name not in marked]
            if not lacking:
                break
        if len(lacking) == len(regions.names):
            yield f"{field.name}: the reference of all {len(paths)} cases is empty, without any structure"
        elif lacking:
            yield f"{field.name}: no reference has {', '.join(lacking)}{_raised_by(lacking, field, phase)}"


def _values_of(field: AnyField, phase: Phase) -> Iterator[Any]:
    """Yield the values of a reference, of the cases that have one."""
    reference = OpenReference(phase.reference, [field])
    for case, row in zip(phase.cases.forms, phase.rows, strict=True):
        if field.cases(case) and (value := reference.value(field, case, row, sealed=False)) is not None:
            yield value


def _raised_by(lacking: Sequence[str], field: AnyField, phase: Phase) -> str:
    """Return the words for metrics in which a label that no reference has is perfect unless predicted."""
    table = field_tables(phase.options).get(field.name)
    metrics = _metrics_of(field, phase) if table is not None else ()
    raised = [name for name, metric in metrics if table and metric.is_raised_by(lacking, table)]
    if not raised:
        return ""
    return (
        f": in {', '.join(raised)} a case that does not predict it counts as perfect, which raises the mean; "
        'absent = "exclude" leaves it out'
    )


def _notices_of_groups(phase: Phase) -> Iterator[str]:
    """Yield a notice where a column says that cases belong together, and no column `cluster` does."""
    columns = phase.rows[0].cells if phase.rows else {}
    if CLUSTER_COLUMN in columns:
        return
    for column in columns:
        groups = {row.cells[column] for row in phase.rows} - {""}
        if column.casefold().removesuffix("id").strip("_ ") in _WHOSE and len(groups) < len(phase.rows):
            yield (
                f"cases.csv: {column}: {len(groups)} values for {len(phase.rows)} cases; intervals and tests "
                f"allow for cases that belong together where a column {CLUSTER_COLUMN} has these values"
            )


_WHOSE = ("patient", "subject", "person", "participant", "study")
"""Columns whose values several cases share because they belong together."""


def _notices_of_missing(phase: Phase) -> Iterator[str]:
    """Yield a notice for each column of numbers in which some cells are empty."""
    for field in references_of(phase.tasks):
        kind, place = field.reference.kind, field.reference.location
        if kind.numbers and isinstance(place, CaseColumns):
            for column in place.columns:
                if empty := sum(not row.cells[column] for row in phase.rows):
                    cells = f"{empty} of {len(phase.rows)} cells of {column} are empty"
                    yield f"cases.csv: {cells}: these cases do not enter the metrics of {field.name}"


def _objects_of(phase: Phase) -> dict[str, list[int]]:
    """Return how many objects the reference of each case has, by field that lists objects."""
    found = {}
    for field in fields_of(phase.tasks):
        if field.kind.objects is not None and field.reference.kind.objects is not None:
            found[field.name] = [field.reference.kind.items(value) for value in _values_of(field, phase)]
    return found


def _faults_of_counts(phase: Phase, counts: Mapping[str, Sequence[int]]) -> list[str]:
    """Return a fault for each field whose reference is more than a submission may hold."""
    fields = {field.name: field for field in fields_of(phase.tasks)}
    problems = []
    for name, objects in counts.items():
        of_all, view = max_rows(len(objects), fields[name]), fields[name].kind.objects
        of_case = view.most if view else math.inf
        if too_many := max(objects, default=0) > of_case:
            listed = f"{of_case} objects of a case, the reference lists {max(objects)}"
        else:
            listed = f"{of_all} objects, the reference lists {sum(objects)}"
        if too_many or sum(objects) > of_all:
            limit = "objects.most" if too_many else "average_items"
            room = f"fewer, or a kind of field with larger `{limit}`"
            if name in field_tables(phase.options):
                room = f"at_most = {min(2 * max(objects), MOST_OBJECTS)} or another that leaves room"
            problems.append(
                f"fields.{name}: a submission may list {listed}: none could match it; expected {room}"
            )
    return problems


def _notices_of_counts(phase: Phase, counts: Mapping[str, Sequence[int]]) -> Iterator[str]:
    """Yield a notice for each metric that keeps fewer detections of an image than its reference lists."""
    views = {field.name: field.kind.objects for field in fields_of(phase.tasks)}
    for task in phase.tasks:
        for name, metric in metric_tables(phase.options, task.name).items():
            kept, field = metric.most_of_class(), metric.field or next(iter(counts), "")
            view = views.get(field)
            classes = max(1, len(view.classes)) if view else 1
            if max(counts.get(field, [0]), default=0) > kept * classes:
                yield (
                    f"{name} keeps the {kept} most probable boxes of a class in a case, the reference of "
                    f"one lists {max(counts[field])}: not even a perfect submission is rated as such"
                )


def _faults_of_keys(phase: Phase) -> list[str]:
    """Return the faults of outputs: keys of metrics.json that cannot be or are shared, a chart of nothing."""
    problems = [
        fault for subgroup in phase.config.subgroups for fault in subgroup_faults(subgroup, phase.cases)
    ]
    roc = "chart-roc" in phase.config.outputs.values()
    if roc and not any(has_curve(metric) for task in phase.tasks for metric in task.metrics):
        problems.append("phase.toml: outputs: chart-roc has no curve: no metric is an area under a ROC curve")
    if phase.config.publish_cases:
        names: dict[str, list[str]] = defaultdict(list)
        for case in phase.cases.forms:
            names[plain_key(case.name)].append(case.name)
        problems += [
            f"cases.csv: cases {', '.join(same)} cannot be published: they have the same key {key}"
            for key, same in names.items()
            if len(same) > 1
        ]
    return problems
