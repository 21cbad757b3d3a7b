"""Results of any origin from one table, with values by case or aggregated values.

Long: team, case, metric, value (without ``metric``, the only metric is called "value").
Wide: team, case and one column for each metric. Without ``case``, values are aggregated.
Optional: task (else the part of a metric's name before a dot, else "results"), eligible (yes or no),
variant_of (another team: not ranked, compared with that one), cluster (of a case), and any further columns,
which are subgroups where they are constant within a case.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Challenge, Options, Task, metrics_of
from evaluation.core.metric import Metric, mean_of
from evaluation.core.resampling import CLUSTER_COLUMN, Resampling
from evaluation.core.scheme import Board, Rank, Scheme
from evaluation.phase.leaderboard import ELIGIBLE, TEAM
from evaluation.phase.scores import RecordedColumns
from evaluation.platform.result_file import as_written
from evaluation.ranking.results import VARIANT_OF, PhaseResults, RankingError, Submission, variant_faults
from evaluation.ranking.results_folder import natural_order
from evaluation.ranking.tables.definition import TableDefinition
from evaluation.ranking.tables.long_form import CASE, METRIC, NO, TASK, VALUE, read_long_form
from evaluation.ranking.tables.values import MetricValues, values_by_task


def read_results_table(path: Path, definition: TableDefinition) -> PhaseResults:
    """Return the results in a csv file. Raises `RankingError` listing every fault.

    Every metric needs a definition. A team without any value of a task takes no part in the task; any other
    missing value takes the metric's worst one, unless no team has a value: then the case is undefined.
    """
    problems: list[str] = []
    long = read_long_form(path, definition)
    teams = sorted(long[TEAM].unique(), key=natural_order)
    variants = _variants(path, long, teams, problems)
    cases = sorted(long[CASE].unique()) if CASE in long else [""]
    found = values_by_task(path, long, teams, cases, definition, problems)
    if problems:
        raise RankingError(*problems)
    tasks = tuple(_task(name, metrics, len(found) > 1) for name, metrics in found.items())
    columns = _case_columns(long, cases) if CASE in long else None
    members = {task: _cases_of(metrics) for task, metrics in found.items()} if columns else {}
    names = {task: tuple(cases[case] for case in chosen) for task, chosen in members.items()}
    submissions = tuple(
        _submission(team, position, found, members, names) for position, team in enumerate(teams)
    )
    title = definition.title or path.stem
    scheme = table_scheme(found)
    challenge = Challenge(
        name="table",
        title=title,
        options=Options,
        tasks=lambda options: tasks,
        components=tuple(metrics_of(tasks)),
        ranking=lambda options: scheme,
    )
    clusters = columns.columns.get(CLUSTER_COLUMN) if columns else None
    return PhaseResults(
        challenge,
        Options(),
        tasks,
        title,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        submissions,
        frozenset(variants)
        | (frozenset(long[TEAM][long[ELIGIBLE].isin(NO)]) if ELIGIBLE in long else frozenset()),
        columns,
        Resampling(
            definition.seed,
            definition.resamples,
            definition.interval_minimum,
            clusters=dict(zip(cases, clusters, strict=True)) if clusters else None,
        )
        if columns
        else None,
        variants=variants,
    )


def _variants(
    path: Path, long: pandas.DataFrame, teams: Sequence[str], problems: list[str]
) -> dict[str, str]:
    """Return the original team of every variant; faults are added to problems."""
    if VARIANT_OF not in long:
        return {}
    given = {team: sorted(set(bases) - {""}) for team, bases in long.groupby(TEAM)[VARIANT_OF]}
    problems += [
        f"{path}: {VARIANT_OF}: {team!r} is a variant of several teams: {', '.join(bases)}"
        for team, bases in given.items()
        if len(bases) > 1
    ]
    variants = {str(team): str(bases[0]) for team, bases in given.items() if bases}
    problems += [f"{path}: {fault}" for fault in variant_faults(variants, teams)]
    return variants


def table_scheme(found: Mapping[str, Mapping[str, MetricValues]]) -> Scheme:
    """Return the scheme of a table: a leaderboard of every task, by the weighted ranks of its metrics.

    With one task this is the overall leaderboard. Where all weights are 1, the score is the mean rank.
    """
    boards = []
    for task, metrics in found.items():
        weights = {f"{task}.{name}": Fraction(entry.definition.weight) for name, entry in metrics.items()}
        equal = all(weight == 1 for weight in weights.values())
        boards.append(
            Board(
                task,
                tuple(Rank(name, weight) for name, weight in weights.items()),
                combination="mean" if equal else "sum",
            )
        )
    if len(boards) > 1:
        return Scheme(tuple(boards))
    return Scheme((replace(boards[0], name="overall"),), overall="overall")


def _task(name: str, metrics: Mapping[str, MetricValues], one_of_several: bool) -> Task:
    prefix = f"{name}: " if one_of_several else ""
    return Task(
        name,
        name,
        (),
        lambda prediction, reference: {},
        tuple(
            Metric(
                metric,
                prefix + (entry.definition.title or metric),
                mean_of(metric),
                *((math.inf, -math.inf) if entry.definition.better == "higher" else (-math.inf, math.inf)),
                unit=entry.definition.unit,
            )
            for metric, entry in metrics.items()
        ),
    )


def _cases_of(metrics: Mapping[str, MetricValues]) -> NDArray[np.intp]:
    """Return the positions of the cases for which any team has a value."""
    return np.flatnonzero(
        np.logical_or.reduce([~np.isnan(entry.values).all(axis=0) for entry in metrics.values()])
    )


def _submission(
    team: str,
    position: int,
    found: Mapping[str, Mapping[str, MetricValues]],
    cases: Mapping[str, NDArray[np.intp]],
    names: Mapping[str, Sequence[str]],
) -> Submission:
    values: dict[str, float] = {}
    tables: dict[str, CaseTable] = {}
    for task, metrics in found.items():
        columns = {name: entry.values[position] for name, entry in metrics.items()}
        if all(np.isnan(column).all() for column in columns.values()):
            continue
        values |= {
            f"{task}.{name}": as_written(float(np.nanmean(column)))
            for name, column in columns.items()
            if not np.isnan(column).all()
        }
        if task in cases:
            rows = zip(*(column[cases[task]].tolist() for column in columns.values()), strict=True)
            tables[task] = CaseTable(names[task], [dict(zip(columns, row, strict=True)) for row in rows])
    return Submission(team, team, values, tables or None)


def _case_columns(long: pandas.DataFrame, cases: Sequence[str]) -> RecordedColumns:
    others = [
        name for name in long.columns if name not in (TEAM, CASE, TASK, METRIC, VALUE, ELIGIBLE, VARIANT_OF)
    ]
    groups = long.groupby(CASE)
    constant = [name for name in others if (groups[name].nunique() <= 1).all()]
    firsts = groups[constant].first().reindex(cases)
    return RecordedColumns(
        tuple(cases), {name: tuple(firsts[name].astype(str).tolist()) for name in constant}
    )
