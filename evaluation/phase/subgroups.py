"""Subgroups of cases by a column of the case table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.model.fault import PhaseError
from evaluation.phase.cases import FILE_NAME, Cases
from evaluation.phase.config import Subgroup


def subgroup_masks(subgroup: Subgroup, cases: Cases, names: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Return for every value (or bin) of a column, as a key of metrics.json, which names belong to it.

    Cases with an empty cell are in no subgroup. Raises `PhaseError` for a bin of what is not a number.
    """
    cells = {
        case.name: _label(subgroup, row.cells[subgroup.column], row.line)
        for case, row in zip(cases.forms, cases.rows, strict=True)
    }
    labels = np.array([cells[name] for name in names])
    return {str(label): labels == label for label in sorted(set(labels.tolist())) if label}


def _label(subgroup: Subgroup, cell: str, line: int) -> str:
    if not cell or not subgroup.bins:
        return _key(cell)
    try:
        value = float(cell)
    except ValueError:
        where = f"{FILE_NAME}, line {line}, {subgroup.column}"
        raise PhaseError(f"{where}: expected a number for the bins, found {cell!r}") from None
    edges = sorted(subgroup.bins)
    position = int(np.searchsorted(edges, value, side="right"))
    if position == 0:
        return _key(f"below {edges[0]:g}")
    if position == len(edges):
        return _key(f"{edges[-1]:g} and above")
    return _key(f"{edges[position - 1]:g} to {edges[position]:g}")


def _key(text: str) -> str:
    """Return a text as a key that the platform can look up: words joined by underscores."""
    return "_".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())
