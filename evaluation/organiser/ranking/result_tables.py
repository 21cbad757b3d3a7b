"""Results of any origin in one table, and the organiser's definition of its metrics."""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import pandas
from numpy.typing import NDArray
from pydantic import FiniteFloat

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Challenge, Options, Task, metrics_of
from evaluation.core.keys import Key, KeyTable, Weight
from evaluation.core.metric import Metric, mean_of
from evaluation.core.resampling import CLUSTER_COLUMN, Resampling
from evaluation.core.scheme import Board, Rank, Scheme
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.results import (
    VARIANT_OF,
    PhaseResults,
    RankingError,
    Submission,
    natural_order,
    variant_faults,
)
from evaluation.phase.leaderboard import ELIGIBLE, TEAM
from evaluation.phase.scores import RecordedColumns
from evaluation.phase.validation import InvalidTableError, read_table
from evaluation.platform.result_file import as_written

# --- The organiser's definition of a table of results: directions and weights of metrics, and ranking ---
#
# title = "ADAM, disc segmentation"
#
# [metrics.f1] better = "higher" weight = 0.6
#
# [metrics.points] better = "lower" title = "Distance to the fovea" unit = "px" worst = 500


class MetricDefinition(KeyTable, strict=False):
    """One metric of a table.

    ``weight``: of its rank. ``worst`` replaces a team's missing values; without it they are faults.
    """

    better: Literal["higher", "lower"]
    weight: Weight = Decimal(1)
    title: str | None = None
    unit: str = ""
    worst: FiniteFloat | None = None


class TableDefinition(KeyTable, strict=False):
    """The metrics of a table by name, and the bootstrap of its cases."""

    title: str | None = None
    metrics: dict[str, MetricDefinition] = Key(default={})
    seed: int = Key(default=0, ge=0)
    resamples: int = Key(default=1000, ge=0, le=100_000)
    interval_minimum: int = Key(default=10, ge=2)


def read_definition(path: Path | None, metrics: list[str]) -> TableDefinition:
    """Return a definition from a TOML file and from options, which take precedence.

    metrics: "NAME=higher" or "NAME=lower", followed by further keys of `MetricDefinition`, for example
    "dice=higher,weight=0.6,worst=0". Raises `RankingError` listing every fault.
    """
    content: dict[str, object] = {}
    if path is not None:
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
        except (OSError, ValueError) as error:
            raise RankingError(f"{path}: {error}") from None
    problems: list[str] = []
    given = dict(found) if isinstance(found := content.get("metrics", {}), dict) else found
    for text in metrics:
        name, equals, description = text.rpartition("=") if "," not in text else text.partition("=")
        better, *keys = description.split(",")
        pairs = [key.partition("=") for key in keys]
        if not equals or not name or not all(sign and value for _, sign, value in pairs):
            problems.append(
                f"--metric {text}: expected NAME=higher or NAME=lower, then KEY=VALUE after commas"
            )
        elif isinstance(given, dict):
            given[name] = {"better": better} | {key: value for key, _, value in pairs}
    try:
        definition = read_table(TableDefinition, content | {"metrics": given})
    except InvalidTableError as error:
        file = str(path) if path else "--metric"
        raise RankingError(*problems, *error.problems(file)) from None
    if problems:
        raise RankingError(*problems)
    return definition


# --- A table of results in its long form: one row for each team, case, task and metric ---

CASE, TASK, METRIC, VALUE = "case", "task", "metric", "value"
KEYS = (TEAM, CASE, TASK, METRIC, ELIGIBLE, CLUSTER_COLUMN)
NO = ("no", "false", "0")
_YES = ("", "yes", "true", "1")
_NO_TASK = "results"
_EMPTY = ("", "NA", "N/A", "NaN", "nan")
_MAX_FAULTS = 20


def read_long_form(path: Path, definition: TableDefinition) -> pandas.DataFrame:
    """Return the table in a csv file with the columns team, task, metric, value, and case if it has one.

    The index holds the rows of the file, counted from 0. Raises `RankingError` listing every fault.
    """
    problems: list[str] = []
    table = _read(path, definition, problems)
    long = _long(path, table, definition, problems)
    if problems:
        raise RankingError(*problems)
    return long


