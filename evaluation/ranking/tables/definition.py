"""The organiser's definition of a table of results: directions and weights of metrics, and ranking.

title = "ADAM, disc segmentation"

[metrics.f1]
better = "higher"
weight = 0.6

[metrics.points]
better = "lower"
title = "Distance to the fovea"
unit = "px"
worst = 500
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import FiniteFloat

from evaluation.core.keys import Key, KeyTable, Weight
from evaluation.phase.validation import InvalidTableError, read_table
from evaluation.ranking.results import RankingError


class MetricDefinition(KeyTable, strict=False):
    """One metric of a table.

    ``weight``: of its rank. ``worst`` replaces a team's missing values; without it they are faults.
    """

    better: Literal["higher", "lower"]
    weight: Weight = Decimal(1)
    title: str | None = None
    unit: str = ""
    worst: FiniteFloat | None = None


class TableDefinition(KeyTable, strict=False):
    """The metrics of a table by name, and the bootstrap of its cases."""

    title: str | None = None
    metrics: dict[str, MetricDefinition] = Key(default={})
    seed: int = Key(default=0, ge=0)
    resamples: int = Key(default=1000, ge=0, le=100_000)
    interval_minimum: int = Key(default=10, ge=2)


def read_definition(path: Path | None, metrics: list[str]) -> TableDefinition:
    """Return a definition from a TOML file and from options, which take precedence.

    metrics: "NAME=higher" or "NAME=lower", followed by further keys of `MetricDefinition`, for example
    "dice=higher,weight=0.6,worst=0". Raises `RankingError` listing every fault.
    """
    content: dict[str, object] = {}
    if path is not None:
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
        except (OSError, ValueError) as error:
            raise RankingError(f"{path}: {error}") from None
    problems: list[str] = []
    given = dict(found) if isinstance(found := content.get("metrics", {}), dict) else found
    for text in metrics:
        name, equals, description = text.rpartition("=") if "," not in text else text.partition("=")
        better, *keys = description.split(",")
        pairs = [key.partition("=") for key in keys]
        if not equals or not name or not all(sign and value for _, sign, value in pairs):
            problems.append(
                f"--metric {text}: expected NAME=higher or NAME=lower, then KEY=VALUE after commas"
            )
        elif isinstance(given, dict):
            given[name] = {"better": better} | {key: value for key, _, value in pairs}
    try:
        definition = read_table(TableDefinition, content | {"metrics": given})
    except InvalidTableError as error:
        file = str(path) if path else "--metric"
        raise RankingError(*problems, *error.problems(file)) from None
    if problems:
        raise RankingError(*problems)
    return definition
