"""The outcomes of a batch on their way from a scorer, which is trusted, to the main process.

The rows of a task are packed column by column: an array where all entries are floats, or arrays of one form.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.outcome import Outcome, Scored

_Layout = tuple[tuple[str, tuple[str, ...]], ...]
"""The tasks of a case, each with the names of its columns."""


def packed_outcomes(outcomes: Sequence[Outcome]) -> bytes:
    """Return the bytes of which `unpacked_outcomes` makes the outcomes again. Raises what pickling raises."""
    numbers_of: dict[_Layout, list[int]] = {}
    others: dict[int, Outcome] = {}
    about: dict[int, tuple[tuple[str, ...], str | None]] = {}
    for number, outcome in enumerate(outcomes):
        if not isinstance(outcome, Scored):
            others[number] = outcome
            continue
        layout = tuple((task, tuple(row)) for task, row in outcome.rows.items())
        numbers_of.setdefault(layout, []).append(number)
        if outcome.worst or outcome.failure is not None:
            about[number] = outcome.worst, outcome.failure
    tables = []
    for layout, numbers in numbers_of.items():
        rows = [outcomes[number].rows for number in numbers]  # type: ignore[union-attr]
        columns = [
            [_packed([of_case[task][name] for of_case in rows]) for name in names] for task, names in layout
        ]
        tables.append((layout, numbers, columns))
    return pickle.dumps((tables, about, others))


def unpacked_outcomes(data: bytes | memoryview) -> list[Outcome]:
    """Return the outcomes. Raises what unpickling raises."""
    tables, about, others = pickle.loads(data)  # noqa: S301 - of a scorer
    outcomes: dict[int, Outcome] = dict(others)
    for layout, numbers, columns in tables:
        tasks = [task for task, _ in layout]
        rows = [
            _rows(names, of_task, len(numbers)) for (_, names), of_task in zip(layout, columns, strict=True)
        ]
        for number, *of_case in zip(numbers, *rows, strict=True):
            scored = dict(zip(tasks, of_case, strict=True))
            outcomes[number] = Scored(scored, *about[number]) if number in about else Scored(scored)
    return [outcomes[number] for number in range(len(outcomes))]


@dataclass(frozen=True, slots=True)
class _Joined:
    """Arrays that are equal but for their length, one behind the other."""

    values: NDArray[Any]
    lengths: list[int]


def _packed(column: list[Any]) -> Any:
    kinds = set(map(type, column))
    if kinds == {float}:
        return np.array(column)
    if kinds == {np.ndarray}:
        forms = {(array.dtype, array.shape[1:]) for array in column if array.ndim}
        if len(forms) == 1 and all(array.ndim for array in column) and not column[0].dtype.hasobject:
            return _Joined(np.concatenate(column), list(map(len, column)))
    return column


def _unpacked(packed: Any) -> Sequence[Any]:
    if isinstance(packed, np.ndarray):
        entries: list[Any] = packed.tolist()
        return entries
    if isinstance(packed, _Joined):
        ends, values = np.cumsum(packed.lengths).tolist(), packed.values
        return [values[end - length : end] for end, length in zip(ends, packed.lengths, strict=True)]
    column: list[Any] = packed
    return column


def _rows(names: Sequence[str], columns: Sequence[Any], count: int) -> list[Mapping[str, Any]]:
    if not names:
        return [{} for _ in range(count)]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*map(_unpacked, columns), strict=True)]
