"""Fields of one value a case: what they share, and numbers."""

import math
from abc import ABC
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import FiniteFloat, model_validator

from evaluation.challenges.declared.tables import FieldTable, RowFieldTable
from evaluation.core.field import Field, Kind
from evaluation.core.keys import Key
from evaluation.io.kinds.number import (
    ConditionScore,
    Number,
    TwoClasses,
)


class ColumnFieldTable(RowFieldTable, ABC):
    """A field with one column in a submission's table, and one in the reference."""

    column: str | None = Key(
        default=None, description="Column of the submission's table. Default: the field's name."
    )
    reference_column: str | None = Key(
        default=None, description="Column of `cases.csv` with the reference. Default: the field's name."
    )

    def column_field(self, name: str, kind: Kind, reference: Kind) -> Field:
        """Return the named field, with the kinds of the submitted and the reference value."""
        return self.row_field(name, kind, [self.column or name], reference, [self.reference_column or name])


class TwoClassFieldTable(ColumnFieldTable, ABC):
    """A field with a reference that can be one of two classes."""

    positive: list[str] = Key(
        default=[], description="Cells of the reference that mean that the condition is present."
    )
    negative: list[str] = Key(default=[], description="Cells of the reference that mean that it is absent.")
    excluded: list[str] = Key(
        default=[],
        description="Cells of the reference of cases that do not enter; of a true number for example "
        '`["0"]`, where there is nothing to measure (CROWN), and always the empty cell.',
    )
    may_exclude_numbers: ClassVar[bool] = False

    @property
    def two_classes(self) -> TwoClasses | None:
        """The kind of the reference, None if no classes are named."""
        if not self.positive:
            return None
        return TwoClasses(tuple(self.positive), tuple(self.negative), tuple(self.excluded))

    def cells_of_classes(self) -> tuple[Sequence[str], Sequence[str]]:
        return self.negative, self.positive

    @model_validator(mode="after")
    def _both_classes(self) -> "TwoClassFieldTable":
        alone = self.excluded and not (self.positive or self.may_exclude_numbers)
        if bool(self.positive) != bool(self.negative) or alone:
            raise ValueError("expected both positive and negative cells, or no cells")
        cells = [*self.positive, *self.negative, *self.excluded]
        if twice := sorted({cell for cell in cells if cells.count(cell) > 1}):
            raise ValueError(f"expected every cell in one list, {twice[0]!r} is in several")
        return self


def value_columns(field_name: str) -> tuple[str, str]:
    """Return the names of the columns of predicted and of true values."""
    return f"{field_name}_predicted", f"{field_name}_true"


class NumberField(TwoClassFieldTable):
    """A finite number: a likelihood, a score or a measurement.

    In an archive it is a column of a table, in an algorithm phase a JSON number (Float or Integer). The
    reference is a column of `cases.csv`: the true number, or with `positive` and `negative` the class of the
    case.
    """

    kind: Literal["number"]
    minimum: FiniteFloat | None = Key(default=None, description="Smallest valid number. Default: none.")
    maximum: FiniteFloat | None = Key(default=None, description="Largest valid number. Default: none.")
    unit: str = Key(default="", description="Unit of the number.")
    may_exclude_numbers: ClassVar[bool] = True

    @model_validator(mode="after")
    def _some_range(self) -> "NumberField":
        if self.minimum is not None and self.maximum is not None and self.minimum >= self.maximum:
            raise ValueError(f"expected minimum < maximum, found {self.minimum:g} and {self.maximum:g}")
        return self

    @property
    def range(self) -> float:
        """The difference of the bounds; infinite if one is missing."""
        if self.minimum is None or self.maximum is None:
            return math.inf
        return self.maximum - self.minimum

    def field(self, name: str) -> Field:
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        classes = self.two_classes
        if classes is not None:
            return self.column_field(name, ConditionScore(low, high, self.unit), classes)
        reference = Number(low, high, self.unit, tuple(dict.fromkeys(("", *self.excluded))))
        return self.column_field(name, replace(reference, excluded=()), reference)


def check_probability(table: FieldTable) -> None:
    """Raise ValueError unless a field is a probability of one of two classes."""
    check_classes(table)
    if not isinstance(table, NumberField) or (table.minimum, table.maximum) != (0, 1):
        raise ValueError("expected a probability: a field with minimum = 0 and maximum = 1")


def check_classes(table: FieldTable) -> None:
    """Raise ValueError for a field with a number as reference."""
    if isinstance(table, NumberField) and table.two_classes is None:
        raise ValueError("expected a field whose reference is a class: positive and negative cells")
