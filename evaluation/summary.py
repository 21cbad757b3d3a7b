"""From scored cases to the content of `metrics.json`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluation.core.aggregation import Estimate, Estimates, Subset, estimate, subgroup_values
from evaluation.core.challenge import metrics_of
from evaluation.core.resampling import CLUSTER_COLUMN, Resampling
from evaluation.phase.phase import Phase
from evaluation.phase.scores import Scores
from evaluation.phase.subgroups import key_of, subgroup_masks
from evaluation.platform.result_file import (
    CasesSection,
    LeaderboardPlace,
    MetricsFile,
    PhaseSection,
    RankingSection,
    as_written,
    plain_key,
)
from evaluation.ranking.place_among import place_among
from evaluation.ranking.schemes import scheme_of


def summarise(scores: Scores) -> MetricsFile:
    """Return the content of `metrics.json`."""
    phase, config = scores.phase, scores.phase.config
    resampling = resampling_of(phase)
    aggregates = {
        task.name: estimate(task, scores.tables[task.name], resampling, config.public_detail == "full")
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
        name: LeaderboardPlace(board.place, float(board.score), board.teams)
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


def resampling_of(phase: Phase) -> Resampling:
    """Return how the intervals of a phase are computed."""
    config, clusters = phase.config, None
    if CLUSTER_COLUMN in phase.cases.columns:
        cases = zip(phase.cases.forms, phase.rows, strict=True)
        clusters = {case.name: row.cells[CLUSTER_COLUMN] for case, row in cases}
    return Resampling(
        config.seed, config.resamples, config.interval_minimum, config.interval_maximum, clusters
    )


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
