"""The hidden labels of a phase: the 0/1 labels of its metrics and the labels in its case table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task, references_of
from evaluation.core.field import CaseColumns
from evaluation.core.metric import Metric
from evaluation.io.tables import is_number, parse_number
from evaluation.phase.phase import Phase

_MAX_CLASSES = 10


@dataclass(frozen=True)
class Labels:
    """A label: class by name of the case; empty where the case does not enter.

    ``names``: all columns that divide the cases equally, the label's own first.
    """

    names: tuple[str, ...]
    classes: Mapping[str, str]

    @property
    def name(self) -> str:
        """The label's own name."""
        return self.names[0]

    @property
    def counts(self) -> dict[str, int]:
        """How many cases are of each class."""
        return dict(Counter(self.classes.values()))

    @property
    def members(self) -> dict[str, set[str]]:
        """The names of the cases of each class."""
        members: dict[str, set[str]] = {}
        for name, value in self.classes.items():
            members.setdefault(value, set()).add(name)
        return members


def bits_of_counts(counts: Sequence[int]) -> float:
    """Return the logarithm of the number of ways to assign labels of known numbers to the cases."""
    ways = math.lgamma(sum(counts) + 1) - sum(math.lgamma(count + 1) for count in counts)
    return ways / math.log(2)


def label_column(metric: Metric) -> str | None:
    """Return the column of 0/1 labels that a metric compares with, None where there is none."""
    aggregate = metric.aggregate
    if aggregate.curve:
        return aggregate.curve.label
    return aggregate.decision.present if aggregate.decision else None


def hidden_labels(phase: Phase, tables: Mapping[str, CaseTable]) -> tuple[Labels, ...]:
    """Return the labels of a phase, one of each that divide the cases equally.

    Labels of metrics ("task.column") come first, then columns of the case table. Numbers with more than ten
    values are cut at their quartiles. Labels that are the same for all cases are left out.
    """
    found: dict[frozenset[frozenset[str]], Labels] = {}
    for labels in (*_of_metrics(phase.tasks, tables), *_of_case_table(phase)):
        if len(labels.counts) > 1:
            partition = _partition(labels)
            same = found.get(partition, replace(labels, names=()))
            found[partition] = replace(same, names=(*same.names, *labels.names))
    return tuple(found.values())


def label_columns(phase: Phase) -> tuple[str, ...]:
    """Return the columns of the case table that hold references."""
    locations = (field.reference.location for field in references_of(phase.tasks))
    return tuple(
        dict.fromkeys(
            column
            for location in locations
            if isinstance(location, CaseColumns)
            for column in location.columns
        )
    )


def _of_metrics(tasks: Sequence[Task], tables: Mapping[str, CaseTable]) -> Iterator[Labels]:
    for task in tasks:
        table = tables[task.name]
        columns = dict.fromkeys(column for metric in task.metrics if (column := label_column(metric)))
        for column in columns if len(table) else ():
            values = ("" if math.isnan(value) else f"{value:g}" for value in table[column].tolist())
            yield Labels((f"{task.name}.{column}",), dict(zip(table.names, values, strict=True)))


def _of_case_table(phase: Phase) -> Iterator[Labels]:
    names = [case.name for case in phase.cases.forms]
    for column in label_columns(phase):
        cells = [row.cells[column] for row in phase.rows]
        yield Labels((column,), dict(zip(names, _classes(cells), strict=True)))


def _classes(cells: Sequence[str]) -> Sequence[str]:
    filled = [cell for cell in cells if cell]
    if len(set(filled)) <= _MAX_CLASSES or not all(map(is_number, filled)):
        return cells
    edges = np.quantile([parse_number(cell) for cell in filled], (0.25, 0.5, 0.75))
    return [str(np.searchsorted(edges, parse_number(cell))) if cell else "" for cell in cells]


def _partition(labels: Labels) -> frozenset[frozenset[str]]:
    return frozenset(map(frozenset, labels.members.values()))
