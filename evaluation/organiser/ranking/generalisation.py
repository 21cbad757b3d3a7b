"""How results generalise: changes from phase to phase."""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

from evaluation.organiser.ranking.differences import corrected
from evaluation.organiser.ranking.leaderboard_file import (
    PhaseChange,
    PhaseLeaderboard,
)
from evaluation.organiser.ranking.rank_tests import published_difference
from evaluation.stats.figure import Difference, Figure

_NORMAL = NormalDist()


def generalisation(boards: Mapping[str, PhaseLeaderboard]) -> tuple[PhaseChange, ...]:
    """Return the changes between every two phases in every metric that one of them ranks.

    boards: by role, in the order of the phases.
    Source: Orlando et al. 2020 (REFUGE), section 5.2; Fang et al. 2022 (ADAM), section 4.3; Ali et al. 2021
    (EDD2020), sections IV-C and VI.
    """
    changes: list[PhaseChange] = []
    for roles in combinations(boards, 2):
        first, second = (boards[role] for role in roles)
        before = {team.team: team.metrics for team in first.teams}
        for name, metric in second.metrics.items():
            other = first.metrics.get(name)
            if other is None or not (metric.in_ranking or other.in_ranking):
                continue
            changes += [
                PhaseChange(
                    name,
                    team.team,
                    *roles,
                    change_between(before[team.team][name].figure, team.metrics[name].figure),
                )
                for team in second.teams
                if name in team.metrics and name in before.get(team.team, {})
            ]
    eligible = {(role, team.team) for role in boards for team in boards[role].teams if team.eligible}
    return corrected(
        changes, lambda one: (one.metric, one.earlier, one.later, (one.later, one.team) in eligible)
    )


def change_between(first: Figure, second: Figure) -> Difference:
    """Return the change of a metric between two phases with independent cases, second minus first.

    The interval recovers the variance on each side from the intervals of the two values; p takes the side
    towards 0, so that it is below 5 % where the interval leaves 0 out. Neither without both intervals.
    Source: Zou and Donner 2008, Stat. Med. 27:1693 (MOVER), for proportions Newcombe 1998, 17:873, method 10.
    """
    change = float(published_difference(second.value, first.value))
    found = Difference(change, method="MOVER", first=second, second=first)
    if (before := first.interval) is None or (after := second.interval) is None:
        return found
    down = math.hypot(second.value - after.lower, before.upper - first.value)
    up = math.hypot(after.upper - second.value, first.value - before.lower)
    towards = down if change > 0 else up
    p_value = 1.0 if change == 0 else None
    if towards > 0:
        p_value = 2 * _NORMAL.cdf(-abs(change) / towards * _NORMAL.inv_cdf(0.975))
    return replace(found, lower=change - down, upper=change + up, p_value=p_value)
