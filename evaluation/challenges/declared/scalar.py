"""The common keys of fields with one value a case: its column, its reference, stacks of cases."""

from __future__ import annotations

from abc import ABC

from pydantic import model_validator

from evaluation.challenges.declared.field_table import RowFieldTable
from evaluation.challenges.declared.table import key
from evaluation.core.challenge import FormColumn
from evaluation.core.field import CaseColumns, Field, Kind, Reference
from evaluation.core.form import STACK_INDEX, STACK_NAME
from evaluation.io.kinds.two_classes import TwoClasses


class ScalarFieldTable(RowFieldTable, ABC):
    """A field with one value for each case, or in a stack one for each image."""

    stacked: bool = key(
        "Algorithm phases: each job runs on a stack of images and writes a JSON list with a value for each. "
        "`cases.csv` then has the columns `stack_name` and `stack_index`.",
        False,
    )

    def scalar_field(
        self,
        name: str,
        kind: Kind,
        columns: tuple[str, ...],
        reference: Kind,
        reference_columns: tuple[str, ...],
    ) -> Field:
        """Return the field of that name: its kind and columns, submitted and in `cases.csv`."""
        return Field(
            name=name,
            title=self.title_of(name),
            kind=kind,
            archive=self.columns_of(columns),
            socket=self.socket_of(name, self.stacked),
            reference=Reference(reference, CaseColumns(reference_columns)),
        )

    def form_columns(self) -> tuple[FormColumn, ...]:
        """Return the columns of stacks."""
        names = (STACK_NAME, STACK_INDEX) if self.stacked else ()
        return tuple(FormColumn(name, algorithm_only=True) for name in names)


class ColumnFieldTable(ScalarFieldTable, ABC):
    """A field with one column in a submission's table, and one in the reference."""

    column: str | None = key("Column of the submission's table. Default: the field's name.", None)
    reference: str | None = key("Column of `cases.csv` with the reference. Default: the field's name.", None)

    def column_field(self, name: str, kind: Kind, reference: Kind) -> Field:
        """Return the named field, with the kinds of the submitted and the reference value."""
        return self.scalar_field(name, kind, (self.column or name,), reference, (self.reference or name,))


class TwoClassFieldTable(ColumnFieldTable, ABC):
    """A field with a reference that can be one of two classes."""

    positive: list[str] = key("Cells of the reference that mean that the condition is present.", [])
    negative: list[str] = key("Cells of the reference that mean that it is absent.", [])
    excluded: list[str] = key("Cells of the reference of cases that do not enter.", [])

    @property
    def two_classes(self) -> TwoClasses | None:
        """The kind of the reference, None if no classes are named."""
        if not self.positive:
            return None
        return TwoClasses(tuple(self.positive), tuple(self.negative), tuple(self.excluded))

    @model_validator(mode="after")
    def _both_classes(self) -> TwoClassFieldTable:
        if bool(self.positive) != bool(self.negative) or (self.excluded and not self.positive):
            raise ValueError("expected both positive and negative cells, or no cells")
        cells = [*self.positive, *self.negative, *self.excluded]
        if twice := sorted({cell for cell in cells if cells.count(cell) > 1}):
            raise ValueError(f"expected every cell in one list, {twice[0]!r} is in several")
        return self


def value_columns(field_name: str) -> tuple[str, str]:
    """Return the names of the columns of predicted and of true values."""
    return f"{field_name}_predicted", f"{field_name}_true"
