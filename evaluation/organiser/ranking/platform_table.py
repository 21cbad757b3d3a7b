"""The numbers of any container's evaluations at dotted paths, as a table of results.

The table is one that `rank` also reads from csv. What it has no cell for lies beside it: submissions without
any of the numbers, and why.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.cli.common import tell
from evaluation.core.fault import printable
from evaluation.io.tables import write_csv
from evaluation.organiser.ranking.result_tables import (
    MetricDefinition,
    read_definitions,
    read_results_table,
)
from evaluation.organiser.ranking.results import (
    TEAMS,
    PhaseResults,
    RankingError,
    Submission,
    natural_order,
    read_results,
    read_roles,
)
from evaluation.phase.validation import suggestion

_TABLE, _BESIDE = "evaluations.csv", "evaluations.json"
_TASK = "results"
_KNOWN_PATHS = 12


@dataclass(frozen=True)
class Submitted:
    """A submission: the content of its `metrics.json`, or why it has none."""

    team: str
    name: str
    content: Any
    absence: str | None = None


def write_table(
    folder: Path, file: str, title: str, submitted: Sequence[Submitted], paths: Sequence[str]
) -> None:
    """Write the numbers of submissions at dotted paths into a folder, for `read_exported_table`.

    Submissions that lack numbers are counted on standard error. Raises `RankingError` for a path that no
    submission has.
    """
    rows, absent = [], []
    lacking: dict[str, Counter[str]] = {path: Counter() for path in paths}
    for one in submitted:
        values = _values_at(one.content, paths)
        rows += [[f"{one.team}/{one.name}", _TASK, path, repr(value)] for path, value in values.items()]
        if not values:
            absent.append((one.team, one.name, one.absence or f"no number at {' or '.join(paths)}"))
        if one.absence is None:
            for path in paths:
                lacking[path][one.team] += path not in values
    with_results = sum(one.absence is None for one in submitted)
    known = sorted({path for one in submitted for path in _number_paths(one.content)})
    RankingError.raise_all(
        [
            f"{file}: {path}: expected a number in an evaluation that succeeded, found none"
            f"{suggestion(path, known)}; numbers are at {', '.join(known[:_KNOWN_PATHS]) or 'no path'}"
            for path, teams in lacking.items()
            if teams.total() == with_results
        ]
    )
    folder.mkdir(exist_ok=True)
    write_csv(folder / _TABLE, ["team", "task", "metric", "value"], rows)
    beside = {"title": title, "absent": absent}
    (folder / _BESIDE).write_text(json.dumps(beside), encoding="utf-8")
    for path, teams in lacking.items():
        if total := teams.total():
            of = ", ".join(f"{printable(team)} ({count})" for team, count in teams.items() if count)
            of_all = f"{total} of {with_results} evaluations that succeeded have no number at {path}"
            tell([f"Note: {file}: {of_all}: {of}"])


def is_exported_table(folder: Path) -> bool:
    """Return whether a folder was written by `write_table`."""
    return (folder / _BESIDE).is_file()


def read_exported_table(folder: Path, metrics: Mapping[str, MetricDefinition]) -> PhaseResults:
    """Return what `write_table` wrote, with the roles of `teams.csv` beside. Raises `RankingError`."""
    beside = json.loads((folder / _BESIDE).read_text(encoding="utf-8"))
    table = read_results_table(folder / _TABLE, metrics, beside["title"])
    found = [Submission(team, name, {}, absence=why) for team, name, why in beside["absent"]]
    for one in table.submissions:
        team, _, name = one.team.partition("/")
        found.append(replace(one, team=team, name=name))
    found.sort(key=lambda one: (natural_order(one.team), natural_order(one.name)))
    problems: list[str] = []
    roles = read_roles(folder / TEAMS, {one.team for one in found}, problems)
    RankingError.raise_all(problems)
    return replace(
        table,
        submissions=tuple(one for one in found if one.team not in roles.unlisted),
        ineligible=roles.ineligible,
        compare_with=roles.compare_with,
    )


def _values_at(content: Any, paths: Sequence[str]) -> dict[str, float]:
    found = {}
    for path in paths:
        value = content
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        # As on the platform, a truth value counts as 0 or 1.
        if isinstance(value, int | float) and math.isfinite(value):
            found[path] = float(value)
    return found


def _number_paths(content: Any, prefix: str = "") -> Iterator[str]:
    for key, value in content.items() if isinstance(content, dict) else ():
        if isinstance(value, dict):
            yield from _number_paths(value, f"{prefix}{key}.")
        elif isinstance(value, int | float):
            yield f"{prefix}{key}"


def read_phase_results(paths: Mapping[str, Path], metrics: list[str]) -> dict[str, PhaseResults]:
    """Return the results by role of folders and tables.

    metrics: of the tables, as `read_definitions` takes them. Raises `RankingError`, also without any table.
    """
    if metrics and not any(path.is_file() or is_exported_table(path) for path in paths.values()):
        raise RankingError("--metric describes a table, and none is given")
    described = read_definitions(metrics)

    def read(path: Path) -> PhaseResults:
        if is_exported_table(path):
            return read_exported_table(path, described)
        return read_results_table(path, described) if path.is_file() else read_results(path)

    return {role: read(path) for role, path in paths.items()}
