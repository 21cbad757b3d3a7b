"""The teams' metrics over resampled cases; all teams share the weights of a resample.

The interval of a metric is the one in the team's metrics.json. For ranks, a resample draws the cases of all
tasks at once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
    """Metrics by name, shape (resamples, teams), the draws, and why every other metric was not resampled."""

    values: Mapping[str, Floats]
    draws: Draws
    missing: Mapping[str, str]


@dataclass(frozen=True)
class TeamIntervals:
    """Figures with intervals by metric and team, and for every metric without any the reason."""

    found: Mapping[str, Mapping[str, Figure]]
    missing: Mapping[str, str]


def intervals_of_teams(
    metrics: Mapping[str, Metric],
    cases: TeamCases,
    resampling: Resampling,
    composites: Sequence[Composite] = (),
) -> TeamIntervals:
    """Return the intervals of metrics and composites of all teams, as in each team's metrics.json.

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
    for composite in composites:
        if lacking := [name for name in composite.metrics if name not in found]:
            missing[composite.name] = f"no interval of {lacking[0]}"
            continue
        parts = {name: found[name] for name in composite.metrics}
        both = zip(cases.teams, cases.tables, strict=True)
        own = {team: of for team, of in both if of and all(team in part for part in parts.values())}
        figures = [{name: part[team] for name, part in parts.items()} for team in own]
        if figures:
            of_teams = composite_figures(composite, metrics, list(own.values()), figures, resampling)
            found[composite.name] = dict(zip(own, of_teams, strict=True))
    return TeamIntervals(found, missing)


def resample_teams(
    metrics: Mapping[str, Metric],
    cases: TeamCases,
    resampling: Resampling,
    composites: Sequence[Composite] = (),
) -> Resampled:
    """Return the metrics and composites of all teams in every resample, NaN where a team lacks one.

    In each draw all metrics exist, see `joint_draws`. Raises `PhaseError` where the reference's columns
    differ between teams.
    """
    of_tasks = {task: cases.task_tables(task) for task in by_task(metrics)}
    given: dict[str, Metric] = {}
    missing: dict[str, str] = {}
    for task, of_task in by_task(metrics).items():
        if of_tasks[task]:
            _require_same_strata(of_task, of_tasks[task])
            given |= of_task
        else:
            missing |= dict.fromkeys(of_task, _NO_CASES)
    tables = {task: list(of_teams.values()) for task, of_teams in of_tasks.items() if of_teams}
    draws = joint_draws(given, {task: of_teams[0] for task, of_teams in tables.items()}, resampling)
    missing |= draws.missing
    values: dict[str, Floats] = {}
    for name, of_tables in resampled(given, tables, draws).items():
        if np.isnan(of_tables).any():
            missing[name] = "it does not exist in every resample"
        else:
            values |= cases.columns(of_tasks[name.partition(".")[0]], {name: of_tables})
    values = {name: values[name] for name in metrics if name in values}
    return Resampled(with_composites(values, composites), draws, missing)


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


def as_ranked(values: Mapping[str, Floats], composites: Sequence[Composite]) -> dict[str, Floats]:
    """Return exact values by metric, and composites made of them, each rounded once like metrics.json."""
    return {name: as_written_values(found) for name, found in with_composites(values, composites).items()}
