"""The scores of a submission, and the content of `cases.json`, the organiser's file of them."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from evaluation.core.case_table import CaseTable, Row, ScoredCases
from evaluation.core.challenge import Task
from evaluation.core.fault import printable
from evaluation.core.outcome import Scored
from evaluation.core.resampling import CLUSTER_COLUMN, Resampling
from evaluation.phase.cases import group_labels, group_values
from evaluation.phase.config import Subgroup
from evaluation.phase.phase import Phase
from evaluation.phase.validation import read_table


@dataclass(frozen=True)
class Scores:
    """The scores of a submission: per task a case table, and the outcome of every case.

    ``run_seconds`` is the algorithm's run time for each case; empty without an algorithm.
    """

    phase: Phase
    tasks: tuple[Task, ...]
    tables: Mapping[str, CaseTable]
    outcomes: tuple[Scored, ...]
    run_seconds: tuple[float | None, ...] = ()

    def notes(self) -> list[str]:
        """Return a line for the organiser on each case that failed, or that the prediction left undefined."""
        named = list(zip(self.phase.cases.forms, self.outcomes, strict=True))
        undefined = "undefined because of the prediction, so that they take their worst values"
        return [
            *(f"{printable(case.name)}: failed, {one.failure}" for case, one in named if one.failure),
            *(
                f"{printable(case.name)}: {', '.join(one.undefined)}: {undefined}"
                for case, one in named
                if one.undefined
            ),
        ]


@dataclass(frozen=True)
class RecordedColumns:
    """The case table of the phase: names of the cases, cells by column, and its subgroups by column.

    ``titles``: the words of the phase for names in its files.
    """

    names: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]
    subgroups: Mapping[str, Subgroup] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)

    def labels(self, column: str) -> tuple[str, ...]:
        """Return the value of every case in a column, or its bin where the phase has bins; empty for none."""
        return group_labels(self.subgroup(column), self.columns[column])

    def values(self, column: str) -> tuple[str, ...]:
        """Return the values or bins of a column that occur: bins in their order, values sorted."""
        return group_values(self.subgroup(column), self.labels(column))

    def subgroup(self, column: str) -> Subgroup:
        """Return the division of a column: the phase's, else by its values."""
        return self.subgroups.get(column) or Subgroup(column=column)


@dataclass(frozen=True)
class RecordedCases:
    """The part of `cases.json` that a ranking needs: case tables by task, `cases.csv` and resampling.

    ``seconds_per_case``: the mean run time of the algorithm, None where it is not known.
    """

    tables: Mapping[str, CaseTable]
    cases: RecordedColumns
    resampling: Resampling
    seconds_per_case: float | None = None


def case_records(scores: Scores) -> dict[str, Any]:
    """Return the organiser's per-case file: columns of every task and of the case table, and details.

    It contains labels. Infinite values (a missing likelihood) are written as text, undefined ones are left
    out. Every figure can be computed again from it, with the resampling of the phase.
    """
    phase = scores.phase
    analyses = phase.challenge.analyses(phase.options, scored_cases(scores))
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
            "interval": phase.config.interval,
        },
        "details": {
            task.name: dict(details)
            for task in scores.tasks
            if (details := task.details(scores.tables[task.name]))
        },
        **({"analyses": dict(analyses)} if analyses else {}),
        **({"titles": phase.config.titles} if phase.config.titles else {}),
        "subgroups": [
            {"column": subgroup.column, "bins": list(subgroup.bins), "compare": subgroup.compare}
            for subgroup in phase.config.subgroups
        ],
        "cases": [
            {
                "name": case.name,
                "table": dict(rows_by_name[case.name]),
                "worst": list(outcome.worst),
                "failure": outcome.failure,
                **({"undefined": list(outcome.undefined)} if outcome.undefined else {}),
                "run_seconds": seconds,
                "tasks": {
                    task: {column: _recorded(value) for column, value in row.items()}
                    for task, row in outcome.rows.items()
                },
            }
            for case, outcome, seconds in zip(phase.cases.forms, scores.outcomes, run_seconds, strict=True)
        ],
    }


def scored_cases(scores: Scores) -> ScoredCases:
    """Return the cases with their tables, their cells of `cases.csv` and the subgroups of the phase."""
    cases = scores.phase.cases
    names = tuple(case.name for case in cases.forms)
    cells = {column: tuple(row.cells[column] for row in cases.rows) for column in cases.columns}
    groups = {}
    for subgroup in scores.phase.config.subgroups:
        labels = group_labels(subgroup, cells[subgroup.column])
        of_case = np.array(labels)
        groups[subgroup.column] = {value: of_case == value for value in group_values(subgroup, labels)}
    return ScoredCases(names, cells, groups, scores.tables)


def read_case_records(content: Any, tasks: Sequence[Task]) -> RecordedCases:
    """Return the recorded cases of some tasks from the content of a `cases.json`.

    Raises `KeyError`, `TypeError`, `AttributeError` or `ValueError` for any other content.
    """
    cases = content["cases"]
    names = _shared(tuple(case["name"] for case in cases))
    columns = {
        column: tuple(case["table"][column] for case in cases)
        for column in (cases[0]["table"] if cases else ())
    }
    tables = {}
    for task in tasks:
        chosen = [case for case in cases if task.name in case["tasks"]]
        if chosen:
            tables[task.name] = CaseTable(
                _shared(tuple(case["name"] for case in chosen)),
                _rows([case["tasks"][task.name] for case in chosen], task),
            )
    clusters = columns.get(CLUSTER_COLUMN)
    resampling = Resampling(
        **{
            key: value for key, value in content["resampling"].items() if key != "methods"
        },  # of earlier files
        clusters=None if clusters is None else dict(zip(names, clusters, strict=True)),
    )
    subgroups = {given["column"]: read_table(Subgroup, given) for given in content.get("subgroups", ())}
    timed = [seconds for case in cases if (seconds := case.get("run_seconds")) is not None]
    seconds_per_case = math.fsum(timed) / len(timed) if timed else None
    recorded = RecordedColumns(names, columns, subgroups, dict(content.get("titles", {})))
    return RecordedCases(tables, recorded, resampling, seconds_per_case)


@lru_cache(maxsize=16)
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the same object for equal names: the results of many teams name the same cases."""
    return names


def _recorded(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        # An empty list would lose the number of columns.
        return value.tolist() if value.size else {"shape": list(value.shape)}
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _rows(recorded: list[Row], task: Task) -> list[Row]:
    """Return the rows of a file, with NaN for the undefined values that the file leaves out.

    It leaves out a column of numbers altogether if no case has a value in it.
    """
    columns = tuple(dict.fromkeys([*itertools.chain.from_iterable(recorded), *sorted(task.number_columns)]))
    # So are columns that were written unchanged and without gaps.
    if all({float, int, bool}.issuperset(type(row.get(of)) for row in recorded) for of in columns):
        return recorded
    texts = task.text_columns
    return [
        {
            column: row[column] if column in texts else restored_value(row.get(column, math.nan))
            for column in columns
        }
        for row in recorded
    ]


def restored_value(value: Any) -> Any:
    """Return a recorded value of a case in its original form, see `case_records`."""
    if isinstance(value, str):
        return float(value)
    if isinstance(value, dict) and value.keys() == {"shape"}:
        if math.prod(value["shape"]) != 0:
            raise ValueError(f"expected the shape of an empty array, found {value['shape']}")
        return np.empty(value["shape"])
    return np.array(value) if isinstance(value, list) else value
