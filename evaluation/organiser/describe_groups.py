"""Groups of cases within which data are described and between which they are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.core.challenge import references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import CaseColumns
from evaluation.io.tables import is_number, parse_number
from evaluation.organiser.describe_columns import MOST_CLASSES, are_numbers
from evaluation.organiser.describe_data import Data
from evaluation.phase.cases import FILE_NAME
from evaluation.phase.config_tables import Subgroup
from evaluation.phase.phase import Phase
from evaluation.phase.subgroups import label_of

PHASE, SET = "phase", "set"


@dataclass(frozen=True)
class Grouping:
    """A division of the cases: the group of every case, "" for none, and the groups in order."""

    name: str
    of_case: tuple[str, ...]
    groups: tuple[str, ...]


def groupings_of(phases: Sequence[Phase], data: Data, by: Sequence[str]) -> list[Grouping]:
    """Return the groupings that data are described by: at least two groups each, at most ten.

    These are the phases, where there are several; the column ``set``; the subgroups of `phase.toml`; the
    columns that hold a class as reference; and the columns in ``by``.
    Raises `PhaseError` for an unknown column in ``by``, and for one of more than ten values.
    """
    problems = _problems(phases, data, by)
    if problems:
        raise PhaseError(*problems)
    bins = {group.column: group for phase in phases for group in phase.config.subgroups}
    columns = dict.fromkeys(
        (
            *((SET,) if SET in data.columns else ()),
            *(column for column in bins if column in data.columns),
            *_classes_of_references(phases),
            *by,
        )
    )
    found = [Grouping(PHASE, data.phases, tuple(dict.fromkeys(data.phases)))]
    found += [_grouping(data, bins.get(column, Subgroup(column=column))) for column in columns]
    return [one for one in found if 2 <= len(one.groups) <= MOST_CLASSES]


def _grouping(data: Data, subgroup: Subgroup) -> Grouping:
    cells = data.columns.get(subgroup.column, ())
    labels = {cell: label_of(subgroup, cell) for cell in dict.fromkeys(cells)}
    ordered = sorted(filter(None, labels), key=_order)
    return Grouping(
        subgroup.column,
        tuple(labels[cell] for cell in cells),
        tuple(dict.fromkeys(labels[cell] for cell in ordered)),
    )


def _order(cell: str) -> tuple[bool, float, str]:
    """Return a key that sorts numbers by size, then texts by letters."""
    return (False, parse_number(cell), "") if is_number(cell) else (True, 0.0, cell)


def _classes_of_references(phases: Sequence[Phase]) -> Iterator[str]:
    for phase in phases:
        for field in references_of(phase.tasks):
            location = field.reference.location
            if isinstance(location, CaseColumns) and len(location.columns) == 1:
                yield location.columns[0]


def _problems(phases: Sequence[Phase], data: Data, by: Sequence[str]) -> list[str]:
    problems = []
    binned = {group.column for phase in phases for group in phase.config.subgroups if group.bins}
    for column in by:
        if column not in data.columns:
            known = ", ".join(data.columns)
            problems.append(f"--by {column}: is not a column of {FILE_NAME}; its columns are {known}")
            continue
        different = len({cell for cell in data.columns[column] if cell})
        if column not in binned and different > MOST_CLASSES:
            remedy = "; bins of [[subgroups]] in phase.toml group numbers"
            problems.append(
                f"--by {column}: expected at most {MOST_CLASSES} different values, found {different}"
                + (remedy if are_numbers(data.columns[column]) else "")
            )
    return problems
