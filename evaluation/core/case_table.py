"""Per-case columns and the weights under which they are aggregated.

Rows from workers share columns: a cell is looked up when it is asked for, and a whole column without its
rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Floats
from evaluation.stats.bootstrap import UnitWeights


@dataclass(frozen=True, slots=True)
class Joined:
    """Arrays that are equal but for their length, one behind the other."""

    values: NDArray[Any]
    lengths: list[int]


Packed = Floats | Joined | list[Any]


def packed_column(column: list[Any]) -> Packed:
    """Return a column as one array where all entries are floats, or arrays of one form."""
    kinds = set(map(type, column))
    if kinds == {float}:
        return np.array(column)
    if kinds == {np.ndarray}:
        forms = {(array.dtype, array.shape[1:]) for array in column if array.ndim}
        if len(forms) == 1 and all(array.ndim for array in column) and not column[0].dtype.hasobject:
            return Joined(np.concatenate(column), list(map(len, column)))
    return column


class RowColumns:
    """The packed columns of so many rows, by name."""

    def __init__(self, columns: Mapping[str, Packed], count: int) -> None:
        self.columns = columns
        self.count = count
        self._entries: dict[str, list[Any]] = {}

    def rows(self) -> "list[SharedRow]":
        """Return the rows."""
        return [SharedRow(self, position) for position in range(self.count)]

    def entries(self, name: str) -> list[Any]:
        """Return the entries of a column, as they were before it was packed. Raises `KeyError`."""
        if name not in self._entries:
            self._entries[name] = _unpacked(self.columns[name])
        return self._entries[name]

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers as an array. Raises `KeyError`."""
        column = self.columns[name]
        return column if isinstance(column, np.ndarray) else np.array(self.entries(name), np.float64)


class SharedRow(Mapping[str, Any]):
    """One of the rows of columns."""

    __slots__ = ("of", "position")

    def __init__(self, of: RowColumns, position: int) -> None:
        self.of = of
        self.position = position

    def __getitem__(self, name: str) -> Any:
        return self.of.entries(name)[self.position]

    def __contains__(self, name: object) -> bool:
        return name in self.of.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.of.columns)

    def __len__(self) -> int:
        return len(self.of.columns)

    def __repr__(self) -> str:
        return repr(dict(self))


class Places:
    """Where in which columns some rows lie, to take a column of all of them at once."""

    def __init__(self, rows: Sequence[SharedRow]) -> None:
        sources = {id(row.of): row.of for row in rows}
        starts, start = {}, 0
        for key, source in sources.items():
            starts[key] = start
            start += source.count
        self._sources = tuple(sources.values())
        self._positions = np.array([starts[id(row.of)] + row.position for row in rows], np.intp)

    def numbers(self, name: str) -> Floats:
        """Return a column of numbers, in the order of the rows. Raises `KeyError`."""
        if not self._sources:
            return np.empty(0)
        column: Floats = np.concatenate([source.numbers(name) for source in self._sources])
        return column[self._positions]

    def entries(self, name: str) -> list[Any]:
        """Return a column, in the order of the rows. Raises `KeyError`."""
        entries = list(chain.from_iterable(source.entries(name) for source in self._sources))
        return [entries[position] for position in self._positions.tolist()]


def places_of(rows: Sequence[Mapping[str, Any]]) -> Places | None:
    """Return where rows lie, None unless all of them share columns."""
    shared = [row for row in rows if type(row) is SharedRow]
    return Places(shared) if len(shared) == len(rows) else None


def _unpacked(packed: Packed) -> list[Any]:
    if isinstance(packed, np.ndarray):
        entries: list[Any] = packed.tolist()
        return entries
    if isinstance(packed, Joined):
        ends, values = np.cumsum(packed.lengths).tolist(), packed.values
        return [values[end - length : end] for end, length in zip(ends, packed.lengths, strict=True)]
    return packed


Derived = TypeVar("Derived")
Row = Mapping[str, Any]


# --- Tables of rows ---


