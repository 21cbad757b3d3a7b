"""From scored cases to the content of `metrics.json` and of the organiser's per-case file."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluation.core.aggregation import Estimate, Estimates, Resampling, Subset, estimate, subgroup_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task, metrics_of
from evaluation.core.outcome import Scored
from evaluation.phase.phase import Phase
from evaluation.phase.subgroups import key_of, subgroup_masks
from evaluation.platform.result_file import (
    CasesSection,
    MetricsFile,
    PhaseSection,
    PlaceOnBoard,
    RankingSection,
    as_written,
    plain_key,
)
from evaluation.ranking.place_among import place_among
from evaluation.ranking.schemes import scheme_of

_CLUSTER = "cluster"


@dataclass(frozen=True)
class Scores:
    """The scores of a submission: per task a case table, and the outcome of every case.

    ``run_seconds`` is how long the algorithm ran for each case; empty where no algorithm was run.
    """

    phase: Phase
    tasks: tuple[Task, ...]
    tables: Mapping[str, CaseTable]
    outcomes: tuple[Scored, ...]
    run_seconds: tuple[float | None, ...] = ()


def summarise(scores: Scores) -> MetricsFile:
    """Return the content of `metrics.json`."""
    phase, config = scores.phase, scores.phase.config
    aggregates = {
        task.name: estimate(
            task,
            scores.tables[task.name],
            resampling_of(phase, scores.tables[task.name]),
            config.public_detail == "full",
        )
        for task in scores.tasks
    }
    aggregates = _rounded(aggregates, config.digits)
    worst = sum(bool(outcome.worst) or outcome.failure is not None for outcome in scores.outcomes)
    return MetricsFile(
        phase=PhaseSection(
            challenge=phase.challenge.name,
            name=config.name,
            version=config.version,
            manifest=phase.manifest.digest,
            source=phase.source,
            missing=phase.missing,
            options=phase.options.model_dump(mode="json"),
        ),
        cases=CasesSection(len(phase.rows), len(phase.rows) - worst, worst),
        aggregates=aggregates,
        ranking=_ranking(scores, aggregates),
        subgroups=_subgroups(scores),
        case=_public_cases(scores) if config.publish_cases else None,
    )


def case_records(scores: Scores) -> dict[str, Any]:
    """Return the organiser's per-case file: columns of every task and of the case table, and details.

    It holds labels. Infinite values (a missing likelihood) are written as text, undefined ones left out. From
    it every figure can be computed again, under the resampling of the phase.
    """
    phase = scores.phase
    run_seconds = scores.run_seconds or itertools.repeat(None, len(phase.rows))
    rows_by_name = {case.name: row.cells for case, row in zip(phase.cases.forms, phase.rows, strict=True)}
    return {
        "phase": phase.config.name,
        "challenge": phase.challenge.name,
        "manifest": phase.manifest.digest,
        "resampling": {
            "seed": phase.config.seed,
            "resamples": phase.config.resamples,
            "interval_minimum": phase.config.interval_minimum,
            "interval_maximum": phase.config.interval_maximum,
        },
        "details": {
            task.name: dict(details)
            for task in scores.tasks
            if (details := task.details(scores.tables[task.name]))
        },
        "cases": [
            {
                "name": case.name,
                "table": dict(rows_by_name[case.name]),
                "worst": list(outcome.worst),
                "failure": outcome.failure,
                "run_seconds": seconds,
                "tasks": {
                    task: {column: _recorded(value) for column, value in row.items()}
                    for task, row in outcome.rows.items()
                },
            }
            for case, outcome, seconds in zip(phase.cases.forms, scores.outcomes, run_seconds, strict=True)
        ],
    }


def _recorded(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        # An empty list would not tell how many columns it has.
        return value.tolist() if value.size else {"shape": list(value.shape)}
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _components(phase: Phase, aggregates: Estimates) -> dict[str, dict[str, float]]:
    components: dict[str, dict[str, float]] = {}
    for name in phase.challenge.components:
        task, metric = name.split(".")
        if metric in aggregates.get(task, {}):
            components.setdefault(task, {})[metric] = aggregates[task][metric].value
    return components


def _ranking(scores: Scores, aggregates: Estimates) -> RankingSection:
    """Return components, composites, and the place in the phase's leaderboard of teams if it has one."""
    phase = scores.phase
    section = RankingSection(_components(phase, aggregates), _composites(scores, aggregates) or None)
    if not phase.leaderboard:
        return section
    places = place_among(
        phase.leaderboard,
        {name: as_written(value) for name, value in _values(aggregates).items()},
        scheme_of(phase.challenge, phase.options),
        {name: metric.better for name, metric in metrics_of(phase.tasks).items()},
    )
    ranks: dict[str, dict[str, int]] = {}
    for name, rank in places.ranks.items():
        task, metric = name.split(".")
        ranks.setdefault(task, {})[metric] = rank
    boards = {
        name: PlaceOnBoard(board.place, float(board.score), board.teams)
        for name, board in places.boards.items()
    }
    return replace(section, ranks=ranks, places=boards)


