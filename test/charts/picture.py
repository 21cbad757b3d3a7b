"""What a reader sees in a figure: marks at values of axes, read from its Vega-Lite specification.

It reads what Vega-Lite would draw: encodings of a layer and those that it inherits, the order of names, the
direction of axes, colours of names, and rows that are filtered out.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from evaluation.charts.chart import Chart, layered

_Test = TypeVar("_Test", bound=Callable[..., Any])
TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Layer:
    """The marks of a layer: what they look like, their encodings, and their rows."""

    mark: Mapping[str, Any]
    encoding: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]
    table: str

    def channel(self, name: str, row: Mapping[str, Any]) -> Any:
        """Return the value of a row on a channel, a colour or shape where names have some."""
        given = self.encoding[name]
        if "field" not in given:
            return given["value"]
        value = row.get(given["field"])
        scale = given.get("scale") or {}
        if given.get("type") == "nominal" and "range" in scale:
            return scale["range"][scale["domain"].index(value)]
        return value


@dataclass(frozen=True)
class Axis:
    """An axis: its title, its ends if they are fixed, the way it goes, and its kind."""

    title: str
    ends: tuple[float, float] | None = None
    downwards: bool = False
    kind: str = "linear"


Figure = Chart | Mapping[str, Any]
"""A chart, or the specification that was written to a file."""


def layers(chart: Figure) -> Iterator[Layer]:
    """Yield the layers of a figure from the lowest to the highest."""
    whole = json.loads(json.dumps(layered(chart) if isinstance(chart, Chart) else chart))
    for part in whole.get("layer", [whole]):
        table = part.get("data", whole.get("data"))["name"]
        rows = [
            row for row in whole["datasets"][table] if all(_kept(row, t) for t in part.get("transform", ()))
        ]
        mark = {"type": part["mark"]} if isinstance(part["mark"], str) else part["mark"]
        encoding = {**whole.get("encoding", {}), **part["encoding"]}
        yield Layer(mark, encoding, rows, table)


def _kept(row: Mapping[str, Any], transform: Mapping[str, str]) -> bool:
    given = re.fullmatch(r"isValid\(datum\.(\w+)\)|datum\.(\w+) >= ([\d.]+)", transform["filter"])
    assert given
    return row[given[1]] is not None if given[1] else bool(row[given[2]] >= float(given[3]))


def layer(chart: Figure, kind: str, table: str) -> Layer:
    """Return the layer of a kind of mark for a table of the figure."""
    (found,) = (one for one in layers(chart) if (one.mark["type"], one.table) == (kind, table))
    return found


def marks(chart: Figure, kind: str, table: str, *channels: str) -> list[Any]:
    """Return where the marks of a layer are: a value for each channel of each mark."""
    found = layer(chart, kind, table)
    rows = [tuple(found.channel(name, row) for name in channels) for row in found.rows]
    return [row[0] for row in rows] if len(channels) == 1 else rows


def axis(chart: Figure, channel: str) -> Axis:
    """Return an axis of numbers; its layers must agree about it."""
    scale: dict[str, Any] = {}
    titles: list[str] = []
    for one in layers(chart):
        given = one.encoding.get(channel, {})
        if given.get("type") != "quantitative":
            continue
        for key, value in (given.get("scale") or {}).items():
            assert scale.setdefault(key, value) == value
        title = given.get("title") or ""
        titles.append(title if isinstance(title, str) else " ".join(title))
    ends = scale.get("domain")
    kind = scale.get("type", "linear")
    return Axis(titles[0], ends and tuple(ends), scale.get("reverse", False), kind)


def names(chart: Figure, channel: str) -> list[Any]:
    """Return the names along an axis from left to right, or from top to bottom."""
    found: dict[Any, None] = {}
    sort: Any = None
    for one in layers(chart):
        given = one.encoding.get(channel, {})
        if given.get("type") != "nominal":
            continue
        if "domain" in given.get("scale", {}):
            return list(given["scale"]["domain"])
        sort = given.get("sort", "ascending")
        found.update(dict.fromkeys(row[given["field"]] for row in one.rows))
    return sorted(found) if sort == "ascending" else list(found)


# --- Which test computes by hand where the marks of which chart are ---


def by_hand(*charts: Callable[..., Any], page: str = "") -> Callable[[_Test], _Test]:
    """Say that a test computes by hand where the marks are, of charts by themselves or on a page.

    ``page``: the module that makes the data of the charts, below `evaluation`.
    """

    def decorate(test: _Test) -> _Test:
        test.by_hand = {(chart.__name__, page) for chart in charts}  # type: ignore[attr-defined]
        return test

    return decorate


def computed() -> set[tuple[str, str]]:
    """Return the charts and pages of all such tests."""
    found: set[tuple[str, str]] = set()
    for path in sorted(TESTS.rglob("test_*.py")):
        if "@by_hand(" in path.read_text(encoding="utf-8"):
            parts = path.relative_to(TESTS).with_suffix("").parts
            for test in vars(importlib.import_module(".".join(("test", *parts)))).values():
                found |= getattr(test, "by_hand", set())
    return found
