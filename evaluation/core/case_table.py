"""Per-case columns and the weights under which they are aggregated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Floats
from evaluation.stats.bootstrap import UnitWeights

Derived = TypeVar("Derived")
Row = Mapping[str, Any]


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

    names, rows: of the cases. A column of numbers is an array of shape (cases,); NaN marks a case that does
    not enter. A column of other entries, such as the matches of one image, stays a list (see `objects`).
    Expensive intermediate results, such as a sorted ROC table, are computed once (see `derive`).
    """

    def __init__(self, names: Sequence[str], rows: Sequence[Row]) -> None:
        self.names = tuple(names)
        self.rows = tuple(rows)
        super().__init__()
        self._columns: dict[str, Floats] = {}

    def __len__(self) -> int:
        return len(self.names)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in the order in which the task gives them."""
        return tuple(self.rows[0]) if self.rows else ()

    def __getitem__(self, column: str) -> Floats:
        if column not in self._columns:
            cells = map(itemgetter(column), self.rows)
            self._columns[column] = np.fromiter(cells, np.float64, len(self.rows))
        return self._columns[column]

    def objects(self, column: str) -> list[Any]:
        """Return a column whose entries are not plain numbers."""
        return [row[column] for row in self.rows]

    def take(self, positions: NDArray[np.intp]) -> "CaseTable":
        """Return the table of some of the cases."""
        chosen = positions.tolist()
        return CaseTable([self.names[one] for one in chosen], [self.rows[one] for one in chosen])


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
