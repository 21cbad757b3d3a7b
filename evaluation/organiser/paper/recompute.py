"""Recompute the figures of a leaderboard from its values, p and resampled places, without cases."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evaluation.core.scheme import Scheme, SchemeTable
from evaluation.organiser.ranking.comparisons import SIGNIFICANT, Comparisons
from evaluation.organiser.ranking.leaderboard import (
    RankedPhase,
    board_of_team,
    rank_phases,
    would_be_board,
)
from evaluation.organiser.ranking.leaderboard_file import (
    Leaderboard,
    MetricOfPhase,
    MetricOfTeam,
    OrganiserPart,
    PhaseLeaderboard,
    Team,
)
from evaluation.organiser.ranking.methods import METHODS
from evaluation.organiser.ranking.pairwise import holm, significance_tiers
from evaluation.organiser.ranking.rank_statistics import kendall_tau_b, published_difference
from evaluation.organiser.ranking.robustness import Variation
from evaluation.organiser.ranking.stability import PlaceDistribution
from evaluation.phase.places import Better, Leaderboards, place_teams, shared_rank
from evaluation.phase.validation import read_table


def recomputed(board: Leaderboard) -> Leaderboard:
    """Return a leaderboard with everything recomputed that follows from its other content.

    Ranks, scores and places follow from the teams' values and the scheme, differences from values, Holm's
    correction, significance and tiers from p, intervals of places from their distribution, Kendall's τ-b
    from places, and the final ranking from the phases. Under a method that ranks cases, ranks are taken as
    they are. Raises `ValueError` and its like for a leaderboard that contradicts itself.
    """
    schemes = [read_table(SchemeTable, phase.scheme).scheme() for phase in board.phases]
    ranked = [_phase(*one) for one in zip(board.phases, schemes, strict=True)]
    phases = tuple(one.board for one in ranked)
    if board.final is None:
        return replace(board, phases=phases)
    final = rank_phases({one.board.role or "": one for one in ranked}, schemes[0]).final or ()
    places = {team.team: team.distribution for team in board.final}
    rows = tuple(replace(row, distribution=_distribution(places[row.team])) for row in final)
    return replace(board, phases=phases, final=rows)


def _phase(board: PhaseLeaderboard, scheme: Scheme) -> RankedPhase:
    ranked = [team for team in board.teams if team.eligible]
    standing = _standing(board, scheme, ranked)
    teams = tuple(_team(board, scheme, team, ranked, standing) for team in board.teams)
    agreement = {}
    for name, one in board.agreement.items():
        lower, median, upper = np.quantile(one.taus, (0.025, 0.5, 0.975)).tolist()
        agreement[name] = replace(one, lower=lower, median=median, upper=upper)
    found = replace(
        board,
        teams=teams,
        metrics={name: _tested(board, name, metric) for name, metric in board.metrics.items()},
        agreement=agreement,
        robustness=tuple(_variation(one, teams) for one in board.robustness),
    )
    overall = standing.boards.get(scheme.overall or "")
    tie = standing.boards.get(scheme.phase_ties.get(board.role or "", ""))
    names = tuple(team.team for team in ranked)
    return RankedPhase(found, OrganiserPart(), overall, names, None, tie, None, ())


def _standing(board: PhaseLeaderboard, scheme: Scheme, teams: Sequence[Team]) -> Leaderboards:
    by_cases = scheme.method.name in METHODS
    known = [name for name in scheme.metrics if name in board.metrics]
    better: dict[str, Better] = {name: "lower" if by_cases else board.metrics[name].better for name in known}
    columns = {}
    for name in known:
        of_teams = [team.metrics.get(name, MetricOfTeam(np.nan)) for team in teams]
        row = [one.rank if by_cases else one.value for one in of_teams]
        columns[name] = np.array([row], dtype=np.float64)
    return place_teams(scheme, columns, better)


def _team(
    board: PhaseLeaderboard, scheme: Scheme, team: Team, ranked: Sequence[Team], standing: Leaderboards
) -> Team:
    if not team.eligible:
        if scheme.method.name in METHODS:
            return team
        joined = _standing(board, scheme, [*ranked, team]).boards
        boards = {name: would_be_board(joined[name], len(ranked)) for name in team.boards}
        return replace(team, boards=boards)
    row = ranked.index(team)
    boards = {
        name: board_of_team(standing.boards[name], row, scheme.ties, _distribution(of.distribution))
        for name, of in team.boards.items()
    }
    metrics = {
        name: replace(value, rank=shared_rank(standing.ranks[name], row, scheme.ties))
        if name in standing.ranks
        else value
        for name, value in team.metrics.items()
    }
    return replace(team, boards=boards, metrics=metrics)


def _distribution(places: PlaceDistribution | None) -> PlaceDistribution | None:
    """Return the quantiles of resampled places that follow from the shares of the resamples."""
    if places is None:
        return None
    known, shares = zip(*sorted(places.probabilities.items()), strict=True)
    reached = np.cumsum(shares)
    # The shares have 12 digits.
    ends = [known[int(np.argmax(reached >= level - 1e-9))] for level in (0.025, 0.5, 0.975)]
    return replace(places, lower=ends[0], median=ends[1], upper=ends[2])


def _tested(board: PhaseLeaderboard, name: str, metric: MetricOfPhase) -> MetricOfPhase:
    if metric.comparisons is None:
        return metric
    values = {team.team: team.metrics[name].value for team in board.teams if name in team.metrics}
    corrected = holm([pair.p_value for pair in metric.comparisons.pairs])
    pairs = {
        (pair.first, pair.second): replace(
            pair,
            difference=float(published_difference(values[pair.first], values[pair.second])),
            p_holm=p_holm,
            significant=None if p_holm is None else p_holm < SIGNIFICANT,
        )
        for pair, p_holm in zip(metric.comparisons.pairs, corrected, strict=True)
    }
    order = list(dict.fromkeys([*(first for first, _ in pairs), *(second for _, second in pairs)]))
    tiers = significance_tiers(order, lambda a, b: pairs[a, b].second_is_worse)
    kept = tiers if pairs else metric.comparisons.tiers
    return replace(metric, comparisons=Comparisons(tuple(pairs.values()), kept))


def _variation(one: Variation, teams: Sequence[Team]) -> Variation:
    places = {team.team: place for team in teams if (place := team.boards[one.board].place)}
    both = [name for name in places if name in one.places]
    if len(both) < 2:
        return one
    in_force, other = [places[name] for name in both], [one.places[name] for name in both]
    tau = float(kendall_tau_b(in_force, [other])[0])
    return replace(one, tau_b=None if np.isnan(tau) else tau)