class Deriving:
    """Values from which results are computed that several metrics share."""

    def __init__(self) -> None:
        self._derived: dict[object, Any] = {}

    def derive(self, key: object, function: Callable[[Self], Derived]) -> Derived:
        """Return ``function(self)``, computed at the first call with this key and kept."""
        if key not in self._derived:
            self._derived[key] = function(self)
        derived: Derived = self._derived[key]
        return derived


class CaseTable(Deriving):
    """The columns of one task over the cases of a phase, in the order of the cases' names.

    A column of numbers is an array of shape (cases,); NaN marks a case that does not enter. A column of
    other entries, such as the matches of one image, stays a list (see `objects`). Expensive intermediate
    results, such as a sorted ROC table, are computed once (see `derive`).
    """

    def __init__(self, names: Sequence[str], rows: Sequence[Row]) -> None:
        self._names = tuple(names)
        self._rows = tuple(rows)
        super().__init__()
        self._columns: dict[str, Floats] = {}

    def __len__(self) -> int:
        return len(self._names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the cases."""
        return self._names

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the cases."""
        return self._rows

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in the order in which the task gives them."""
        return tuple(self.rows[0]) if self.rows else ()

    def __getitem__(self, column: str) -> Floats:
        if column not in self._columns:
            if self._places is not None:
                self._columns[column] = self._places.numbers(column)
            else:
                cells = map(itemgetter(column), self.rows)
                self._columns[column] = np.fromiter(cells, np.float64, len(self.rows))
        return self._columns[column]

    @cached_property
    def _places(self) -> Places | None:
        return places_of(self.rows)

    def objects(self, column: str) -> list[Any]:
        """Return a column whose entries are not plain numbers."""
        return [row[column] for row in self.rows] if self._places is None else self._places.entries(column)

    def take(self, positions: NDArray[np.intp]) -> "CaseTable":
        """Return the table of some of the cases."""
        return _PartOfTable(self, positions)


class _PartOfTable(CaseTable):
    """Some cases of a table; each column is taken when it is first used."""

    def __init__(self, whole: CaseTable, positions: NDArray[np.intp]) -> None:
        super().__init__((), ())
        self._whole, self._positions = whole, positions

    def __len__(self) -> int:
        return len(self._positions)

    @cached_property
    def names(self) -> tuple[str, ...]:
        names = self._whole.names
        return tuple(names[position] for position in self._positions.tolist())

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        rows = self._whole.rows
        return tuple(rows[position] for position in self._positions.tolist())

    def __getitem__(self, column: str) -> Floats:
        if column not in self._columns:
            self._columns[column] = self._whole[column][self._positions]
        return self._columns[column]


@dataclass(frozen=True)
class ScoredCases:
    """The cases of a phase with all their tables, for analyses of several tasks and columns.

    ``cells``: the columns of `cases.csv`, in the order of ``names``. ``groups``: the subgroups of the phase
    by column and value or bin, as masks over ``names``. ``tables``: the case tables by task.
    """

    names: tuple[str, ...]
    cells: Mapping[str, Sequence[str]]
    groups: Mapping[str, Mapping[str, NDArray[np.bool_]]]
    tables: Mapping[str, CaseTable]


class WeightedCases(Deriving):
    """A case table under a matrix of case weights of shape (resamples, cases).

    Ones give the value itself, multinomial counts a bootstrap, 0/1 a subgroup or leave-one-out: every
    aggregate is a function of table and weights that returns one value per row of weights. Weights may be
    given by unit where cases are drawn together.
    """

    def __init__(self, table: CaseTable, weights: NDArray[Any] | UnitWeights) -> None:
        if len(weights.shape) != 2 or weights.shape[1] != len(table):
            raise ValueError(f"weights must have shape (resamples, {len(table)}) (got {weights.shape})")
        self.table = table
        super().__init__()
        self.given = weights

    @property
    def weights(self) -> NDArray[Any]:
        """The weights of the cases."""
        return self.given.of_cases if isinstance(self.given, UnitWeights) else self.given
