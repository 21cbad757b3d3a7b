"""Read the results of many teams in one phase, as `evaluate` writes them.

FOLDER/<team>/metrics.json               one submission; beside it cases.json, where there is one
FOLDER/<team>/<submission>/metrics.json  several, in the natural order of their names
FOLDER/teams.csv                         optional: see `evaluation.ranking.team_roles`
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.core.challenge import Challenge, Options, Task, metrics_of
from evaluation.core.fault import PhaseError
from evaluation.core.resampling import Resampling
from evaluation.phase.registry import rules_of
from evaluation.phase.scores import RecordedCases, RecordedColumns, read_case_records
from evaluation.phase.validation import InvalidTableError
from evaluation.ranking.results import PhaseResults, RankingError, Submission
from evaluation.ranking.team_roles import read_roles

METRICS, CASES, REJECTED, TEAMS = "metrics.json", "cases.json", "rejected.txt", "teams.csv"


@dataclass(frozen=True)
class _Identity:
    """The phase of a result: equal for all submissions that are ranked together."""

    challenge: str
    name: str
    manifest: str
    options: str


def read_results(folder: Path, with_cases: bool = True) -> PhaseResults:
    """Read the results below a folder. Raises `RankingError` listing every problem."""
    if not folder.is_dir():
        raise RankingError(f"{folder}: is not a folder")
    problems: list[str] = []
    found = [
        (team.name, name, place)
        for team in _folders(folder)
        for name, place in _submissions_of(team, problems)
    ]
    if not found:
        raise RankingError(f"{folder}: contains no results (expected FOLDER/<team>/{METRICS})", *problems)
    metrics_files = {place: _read_json(place / METRICS, problems) for _, _, place in found}
    identities = {place: _identity(place, content, problems) for place, content in metrics_files.items()}
    known = {place: identity for place, identity in identities.items() if identity}
    if problems or not known:
        raise RankingError(*problems or [f"{folder}: no team has a result"])
    identity = next(iter(known.values()))
    _require_same(identity, known, problems)
    challenge, options, tasks = _rules(identity)
    ranked = {*metrics_of(tasks), *(composite.name for composite in challenge.composites)}
    cases: RecordedColumns | None = None
    resampling: Resampling | None = None
    submissions = []
    for team, name, place in found:
        content = metrics_files[place]
        if content is None:
            submissions.append(Submission(team, name, {}, absence=_absence(place)))
            continue
        tables = None
        if with_cases and (recorded := _read_json(place / CASES, problems)) is not None:
            read = _read_cases(place / CASES, recorded, identity, tasks, problems)
            if read:
                tables, resampling = read.tables, read.resampling
                if cases is not None and read.cases.names != cases.names:
                    problems.append(f"{place / CASES}: has other cases than the results before it")
                cases = cases or read.cases
        submissions.append(Submission(team, name, _values(content, ranked, place, problems), tables))
    roles = read_roles(folder / TEAMS, {team for team, _, _ in found}, problems)
    if problems:
        raise RankingError(*problems)
    return PhaseResults(
        challenge,
        options,
        tasks,
        identity.name,
        identity.manifest,
        tuple(submission for submission in submissions if submission.team not in roles.unlisted),
        roles.ineligible,
        cases,
        resampling,
        roles.compare_with,
        roles.variants,
    )


def _folders(folder: Path) -> list[Path]:
    found = [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]
    return sorted(found, key=lambda path: natural_order(path.name))


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts "2" before "10"."""
    return [
        (0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in re.split(r"([0-9]+)", name)
        if part
    ]


def _submissions_of(team: Path, problems: list[str]) -> Iterator[tuple[str, Path]]:
    def is_result(place: Path) -> bool:
        return (place / METRICS).is_file() or (place / REJECTED).is_file()

    nested = [place for place in _folders(team) if is_result(place)]
    if is_result(team):
        if nested:
            problems.append(f"{team}: contains a result and also sub-folders with results")
        yield "", team
    elif nested:
        yield from ((place.name, place) for place in nested)
    else:
        yield "", team


def _read_json(path: Path, problems: list[str]) -> Any:
    """Return the content of a JSON file, None where the file is missing."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        problems.append(f"{path}: cannot be read: {error}")
        return None


def _absence(place: Path) -> str:
    try:
        return (place / REJECTED).read_text(encoding="utf-8").splitlines()[0]
    except (OSError, IndexError):
        return f"no {METRICS}"


def _identity(place: Path, content: Any, problems: list[str]) -> _Identity | None:
    if content is None:
        return None
    try:
        phase = content["phase"]
        return _Identity(
            str(phase["challenge"]),
            str(phase["name"]),
            str(phase["manifest"]),
            json.dumps(phase["options"], sort_keys=True),
        )
    except (KeyError, TypeError):
        problems.append(f"{place / METRICS}: is not a {METRICS} of this package")
        return None


def _require_same(expected: _Identity, identities: Mapping[Path, _Identity], problems: list[str]) -> None:
    for place, identity in identities.items():
        for key, value in vars(expected).items():
            if getattr(identity, key) != value:
                problems.append(
                    f"{place / METRICS}: expected {key} {value!r} as in the first result, "
                    f"found {getattr(identity, key)!r}"
                )
                break


def _rules(identity: _Identity) -> tuple[Challenge, Options, tuple[Task, ...]]:
    try:
        rules = rules_of(identity.challenge, json.loads(identity.options))
    except PhaseError as error:
        raise RankingError(f"{METRICS}: phase: {error}") from None
    except InvalidTableError as error:
        raise RankingError(*error.problems(METRICS, "phase.options.")) from None
    return rules.challenge, rules.options, rules.challenge.tasks(rules.options)


def _values(content: Any, ranked: Collection[str], place: Path, problems: list[str]) -> dict[str, float]:
    """Return the metrics and composites of a metrics.json by name."""
    try:
        found = {
            f"{task}.{name}": estimate["value"]
            for task, estimates in content["aggregates"].items()
            for name, estimate in estimates.items()
        } | content.get("ranking", {}).get("composites", {})
    except (KeyError, TypeError, AttributeError):
        problems.append(f"{place / METRICS}: is not a {METRICS} of this package")
        return {}
    values: dict[str, float] = {}
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            problems.append(f"{place / METRICS}: {name}: expected a number, found {value!r}")
        elif name in ranked:
            values[name] = float(value)
    return values


def _read_cases(
    path: Path, content: Any, identity: _Identity, tasks: Sequence[Task], problems: list[str]
) -> RecordedCases | None:
    try:
        if content["manifest"] != identity.manifest:
            problems.append(f"{path}: belongs to another phase than {METRICS}")
            return None
        return read_case_records(content, tasks)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        problems.append(f"{path}: is not a per-case file of this package ({error})")
        return None
