"""The schema of Vega-Lite 5, as altair 5 ships it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import altair
from jsonschema import Draft7Validator

from evaluation.charts.chart import Chart, complete


@cache
def validator() -> Draft7Validator:
    """Return the validator of the schema."""
    path = Path(altair.__file__).parent / "vegalite/v5/schema/vega-lite-schema.json"
    return Draft7Validator(json.loads(path.read_bytes()))


def invalid(charts: Iterable[Chart]) -> list[str]:
    """Return the names of the charts that are no Vega-Lite 5 as they are written to a file."""
    return [
        chart.name for chart in charts if not validator().is_valid(json.loads(json.dumps(complete(chart))))
    ]
