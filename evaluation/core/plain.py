"""Reads tables that are as declared, and writes them, with the standard library alone.

`evaluate` needs nothing else for a phase without a fault, and importing pydantic would add a third to its
start. What is read here, pydantic reads as the same; what is not read here, it reads, or says what is wrong.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from evaluation.core.keys import Check, KeyTable, Rule

Table = TypeVar("Table", bound=KeyTable)


class UnfitError(ValueError):
    """Raised for what is not as declared, or is declared by other means than those of `core.keys`."""


def read_plain(table: type[Table], content: object) -> Table:
    """Return the table of that type with the content of a file. Raises `UnfitError`."""
    if type(content) is not dict:
        raise UnfitError
    hints, required = _declared(table)  # type: ignore[arg-type]  # mypy takes no class as hashable
    if not required <= content.keys() <= hints.keys():
        raise UnfitError
    try:
        return table(**{name: _value(hints[name], value) for name, value in content.items()})
    except (ValueError, ArithmeticError, AssertionError) as error:
        raise UnfitError from error


@cache
def _declared(table: type[KeyTable]) -> tuple[Mapping[str, Any], frozenset[str]]:
    """Return the types of a table's keys, and which keys it must have."""
    members = [member for base in table.__mro__ for member in vars(base).values()]
    _require(all(type(member).__module__.partition(".")[0] != "pydantic" for member in members))
    fields, hints = dataclasses.fields(table), get_type_hints(table, include_extras=True)
    missing = dataclasses.MISSING
    required = frozenset(
        field.name for field in fields if field.default is missing and field.default_factory is missing
    )
    return {field.name: hints[field.name] for field in fields}, required


def _value(hint: Any, value: Any) -> Any:
    """Return a value as its type has it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _ruled(_value(arguments[0], value), arguments[1:])
    if origin in (Union, UnionType):
        return _one_of(arguments, value)
    if origin is Literal:
        _require(type(value) is str and value in arguments)
        return value
    if origin is list or (origin is tuple and arguments[1:] == (Ellipsis,)):
        _require(type(value) is list)
        return origin(_value(arguments[0], item) for item in value)
    if origin in (dict, Mapping):
        _require(type(value) is dict)
        return {_value(arguments[0], name): _value(arguments[1], item) for name, item in value.items()}
    return _single(hint, value)


def _single(hint: Any, value: Any) -> Any:
    if hint is Any:
        return value
    if isinstance(hint, type) and issubclass(hint, KeyTable):
        return read_plain(hint, value)
    if hint is float and type(value) is int:
        return float(value)
    if hint is Decimal:
        return _decimal(value)
    _require(hint in (bool, int, float, str, datetime, NoneType) and type(value) is hint)
    if hint is str:
        value.encode()  # raises ValueError for half of a pair of surrogates
    return value


def _decimal(value: Any) -> Decimal:
    _require(type(value) in (int, float, str))
    number = Decimal(str(value))
    _require(number.is_finite() and (type(value) is not str or str(number) == value))
    return number


def _ruled(value: Any, rules: tuple[Any, ...]) -> Any:
    for rule in rules:
        _require(isinstance(rule, Rule | Check))
        if isinstance(rule, Check):
            value = rule.function(value)
        else:
            _require(rule.holds(value))
    return value


def _one_of(hints: tuple[Any, ...], value: Any) -> Any:
    """Return a value as the only one of several types that fits it."""
    found = []
    for hint in hints:
        with suppress(ValueError, ArithmeticError):
            found.append(_value(hint, value))
    _require(len(found) == 1)
    return found[0]


def _require(fits: bool) -> None:
    if not fits:
        raise UnfitError


def plain_values(table: KeyTable) -> dict[str, Any]:
    """Return a table as values of JSON, from which it is read again. Raises `UnfitError` if it has others."""
    return {field.name: _written(getattr(table, field.name)) for field in dataclasses.fields(table)}


def _written(value: Any) -> Any:
    if isinstance(value, KeyTable):
        return plain_values(value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {name: _written(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_written(item) for item in value]
    _require(value is None or type(value) in (bool, int, float, str))
    return value
