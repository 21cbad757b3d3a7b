"""Colours, shapes and dashes of teams, the same in every figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluation.charts.theme import Marks, colour_scale, dash_scale, shape_scale

TeamMarks = Mapping[str, Marks]
ROW_HEIGHT = 26
"""Height of the line of a team, in pixels."""


def team_colour(marks: TeamMarks, *, legend: bool = False) -> dict[str, Any]:
    """Return the encoding of the colour by the column "team"."""
    return _by_team(colour_scale(marks), legend)


def team_shape(marks: TeamMarks, *, legend: bool = False) -> dict[str, Any]:
    """Return the encoding of the shape by the column "team"."""
    return _by_team(shape_scale(marks), legend)


def team_dash(marks: TeamMarks, *, legend: bool = False) -> dict[str, Any]:
    """Return the encoding of the dashes by the column "team"."""
    return _by_team(dash_scale(marks), legend)


def _by_team(scale: dict[str, Any], legend: bool) -> dict[str, Any]:
    encoding: dict[str, Any] = {"field": "team", "type": "nominal", "title": None, "scale": scale}
    return encoding if legend else {**encoding, "legend": None}
