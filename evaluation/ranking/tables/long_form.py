"""A table of results in its long form: one row for each team, case, task and metric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas

from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.phase.leaderboard import ELIGIBLE, TEAM
from evaluation.ranking.results import RankingError
from evaluation.ranking.tables.definition import MetricDefinition, TableDefinition

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
