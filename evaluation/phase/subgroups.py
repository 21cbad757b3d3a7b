"""Subgroups of cases by a column of the case table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import PhaseError, ReadError
from evaluation.io.tables import is_number, parse_number
from evaluation.phase.cases import FILE_NAME, Cases
from evaluation.phase.config_tables import Subgroup

_MAX_NUMBERS = 10


def subgroup_masks(subgroup: Subgroup, cases: Cases, names: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return a mask over ``names`` for each value (or bin) of a column, by its key in metrics.json.

    Cases with an empty cell are in no subgroup.
    """
    cells = {case.name: row.cells[subgroup.column] for case, row in zip(cases.forms, cases.rows, strict=True)}
    key_of_cell = {cell: key_of(label_of(subgroup, cell)) for cell in set(cells.values())}
    name_keys = np.array([key_of_cell[cells[name]] for name in names])
    return {str(key): name_keys == key for key in sorted(set(name_keys.tolist())) if key}


def group_labels(subgroup: Subgroup, cells: Sequence[str]) -> tuple[str, ...]:
    """Return the value or bin of each cell in words, such as "40 to 60"; empty for an empty cell."""
    label_of_cell = {cell: label_of(subgroup, cell) for cell in set(cells)}
    return tuple(label_of_cell[cell] for cell in cells)


def group_values(subgroup: Subgroup, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the values or bins that occur among labels: bins in their order, values sorted."""
    occurring = set(labels) - {""}
    if not subgroup.bins:
        return tuple(sorted(occurring))
    return tuple(label for label in _bin_labels(subgroup.bins) if label in occurring)


def subgroup_faults(subgroup: Subgroup, cases: Cases) -> list[str]:
    """Return the faults of a subgroup column.

    These are: text where bins need numbers, many numbers without bins, and values that share a key.
    """
    column = subgroup.column
    filled = [(row.line, cell) for row in cases.rows if (cell := row.cells[column])]
    faults = [] if key_of(column) else [f"{FILE_NAME}: {column!r} cannot name subgroups"]
    if subgroup.bins:
        return faults + [
            f"{FILE_NAME}, line {line}, {column}: expected a number for the bins, found {cell!r}"
            for line, cell in filled
            if not is_number(cell)
        ]
    values = sorted({cell for _, cell in filled})
    if len(values) > _MAX_NUMBERS and all(map(is_number, values)):
        return [*faults, f"{FILE_NAME}: {column}: {len(values)} different numbers need bins"]
    by_key: dict[str, list[str]] = defaultdict(list)
    for value in values:
        by_key[key_of(value)].append(value)
    for key, same in by_key.items():
        if not key:
            faults.append(f"{FILE_NAME}: {column}: no key can be made of {', '.join(map(repr, same))}")
        elif len(same) > 1:
            faults.append(f"{FILE_NAME}: {column}: {', '.join(map(repr, same))} have the same key {key!r}")
    return faults


def label_of(subgroup: Subgroup, cell: str) -> str:
    """Return the value or bin of a cell; an empty cell has none (""). Raises `PhaseError`."""
    if not cell or not subgroup.bins:
        return cell
    try:
        value = parse_number(cell)
    except ReadError as error:
        raise PhaseError(f"{FILE_NAME}, {subgroup.column}: {error}") from None
    return _bin_labels(subgroup.bins)[int(np.searchsorted(subgroup.bins, value, side="right"))]


def _bin_labels(bounds: Sequence[float]) -> tuple[str, ...]:
    """Return the bins between ascending bounds in words, the lowest first."""
    edges = [_edge(bound) for bound in bounds]
    between = (f"{low} to {high}" for low, high in pairwise(edges))
    return (f"below {edges[0]}", *between, f"{edges[-1]} and above")


def _edge(value: float) -> str:
    return f"minus {-value:g}" if value < 0 else f"{value:g}"


def key_of(text: str) -> str:
    """Return a text as a key that the platform can look up: words joined by underscores."""
    return "_".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
