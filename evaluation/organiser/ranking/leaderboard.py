"""The leaderboard of one phase from the results of its teams, and of a challenge with several phases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.core.metric import Metric
from evaluation.core.scheme import Scheme, Ties
from evaluation.organiser.ranking.across import across_rankings
from evaluation.organiser.ranking.analysis import Analysis, RankOptions
from evaluation.organiser.ranking.annotator_scores import Beside, beside_teams
from evaluation.organiser.ranking.comparisons import MarginTest
from evaluation.organiser.ranking.difficulty import require_subgroups
from evaluation.organiser.ranking.generalisation import generalisation
from evaluation.organiser.ranking.leaderboard_file import (
    FORMAT,
    BoardOfTeam,
    FinalTeam,
    Leaderboard,
    MetricOfPhase,
    MetricOfTeam,
    OrganiserPart,
    PhaseLeaderboard,
    Team,
)
from evaluation.organiser.ranking.results import PhaseResults, RankingError, Submission
from evaluation.organiser.ranking.robustness import variations
from evaluation.organiser.ranking.scheme_file import describe_scheme, exact_text
from evaluation.organiser.ranking.scheme_scores import SchemeScores
from evaluation.organiser.ranking.selection import select
from evaluation.organiser.ranking.stability import PlaceDistribution, agreement, place_distributions
from evaluation.phase.places import Better, BoardPlaces, Leaderboards, combine_phases, shared_rank
from evaluation.stats.figure import Figure

CHOSEN_HERE = "members chosen on these cases: looks better than it is"
"""The note on such an ensemble. Source: Orlando et al. 2020, Med. Image Anal. 59:101570, section 5.1.3."""


@dataclass(frozen=True)
class RankedPhase:
    """A phase's leaderboard, the organiser's part, and the places for a final leaderboard.

    ``annotator_scores`` are the rows of the file of this name. ``tie`` holds the places that break ties of
    the final leaderboard, if this phase breaks them. ``submissions``: all submissions of all teams, in their
    order.
    """

    board: PhaseLeaderboard
    organiser: OrganiserPart
    overall: BoardPlaces | None
    ranked_teams: tuple[str, ...]
    overall_resampled: BoardPlaces | None
    tie: BoardPlaces | None
    tie_resampled: BoardPlaces | None
    notices: tuple[str, ...]
    annotator_scores: tuple[Beside, ...] = ()
    submissions: tuple[Submission, ...] = ()
    margins: tuple[MarginTest, ...] = ()


def rank_phase(
    results: PhaseResults, scheme: Scheme, choices: RankOptions, role: str | None = None
) -> RankedPhase:
    """Return the leaderboard of one phase. Raises `RankingError` where results do not fit together."""
    if results.cases and choices.subgroups:
        require_subgroups(results.cases, choices.subgroups)
    better: dict[str, Better] = {name: figure.better for name, figure in results.figures.items()}
    _require_known(scheme, results)
    which = choices.which or results.challenge.counts
    chosen = select(results.submissions, results.ineligible, which, scheme, better)
    ranked = tuple(submission for submission in chosen if submission.team not in results.ineligible)
    if not ranked:
        raise RankingError(f"{results.phase}: no team is eligible")
    scores = SchemeScores(results, scheme, ranked)
    leaderboards = scores.places()
    analysis = Analysis(results, scheme, choices, chosen, ranked, scores)
    board = PhaseLeaderboard(
        role=role,
        challenge=results.challenge.name,
        phase=results.phase,
        manifest=results.manifest,
        cases=len(results.cases.names) if results.cases else None,
        scheme=describe_scheme(scheme),
        metrics=_metrics_of_phase(results, scheme, chosen, analysis),
        teams=_in_order(_teams(results, scheme, chosen, ranked, leaderboards, analysis), scheme),
        agreement={
            name: found
            for name, standing in analysis.resampled_standings.items()
            if (found := agreement(leaderboards.boards[name], standing.places))
        },
        robustness=variations(
            results, scheme, ranked, scores, choices.subgroups, with_tests=not analysis.too_many_to_compare
        ),
        across=across_rankings([one.team for one in ranked], _places_to_join(scheme, leaderboards)),
        subgroup_tests=analysis.subgroup_tests(),
        annotators=analysis.annotators(),
        clusters=_count_clusters(results),
        titles=dict(results.titles),
    )
    tie = scheme.phase_ties.get(role or "", "")
    annotators = choices.annotator_scores(tuple(better)) if choices.annotator_scores else {}
    margins = analysis.margin_tests(annotators)
    overall = leaderboards.boards[scheme.overall] if scheme.overall else None
    standings = analysis.resampled_standings
    by_digits = _places_by_published_digits(results, scheme, ranked, leaderboards)
    return RankedPhase(
        board=board,
        organiser=analysis.organiser_part(),
        overall=overall,
        ranked_teams=tuple(submission.team for submission in ranked),
        overall_resampled=standings.get(scheme.overall or ""),
        tie=leaderboards.boards.get(tie),
        tie_resampled=standings.get(tie),
        notices=(*results.notices, *analysis.notices(), *by_digits, *analysis.margin_notices(margins)),
        annotator_scores=beside_teams(board.teams, {s.team for s in ranked}, annotators, better),
        submissions=results.submissions,
        margins=margins,
    )


def _require_known(scheme: Scheme, results: PhaseResults) -> None:
    """Raise `RankingError` with every metric that the scheme ranks and the phase does not have."""
    figures = results.figures
    if unknown := [name for name in scheme.metrics if name not in figures]:
        raise RankingError(
            *(f"the scheme ranks {name}, which is not a metric of {results.phase}" for name in unknown),
            f"its metrics are {', '.join(figures)}",
        )


def _metrics_of_phase(
    results: PhaseResults, scheme: Scheme, chosen: Sequence[Submission], analysis: Analysis
) -> dict[str, MetricOfPhase]:
    """Return the metrics and composites that some submission has."""
    in_ranking = set(scheme.metrics)
    return {
        name: MetricOfPhase(
            metric.title,
            metric.better,
            metric.unit if isinstance(metric, Metric) else "",
            name in in_ranking,
            analysis.intervals.missing.get(name),
            analysis.compared.get(name),
            analysis.unranked.get(name, ()),
        )
        for name, metric in results.figures.items()
        if any(name in submission.values for submission in chosen)
    }


def _places_to_join(scheme: Scheme, leaderboards: Leaderboards) -> dict[str, list[int]]:
    """Return the places of all boards but the one that combines them."""
    return {
        name: standing.places[0].tolist()
        for name, standing in leaderboards.boards.items()
        if name != scheme.overall
    }


def _count_clusters(results: PhaseResults) -> int | None:
    clusters = results.resampling.clusters if results.resampling else None
    return len(set(clusters.values())) if clusters else None


def _places_by_published_digits(
    results: PhaseResults, scheme: Scheme, ranked: Sequence[Submission], leaderboards: Leaderboards
) -> list[str]:
    """Return a notice for each board whose places differ where values have the digits of `metrics.json`."""
    if all(submission.more_digits is None for submission in ranked):
        return []
    rounded = [replace(submission, more_digits=None) for submission in ranked]
    published = SchemeScores(results, scheme, rounded).places().boards
    notices = []
    for name, standing in leaderboards.boards.items():
        of_team = zip(ranked, standing.places[0].tolist(), published[name].places[0].tolist(), strict=True)
        if moved := [f"{one.team} {there} for {here}" for one, here, there in of_team if here != there]:
            notices.append(
                f"{name}: the digits of metrics.json give other places, which a platform ranks by: "
                f"{', '.join(moved)} (value_digits in phase.toml publishes more)"
            )
    return notices


def _teams(
    results: PhaseResults,
    scheme: Scheme,
    chosen: Sequence[Submission],
    ranked: Sequence[Submission],
    leaderboards: Leaderboards,
    analysis: Analysis,
) -> list[Team]:
    positions = {submission.team: position for position, submission in enumerate(ranked)}
    distributions = {board.name: analysis.distributions(board.name) for board in scheme.boards}
    teams = []
    for submission in chosen:
        name = submission.team
        ranks: dict[str, float | None] = {}
        if (position := positions.get(name)) is None:
            joined = SchemeScores(results, scheme, (*ranked, submission)).places().boards
            boards = {board: would_be_board(standing, len(ranked)) for board, standing in joined.items()}
        else:
            for metric, metric_ranks in leaderboards.ranks.items():
                ranks[metric] = shared_rank(metric_ranks, position, scheme.ties) or None
            boards = {
                board: board_of_team(standing, position, scheme.ties, distributions[board].get(name))
                for board, standing in leaderboards.boards.items()
            }
        metrics = {}
        for metric, value in submission.values.items():
            figure = analysis.intervals.found.get(metric, {}).get(name, Figure(value))
            rank_set = analysis.rank_sets.get(metric, {}).get(name)
            metrics[metric] = MetricOfTeam(replace(figure, value=value), ranks.get(metric), rank_set)
        number = sum(other.team == name for other in results.submissions)
        chosen_here = name in results.chosen_here
        note = submission.absence or (CHOSEN_HERE if chosen_here else None)
        eligible = name not in results.ineligible
        about = (note, chosen_here, submission.seconds)
        teams.append(Team(name, eligible, submission.name, number, metrics, boards, *about))
    return teams


def board_of_team(
    standing: BoardPlaces, position: int, ties: Ties, distribution: PlaceDistribution | None = None
) -> BoardOfTeam:
    """Return the place of a ranked team by its position in a leaderboard; empty without a place."""
    if (score := standing.score(position)) is None:
        return BoardOfTeam()
    place, rank = standing.place(position), shared_rank(standing.places, position, ties)
    return BoardOfTeam(place, float(score), exact_text(score), rank, distribution=distribution)


def would_be_board(standing: BoardPlaces, position: int) -> BoardOfTeam:
    """Return the place that an unranked team takes by its position in a leaderboard that it alone joined."""
    if (score := standing.score(position)) is None:
        return BoardOfTeam()
    return BoardOfTeam(None, float(score), exact_text(score), would_be_place=standing.place(position))


def _in_order(teams: Sequence[Team], scheme: Scheme) -> tuple[Team, ...]:
    """Return teams by overall place, else by the first board; unranked teams after their would-be place."""
    boards = [scheme.overall] if scheme.overall else []
    boards += [board.name for board in scheme.boards if board.name != scheme.overall]

    def key(team: Team) -> tuple[list[tuple[int, bool]], str]:
        places = []
        for name in boards:
            board = team.boards[name]
            place = board.place or board.would_be_place
            places.append((place or len(teams) + 1, board.place is not None))
        return places, team.team

    return tuple(sorted(teams, key=key))


# --- The final leaderboard of a challenge with several phases ---


def rank_phases(phases: Mapping[str, RankedPhase], scheme: Scheme) -> Leaderboard:
    """Return the leaderboard over all phases of a scheme, by role.

    A scheme that weighs no phases has no final places, only the consensus of the phases.
    Raises `RankingError` for other roles, and for a phase without an overall leaderboard.
    """
    if scheme.phases and set(phases) != set(scheme.phases):
        expected, given = ", ".join(scheme.phases), ", ".join(phases)
        raise RankingError(f"the scheme combines the phases {expected}; given are {given}")
    teams = sorted({team for phase in phases.values() for team in phase.ranked_teams})
    overall = {
        role: _aligned(phase.overall, phase.ranked_teams, teams)
        for role, phase in phases.items()
        if phase.overall is not None
    }
    if without := [role for role in phases if role not in overall]:
        raise RankingError(*(f"{role}: has no overall leaderboard to combine" for role in without))
    notices = [f"{role}: {notice}" for role, phase in phases.items() for notice in phase.notices]
    by_role = {role: phase.board for role, phase in phases.items()}
    boards = tuple(by_role.values())
    across = across_rankings(teams, {role: places.places[0].tolist() for role, places in overall.items()})
    changes = generalisation(by_role)
    if not scheme.phases:
        weights = ", ".join(f"{role} = …" for role in phases)
        notices.append(
            "no final ranking, only the consensus of the phases, since the scheme has no weights of phases: "
            f"phases = {{ {weights} }} in a TOML file for --scheme"
        )
        return Leaderboard(FORMAT, boards, None, tuple(notices), across, generalisation=changes)
    breaking = [phases[role] for role in scheme.phase_ties]
    ties = [_aligned(phase.tie, phase.ranked_teams, teams) for phase in breaking if phase.tie is not None]
    final = combine_phases(scheme, overall, ties)
    distributions: list[PlaceDistribution | None] = [None] * len(teams)
    resampled = {
        role: _aligned(phase.overall_resampled, phase.ranked_teams, teams)
        for role, phase in phases.items()
        if phase.overall_resampled is not None
    }
    rows = {len(standing.places) for standing in resampled.values()}
    if len(resampled) == len(phases) and len(rows) == 1:
        # Phases are drawn independently of each other, even where their seeds are the same.
        shifts = {role: shift for shift, role in enumerate(resampled)}
        apart = {role: _rolled(standing, shifts[role]) for role, standing in resampled.items()}
        ties_apart = [
            _rolled(_aligned(tie, phases[role].ranked_teams, teams), shifts[role])
            for role in scheme.phase_ties
            if (tie := phases[role].tie_resampled) is not None
        ]
        distributions = place_distributions(combine_phases(scheme, apart, ties_apart).places)
    found = []
    for position, team in enumerate(teams):
        place, score = final.place(position), final.score(position)
        number, text = (None, None) if score is None else (float(score), exact_text(score))
        by_phase = {role: standing.place(position) for role, standing in overall.items()}
        distribution = distributions[position] if place else None
        found.append(FinalTeam(team, place, number, text, by_phase, distribution))
    found.sort(key=lambda row: (row.place is None, row.place, row.team))
    if lacking := [row.team for row in found if row.place is None]:
        notices.append(f"no final place, since not placed in every phase: {', '.join(lacking)}")
    return Leaderboard(FORMAT, boards, tuple(found), tuple(notices), across, generalisation=changes)


def leaderboard_of(phases: Mapping[str, RankedPhase], schemes: Mapping[str, Scheme]) -> Leaderboard:
    """Return the leaderboard of one phase, or over several, given by role. Raises `RankingError`."""
    scheme = next(iter(schemes.values()))
    if len(phases) > 1:
        return rank_phases(phases, scheme)
    (phase,) = phases.values()
    notices = list(phase.notices)
    if scheme.phases:
        combined = ", ".join(scheme.phases)
        notices.append(f"the final ranking combines the phases {combined}; this is one of them")
    return Leaderboard(FORMAT, (phase.board,), None, tuple(notices))


def _rolled(standing: BoardPlaces, shift: int) -> BoardPlaces:
    return replace(standing, places=np.roll(standing.places, shift, axis=0))


def _aligned(standing: BoardPlaces, teams: Sequence[str], wanted: Sequence[str]) -> BoardPlaces:
    """Return a leaderboard over other teams; teams missing from it have no place."""
    at = {team: position for position, team in enumerate(teams)}
    places = np.zeros((len(standing.places), len(wanted)), dtype=np.int64)
    numerators = np.zeros_like(places)
    for position, team in enumerate(wanted):
        if team in at:
            places[:, position] = standing.places[:, at[team]]
            numerators[:, position] = standing.numerators[:, at[team]]
    return BoardPlaces(places, numerators, standing.denominator)
