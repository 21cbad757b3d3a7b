"""Fields that list any number of objects in each case: rows of a table, or the platform's JSON."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, model_validator
from pydantic import Field as Key

from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.table import key
from evaluation.core.field import CaseColumns, Field, Kind, Reference, TableColumns, TableRows
from evaluation.io.kinds.objects import Attributes
from evaluation.io.kinds.space import Space


def distinct(names: list[str]) -> list[str]:
    """Return names after checking that none is there twice. Raises ValueError."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"duplicate {', '.join(map(repr, twice))}")
    return names


ClassName = Annotated[str, Key(pattern=r"^[A-Za-z][A-Za-z0-9 _-]*$", max_length=40)]


class SpaceTable(FieldTable):
    """A field of positions, in millimetres or pixels."""

    table: str = key("The csv file of a submission that holds the field.", "predictions.csv")
    key_column: str = key("Column of that table with the case's name.", "case")
    columns: list[str] | None = key(
        "The other columns of that table, in the order of the kind. Default: the names of the kind.", None
    )
    axes: Literal[2, 3] = key("Number of coordinates.", 3)
    unit: Literal["mm", "pixels"] = key(
        "`mm`: world millimetres. `pixels`: from 0 to the image's width or height, where `cases.csv` has "
        "them.",
        "mm",
    )
    reference_columns: list[str] | None = key(
        "The columns of the reference, in the order of the kind. Default: the names of the kind.", None
    )

    @abstractmethod
    def submitted_kind(self) -> Kind:
        """Return the kind of the submitted value, which has columns."""

    def reference_kind(self) -> Kind:
        """Return the kind of the reference, which has columns; by default the same."""
        return self.submitted_kind()

    @property
    def space(self) -> Space:
        """The space of the positions."""
        return Space(self.axes, self.unit)

    @model_validator(mode="after")
    def _columns_fit(self) -> Self:
        for name, kind in (("columns", self.submitted_kind()), ("reference_columns", self.reference_kind())):
            chosen: list[str] | None = getattr(self, name)
            count, known = len(kind.columns), ", ".join(kind.columns)
            if chosen is not None and len(chosen) != count:
                raise ValueError(f"{name}: expected {count} columns ({known}), found {len(chosen)}")
        return self

    def submitted_columns(self) -> tuple[str, ...]:
        """Return the columns of the submission's table."""
        return tuple(self.columns or self.submitted_kind().columns)


class ListFieldTable(SpaceTable):
    """A field that lists objects; its reference is a table of the phase folder."""

    reference: str | None = key(
        "csv file in the phase folder with the reference, any number of rows for a case. Default: "
        "`<field>.csv`.",
        None,
    )
    reference_key_column: str | None = key(
        "Column of that file with the case's name. Default: that of `key_column`.", None
    )

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        kind = self.submitted_kind()
        return Field(
            name=name,
            title=self.title_of(name),
            kind=kind,
            archive=TableRows((self.table,), self.key_column, self.submitted_columns()),
            socket=self.socket_of(name),
            reference=Reference(self.reference_kind(), self.reference_rows(self.reference or f"{name}.csv")),
        )

    def reference_rows(self, file: str) -> TableRows:
        """Return the location of reference objects in a file of the phase folder."""
        columns = tuple(self.reference_columns or self.reference_kind().columns)
        return TableRows((file,), self.reference_key_column or self.key_column, columns)


class ObjectFieldTable(ListFieldTable):
    """A field that lists objects, with a class and a probability where they have them."""

    classes: Annotated[list[ClassName], AfterValidator(distinct)] = key(
        "The classes of the objects. Default: they have none.", []
    )
    probability: bool = key("Whether every predicted object has a probability from 0 to 1.", False)

    def attributes(self, submitted: bool) -> Attributes:
        """Return the attributes of objects; reference objects have no probability."""
        return Attributes(tuple(self.classes), with_probability=submitted and self.probability)

    def class_names(self) -> tuple[str, ...]:
        """Return the names of figures of single classes; none where there is only one."""
        names = [name.replace(" ", "_").replace("-", "_") for name in self.classes]
        return tuple(names) if len(names) > 1 else ()


def single_field(table: SpaceTable, name: str, reference_columns: tuple[str, ...]) -> Field:
    """Return a field with exactly one object in each case; the reference lies in columns of the cases."""
    return Field(
        name=name,
        title=table.title_of(name),
        kind=table.submitted_kind(),
        archive=TableColumns((table.table,), table.key_column, table.submitted_columns()),
        socket=table.socket_of(name),
        reference=Reference(table.reference_kind(), CaseColumns(reference_columns)),
    )
