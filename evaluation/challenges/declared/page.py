"""The page `docs/catalogue.md`: every kind of field and every metric that can be declared."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from evaluation.challenges.declared.catalogue import FIELDS, METRICS, name_of
from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.measure import MetricTable
from evaluation.phase.config_page import keys_in_words
from evaluation.phase.config_schema import tidied

_INTRODUCTION = """\
# Kinds and metrics

A challenge of the usual kinds needs no Python: `phase.toml` declares what is submitted and how it is scored.

```toml
name = "screening"
title = "Screening for glaucoma"
submission = "archive"

[fields.likelihood]
kind = "number"
minimum = 0
maximum = 1
reference = "class"
positive = ["glaucoma"]
negative = ["healthy"]

[tasks.screening]
metrics = ["auc"]
```

A submission to this phase is a csv file with the columns `case` and `likelihood`; the reference is the column
`class` of `cases.csv`. `[fields.<name>]` declares a value that is submitted for each case, by its `kind`.
`[tasks.<name>]` is a part of the challenge that is scored by itself, with its `metrics`. A metric with
options is a table of its own, whose name is that of the figure:

```toml
[tasks.screening.metrics.early]
metric = "auc"
field = "likelihood"
title = "AUC of early glaucoma"
```

[Keys of phase.toml](phase.md) lists all other keys. A value of the wrong type, an unknown key and a metric
that does not fit its field are errors, all listed at once when the phase is sealed. This page is printed by:

```sh
python -m evaluation schema catalogue
```
"""
_INHERITED = {*FieldTable.model_fields, *MetricTable.model_fields} - {"kind", "metric"}


def catalogue_page() -> str:
    """Return the page in Markdown."""
    return "\n".join([_INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    yield "## Kinds of fields\n\nEvery kind has these keys:\n"
    yield from _keys(FieldTable, set(FieldTable.model_fields) - _INHERITED)
    for field in sorted(FIELDS, key=name_of):
        scored_by = sorted(name_of(metric) for metric in METRICS if issubclass(field, metric.kinds))
        links = ", ".join(f"[`{name}`](#metric-{name})" for name in scored_by)
        yield f"### Kind `{name_of(field)}`\n\n{_prose(field)}\n\nMetrics: {links}\n"
        yield from _keys(field, _INHERITED | {"kind"})
    yield "## Metrics\n\nEvery metric has these keys:\n"
    yield from _keys(MetricTable, set(MetricTable.model_fields) - _INHERITED)
    for metric in sorted(METRICS, key=name_of):
        kinds = ", ".join(f"`{name_of(kind)}`" for kind in metric.kinds)
        yield f"### Metric `{name_of(metric)}`\n\n{_prose(metric)}\n\nKinds: {kinds}\n"
        yield from _keys(metric, _INHERITED | {"metric"})


def _keys(table: type[FieldTable] | type[MetricTable], left_out: set[str]) -> Iterator[str]:
    schema: dict[str, Any] = tidied(table.model_json_schema())
    definitions = schema.pop("$defs", {})
    properties = {key: part for key, part in schema["properties"].items() if key not in left_out}
    yield from keys_in_words({**schema, "properties": properties}, definitions)


def _prose(table: type) -> str:
    """Return a docstring with each paragraph on one line."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(table.__doc__ or ""))
