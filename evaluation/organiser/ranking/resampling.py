"""The teams' metrics over resampled cases; all teams share the weights of a resample.

The interval of a metric is the one in the team's metrics.json. For ranks, a resample draws the cases of all
tasks at once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Composite
from evaluation.core.composites import composite_figures
from evaluation.core.fault import PhaseError
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import (
    Draws,
    Resampling,
    by_task,
    joint_draws,
    resampled,
)
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.results import Submission
from evaluation.platform.result_file import as_written_values
from evaluation.stats.figure import Figure

Tables = Mapping[str, CaseTable]
_NO_CASES = "no team has results per case"


@dataclass(frozen=True)
class TeamCases:
    """The case tables of several teams, by task; None for a team without any."""

    teams: tuple[str, ...]
    tables: tuple[Tables | None, ...]

    @classmethod
    def of(cls, submissions: Sequence[Submission]) -> "TeamCases":
        """Return the case tables of submissions of different teams."""
        return cls(tuple(s.team for s in submissions), tuple(s.tables for s in submissions))

    def task_tables(self, task: str) -> dict[str, CaseTable]:
        """Return the tables of a task by team. Raises `PhaseError` where cases differ."""
        given = zip(self.teams, self.tables, strict=True)
        found = {team: tables[task] for team, tables in given if tables and task in tables}
        first = next(iter(found), "")
        for team, table in found.items():
            names = found[first].names
            # Usually they are the same object, while a comparison looks at every name.
            if table.names is not names and table.names != names:
                raise PhaseError(f"{team}: task {task}: other cases than those of {first}")
        return found

    def each_table(self, metrics: Mapping[str, Metric]) -> Iterator[tuple[str, Metric, str, CaseTable]]:
        """Yield every metric with its name, and the team and table of each team with results in its task."""
        for name, metric in metrics.items():
            for team, table in self.task_tables(name.partition(".")[0]).items():
                yield name, metric, team, table

    def columns(self, teams: Iterable[str], values: Mapping[str, Floats]) -> dict[str, Floats]:
        """Spread the values of some teams, shape (rows, teams), over all teams, with NaN for the rest."""
        found, positions = {}, [self.teams.index(team) for team in teams]
        for name, resampled_values in values.items():
            found[name] = np.full((len(resampled_values), len(self.teams)), np.nan)
            found[name][:, positions] = resampled_values
        return found


@dataclass(frozen=True)
class Resampled:
    """Metrics by name, shape (resamples, teams), and for every other one why it was not resampled."""

    values: Mapping[str, Floats]
    missing: Mapping[str, str]


@dataclass(frozen=True)
class TeamIntervals:
    """Figures with intervals by metric and team, and for every metric without any the reason."""

    found: Mapping[str, Mapping[str, Figure]]
    missing: Mapping[str, str]


def intervals_of_teams(
    metrics: Mapping[str, Metric], cases: TeamCases, resampling: Resampling
) -> TeamIntervals:
    """Return the intervals of the metrics of all teams, as in each team's metrics.json.

    Raises `PhaseError` where the reference's columns differ between teams.
    """
    found: dict[str, dict[str, Figure]] = {}
    missing: dict[str, str] = {}
    for task, task_metrics in by_task(metrics).items():
        tables = cases.task_tables(task)
        if not tables:
            missing |= dict.fromkeys(task_metrics, _NO_CASES)
            continue
        _require_same_strata(task_metrics, tables)
        of_task = intervals(task_metrics, list(tables.values()), resampling)
        missing |= of_task.missing
        for name, of_tables in of_task.found.items():
            found[name] = dict(zip(tables, of_tables, strict=True))
    return TeamIntervals(found, missing)


def draw_cases(metrics: Mapping[str, Metric], cases: TeamCases, resampling: Resampling) -> Draws:
    """Return the draws in which all these metrics exist, see `joint_draws`.

    Raises `PhaseError` where the reference's columns differ between teams.
    """
    missing: dict[str, str] = {}
    given: dict[str, Metric] = {}
    first: dict[str, CaseTable] = {}
    for task, of_task in by_task(metrics).items():
        if tables := cases.task_tables(task):
            _require_same_strata(of_task, tables)
            given |= of_task
            first[task] = next(iter(tables.values()))
        else:
            missing |= dict.fromkeys(of_task, _NO_CASES)
    draws = joint_draws(given, first, resampling)
    return replace(draws, missing={**missing, **draws.missing})


def resample_teams(metrics: Mapping[str, Metric], cases: TeamCases, draws: Draws) -> Resampled:
    """Return the values of the metrics of all teams in every resample, NaN where a team lacks one."""
    values: dict[str, Floats] = {}
    missing = dict(draws.missing)
    tables = {task: cases.task_tables(task) for task in by_task(metrics)}
    found = resampled(metrics, {task: list(of_teams.values()) for task, of_teams in tables.items()}, draws)
    for name, of_tables in found.items():
        if np.isnan(of_tables).any():
            missing[name] = "it does not exist in every resample"
        else:
            values |= cases.columns(tables[name.partition(".")[0]], {name: of_tables})
    return Resampled({name: values[name] for name in metrics if name in values}, missing)


def _require_same_strata(metrics: Mapping[str, Metric], tables: Mapping[str, CaseTable]) -> None:
    first, *others = tables
    for name, metric in metrics.items():
        strata = metric.estimator.strata(tables[first])
        for team in others:
            if not np.array_equal(metric.estimator.strata(tables[team]), strata):
                raise PhaseError(f"{team}: {name}: the reference differs from that of {first}")


def with_composites(values: Mapping[str, Floats], composites: Sequence[Composite]) -> dict[str, Floats]:
    """Return values by metric and by composite, without composites that lack a metric."""
    found = dict(values)
    for composite in composites:
        if values.keys() >= set(composite.metrics):
            parts = (values[name] for name in composite.metrics)
            found[composite.name] = np.asarray(composite.combine(*parts))
    return found


def with_composite_intervals(
    parts: TeamIntervals,
    composites: Sequence[Composite],
    metrics: Mapping[str, Metric],
    cases: TeamCases,
    resampling: Resampling,
) -> TeamIntervals:
    """Add the intervals of composites, for the teams that have all their metrics, see `composite_figures`."""
    found, missing = dict(parts.found), dict(parts.missing)
    for composite in composites:
        of_parts = [parts.found.get(name, {}) for name in composite.metrics]
        if lacking := [name for name in composite.metrics if name not in parts.found]:
            missing[composite.name] = f"no interval of {lacking[0]}"
            continue
        both = zip(cases.teams, cases.tables, strict=True)
        tables = {team: own for team, own in both if own and all(team in of for of in of_parts)}
        figures = [
            {name: of[team] for name, of in zip(composite.metrics, of_parts, strict=True)} for team in tables
        ]
        if figures:
            of_teams = composite_figures(composite, metrics, list(tables.values()), figures, resampling)
            found[composite.name] = dict(zip(tables, of_teams, strict=True))
    return TeamIntervals(found, missing)


def as_ranked(values: Mapping[str, Floats], composites: Sequence[Composite]) -> dict[str, Floats]:
    """Return exact values by metric, and composites made of them, each rounded once like metrics.json."""
    return {name: as_written_values(found) for name, found in with_composites(values, composites).items()}
