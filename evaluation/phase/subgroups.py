"""Subgroups of cases by a column of the case table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

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
    edges = subgroup.bins
    position = int(np.searchsorted(edges, value, side="right"))
    if position == 0:
        return f"below {_edge(edges[0])}"
    if position == len(edges):
        return f"{_edge(edges[-1])} and above"
    return f"{_edge(edges[position - 1])} to {_edge(edges[position])}"


def _edge(value: float) -> str:
    return f"minus {-value:g}" if value < 0 else f"{value:g}"


def key_of(text: str) -> str:
    """Return a text as a key that the platform can look up: words joined by underscores."""
    return "_".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