def _read(path: Path, definition: TableDefinition, problems: list[str]) -> pandas.DataFrame:
    try:
        with path.open(encoding="utf-8-sig") as file:
            header = file.readline()
        separator = max((",", ";", "\t"), key=header.count)
        names = [str(name).strip() for name in pandas.read_csv(path, sep=separator, nrows=0).columns]
        texts = [name for name in names if not _is_value(name, definition)]
        table = pandas.read_csv(
            path,
            sep=separator,
            decimal="," if separator == ";" else ".",
            header=0,
            names=names,
            index_col=False,
            dtype=dict.fromkeys(texts, str),
            keep_default_na=False,
            na_values={name: _EMPTY for name in names if name not in texts},
            encoding="utf-8-sig",
            skipinitialspace=True,
        )
    except (OSError, ValueError) as error:
        raise RankingError(f"{path}: cannot be read: {error}") from None
    if TEAM not in table:
        found = ", ".join(table.columns)
        raise RankingError(f"{path}: expected the column {TEAM!r}, found {found}")
    for name in texts:
        table[name] = table[name].str.strip()
    for key in (TEAM, CASE, TASK, METRIC):
        if key in table:
            report_rows(problems, path, table.index[table[key] == ""], f"{key} is empty")
    if ELIGIBLE in table:
        given, table[ELIGIBLE] = table[ELIGIBLE], table[ELIGIBLE].str.casefold()
        unclear = table.index[~table[ELIGIBLE].isin([*_YES, *NO])]
        report_rows(problems, path, unclear, f"{ELIGIBLE}: expected yes or no, found {{!r}}", given)
    if table.empty:
        problems.append(f"{path}: contains no results")
    for name in sorted(set(names) - set(texts)):
        _check_numbers(path, table, name, problems)
    return table


def _check_numbers(path: Path, table: pandas.DataFrame, name: str, problems: list[str]) -> None:
    """Report cells of a column that are not finite numbers, and turn the column into numbers."""
    given, numbers = table[name], pandas.to_numeric(table[name], errors="coerce")
    wrong = table.index[given.notna() & ~np.isfinite(numbers.to_numpy(dtype=np.float64))]
    report_rows(problems, path, wrong, f"{name}: expected a finite number, found {{!r}}", given)
    table[name] = numbers


def _is_value(name: str, definition: TableDefinition) -> bool:
    return name not in KEYS and (name == VALUE or definition_of(name, definition) is not None)


def definition_of(name: str, definition: TableDefinition) -> MetricDefinition | None:
    """Return the definition of "task.metric", or else of the metric."""
    return definition.metrics.get(name) or definition.metrics.get(name.partition(".")[2])


def _long(
    path: Path, table: pandas.DataFrame, definition: TableDefinition, problems: list[str]
) -> pandas.DataFrame:
    """Return a table with the columns task, metric and value."""
    if VALUE in table:
        long = table if METRIC in table else table.assign(**{METRIC: VALUE})
    else:
        metrics = [name for name in table.columns if _is_value(str(name), definition)]
        missing = [name for name in definition.metrics if not _occurs(name, metrics)]
        problems += [f"{path}: column {name!r} is missing" for name in missing]
        if not metrics:
            others = [str(name) for name in table.columns if name not in KEYS]
            problems.append(f"{path}: no metric is defined (--metric NAME=higher|lower); {_columns(others)}")
            return table
        others = [name for name in table.columns if name not in metrics]
        long = table.reset_index(names="line").melt(
            ["line", *others], metrics, var_name=METRIC, value_name=VALUE
        )
        long = long.set_index("line").rename_axis(None)
    if TASK not in long:
        parts = {name: _split(name) for name in long[METRIC].unique()}
        long = long.assign(
            **{
                TASK: long[METRIC].map({name: task for name, (task, _) in parts.items()}),
                METRIC: long[METRIC].map({name: metric for name, (_, metric) in parts.items()}),
            }
        )
    return long


def _occurs(name: str, columns: Sequence[str]) -> bool:
    return any(name in (column, column.partition(".")[2]) for column in columns)


def _columns(names: Sequence[str]) -> str:
    return f"further columns are {', '.join(names)}" if names else "there are no further columns"


def _split(name: str) -> tuple[str, str]:
    task, dot, metric = name.partition(".")
    return (task, metric) if dot else (_NO_TASK, name)


