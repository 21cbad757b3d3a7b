"""Results of any origin in one table, and the organiser's definition of its metrics."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

import numpy as np
import pandas
from pydantic import FiniteFloat

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Challenge, Options, Task, metrics_of
from evaluation.core.estimator import Mean
from evaluation.core.fault import PhaseError
from evaluation.core.keys import KeyTable, Weight
from evaluation.core.metric import Metric
from evaluation.core.resampling import CLUSTER_COLUMN, Resampling
from evaluation.core.scheme import Board, Scheme, Term
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking import results
from evaluation.phase.cases import organiser_table
from evaluation.phase.leaderboard import ELIGIBLE, TEAM, is_yes
from evaluation.phase.scores import RecordedColumns
from evaluation.phase.validation import InvalidTableError, read_table, suggestion
from evaluation.platform.result_file import as_written

# --- The organiser's definition of the metrics of a table: directions and weights ---


class MetricDefinition(KeyTable, strict=False):
    """One metric of a table.

    ``weight``: of its rank. ``worst`` replaces a team's missing values; without it they are faults. It is
    the value of an unseen failure, too, and ``best`` the other end of the range.
    """

    better: Literal["higher", "lower"]
    weight: Weight = Decimal(1)
    title: str | None = None
    unit: str = ""
    worst: FiniteFloat | None = None
    best: FiniteFloat | None = None


Definitions = Mapping[str, MetricDefinition]
_SEED, _RESAMPLES, _INTERVAL_MINIMUM = 0, 1000, 10


def read_definitions(metrics: Sequence[str]) -> dict[str, MetricDefinition]:
    """Return the metrics of a table by name.

    metrics: "NAME=higher" or "NAME=lower", followed by further keys of `MetricDefinition`, for example
    "dice=higher,weight=0.6,worst=0". Raises `PhaseError` listing every fault.
    """
    problems: list[str] = []
    given: dict[str, MetricDefinition] = {}
    for text in metrics:
        name, equals, description = text.rpartition("=") if "," not in text else text.partition("=")
        better, *keys = description.split(",")
        pairs = [key.partition("=") for key in keys]
        if not equals or not name or not all(sign and value for _, sign, value in pairs):
            expected = "NAME=higher or NAME=lower, then KEY=VALUE after commas"
            problems.append(f"--metric {text}: expected {expected}")
            continue
        content = {"better": better} | {key: value for key, _, value in pairs}
        try:
            given[name] = read_table(MetricDefinition, content)
        except InvalidTableError as error:
            problems += error.problems(f"--metric {name}")
    PhaseError.raise_all(problems)
    return given


# --- A table of results in its long form: one row for each team, case, task and metric ---

CASE, TASK, METRIC, VALUE = "case", "task", "metric", "value"
_KEYS = (TEAM, CASE, TASK, METRIC, ELIGIBLE, CLUSTER_COLUMN)
_CALLED_TEAM = ("algorithm", "method", "name")  # as challengeR and papers call a team
NO_TASK = "results"
_EMPTY = ("", "NA", "N/A", "NaN", "nan")
_MAX_FAULTS = 20


def _read(path: Path, definitions: Definitions, problems: list[str]) -> pandas.DataFrame:
    """Return a table as it is in the file; its index holds the lines of the file. Raises `PhaseError`."""
    with organiser_table(path, (), _KEYS, holds="result") as read:
        table = pandas.DataFrame([row.cells for row in read.rows], [row.line for row in read.rows])
        if ELIGIBLE in read.columns:
            table[ELIGIBLE] = [is_yes(row, ELIGIBLE) for row in read.rows]
        called = [name for name in read.columns if name.casefold() in _CALLED_TEAM]
        if TEAM not in read.columns and len(called) == 1:
            table = table.rename(columns={called[0]: TEAM})
        elif TEAM not in read.columns:
            found = ", ".join(filter(None, read.columns)) or "none"
            one = f"a column {TEAM!r}, or one of {', '.join(_CALLED_TEAM)}"
            read.faults.append(f"{path.name}: expected {one}, found {found}")
        for key in (TEAM, CASE, TASK, METRIC):
            if key in table:
                _report_rows(problems, path, table.index[table[key] == ""], f"{key} is empty")
        for name in sorted(name for name in table.columns if _is_value(name, definitions)):
            given = table[name].mask(table[name].isin(_EMPTY))
            numbers = pandas.to_numeric(given, errors="coerce")
            wrong = table.index[given.notna() & ~np.isfinite(numbers.to_numpy(dtype=np.float64))]
            _report_rows(problems, path, wrong, f"{name}: expected a finite number, found {{!r}}", given)
            table[name] = numbers
        if read.faults:
            PhaseError.raise_all(problems)  # all at once
    return table


def _is_value(name: str, definitions: Definitions) -> bool:
    return name not in _KEYS and (name == VALUE or _definition_of(name, definitions) is not None)


def _definition_of(name: str, definitions: Definitions) -> MetricDefinition | None:
    """Return the definition of "task.metric", or else of the metric."""
    return definitions.get(name) or definitions.get(name.partition(".")[2])


def _long(
    path: Path, table: pandas.DataFrame, definitions: Definitions, problems: list[str]
) -> pandas.DataFrame:
    """Return a table with a row for each team, case, task and metric."""
    if VALUE in table:
        long = table if METRIC in table else table.assign(**{METRIC: VALUE})
    else:
        metrics = [name for name in table.columns if _is_value(str(name), definitions)]
        known = {*metrics, *(name.partition(".")[2] for name in metrics)}
        missing = [name for name in definitions if name not in known]
        others = [name for name in table.columns if name not in {*_KEYS, *metrics}]
        problems += [f"{path}: column {name!r} is missing{suggestion(name, others)}" for name in missing]
        if not metrics:
            unknown = ", ".join(str(name) for name in table.columns if name not in _KEYS)
            further = f"further columns are {unknown}" if unknown else "there are no further columns"
            problems.append(f"{path}: no metric is defined (--metric NAME=higher|lower); {further}")
            return table
        kept = [name for name in table.columns if name not in metrics]
        long = table.melt(kept, metrics, var_name=METRIC, value_name=VALUE, ignore_index=False)
    if TASK not in long:
        tasks: dict[str, str] = {}
        metrics_of_tasks: dict[str, str] = {}
        for name in long[METRIC].unique():
            task, dot, metric = name.partition(".")
            tasks[name], metrics_of_tasks[name] = (task, metric) if dot else (NO_TASK, name)
        columns = {TASK: long[METRIC].map(tasks), METRIC: long[METRIC].map(metrics_of_tasks)}
        long = long.assign(**columns)
    return long


def _report_rows(
    problems: list[str], path: Path, rows: Sequence[int], message: str, found: pandas.Series | None = None
) -> None:
    """Add a problem for each row, by its line; message: with ``found``, a format of its cell."""
    for line in rows[:_MAX_FAULTS]:
        text = message.format(None if found is None else found[line])
        problems.append(f"{path}, line {line}: {text}")
    if len(rows) > _MAX_FAULTS:
        problems.append(f"{path}: the same in {len(rows) - _MAX_FAULTS} further lines")


@dataclass(frozen=True)
class _MetricValues:
    """The values of one metric of one task, shape (teams, cases), NaN where the table has none."""

    definition: MetricDefinition
    values: Floats


def _values_by_task(
    path: Path,
    long: pandas.DataFrame,
    teams: Sequence[str],
    cases: Sequence[str],
    definitions: Definitions,
    problems: list[str],
    notices: list[str],
) -> dict[str, dict[str, _MetricValues]]:
    """Return the values by task and metric, in the order of the table; adds to faults and notices."""
    keys = [TASK, METRIC, TEAM] + ([CASE] if CASE in long else [])
    repeated = long.index[long.duplicated(keys)].unique()
    _report_rows(problems, path, repeated, f"the same {', '.join(keys)} as in an earlier line")
    if len(repeated) and CASE not in long:
        problems.append(f"{path}: values by case need a column {CASE!r}")
    found: dict[str, dict[str, _MetricValues]] = {}
    team_at = {team: position for position, team in enumerate(teams)}
    case_at = {case: position for position, case in enumerate(cases)}
    for (task, metric), rows in long.groupby([TASK, METRIC], sort=False):
        described = _definition_of(f"{task}.{metric}", definitions)
        if described is None:
            problems.append(f"{path}: metric {metric!r} is not defined (--metric {metric}=higher|lower)")
            continue
        values = np.full((len(teams), len(cases)), math.nan)
        columns = rows[CASE].map(case_at).to_numpy() if CASE in rows else 0
        values[rows[TEAM].map(team_at).to_numpy(), columns] = rows[VALUE].to_numpy(dtype=np.float64)
        found.setdefault(str(task), {})[str(metric)] = _MetricValues(described, values)
    for metrics in found.values():
        takes_part = np.logical_or.reduce([~np.isnan(entry.values).all(axis=1) for entry in metrics.values()])
        for name, entry in metrics.items():
            defined = ~np.isnan(entry.values).all(axis=0)
            missing = np.isnan(entry.values) & defined & takes_part[:, np.newaxis]
            worst = entry.definition.worst
            if not missing.any() or (worst is None and CASE not in long):
                continue  # an aggregated value that is missing leaves the team out of the metric
            of_teams = zip(teams, missing.sum(axis=1).tolist(), strict=True)
            by_team = ", ".join(f"{team} {number}" for team, number in of_teams if number)
            entering = int(np.count_nonzero(defined) * np.count_nonzero(takes_part))
            told = f"{np.count_nonzero(missing)} of {entering} values of {name}"
            if worst is not None:
                entry.values[missing] = worst
                notices.append(f"{told} were missing and took the worst, {worst:g}: {by_team}")
                continue
            team, case = np.argwhere(missing)[0].tolist()
            where = f"{by_team}; the first of {teams[team]} in {cases[case]}"
            key = f"--metric {name}={entry.definition.better},worst=…"
            problems.append(
                f"{path}: {told} are missing ({where}): expected the worst value, which replaces them: {key}"
            )
    return found


# --- Results of any origin from one table, with values by case or aggregated values ---


def read_results_table(path: Path, definitions: Definitions) -> results.PhaseResults:
    """Return the results in a csv file. Raises `PhaseError` listing every fault.

    Long: team, case, metric, value (without ``metric``, the only metric is called "value"). Wide: team, case
    and one column for each metric. Without ``case``, values are aggregated. Optional: task (else the part of
    a metric's name before a dot, else "results"), eligible (yes or no), cluster (of a case), and any further
    columns, which are subgroups where they are constant within a case.
    Every metric needs a definition. A team without any value of a task takes no part in the task; any other
    missing value takes the metric's worst one, unless no team has a value: then the case is undefined.
    """
    problems: list[str] = []
    table = _read(path, definitions, problems)
    return results_in_table(path, table, definitions, path.stem, problems)


def results_in_table(
    path: Path, table: pandas.DataFrame, definitions: Definitions, title: str, problems: list[str]
) -> results.PhaseResults:
    """Return the results in a table from a file, see `read_results_table`; ``problems`` are known faults."""
    long = _long(path, table, definitions, problems)
    PhaseError.raise_all(problems)
    teams = sorted(long[TEAM].unique(), key=results.natural_order)
    cases = sorted(long[CASE].unique()) if CASE in long else [""]
    notices: list[str] = []
    found = _values_by_task(path, long, teams, cases, definitions, problems, notices)
    PhaseError.raise_all(problems)
    tasks = tuple(_task(name, metrics, len(found) > 1) for name, metrics in found.items())
    columns = _case_columns(long, cases) if CASE in long else None
    submissions = tuple(
        _submission(team, position, found, cases if columns else None) for position, team in enumerate(teams)
    )
    scheme = _scheme(found)
    challenge = Challenge(
        name="table",
        title=title,
        options=Options,
        tasks=lambda options: tasks,
        components=tuple(metrics_of(tasks)),
        ranking=lambda options: scheme,
    )
    ineligible = set(long[TEAM][~long[ELIGIBLE].astype(bool)]) if ELIGIBLE in long else set()
    resampling = None
    if columns:
        of_cases = columns.columns.get(CLUSTER_COLUMN)
        clusters = dict(zip(cases, of_cases, strict=True)) if of_cases else None
        resampling = Resampling(_SEED, _RESAMPLES, _INTERVAL_MINIMUM, clusters=clusters)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    found_in_table = submissions, frozenset(ineligible), columns, resampling
    return results.PhaseResults(
        challenge, Options(), tasks, title, digest, *found_in_table, notices=tuple(notices)
    )


def _scheme(found: Mapping[str, Mapping[str, _MetricValues]]) -> Scheme:
    """Return the scheme of a table: a leaderboard of every task, by the weighted ranks of its metrics.

    With one task this is the overall leaderboard. Where all weights are 1, the score is the mean rank.
    """
    boards = []
    for task, metrics in found.items():
        ranks = tuple(
            Term(rank=f"{task}.{name}", weight=entry.definition.weight) for name, entry in metrics.items()
        )
        same = all(rank.weight == 1 for rank in ranks)
        boards.append(Board(task, ranks, combination="mean" if same else "sum"))
    if len(boards) > 1:
        return Scheme(tuple(boards))
    return Scheme((replace(boards[0], name="overall"),), overall="overall")


def _task(name: str, metrics: Mapping[str, _MetricValues], one_of_several: bool) -> Task:
    prefix = f"{name}: " if one_of_several else ""
    found = []
    for metric, entry in metrics.items():
        defined, mean = entry.definition, Mean(metric)
        upwards = math.inf if defined.better == "higher" else -math.inf
        best = upwards if defined.best is None else defined.best
        ends = best, -upwards if defined.worst is None else defined.worst
        found.append(Metric(metric, prefix + (defined.title or metric), mean, *ends, unit=defined.unit))
    return Task(name, name, (), lambda prediction, reference: {}, tuple(found))


def _submission(
    team: str, position: int, found: Mapping[str, Mapping[str, _MetricValues]], cases: Sequence[str] | None
) -> results.Submission:
    """Return a team's results; cases: None for aggregated values."""
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
        if cases is not None:
            has_values = [~np.isnan(entry.values).all(axis=0) for entry in metrics.values()]
            kept = np.flatnonzero(np.logical_or.reduce(has_values))
            rows = zip(*(column[kept].tolist() for column in columns.values()), strict=True)
            names = tuple(cases[case] for case in kept.tolist())
            tables[task] = CaseTable(names, [dict(zip(columns, row, strict=True)) for row in rows])
    return results.Submission(team, team, values, tables or None)


def _case_columns(long: pandas.DataFrame, cases: Sequence[str]) -> RecordedColumns:
    known = (TEAM, CASE, TASK, METRIC, VALUE, ELIGIBLE)
    groups = long.groupby(CASE)
    constant = [name for name in long.columns if name not in known and (groups[name].nunique() <= 1).all()]
    firsts = groups[constant].first().reindex(cases).astype(str)
    return RecordedColumns(tuple(cases), {name: tuple(firsts[name].tolist()) for name in constant})
