"""The columns of the case table as numbers or classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.form import STACK_INDEX, STACK_NAME, CaseForm
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.io.tables import is_number, parse_number
from evaluation.organiser.describe_quantities import Quantity
from evaluation.phase.cases import FILE_NAME
from evaluation.phase.phase import Phase

MOST_CLASSES = 10
"""Most different numbers of a column of classes; with more, it is one of numbers."""
MOST_VALUES = 30
"""Most different texts of a column that is listed; with more, it holds names."""
_NOT_DESCRIBED = ("name", "width", "height", CLUSTER_COLUMN, STACK_NAME, STACK_INDEX)
"""Columns that identify cases or are described otherwise: sizes as one, clusters by their number."""


@dataclass(frozen=True)
class Numbers:
    """A quantity over the cases of all phases.

    values: shape (values,), each finite. cases: shape (values,), the position of the case of each value.
    could_have: shape (cases,), whether a case has the field or column at all.
    """

    quantity: Quantity
    values: NDArray[np.float64]
    cases: NDArray[np.int64]
    could_have: NDArray[np.bool_]


@dataclass(frozen=True)
class Classes:
    """A column of classes over the cases of all phases: the class of every case, empty where it has none."""

    quantity: Quantity
    cells: tuple[str, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The classes, the most frequent first; none for a text that differs in most cases."""
        counts = Counter(filter(None, self.cells))
        if len(counts) > MOST_VALUES:
            return ()
        return tuple(sorted(counts, key=lambda value: (-counts[value], value)))


def columns_of(phases: Sequence[Phase]) -> dict[str, tuple[str, ...]]:
    """Return the columns of all case tables; a phase may lack some."""
    names = dict.fromkeys(column for phase in phases for column in phase.cases.columns)
    return {name: tuple(row.cells.get(name, "") for phase in phases for row in phase.rows) for name in names}


def of_case_table(
    columns: Mapping[str, Sequence[str]], forms: Sequence[CaseForm], codes: Collection[str]
) -> tuple[list[Numbers], list[Classes]]:
    """Return the columns of the case table and the sizes of the images; ``codes`` are never numbers."""
    numbers, classes = [], []
    sizes = [f"{form.width} × {form.height}" if form.width else "" for form in forms]
    described: dict[str, tuple[Sequence[str], str]] = {"size of the image": (sizes, "pixels")}
    if len(set(sizes)) > MOST_CLASSES:
        described = {
            f"{name} of the image": ([str(getattr(form, name) or "") for form in forms], "pixels")
            for name in ("width", "height")
        }
    described |= {name: (cells, "") for name, cells in columns.items() if name not in _NOT_DESCRIBED}
    for name, (cells, unit) in described.items():
        filled = [position for position, cell in enumerate(cells) if cell]
        quantity = Quantity(name, unit, FILE_NAME)
        if not filled:
            continue
        if are_numbers(cells) and name not in codes:
            values = np.array([parse_number(cells[position]) for position in filled])
            every = np.ones(len(forms), dtype=np.bool_)
            numbers.append(Numbers(quantity, values, np.array(filled, dtype=np.int64), every))
        else:
            classes.append(Classes(quantity, tuple(cells)))
    return numbers, classes


def are_numbers(cells: Sequence[str]) -> bool:
    """Return whether cells are described as numbers: all are, and there are more than a class would have.

    Digits that start with a zero, such as 0110, are a code.
    """
    filled = {cell for cell in cells if cell}
    is_code = any(cell.isdigit() and cell[0] == "0" and len(cell) > 1 for cell in filled)
    return len(filled) > MOST_CLASSES and not is_code and all(map(is_number, filled))


def unlisted(classes: Sequence[Classes]) -> Iterator[str]:
    """Yield a notice on every column of classes with too many values to list."""
    for column in classes:
        if not column.values:
            different = len({cell for cell in column.cells if cell})
            yield f"{column.quantity.name}: {different} different texts, which are not listed"
