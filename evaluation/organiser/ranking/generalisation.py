"""How results generalise: changes from phase to phase, and gaps that grow with the evaluations before."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.leaderboard_file import (
    DevelopmentGap,
    GapTrend,
    Generalisation,
    MetricOfTeam,
    PhaseChange,
    PhaseLeaderboard,
)
from evaluation.organiser.ranking.results import Submission
from evaluation.stats.differences import corrected
from evaluation.stats.figure import SIGNIFICANT
from evaluation.stats.ranks import mid_ranks, published, published_difference, spearman

_NORMAL = NormalDist()
_MOST_EXACT = 8
_ROUNDING = 1e-9


def generalisation(
    boards: Mapping[str, PhaseLeaderboard], submissions: Mapping[str, Sequence[Submission]]
) -> Generalisation | None:
    """Return the comparisons of every two phases in every metric that one of them ranks; None without any.

    boards, submissions: by role, in the order of the phases; the submissions of each team in their order.
    Source: Orlando et al. 2020 (REFUGE), section 5.2; Fang et al. 2022 (ADAM), section 4.3; Ali et al. 2021
    (EDD2020), sections IV-C and VI.
    """
    changes: list[PhaseChange] = []
    gaps: list[DevelopmentGap] = []
    trends: list[GapTrend] = []
    for roles in combinations(boards, 2):
        first, second = (boards[role] for role in roles)
        before = {team.team: team.metrics for team in first.teams}
        for name, metric in second.metrics.items():
            other = first.metrics.get(name)
            if other is None or not (metric.in_ranking or other.in_ranking):
                continue
            changes += [
                change_between(name, team.team, roles, before[team.team][name], team.metrics[name])
                for team in second.teams
                if name in team.metrics and name in before.get(team.team, {})
            ]
            of_metric = list(_gaps(name, roles, boards, submissions))
            gaps += of_metric
            trends += _trends(of_metric)
    eligible = {(role, team.team) for role in boards for team in boards[role].teams if team.eligible}
    tested = corrected(
        changes, lambda one: (one.metric, one.first, one.second, (one.second, one.team) in eligible)
    )
    return Generalisation(tested, tuple(gaps), tuple(trends)) if changes else None


def notices_of(found: Generalisation | None, boards: Mapping[str, PhaseLeaderboard]) -> Iterator[str]:
    """Yield which teams are significantly better and worse in the later of two phases, by metric."""
    grouped: dict[tuple[str, str, str], list[PhaseChange]] = {}
    for one in found.changes if found else ():
        if one.p_holm is not None:
            grouped.setdefault((one.first, one.second, one.metric), []).append(one)
    for (first, second, metric), changes in grouped.items():
        upwards = 1 if boards[second].metrics[metric].better == "higher" else -1
        shown = [one for one in changes if (one.p_holm or 0.0) < SIGNIFICANT]
        worse, better = ([one.team for one in shown if s * upwards * one.change > 0] for s in (-1, 1))
        told = f"worse: {', '.join(worse) or 'none'}; better: {', '.join(better) or 'none'}"
        yield f"{first} to {second}, {metric}: {told} (of {len(changes)} teams, Holm)"


def change_between(
    metric: str, team: str, roles: tuple[str, str], first: MetricOfTeam, second: MetricOfTeam
) -> PhaseChange:
    """Return the change of a metric between two phases with independent cases.

    The interval recovers the variance on each side from the intervals of the two values; p takes the side
    towards 0, so that it is below 5 % where the interval leaves 0 out. Neither without both intervals.
    Source: Zou and Donner 2008, Stat. Med. 27:1693 (MOVER), for proportions Newcombe 1998, 17:873, method 10.
    """
    change = float(published_difference(second.value, first.value))
    found = PhaseChange(metric, team, *roles, first.value, second.value, change)
    if first.lower is None or first.upper is None or second.lower is None or second.upper is None:
        return found
    down = math.hypot(second.value - second.lower, first.upper - first.value)
    up = math.hypot(second.upper - second.value, first.value - first.lower)
    towards = down if change > 0 else up
    p_value = 1.0 if change == 0 else None
    if towards > 0:
        p_value = 2 * _NORMAL.cdf(-abs(change) / towards * _NORMAL.inv_cdf(0.975))
    return replace(found, lower=change - down, upper=change + up, p_value=p_value)


def _gaps(
    name: str,
    roles: tuple[str, str],
    boards: Mapping[str, PhaseLeaderboard],
    submissions: Mapping[str, Sequence[Submission]],
) -> Iterator[DevelopmentGap]:
    first, second = roles
    upwards = 1 if boards[second].metrics[name].better == "higher" else -1
    counting = {team.team: team.submission for team in boards[first].teams}
    for team in (team for team in boards[second].teams if team.eligible):
        earlier = [one for one in submissions[first] if one.team == team.team and one.values]
        at = {one.name: position for position, one in enumerate(earlier, start=1)}
        for one in (one for one in submissions[second] if one.team == team.team and name in one.values):
            counts, evaluations = one.name == team.submission, at.get(one.name, len(at))
            chosen = at.get(one.name) or at.get(counting.get(team.team, "")) if counts else at.get(one.name)
            if chosen and name in (values := earlier[chosen - 1].values):
                gap = float(published_difference(values[name], one.values[name]))
                both = values[name], one.values[name], upwards * gap
                yield DevelopmentGap(name, *roles, team.team, one.name, counts, evaluations, *both)


def _trends(gaps: Sequence[DevelopmentGap]) -> Iterator[GapTrend]:
    """Yield the trends over the teams, and over the submissions of each team, with at least three points."""
    samples: dict[str | None, list[DevelopmentGap]] = {None: [one for one in gaps if one.counts]}
    for one in gaps:
        samples.setdefault(one.team, []).append(one)
    for team, sample in samples.items():
        if len(sample) < 3:
            continue
        evaluations, gap = np.array([[one.evaluations, one.gap] for one in sample]).T
        found = spearman(evaluations, gap, len(sample))
        if found.value is not None:
            few = len(sample) <= _MOST_EXACT
            p_value = exact_spearman_p(evaluations, gap) if few else found.p_value
            of = sample[0].metric, sample[0].first, sample[0].second, team, len(sample)
            yield GapTrend(*of, found.value, found.lower, found.upper, p_value)


def exact_spearman_p(first: Floats, second: Floats) -> float:
    """Return the two-sided p of Spearman's correlation over all orders of one of two columns.

    Shape (cases,), neither constant, at most eight cases: the share of orders whose correlation is as far
    from 0, or farther.
    """
    a, b = mid_ranks(np.stack([published(first), published(second)])) - (len(first) + 1) / 2
    return float(np.mean(np.abs(b[_orders(len(a))] @ a) >= abs(a @ b) - _ROUNDING))


@cache
def _orders(cases: int) -> NDArray[np.intp]:
    return np.array(list(permutations(range(cases))), dtype=np.intp)
