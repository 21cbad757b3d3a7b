"""All kinds of fields and all metrics that can be declared."""

from __future__ import annotations

import importlib
import sys
from functools import reduce
from operator import or_
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, get_args, get_origin

from pydantic import Discriminator

from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.measure import MetricTable

Table = TypeVar("Table", FieldTable, MetricTable)


def _declarable(base: type[Table]) -> tuple[type[Table], ...]:
    """Return the classes below a base in the modules of this package that have a name to be declared by."""
    package = __name__.rpartition(".")[0]
    here = sys.modules[package].__path__
    names = sorted(f"{package}.{module.name}" for module in iter_modules(here))
    return tuple(
        table
        for name in names
        if not name.endswith((".catalogue", ".page", ".rules"))
        for table in vars(importlib.import_module(name)).values()
        if isinstance(table, type)
        and issubclass(table, base)
        and table.__module__ == name
        and _discriminator(table) is not None
    )


def _discriminator(table: type[FieldTable] | type[MetricTable]) -> str | None:
    """Return the name under which a kind or a metric is declared, None for a base of several."""
    key = table.model_fields.get("kind" if issubclass(table, FieldTable) else "metric")
    return None if key is None or get_origin(key.annotation) is not Literal else get_args(key.annotation)[0]


FIELDS: tuple[type[FieldTable], ...] = _declarable(FieldTable)
METRICS: tuple[type[MetricTable], ...] = _declarable(MetricTable)

if TYPE_CHECKING:
    AnyFieldTable = FieldTable
    AnyMetricTable = MetricTable
else:
    AnyFieldTable = Annotated[reduce(or_, FIELDS), Discriminator("kind")]
    AnyMetricTable = Annotated[reduce(or_, METRICS), Discriminator("metric")]


def name_of(table: type[FieldTable] | type[MetricTable]) -> str:
    """Return the name under which a kind or a metric is declared."""
    name = _discriminator(table)
    assert name is not None
    return name
