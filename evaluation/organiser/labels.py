"""The hidden labels of a phase: the 0/1 labels of its metrics and the labels in its case table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import fields_of, references_of
from evaluation.core.field import CaseColumns
from evaluation.core.metric import Metric
from evaluation.io.tables import is_number, parse_number
from evaluation.phase.cases import subgroup_masks
from evaluation.phase.config import FILE_NAME, Subgroup
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


def hidden_labels(phase: Phase, tables: Mapping[str, CaseTable], parts: bool = False) -> tuple[Labels, ...]:
    """Return the labels of a phase, one of each that divide the cases equally.

    Labels of metrics ("task.column") come first, then columns of the case table. Numbers with more than ten
    values are cut at their quartiles. Labels that are the same for all cases are left out. With ``parts``
    come the cases that enter a metric, as those with a structure, unless they follow from another label, and
    columns that the challenge derives take the place of the ones that they are derived from.
    """
    found: dict[frozenset[frozenset[str]], Labels] = {}
    for labels in _parts(phase, tables) if parts else _all_labels(phase, tables, label_columns(phase)):
        if len(labels.counts) > 1:
            partition = frozenset(map(frozenset, labels.members.values()))
            same = found.get(partition, replace(labels, names=()))
            found[partition] = replace(same, names=(*same.names, *labels.names))
    return tuple(found.values())


def label_columns(phase: Phase) -> tuple[str, ...]:
    """Return the columns of the case table that hold references."""
    locations = (field.reference.location for field in references_of(phase.tasks))
    in_table = (location for location in locations if isinstance(location, CaseColumns))
    return tuple(dict.fromkeys(column for location in in_table for column in location.columns))


def _parts(phase: Phase, tables: Mapping[str, CaseTable]) -> Iterator[Labels]:
    names = [case.name for case in phase.cases.forms]
    derived = {
        name: column
        for name, column in phase.challenge.derived_columns(phase.options).items()
        if set(column.needs) <= set(phase.cases.columns)
    }
    replaced = {need for column in derived.values() for need in column.needs}
    found = [
        *_all_labels(phase, tables, [name for name in label_columns(phase) if name not in replaced]),
        *(
            Labels((name,), dict(zip(names, (column.cell(row.cells) for row in phase.rows), strict=True)))
            for name, column in derived.items()
        ),
    ]
    public = [
        Labels((field.name,), {case.name: str(field.cases(case)) for case in phase.cases.forms})
        for field in fields_of(phase.tasks)
    ]
    for task in phase.tasks:
        table = tables[task.name]
        for metric in task.metrics if len(table) else ():
            strata = metric.aggregate.strata(table).tolist()
            enters = {name: str(int(stratum >= 0)) for name, stratum in zip(table.names, strata, strict=True)}
            labels = Labels((f"cases of {task.name}.{metric.name}",), enters)
            if not any(_follows(labels, other) for other in (*found, *public)):
                found.append(labels)
    yield from found


def _follows(labels: Labels, other: Labels) -> bool:
    """Return whether each class of the other labels lies in one class of these."""
    pairs = {(other.classes.get(name), value) for name, value in labels.classes.items()}
    return len(pairs) == len({value for value, _ in pairs})


def _all_labels(
    phase: Phase, tables: Mapping[str, CaseTable], columns_of_table: Sequence[str]
) -> Iterator[Labels]:
    for task in phase.tasks:
        table = tables[task.name]
        columns = dict.fromkeys(column for metric in task.metrics if (column := label_column(metric)))
        for column in columns if len(table) else ():
            values = ("" if math.isnan(value) else f"{value:g}" for value in table[column].tolist())
            yield Labels((f"{task.name}.{column}",), dict(zip(table.names, values, strict=True)))
    names = [case.name for case in phase.cases.forms]
    for column in columns_of_table:
        cells = [row.cells[column] for row in phase.rows]
        yield Labels((column,), dict(zip(names, _classes(cells), strict=True)))


def _classes(cells: Sequence[str]) -> Sequence[str]:
    filled = [cell for cell in cells if cell]
    if len(set(filled)) <= _MAX_CLASSES or not all(map(is_number, filled)):
        return cells
    edges = np.quantile([parse_number(cell) for cell in filled], (0.25, 0.5, 0.75))
    return [str(np.searchsorted(edges, parse_number(cell))) if cell else "" for cell in cells]


_MUCH_OF_THE_LABEL = 0.5
_NEARLY_ALL = 0.9
_AT_MOST_HALF = 0.5


def faults_of_splits(phase: Phase, tables: Mapping[str, CaseTable]) -> list[str]:
    """Return a sentence for every public subgroup that reveals a label and is not published by name."""
    return [
        f"{FILE_NAME}: subgroups: results by {subgroup.column} would give labels away: {reason}; expected "
        f'audience = "organiser", or publish_label_subgroups = ["{subgroup.column}"]'
        for subgroup in phase.config.subgroups
        if subgroup.column not in phase.config.publish_label_subgroups
        and (reason := told_label(phase, subgroup, tables))
    ]


def told_label(phase: Phase, subgroup: Subgroup, tables: Mapping[str, CaseTable]) -> str:
    """Return the label that a public subgroup reveals, in words; empty if none.

    Two submissions reveal which cases belong to a subgroup: changing a case's result moves the mean only if
    the case is a member. Where membership determines the label, so does the mean.
    """
    if subgroup.audience != "public":
        return ""
    if subgroup.column in (*label_columns(phase), *phase.challenge.derived_columns(phase.options)):
        return "it is a label"
    names = [case.name for case in phase.cases.forms]
    groups = dict.fromkeys(names, "")
    for key, members in subgroup_masks(subgroup, phase.cases, names).items():
        groups |= {name: key for name, is_member in zip(names, members, strict=True) if is_member}
    for label in hidden_labels(phase, tables):
        share = determined_share(groups, label.classes)
        if share - share_by_chance(groups, label.classes) >= _MUCH_OF_THE_LABEL:
            return f"it tells {share:.0%} of {label.name}"
        if telling := next(telling_groups(groups, label.classes, phase.config.subgroup_minimum), ""):
            return f"nearly all cases of {telling!r} have the same {label.name}"
    return ""


def determined_share(groups: Mapping[str, str], labels: Mapping[str, str]) -> float:
    """Return how far the groups determine the labels, 0 … 1, on the cases that have both (Theil's U).

    The share of the labels' entropy that knowing the group removes; 0 where all labels are the same.
    """
    pairs = [(groups[name], value) for name, value in labels.items() if name in groups]
    whole = _entropy(Counter(value for _, value in pairs))
    if not whole:
        return 0.0
    together, alone = _entropy(Counter(pairs)), _entropy(Counter(group for group, _ in pairs))
    return 1 - (together - alone) / whole


def share_by_chance(groups: Mapping[str, str], labels: Mapping[str, str]) -> float:
    """Return the mean `determined_share` of independent groups and labels: first-order bias (Miller 1955)."""
    pairs = [(groups[name], value) for name, value in labels.items() if name in groups]
    whole = _entropy(Counter(value for _, value in pairs))
    freedom = (len({group for group, _ in pairs}) - 1) * (len({value for _, value in pairs}) - 1)
    return freedom / (2 * len(pairs) * math.log(2)) / whole if whole else 0.0


def telling_groups(groups: Mapping[str, str], labels: Mapping[str, str], smallest: int) -> Iterator[str]:
    """Yield the groups in which nearly all cases have a label that at most half of all cases have."""
    pairs = [(groups[name], value) for name, value in labels.items() if name in groups]
    share = Counter(value for _, value in pairs)
    for group in dict.fromkeys(group for group, _ in pairs):
        own = Counter(value for other, value in pairs if other == group)
        value, count = own.most_common(1)[0]
        size = own.total()
        if size >= smallest and count >= _NEARLY_ALL * size and share[value] <= _AT_MOST_HALF * len(pairs):
            yield group


def _entropy(counts: Counter[object]) -> float:
    total = counts.total()
    return -sum(count / total * math.log2(count / total) for count in counts.values())
