"""Fields of positions in images or in the world: one in each case, or a list."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal, Self

from pydantic import model_validator

from evaluation.challenges.declared import tables
from evaluation.core.field import Field, Kind, Reference, TableRows
from evaluation.core.keys import Key
from evaluation.io.kinds.objects import Space


def distinct(names: list[str]) -> list[str]:
    """Return names after checking that none is there twice. Raises ValueError."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"duplicate {', '.join(map(repr, twice))}")
    return names


def figure_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as they stand in figures of each; none where there is only one."""
    return tuple(map(tables.figure_key, names)) if len(names) > 1 else ()


class SpaceTable(tables.RowFieldTable):
    """A field of positions, in millimetres or pixels."""

    columns: list[str] | None = Key(
        default=None,
        description="The other columns of that table, in the order of the kind. Default: the names of the "
        "kind.",
    )
    dimensions: Literal[2, 3] = Key(default=3, description="Number of coordinates.")
    unit: Literal["mm", "pixels"] = Key(
        default="mm",
        description="`mm`: world millimetres. `pixels`: from 0 to the image's width or height, where "
        "`cases.csv` has them.",
    )
    reference_columns: list[str] | None = Key(
        default=None,
        description="The columns of the reference, in the order of the kind. Default: the names of the kind.",
    )

    @abstractmethod
    def value_kind(self, submitted: bool) -> Kind:
        """Return the kind of the submitted value, or of the reference; both have columns."""

    @property
    def space(self) -> Space:
        """The space of the positions."""
        return Space(self.dimensions, self.unit)

    @model_validator(mode="after")
    def _columns_fit(self) -> Self:
        for name, kind in (("columns", self.value_kind(True)), ("reference_columns", self.value_kind(False))):
            chosen: list[str] | None = getattr(self, name)
            count, known = len(kind.columns), ", ".join(kind.columns)
            if chosen is not None and len(chosen) != count:
                raise ValueError(f"{name}: expected {count} columns ({known}), found {len(chosen)}")
        return self


class SingleFieldTable(SpaceTable):
    """A field with exactly one object in each case; the reference lies in columns of the cases."""

    def field(self, name: str) -> Field:
        kind = self.value_kind(submitted=True)
        of_reference = self.reference_columns or [f"{name}_{column}" for column in kind.columns]
        columns, reference = self.columns or kind.columns, self.value_kind(submitted=False)
        return self.row_field(name, kind, columns, reference, of_reference)


class ListFieldTable(SpaceTable):
    """A field that lists objects; its reference is a table of the phase folder."""

    reference_table: str | None = Key(
        default=None,
        description="csv file in the phase folder with the reference, any number of rows for a case. "
        "Default: `<field>.csv`.",
    )

    def field(self, name: str) -> Field:
        kind = self.value_kind(submitted=True)
        archive = TableRows((self.table,), self.key_column, tuple(self.columns or kind.columns))
        return self.declared_field(
            name, kind, archive, self.reference_rows(self.reference_table or f"{name}.csv")
        )

    def reference_rows(self, file: str) -> Reference:
        """Return the reference objects in a file of the phase folder."""
        kind = self.value_kind(submitted=False)
        columns = tuple(self.reference_columns or kind.columns)
        return Reference(kind, TableRows((file,), self.key_column, columns))