def _values(aggregates: Estimates) -> dict[str, float]:
    """Return the published values by "task.metric"."""
    return {
        f"{task}.{name}": estimate.value
        for task, metrics in aggregates.items()
        for name, estimate in metrics.items()
    }


def _composites(scores: Scores, aggregates: Estimates) -> dict[str, float]:
    """Return the composites whose metrics all exist, made of these as they are published."""
    values = _values(aggregates)
    digits = scores.phase.config.digits
    return {
        composite.name: _round(
            composite.combine(*(values[name] for name in composite.metrics)), digits.get(composite.name)
        )
        for composite in scores.phase.challenge.composites_of(scores.tasks)
        if values.keys() >= set(composite.metrics)
    }


def resampling_of(phase: Phase, table: CaseTable) -> Resampling:
    """Return how the intervals of a table's figures are computed in a phase."""
    config = phase.config
    clusters = _clusters(phase)
    return Resampling(
        config.seed,
        config.resamples,
        config.interval_minimum,
        None if clusters is None else np.array([clusters[name] for name in table.names], dtype=np.int64),
        config.interval_maximum,
    )


def _clusters(phase: Phase) -> dict[str, int] | None:
    """Return the cluster of every case by its name, None where the phase has no such column."""
    if _CLUSTER not in phase.cases.columns:
        return None
    # An empty cell is a cluster of its own: a person of whom there is one image only.
    labels = {
        case.name: row.cells[_CLUSTER] or f"\0{case.name}"
        for case, row in zip(phase.cases.forms, phase.rows, strict=True)
    }
    numbers = {label: number for number, label in enumerate(sorted(set(labels.values())))}
    return {name: numbers[label] for name, label in labels.items()}


def _subgroups(scores: Scores) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    phase, config = scores.phase, scores.phase.config
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for subgroup in config.subgroups:
        for task in scores.tasks:
            table = scores.tables[task.name]
            for value, members in subgroup_masks(subgroup, phase.cases, table.names).items():
                subset = Subset(members, subgroup.compare == "positives")
                values = subgroup_values(task.metrics, table, subset, config.subgroup_minimum)
                if values:
                    rounded = {
                        name: _round(value, config.digits.get(f"{task.name}.{name}"))
                        for name, value in values.items()
                    }
                    found.setdefault(key_of(subgroup.column), {}).setdefault(value, {})[task.name] = rounded
    return found


def _public_cases(scores: Scores) -> dict[str, dict[str, dict[str, float]]]:
    """Return per-case columns for publication; values that are no finite numbers are left out."""
    return {
        plain_key(case.name): {
            task: {
                column: float(value)
                for column, value in row.items()
                if isinstance(value, int | float) and math.isfinite(value)
            }
            for task, row in outcome.rows.items()
        }
        for case, outcome in zip(scores.phase.cases.forms, scores.outcomes, strict=True)
    }


def _rounded(aggregates: Estimates, digits: Mapping[str, int]) -> Estimates:
    """Return the figures with those metrics rounded for which the phase says so, intervals included."""
    return {
        task: {
            name: _rounded_estimate(estimate, digits[f"{task}.{name}"])
            if f"{task}.{name}" in digits
            else estimate
            for name, estimate in metrics.items()
        }
        for task, metrics in aggregates.items()
    }


def _rounded_estimate(estimate: Estimate, digits: int) -> Estimate:
    def rounded(value: Any) -> Any:
        if isinstance(value, float):
            return round(value, digits)
        if isinstance(value, dict):
            return {name: rounded(item) for name, item in value.items()}
        if value is None:
            return None
        return replace(value, **{name: rounded(item) for name, item in vars(value).items()})

    result: Estimate = rounded(estimate)
    return result


def _round(value: float, digits: int | None) -> float:
    return value if digits is None else round(value, digits)