def report_rows(
    problems: list[str], path: Path, rows: Sequence[int], message: str, found: pandas.Series | None = None
) -> None:
    """Add a problem for each row, by its line in the file, up to a number that can be read.

    message: with ``found``, a format of the row's cell.
    """
    for row in rows[:_MAX_FAULTS]:
        text = message if found is None else message.format(found[row])
        problems.append(f"{path}, line {row + 2}: {text}")
    if len(rows) > _MAX_FAULTS:
        problems.append(f"{path}: the same in {len(rows) - _MAX_FAULTS} further lines")


# --- The values of a table by task and metric, as arrays of teams and cases, with missing ones replaced ---


@dataclass(frozen=True)
class MetricValues:
    """The values of one metric of one task, shape (teams, cases), NaN where the table has none."""

    definition: MetricDefinition
    values: Floats


def values_by_task(
    path: Path,
    long: pandas.DataFrame,
    teams: Sequence[str],
    cases: Sequence[str],
    definition: TableDefinition,
    problems: list[str],
) -> dict[str, dict[str, MetricValues]]:
    """Return the values by task and metric, in the order of the table; faults are added to problems.

    teams, cases: the order of the arrays' axes. A team without any value of a task takes no part in it. Any
    other missing value takes the metric's worst one; a case without the value of any team is undefined.
    """
    keys = [TASK, METRIC, TEAM] + ([CASE] if CASE in long else [])
    report_rows(
        problems,
        path,
        long.index[long.duplicated(keys)].unique(),
        f"the same {', '.join(keys)} as in an earlier line",
    )
    found: dict[str, dict[str, MetricValues]] = {}
    team_at = {team: position for position, team in enumerate(teams)}
    case_at = {case: position for position, case in enumerate(cases)}
    for (task, metric), rows in long.groupby([TASK, METRIC], sort=False):
        described = definition_of(f"{task}.{metric}", definition)
        if described is None:
            problems.append(f"{path}: metric {metric!r} is not defined (--metric {metric}=higher|lower)")
            continue
        values = np.full((len(teams), len(cases)), math.nan)
        columns = rows[CASE].map(case_at).to_numpy() if CASE in rows else 0
        values[rows[TEAM].map(team_at).to_numpy(), columns] = rows[VALUE].to_numpy(dtype=np.float64)
        found.setdefault(str(task), {})[str(metric)] = MetricValues(described, values)
    return {
        task: {
            name: _filled(path, task, name, entry, metrics, teams, cases, problems)
            for name, entry in metrics.items()
        }
        for task, metrics in found.items()
    }


def _filled(
    path: Path,
    task: str,
    name: str,
    entry: MetricValues,
    metrics: Mapping[str, MetricValues],
    teams: Sequence[str],
    cases: Sequence[str],
    problems: list[str],
) -> MetricValues:
    """Return the values with missing ones replaced by the worst one."""
    takes_part = np.logical_or.reduce([~np.isnan(other.values).all(axis=1) for other in metrics.values()])
    defined = ~np.isnan(entry.values).all(axis=0)
    missing = np.isnan(entry.values) & defined & takes_part[:, np.newaxis]
    if len(cases) == 1 and cases[0] == "":
        # An aggregated value that is missing leaves the team out of the metric.
        missing &= entry.definition.worst is not None
    worst = entry.definition.worst
    if worst is None:
        places = [f"{teams[team]}, {cases[case]}" for team, case in np.argwhere(missing).tolist()]
        lines = [
            f"{path}: {task}.{name}: the value of {place} is missing, and no worst value is defined"
            for place in places[:_MAX_FAULTS]
        ]
        problems += lines + ([f"{path}: {task}.{name}: {len(places)} values are missing"] if lines else [])
        return entry
    return replace(entry, values=np.where(missing, worst, entry.values))


# --- Results of any origin from one table, with values by case or aggregated values ---
#
# Long: team, case, metric, value (without ``metric``, the only metric is called "value"). Wide: team, case
# and one column for each metric. Without ``case``, values are aggregated. Optional: task (else the part of a
# metric's name before a dot, else "results"), eligible (yes or no), variant_of (another team: not ranked,
# compared with that one), cluster (of a case), and any further columns, which are subgroups where they are
# constant within a case.


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
