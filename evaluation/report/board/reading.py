"""Reading of the files that `rank --output` writes."""

from __future__ import annotations

import csv
import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError

from evaluation.core.fault import PhaseError
from evaluation.ranking.leaderboard_file import Leaderboard, OrganiserPart

FILE_NAME = "leaderboard.json"
_ORGANISER_FORMAT = "leaderboard-organiser/1"


def read_leaderboard(folder: Path) -> tuple[Leaderboard, tuple[OrganiserPart, ...]]:
    """Return a leaderboard and the organiser's files of each of its phases, in their order.

    The organiser's files may be missing. Raises `PhaseError` where `leaderboard.json` is missing, and for
    files that are not of this package.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        raise PhaseError(f"{path}: is missing; `rank {folder} --output FOLDER` writes it into another folder")
    board: Leaderboard = _validated(path, Leaderboard, _json(path))
    parts = (_organiser_part(folder, f"-{phase.role}" if phase.role else "") for phase in board.phases)
    return board, tuple(parts)


def with_absent(content: Any, kind: Any) -> Any:
    """Return a JSON value with null for a type's fields that were left out when written."""
    origin, arguments = get_origin(kind), get_args(kind)
    if content is None:
        return None
    is_dataclass = dataclasses.is_dataclass(kind)
    if is_dataclass and isinstance(content, dict):
        hints = _hints(kind)
        filled = {name: with_absent(content[name], hint) for name, hint in hints.items() if name in content}
        absent = {name: None for name, hint in hints.items() if name not in content and _may_be_none(hint)}
        return {**content, **absent, **filled}
    if origin in (Union, types.UnionType):
        others = [one for one in arguments if one is not type(None)]
        return with_absent(content, others[0]) if len(others) == 1 else content
    if origin is tuple and isinstance(content, list):
        return [with_absent(item, arguments[0]) for item in content]
    if origin in (dict, Mapping) and isinstance(content, dict):
        return {key: with_absent(item, arguments[1]) for key, item in content.items()}
    return content


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _may_be_none(hint: Any) -> bool:
    return type(None) in get_args(hint)


def _organiser_part(folder: Path, suffix: str) -> OrganiserPart:
    path = folder / f"organiser{suffix}.json"
    content: dict[str, Any] = {}
    if path.is_file():
        found = _json(path)
        if not isinstance(found, dict) or found.pop("format", None) != _ORGANISER_FORMAT:
            raise PhaseError(f"{path}: expected the format {_ORGANISER_FORMAT}")
        content |= found
    content["difficulties"] = _rows(folder / f"difficulty{suffix}.csv")
    content["groups"] = _rows(folder / f"difficulty-groups{suffix}.csv")
    content["influences"] = [
        # The names of winners are joined by spaces, but may contain spaces themselves.
        {**row, "winners": [row["winners"]] if row.get("winners") else []}
        for row in _rows(folder / f"influence{suffix}.csv")
    ]
    part: OrganiserPart = _validated(path, OrganiserPart, content)
    return part


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise PhaseError(f"{path}: cannot be read: {error}") from None


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise PhaseError(f"{path}: cannot be read: {error}") from None


def _validated(path: Path, kind: Any, content: Any) -> Any:
    try:
        return TypeAdapter(kind).validate_python(with_absent(content, kind))
    except (ValidationError, TypeError, AttributeError) as error:
        raise PhaseError(f"{path}: is not a file of this package ({error})") from None
