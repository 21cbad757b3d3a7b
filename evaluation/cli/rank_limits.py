"""The submissions and teams that `rank` admits: limits, deadlines and finalists."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from evaluation.ranking.finalists import Selection
from evaluation.ranking.limits import Limits, read_time, read_times, within_limits
from evaluation.ranking.results import PhaseResults, RankingError

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
        limits = Limits(numbers.get(role), times.get(role))
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
