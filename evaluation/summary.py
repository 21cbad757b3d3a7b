"""From scored cases to the content of `metrics.json`."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy.random  # noqa: F401 - the bootstrap draws from it later; this module is imported at idle

from evaluation.core.aggregation import (
    Estimate,
    Estimates,
    Mask,
    Subset,
    composite_estimates,
    estimates,
    subgroup_values,
)
from evaluation.core.resampling import CLUSTER_COLUMN, Resampling
from evaluation.phase.cases import key_of, subgroup_masks
from evaluation.phase.config import PhaseConfig, Subgroup
from evaluation.phase.leaderboard import (
    detail_of,
    digits_of,
    public_composites,
    public_estimates,
    public_values,
    stated_digits,
)
from evaluation.phase.phase import Phase
from evaluation.phase.places import place_among, scheme_of
from evaluation.phase.scores import Scores, case_records
from evaluation.platform import result_file

Figure = TypeVar("Figure", int, float)
Subgroups = dict[str, dict[str, dict[str, dict[str, float]]]]


@dataclass(frozen=True)
class Figures:
    """All figures of a submission with all their digits.

    ``aggregates`` is by task and metric, ``composites`` by name, ``subgroups`` by column, value, task and
    metric. All hold the figures for the organiser alone, too.
    """

    aggregates: Estimates
    composites: dict[str, Estimate] | None
    subgroups: Subgroups


def figures_of(scores: Scores) -> Figures:
    """Return the figures of scored cases."""
    phase, config = scores.phase, scores.phase.config
    resampling = resampling_of(phase)
    aggregates = estimates(scores.tasks, scores.tables, resampling, config.public_detail == "full")
    composites = composite_estimates(
        phase.challenge.composites_of(phase.tasks), scores.tasks, scores.tables, aggregates, resampling
    )
    subgroups = {
        key_of(subgroup.column): values
        for subgroup in config.subgroups
        if (values := _subgroup_values(scores, subgroup))
    }
    return Figures(aggregates, composites or None, subgroups)


def organiser_records(scores: Scores, figures: Figures) -> dict[str, Any]:
    """Return the organiser's file: the records of all cases, and the figures with all their digits.

    It names the decimals that the phase states, which are part of its ranking then.
    """
    records = {**case_records(scores), "figures": dataclasses.asdict(figures)}
    stated = stated_digits(scores.phase.config)
    return {**records, "stated_digits": stated} if stated else records


def summarise(scores: Scores, figures: Figures | None = None) -> result_file.MetricsFile:
    """Return the content of `metrics.json`; ``figures`` of the scores, if they are known, are used."""
    phase, config = scores.phase, scores.phase.config
    if figures is None:
        figures = figures_of(scores)
    aggregates = public_estimates(figures.aggregates, config)
    worst = sum(bool(outcome.worst) or outcome.failure is not None for outcome in scores.outcomes)
    return result_file.MetricsFile(
        phase=result_file.PhaseSection(
            challenge=phase.challenge.name,
            name=config.name,
            version=config.version,
            manifest=phase.manifest.digest,
            source=phase.source,
            missing=phase.missing,
            options=phase.options.recorded(),
        ),
        cases=result_file.CasesSection(len(phase.rows), len(phase.rows) - worst, worst),
        aggregates=aggregates,
        ranking=_ranking(
            scores, aggregates, public_composites(figures.composites or {}, phase.challenge, config)
        ),
        subgroups=public_subgroups(figures.subgroups, config),
        case=_public_cases(scores) if config.publish_cases else None,
    )


def _by_task(figures: Mapping[str, Figure]) -> dict[str, dict[str, Figure]]:
    """Return figures by "task.metric" as figures by task and metric."""
    found: dict[str, dict[str, Figure]] = {}
    for name, figure in figures.items():
        task, metric = name.split(".")
        found.setdefault(task, {})[metric] = figure
    return found


def _ranking(
    scores: Scores, aggregates: Estimates, composites: dict[str, Estimate]
) -> result_file.RankingSection:
    """Return components, composites, and the place in the phase's leaderboard of teams if it has one."""
    phase = scores.phase
    values = _values(aggregates)
    components = {name: values[name] for name in phase.challenge.components if name in values}
    section = result_file.RankingSection(_by_task(components), composites or None)
    if not phase.leaderboard:
        return section
    figures = phase.challenge.figures_of(phase.tasks)
    # A team whose composites the leaderboard does not give has those of its metrics.
    teams = (replace(of, values={**_composites(phase, of.values), **of.values}) for of in phase.leaderboard)
    places = place_among(
        tuple(teams),
        {
            name: result_file.as_written(value)
            for name, value in {**values, **{name: one.value for name, one in composites.items()}}.items()
        },
        scheme_of(phase.challenge, phase.options),
        {name: figure.better for name, figure in figures.items()},
    )
    of_metrics = {name: rank for name, rank in places.ranks.items() if name in values}
    return replace(section, ranks=_by_task(of_metrics), places=dict(places.boards))


