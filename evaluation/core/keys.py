"""The keys of a table in a file, declared as the fields of a class, each with its description and its limits.

What is declared is read in two ways that agree. `core.plain` reads a table that is as declared, which takes
no library. Everything else, that is messages about tables that are not, schemas and pages, is made by
pydantic, which understands the same declarations and is imported only for that (`phase.validation`).
"""

from __future__ import annotations

import copy
import dataclasses
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar, dataclass_transform

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)  # parts of types must be hashable
class Rule:
    """What a value must obey beside its type: ``entries`` say it to pydantic, ``holds`` tests a value."""

    entries: Mapping[str, Any]
    holds: Callable[[Any], bool] = lambda value: True

    def __get_pydantic_core_schema__(self, source: Any, inner: Callable[[Any], Any]) -> Any:
        """Return the schema with which pydantic checks a value."""
        return {**inner(source), **self.entries}


@dataclass(frozen=True, eq=False)
class Check:
    """A function that returns a value, perhaps changed, or raises ValueError if there is a fault in it."""

    function: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, inner: Callable[[Any], Any]) -> Any:
        """Return the schema with which pydantic checks a value."""
        function = {"type": "no-info", "function": self.function}
        return {"type": "function-after", "function": function, "schema": inner(source)}


CONVERTED = Rule({"strict": False})
"""A value that files write as another type: a tuple as a list, a decimal as a number."""

Listed = Annotated[tuple[Item, ...], CONVERTED]
"""A tuple of any length, a list in a file."""

FINITE = Rule({"allow_inf_nan": False}, math.isfinite)
"""A number that is finite."""

WITH_OFFSET = Rule({"tz_constraint": "aware"}, lambda value: value.utcoffset() is not None)
"""A date and time with its offset."""


def numbers(at_least: float | None = None, above: float | None = None, at_most: float | None = None) -> Rule:
    """Return the rule of numbers within bounds."""
    bounds = {"ge": at_least, "gt": above, "le": at_most}
    return Rule(
        {key: bound for key, bound in bounds.items() if bound is not None},
        lambda value: (
            (at_least is None or value >= at_least)
            and (above is None or value > above)
            and (at_most is None or value <= at_most)
        ),
    )


def texts(pattern: str, longest: int | None = None) -> Rule:
    """Return the rule of texts that match a pattern from their first to their last character."""
    length = {} if longest is None else {"max_length": longest}
    return Rule(
        {"pattern": f"^{pattern}$", **length},
        lambda value: (longest is None or len(value) <= longest) and re.fullmatch(pattern, value) is not None,
    )


def key(description: str) -> Any:
    """Declare a key that every table must have, with the description that the documentation shows."""
    return dataclasses.field(metadata={"description": description})


def option(default: Any, description: str, in_form: bool = False) -> Any:
    """Declare a key that a table may leave out, with the description that the documentation shows.

    ``in_form``: whether the form of a submission depends on it, if it is an option of a challenge.
    """
    metadata: dict[str, Any] = {"description": description, "in_form": in_form}
    if type(default).__hash__ is None:  # it could be changed: each table has one of its own
        metadata["json_schema_extra"] = {"default": default}
        return dataclasses.field(default_factory=lambda: copy.copy(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(key,))
@dataclass(frozen=True, kw_only=True)
class KeyTable:
    """A table whose unknown keys are errors, and whose values are not converted from other types.

    Each subclass is made a frozen dataclass. Faults that several keys have together are raised as ValueError
    by its ``__post_init__``.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "strict": True}

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, inner: Any) -> Any:
        """Return the schema with which pydantic checks a table, which is given as a dictionary."""
        schema = inner(source)
        inner.resolve_ref_schema(schema)["strict"] = False
        return schema
