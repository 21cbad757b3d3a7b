"""Faults of a configuration, given the tasks that it chooses and the case table."""

from __future__ import annotations

from evaluation.core.challenge import (
    Challenge,
    Task,
    fields_of,
    metrics_of,
    references_of,
)
from evaluation.core.field import CaseColumns
from evaluation.core.interval_choice import possible_methods
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.phase.cases import FILE_NAME as CASES
from evaluation.phase.cases import Cases
from evaluation.phase.config import FILE_NAME, PhaseConfig


def unknown_metrics(config: PhaseConfig, challenge: Challenge, tasks: tuple[Task, ...]) -> list[str]:
    """Return a fault for every key that names an unknown metric."""
    known = [*metrics_of(tasks), *(composite.name for composite in challenge.composites_of(tasks))]
    named = {
        "score": [config.score] if config.score else [],
        "columns": config.columns or (),
        "unranked_columns": config.unranked_columns or (),
        "titles": config.titles,
        "digits": config.digits,
        "interval_methods": config.interval_methods,
    }
    return [
        f"{FILE_NAME}: {key}: {name!r} is not a metric of this phase; known are {', '.join(known)}"
        for key, names in named.items()
        for name in names
        if name not in known
    ]


def unknown_tasks(config: PhaseConfig, tasks: tuple[Task, ...]) -> list[str]:
    """Return a fault for every optional task that the phase does not have."""
    named = () if config.optional_tasks in (None, "all") else config.optional_tasks
    known = [task.name for task in tasks]
    return [
        f"{FILE_NAME}: optional_tasks: {name!r} is not a task of this phase; known are {', '.join(known)}"
        for name in named or ()
        if name not in known
    ]


def faults_of_sockets(config: PhaseConfig, tasks: tuple[Task, ...]) -> list[str]:
    """Return a fault for every socket of an unknown field, and for every field without a socket."""
    fields = fields_of(tasks)
    known = [field.name for field in fields]
    return [
        f"{FILE_NAME}: sockets: {name!r} is not a field of this phase; known are {', '.join(known)}"
        for name in config.sockets
        if name not in known
    ] + [
        f"{FILE_NAME}: submission: the platform has no socket for field {field.name!r}; expected 'archive'"
        for field in fields
        if config.submission == "algorithm" and not field.socket.is_image and field.kind.socket_kind is None
    ]


def impossible_methods(config: PhaseConfig, tasks: tuple[Task, ...], cases: Cases) -> list[str]:
    """Return a fault for every metric that does not support its chosen interval method."""
    metrics, clustered = metrics_of(tasks), CLUSTER_COLUMN in cases.columns
    problems = []
    for name, method in config.interval_methods.items():
        possible = possible_methods(metrics[name], clustered) if name in metrics else (method,)
        if method not in possible:
            expected = " or ".join(map(repr, possible))
            problems.append(f"{FILE_NAME}: interval_methods: {name}: expected {expected}, found {method!r}")
    return problems


def missing_columns(config: PhaseConfig, tasks: tuple[Task, ...], cases: Cases) -> list[str]:
    """Return a fault for every column that the case table lacks, and for sizes that are 0."""
    wanted = {
        column: f"the reference of {field.name}"
        for field in references_of(tasks)
        if isinstance(location := field.reference.location, CaseColumns)
        for column in location.columns
    }
    wanted |= {subgroup.column: "a subgroup" for subgroup in config.subgroups}
    needs_size = [
        field.name for field in fields_of(tasks) if field.kind.needs_size or field.reference.kind.needs_size
    ]
    if needs_size:
        wanted |= dict.fromkeys(("width", "height"), f"the size of the images of {', '.join(needs_size)}")
    problems = [
        f"{CASES}: column {column!r} is missing, expected {reason}"
        for column, reason in wanted.items()
        if column not in cases.columns
    ]
    if needs_size:
        problems += [
            f"{CASES}, line {row.line}, {column}: expected a size in pixels, found {row.cells[column]!r}"
            for row in cases.rows
            for column in ("width", "height")
            if column in row.cells and not int(row.cells[column])
        ]
    return problems
