"""The keys of a table in a file: `phase.toml`, the options of a challenge, the tables that declare one.

A table is a model of pydantic. Each of its keys is declared with ``Key``, pydantic's `Field` under another
name, since a `Field` is here what participants submit:

    class Size(KeyTable):
        diameter: float = Key(gt=0, description="Diameter in mm.")
        unit: Literal["mm", "pixels"] = Key(default="mm", description="Unit of the diameter.")

`phase.validation` reads a table and says what is wrong with one.
"""

from decimal import Decimal
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Key

__all__ = ["IN_FORM", "Key", "KeyTable", "Listed", "Weight"]

Item = TypeVar("Item")

Listed = Annotated[tuple[Item, ...], Key(strict=False)]
"""A tuple of any length, a list in a file."""

Weight = Annotated[Decimal, Key(ge=0, strict=False)]
"""An exact decimal of at least 0, a number or a text in a file."""

IN_FORM = "in_form"
"""Marks an option of a challenge on which the form of a submission depends: ``Annotated[str, IN_FORM]``."""


class KeyTable(BaseModel):
    """A table that rejects unknown keys and does not convert values from other types.

    A subclass with ``strict=False`` converts them: the text "0.5" is then a number. Its reader is built when
    a table is read for the first time, since most processes read few of the tables that they import.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)
