"""The results that `rank` ranks, by which scheme, and which submissions and teams it lets in."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from evaluation.core.scheme import Method, Scheme
from evaluation.organiser.ranking.leaderboard import Selection
from evaluation.organiser.ranking.results import TEAMS, PhaseResults, RankingError, read_results
from evaluation.organiser.ranking.scheme_file import scheme_named
from evaluation.organiser.ranking.selection import SubmissionLimits, read_time, read_times, within_limits
from evaluation.phase import registry


def read_all(arguments: argparse.Namespace) -> dict[str, PhaseResults]:
    """Return the results by role, an empty role for a single phase. Raises `RankingError`."""
    paths = paths_of(arguments.results)
    if not any(path.is_file() for path in paths.values()):
        if arguments.metric or arguments.definition:
            raise RankingError("--metric and --definition describe a table, and none is given")
        if arguments.ground_truth is not None:
            registry.load_beside(arguments.ground_truth)
        return {role: read_results(path) for role, path in paths.items()}
    from evaluation.organiser.ranking.result_tables import read_definition, read_results_table

    definition = read_definition(arguments.definition, arguments.metric)
    return {
        role: read_results_table(path, definition) if path.is_file() else read_results(path)
        for role, path in paths.items()
    }


def methods_tables(arguments: argparse.Namespace) -> dict[str, Path]:
    """Return the table of methods by role. Raises `RankingError`."""
    if arguments.output is None:
        raise RankingError("--group-teams writes tables: expected --output FOLDER, found none")
    paths = paths_of(arguments.results)
    tables = {role: arguments.methods or path / TEAMS for role, path in paths.items()}
    if arguments.methods is None and any(path.is_file() for path in paths.values()):
        raise RankingError("--group-teams: a table of results needs --methods CSV")
    return tables


def chosen_scheme(arguments: argparse.Namespace, results: PhaseResults) -> Scheme:
    """Return the scheme that the options choose. Raises `RankingError`."""
    scheme = scheme_named(arguments.scheme, results, arguments.ground_truth)
    given = {
        key: value
        for key in ("quantile", "alpha", "adjust")
        if (value := getattr(arguments, key)) is not None
    }
    try:
        method: Method = replace(scheme.method, **given)
    except ValueError as error:
        raise RankingError(f"--{error}") from None
    return replace(scheme, method=method, ties=arguments.ties or scheme.ties)


def paths_of(given: list[str]) -> dict[str, Path]:
    """Return paths by role, an empty role for a single one. Raises `RankingError`."""
    if len(given) == 1 and (Path(given[0]).exists() or "=" not in given[0]):
        return {"": Path(given[0])}
    paths: dict[str, Path] = {}
    for text in given:
        role, equals, path = text.partition("=")
        if not equals or not role or not path or role in paths:
            raise RankingError(f"{text}: expected PHASE=FOLDER or PHASE=CSV, every phase once")
        paths[role] = Path(path)
    return paths


Value = TypeVar("Value")


def limited(
    arguments: argparse.Namespace, results: Mapping[str, PhaseResults], paths: Mapping[str, Path]
) -> tuple[dict[str, PhaseResults], list[str]]:
    """Return the results of the submissions that count by phase, and notices on the others.

    ``paths``: of the results. Raises `RankingError`.
    """
    numbers = _by_phase("evaluations", arguments.evaluations, results, _count)
    times = _by_phase("deadline", arguments.deadline, results, read_time)
    found: dict[str, PhaseResults] = {}
    notices = []
    for role, of_phase in results.items():
        submitted = read_times(paths[role], of_phase)
        limits = SubmissionLimits(numbers.get(role), times.get(role))
        found[role], left_out = within_limits(of_phase, submitted, limits)
        notices += [f"{role}: {notice}" if role else notice for notice in left_out]
    return found, notices


def selection_of(text: str | None) -> Selection | None:
    """Return the teams of one phase that are ranked in the others. Raises `RankingError`."""
    if text is None:
        return None
    role, equals, number = text.partition("=")
    try:
        if role and equals:
            return Selection(role, _count(number))
    except ValueError:
        pass
    raise RankingError(f"--finalists {text}: expected PHASE=N, such as offline=12")


def _by_phase(
    option: str, given: Sequence[str], roles: Collection[str], read: Callable[[str], Value]
) -> dict[str, Value]:
    """Return the values of an option by phase; a value without a phase is for all."""
    found: dict[str, Value] = {}
    for text in given:
        role, equals, value = text.partition("=")
        try:
            wanted = read(value if equals else text)
        except ValueError:
            raise RankingError(f"--{option} {text}: cannot be read") from None
        if equals and role not in roles:
            raise RankingError(f"--{option} {text}: {role} is none of the phases")
        found |= dict.fromkeys((role,) if equals else roles, wanted)
    return found


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number