def _values(aggregates: Estimates) -> dict[str, float]:
    """Return the values by "task.metric"."""
    return {
        f"{task}.{name}": estimate.value
        for task, metrics in aggregates.items()
        for name, estimate in metrics.items()
    }


def _composites(phase: Phase, values: Mapping[str, float]) -> dict[str, float]:
    """Return the composites of a team whose metrics all have a value, rounded for publication."""
    return {
        composite.name: round(
            composite.combine(*(values[name] for name in composite.metrics)),
            digits_of(phase.config, composite.name).value,
        )
        for composite in phase.challenge.composites_of(phase.tasks)
        if values.keys() >= set(composite.metrics)
    }


def resampling_of(phase: Phase) -> Resampling:
    """Return how the intervals of a phase are computed."""
    config, clusters = phase.config, None
    if CLUSTER_COLUMN in phase.cases.columns:
        cases = zip(phase.cases.forms, phase.rows, strict=True)
        clusters = {case.name: row.cells[CLUSTER_COLUMN] for case, row in cases}
    bounds = config.interval_minimum, config.interval_maximum
    return Resampling(config.seed, config.resamples, *bounds, clusters, config.interval)


def _subgroup_values(scores: Scores, subgroup: Subgroup) -> dict[str, dict[str, dict[str, float]]]:
    """Return the figures of a column's subgroups by value, task and metric."""
    phase, config = scores.phase, scores.phase.config
    smallest = config.smallest_subgroup(subgroup)
    found: dict[str, dict[str, dict[str, float]]] = {}
    masks: dict[tuple[str, ...], dict[str, Mask]] = {}  # nearly always of the same cases in every task
    for task in scores.tasks:
        table = scores.tables[task.name]
        if table.names not in masks:
            masks[table.names] = subgroup_masks(subgroup, phase.cases, table.names)
        for value, members in masks[table.names].items():
            subset = Subset(members, subgroup.compare == "positives")
            if values := subgroup_values(task.metrics, table, subset, smallest):
                found.setdefault(value, {})[task.name] = values
    return found


def public_subgroups(subgroups: Subgroups, config: PhaseConfig) -> Subgroups:
    """Return the public figures of the public subgroups."""
    found: Subgroups = {}
    public = [key_of(subgroup.column) for subgroup in config.subgroups if subgroup.audience == "public"]
    for column in public:
        for value, tasks in subgroups.get(column, {}).items():
            for task, metrics in tasks.items():
                if values := public_values(metrics, task, config):
                    found.setdefault(column, {}).setdefault(value, {})[task] = values
    return found


def _public_cases(scores: Scores) -> dict[str, dict[str, dict[str, float]]]:
    """Return per-case columns for publication; values that are no finite numbers are left out."""

    def published(task: str, column: str, value: Any) -> bool:
        finite = isinstance(value, int | float) and math.isfinite(value)
        hidden = detail_of(scores.phase.config, f"{task}.{column}") in ("none", "value")
        return finite and not hidden and column not in unpublished.get(task, ())

    digits = scores.phase.config.value_digits
    unpublished = {task.name: task.unpublished for task in scores.tasks}
    return {
        result_file.plain_key(case.name): {
            task: {
                column: round(float(value), digits)
                for column, value in row.items()
                if published(task, column, value)
            }
            for task, row in outcome.rows.items()
        }
        for case, outcome in zip(scores.phase.cases.forms, scores.outcomes, strict=True)
    }
