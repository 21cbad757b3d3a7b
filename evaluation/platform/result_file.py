"""`metrics.json`: its types, and how it is written so that the platform accepts it."""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import TypeAdapter

from evaluation.core.aggregation import Estimate, Estimates
from evaluation.io.files import write_atomically
from evaluation.stats.numbers import SIGNIFICANT_DIGITS as SIGNIFICANT_DIGITS

# Powers of ten that are exact floats, and the smallest number that one of them scales to a whole number.
_POWERS = np.array([float(f"1e{power}") for power in range(23)])
_SMALLEST_ORDINARY = 1e-10
_UNCLEAR = 1e-3
FILE_NAME = "metrics.json"


@dataclass(frozen=True)
class PhaseSection:
    """The phase of a result; ``manifest`` is the digest of the seal of its reference."""

    challenge: str
    name: str
    version: str
    manifest: str
    source: str
    missing: str
    options: dict[str, Any]


@dataclass(frozen=True)
class CasesSection:
    """Numbers of cases: expected, scored, and those with the worst value in at least one task."""

    expected: int
    scored: int
    worst: int


@dataclass(frozen=True)
class LeaderboardPlace:
    """A place in a leaderboard of ``teams`` teams, this one included, and the score that leads to it.

    ``tied``: the other teams that have the place, too.
    """

    place: int
    score: float
    teams: int
    tied: int


@dataclass(frozen=True)
class RankingSection:
    """The components of the ranking by task and metric, and the figures that combine several of them.

    If the phase has a leaderboard of other teams: the ranks of the components in it, and the places by board.
    """

    components: dict[str, dict[str, float]]
    composites: dict[str, Estimate] | None = None
    ranks: dict[str, dict[str, int]] | None = None
    places: dict[str, LeaderboardPlace] | None = None


@dataclass(frozen=True)
class MetricsFile:
    """The whole of `metrics.json`.

    ``aggregates`` is by task and metric, ``subgroups`` by column, value, task and metric, ``case`` (only
    if the phase publishes it) by case, task and column.
    """

    phase: PhaseSection
    cases: CasesSection
    aggregates: Estimates
    ranking: RankingSection
    subgroups: dict[str, dict[str, dict[str, dict[str, float]]]] = field(default_factory=dict)
    case: dict[str, dict[str, dict[str, float]]] | None = None

    def figure(self, name: str) -> Estimate | None:
        """Return a metric by "task.metric", or a composite by its name; None if it is not published."""
        task, _, metric = name.partition(".")
        return self.aggregates.get(task, {}).get(metric) or (self.ranking.composites or {}).get(name)


def write_metrics(result: MetricsFile, folder: Path) -> Path:
    """Write `metrics.json` into a folder, atomically, and return its path. Raises `OSError`, `ValueError`."""
    path = folder / FILE_NAME
    # If the machine fails, so does the job, and nobody reads the file.
    write_atomically(path, render(dataclasses.asdict(result)), synced=False)
    return path


def plain_key(text: str) -> str:
    """Return a text as a key that the platform can look up in a dotted path."""
    return text.translate({ord("."): "_", ord("$"): "_"})


def render(content: Any, organisers: bool = False, rounded: bool = True, compact: bool = False) -> bytes:
    """Return content, mappings or dataclasses, as JSON that the platform accepts.

    Floats are rounded to 12 significant digits, −0.0 becomes 0.0, absent values (None) are left out. Raises
    `ValueError` for content that the platform cannot look up or store: a key with a dot, a number that is not
    finite, a text with control characters. With ``organisers``, any key and text is allowed. Without
    ``rounded``, all digits are kept, so that figures can be computed again from the file. ``compact``: on one
    line, twenty times faster.
    """
    try:
        plain = _plain(content, organisers, as_written if rounded else _as_given)
    except _UnfitError as error:
        raise ValueError(f"{''.join(reversed(error.path))}: {error}") from None
    text = json.dumps(plain, indent=None if compact else 1, allow_nan=False, ensure_ascii=True)
    return f"{text}\n".encode("ascii")


