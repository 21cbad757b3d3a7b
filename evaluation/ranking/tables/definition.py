"""The organiser's definition of a table of results: directions and weights of metrics, and ranking.

title = "ADAM, disc segmentation"

[metrics.f1]
better = "higher"
weight = 0.6

[metrics.distance]
better = "lower"
title = "Distance to the fovea"
unit = "px"
worst = 500
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.phase.validation import describe_validation
from evaluation.ranking.results import RankingError


class MetricDefinition(BaseModel):
    """One metric of a table.

    ``weight``: of its rank. ``worst`` replaces a team's missing values; without it they are faults.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    better: Literal["higher", "lower"]
    weight: Annotated[Decimal, Field(ge=0)] = Decimal(1)
    title: str | None = None
    unit: str = ""
    worst: Annotated[float, Field(allow_inf_nan=False)] | None = None


class TableDefinition(BaseModel):
    """The metrics of a table by name, and the bootstrap of its cases."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str | None = None
    metrics: dict[str, MetricDefinition] = {}
    seed: Annotated[int, Field(ge=0)] = 0
    resamples: Annotated[int, Field(ge=0, le=100_000)] = 1000
    interval_minimum: Annotated[int, Field(ge=2)] = 10


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
        definition = TableDefinition.model_validate(content | {"metrics": given})
    except ValidationError as error:
        file = str(path) if path else "--metric"
        raise RankingError(*problems, *describe_validation(file, error)) from None
    if problems:
        raise RankingError(*problems)
    return definition
