"""Which of a team's submissions counts."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from evaluation.core.scheme import Scheme
from evaluation.organiser.ranking.results import Submission
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
