"""The place of one submission among given teams."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evaluation.core.scheme import Scheme
from evaluation.phase.leaderboard import TeamValues
from evaluation.ranking.boards import place_teams
from evaluation.ranking.methods.tied_ranks import Better


@dataclass(frozen=True)
class PlaceAmongTeams:
    """A place in one leaderboard, its exact score, and the number of teams with a place, itself included."""

    place: int
    score: Fraction
    teams: int


@dataclass(frozen=True)
class Places:
    """The ranks by metric and the places by leaderboard that one submission takes."""

    ranks: Mapping[str, int]
    boards: Mapping[str, PlaceAmongTeams]


def place_among(
    teams: Sequence[TeamValues],
    values: Mapping[str, float],
    scheme: Scheme,
    better: Mapping[str, Better],
) -> Places:
    """Return the places that a submission with these metrics would take among the eligible teams.

    values: by metric. A missing metric gives no rank, and no place that needs this rank.
    """
    given = [*(team.values for team in teams if team.eligible), values]
    metrics = [metric for metric in scheme.metrics if metric in better]
    columns = {metric: [[team_values.get(metric, math.nan) for team_values in given]] for metric in metrics}
    if not metrics:
        return Places({}, {})
    leaderboards = place_teams(scheme, columns, better)
    itself = len(given) - 1
    boards = {}
    for name, standing in leaderboards.boards.items():
        place, score = standing.place(itself), standing.score(itself)
        if place is not None and score is not None:
            boards[name] = PlaceAmongTeams(place, score, int((standing.places > 0).sum()))
    ranks = {
        metric: int(ranks[0, itself]) for metric, ranks in leaderboards.ranks.items() if ranks[0, itself]
    }
    return Places(ranks, boards)