class _UnfitError(Exception):
    """A value that cannot be written; ``path`` is gathered on the way up, the innermost step first."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.path: list[str] = []


def _plain(value: Any, organisers: bool, number: Callable[[float], float]) -> Any:
    # A leaderboard has a million values: frequent types come first, and only faults make paths.
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _UnfitError(f"{value} is not finite")
        return number(value)
    if isinstance(value, str):
        if not organisers and not value.isprintable():
            raise _UnfitError(f"{value!r} holds characters that the platform cannot store")
        return value
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, list | tuple):
        return _plain_list(value, organisers, number)
    if isinstance(value, Mapping):
        return _plain_mapping(value, organisers, number)
    if dataclasses.is_dataclass(value):
        return _plain_mapping(vars(value), organisers, number)
    return value


def _plain_list(value: Sequence[Any], organisers: bool, number: Callable[[float], float]) -> list[Any]:
    found: list[Any] = []
    for position, item in enumerate(value):
        try:
            found.append(_plain(item, organisers, number))
        except _UnfitError as error:
            error.path.append(f"[{position}]")
            raise
    return found


def _plain_mapping(
    value: Mapping[Any, Any], organisers: bool, number: Callable[[float], float]
) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, item in value.items():
        if not organisers and not _is_plain_key(key):
            raise _UnfitError(f"{key!r} cannot be a key of {FILE_NAME}")
        if item is not None:
            try:
                found[key] = _plain(item, organisers, number)
            except _UnfitError as error:
                error.path.append(f".{key}")
                raise
    return found


def _is_plain_key(key: Any) -> bool:
    return isinstance(key, str) and key != "" and key.isprintable() and key == plain_key(key)


def _as_given(value: float) -> float:
    return value + 0.0


def as_written(value: float) -> float:
    """Return a number as `metrics.json` holds it: 12 significant digits, no negative zero."""
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") + 0.0


def as_written_values(values: ArrayLike) -> NDArray[np.float64]:
    """Return an array of numbers as `metrics.json` holds them, with the same ties.

    Equal to `as_written` of every number; NaN and infinity stay.
    """
    given = np.asarray(values, dtype=np.float64)
    magnitude = np.abs(given)
    ordinary = (magnitude >= _SMALLEST_ORDINARY) & (magnitude < 10.0**SIGNIFICANT_DIGITS)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.floor(np.log10(magnitude))
    # A whole number over an exact power of ten is the float nearest to the decimal.
    power = _POWERS[np.where(ordinary, SIGNIFICANT_DIGITS - 1 - exponent, 0).astype(np.int64)]
    scaled = given * power
    written = np.asarray(np.rint(scaled) / power + 0.0)
    # If a number lies close to the middle of two decimals, the product may be on the wrong side.
    with np.errstate(invalid="ignore"):
        unclear = np.abs(scaled - np.floor(scaled) - 0.5) < _UNCLEAR
    for position in np.flatnonzero((~ordinary | unclear) & (magnitude > 0) & np.isfinite(given)):
        written.flat[position] = as_written(float(given.flat[position]))
    return written


# --- JSON schemas, generated from the types that are written ---

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Keys that a dotted path finds, see `result_file.render`.
_KEY = "^[^.$]+$"


def metrics_schema() -> dict[str, Any]:
    """Return the schema of `metrics.json`; its keys have no dots."""
    return schema_of(MetricsFile, "metrics.json", _KEY)


def schema_of(kind: type, title: str, keys: str | None = None) -> dict[str, Any]:
    """Return the schema of a dataclass as it is written: closed objects, absent values left out.

    ``keys`` is a pattern for the keys of mappings, None if all are allowed.
    """
    schema = _strict(TypeAdapter(kind).json_schema(), keys)
    return {"$schema": _DIALECT, **schema, "title": title}


def _strict(node: Any, keys: str | None) -> Any:
    if isinstance(node, list):
        return [_strict(item, keys) for item in node]
    if not isinstance(node, dict):
        return node
    # Titles repeat the names, and defaults do not describe written files.
    strict = {key: _strict(value, keys) for key, value in node.items() if key not in ("title", "default")}
    if "properties" in node:
        properties = node["properties"]
        strict["properties"] = {
            name: _strict(without_null(value), keys) for name, value in properties.items()
        }
        strict["required"] = [name for name, value in properties.items() if without_null(value) is value]
        strict["additionalProperties"] = False
    elif node.get("type") == "object" and keys is not None:
        strict["propertyNames"] = {"pattern": keys}
    return strict


def without_null(node: Any) -> Any:
    """Return a property's schema without the alternative null, the same object if it has none."""
    alternatives = node.get("anyOf", [])
    others = [alternative for alternative in alternatives if alternative != {"type": "null"}]
    if len(others) == len(alternatives):
        return node
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**rest, **others[0]} if len(others) == 1 else {**rest, "anyOf": others}
