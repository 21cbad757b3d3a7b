"""Which submissions of a team count: limits, deadlines, and the choice of one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Literal

from evaluation.core.fault import PhaseError, printable
from evaluation.core.scheme import Scheme
from evaluation.organiser.ranking.results import PhaseResults, RankingError, Submission
from evaluation.phase.cases import organiser_table
from evaluation.phase.places import Better, Leaderboards, place_teams

Which = Literal["best", "last"]


def select(
    submissions: Sequence[Submission],
    ineligible: frozenset[str],
    which: Which,
    scheme: Scheme,
    better: Mapping[str, Better],
) -> tuple[Submission, ...]:
    """Return one submission of every team, in the order of the teams.

    submissions: by team, in order of submission. "last": the last one, even without a result. "best", as on
    the platform: all submissions of the eligible teams are ranked together, and each team's best place
    counts, of equal ones the later. The submissions of an ineligible team are ranked among the eligible ones.
    Submissions are compared by overall place, then by the places in the scheme's other boards.
    """
    teams = _by_team(submissions)
    if which == "last":
        return tuple(team_submissions[-1] for team_submissions in teams.values())
    eligible = [submission for submission in submissions if submission.team not in ineligible]
    found: dict[str, Submission] = _best(eligible, scheme, better) if eligible else {}
    for team in teams:
        if team in ineligible:
            found[team] = _best([*eligible, *teams[team]], scheme, better)[team]
    return tuple(found[team] for team in teams)


def _by_team(submissions: Sequence[Submission]) -> dict[str, list[Submission]]:
    teams: dict[str, list[Submission]] = {}
    for submission in submissions:
        teams.setdefault(submission.team, []).append(submission)
    return teams


def places_of(
    submissions: Sequence[Submission], scheme: Scheme, better: Mapping[str, Better]
) -> Leaderboards:
    """Return the leaderboards of submissions among each other, in their order."""
    values = {
        metric: [[submission.exact.get(metric, math.nan) for submission in submissions]]
        for metric in scheme.metrics
        if metric in better
    }
    return place_teams(scheme, values, better)


def _best(
    submissions: Sequence[Submission], scheme: Scheme, better: Mapping[str, Better]
) -> dict[str, Submission]:
    leaderboards = places_of(submissions, scheme, better)
    boards = [scheme.overall] if scheme.overall else []
    boards += [name for name in leaderboards.boards if name != scheme.overall]
    best: dict[str, tuple[list[float], Submission]] = {}
    for position, submission in enumerate(submissions):
        key = [leaderboards.boards[name].place(position) or math.inf for name in boards]
        if submission.team not in best or key <= best[submission.team][0]:
            best[submission.team] = (key, submission)
    return {team: submission for team, (_, submission) in best.items()}


# --- Limits on the submissions of a team: number and deadline ---

FILE_NAME = "submissions.csv"
_TEAM, _SUBMISSION, _TIME = "team", "submission", "submitted_at"
Times = Mapping[tuple[str, str], datetime]


@dataclass(frozen=True)
class SubmissionLimits:
    """The number of a team's evaluated submissions, rejected ones not counted, and the deadline."""

    evaluations: int | None = None
    deadline: datetime | None = None


def read_time(text: str) -> datetime:
    """Return a date and time. Raises `ValueError` unless it is in ISO 8601 with its offset."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"expected a time with its offset, such as {text}Z")
    return time


def read_times(folder: Path, results: PhaseResults) -> Times:
    """Return when each submission was made, from `submissions.csv` beside the results, if there is one.

    team          a folder of results
    submission    the name of its folder there; empty where a team has only one
    submitted_at  date and time with its offset, such as 2018-09-16T12:00:00+02:00

    Raises `RankingError` listing every fault, among them submissions that are not in the file.
    """
    if not (folder / FILE_NAME).is_file():
        return {}
    known = {(submission.team, submission.name) for submission in results.submissions}
    times: dict[tuple[str, str], datetime] = {}
    try:
        with organiser_table(folder / FILE_NAME, (_TEAM, _SUBMISSION, _TIME)) as table:
            for row in table.rows:
                key = (row.cells[_TEAM], row.cells[_SUBMISSION])
                if key in times:
                    row.fault(_SUBMISSION, f"{'/'.join(key)} is listed twice")
                try:
                    times[key] = read_time(row.cells[_TIME])
                except ValueError:
                    found = printable(row.cells[_TIME])
                    row.fault(_TIME, f"expected a date and time with its offset, found {found!r}")
                    times[key] = datetime.max
            missing = ["/".join(filter(None, key)) for key in sorted(known - times.keys())]
            table.faults.extend(f"{table.file}: {name} is missing" for name in missing)
    except PhaseError as error:
        raise RankingError(*(f"{folder}: {problem}" for problem in error.problems)) from None
    return times


def within_limits(
    results: PhaseResults, times: Times, limits: SubmissionLimits
) -> tuple[PhaseResults, tuple[str, ...]]:
    """Return the results of the submissions that count, and notices on those that are left out.

    A team's submissions are ordered by time, without times by name. Submissions after the deadline are left
    out, then all evaluated ones beyond the limit; the last one left gives the team's place. A team without
    submissions left is not listed.
    Raises `RankingError` for a deadline without times.
    """
    if limits.deadline and not times:
        raise RankingError(f"{results.phase}: a deadline needs {FILE_NAME} beside the results")
    kept: list[Submission] = []
    notices = []
    for team, given in _by_team(results.submissions).items():
        if times:
            given.sort(key=lambda submission: times[submission.team, submission.name])
        end = limits.deadline
        in_time = [one for one in given if not end or times[team, one.name] <= end]
        chosen = _first(in_time, limits.evaluations)
        late, many = len(given) - len(in_time), len(in_time) - len(chosen)
        notices += [f"{team}: {late} of {len(given)} submissions after the deadline left out"] * bool(late)
        notices += [f"{team}: {many} submissions beyond {limits.evaluations} left out"] * bool(many)
        kept += chosen
    return replace(results, submissions=tuple(kept)), tuple(notices)


def _first(submissions: list[Submission], evaluations: int | None) -> list[Submission]:
    """Return submissions until the number of those with metrics is reached."""
    if evaluations is None:
        return submissions
    evaluated = accumulate(bool(one.values) for one in submissions)
    return [one for one, number in zip(submissions, evaluated, strict=True) if number <= evaluations]
