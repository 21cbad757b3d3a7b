"""The leaderboard of one phase from the results of its teams."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evaluation.core.metric import Metric
from evaluation.core.scheme import Scheme
from evaluation.ranking.across import across_rankings
from evaluation.ranking.analysis import Analysis
from evaluation.ranking.annotator_scores import Beside, Scores, beside_teams
from evaluation.ranking.boards import BoardPlaces, Leaderboards
from evaluation.ranking.differences import Difference, against_first_place, of_variants
from evaluation.ranking.leaderboard_file import (
    BoardOfTeam,
    MetricOfPhase,
    MetricOfTeam,
    OrganiserPart,
    PhaseLeaderboard,
    Team,
)
from evaluation.ranking.methods.tied_ranks import Better, shared_rank
from evaluation.ranking.rank_options import RankOptions
from evaluation.ranking.results import PhaseResults, RankingError, Submission
from evaluation.ranking.robustness import variations
from evaluation.ranking.scheme_file import describe_scheme, exact_text
from evaluation.ranking.scheme_scores import SchemeScores
from evaluation.ranking.selection import select
from evaluation.ranking.stability import agreement


@dataclass(frozen=True)
class RankedPhase:
    """A phase's leaderboard, the organiser's part, and the places for a final leaderboard.

    ``first_place``, ``variants`` and ``annotator_scores`` are the rows of the files of these names.

    ``tie`` holds the places that break ties of the final leaderboard, if this phase breaks them.
    """

    board: PhaseLeaderboard
    organiser: OrganiserPart
    overall: BoardPlaces | None
    ranked_teams: tuple[str, ...]
    overall_resampled: BoardPlaces | None
    tie: BoardPlaces | None
    tie_resampled: BoardPlaces | None
    notices: tuple[str, ...]
    first_place: tuple[Difference, ...] = ()
    variants: tuple[Difference, ...] = ()
    annotator_scores: tuple[Beside, ...] = ()


def rank_phase(
    results: PhaseResults, scheme: Scheme, choices: RankOptions, role: str | None = None
) -> RankedPhase:
    """Return the leaderboard of one phase. Raises `RankingError` where results do not fit together."""
    figures = results.figures
    better: dict[str, Better] = {name: figure.better for name, figure in figures.items()}
    if unknown := [name for name in scheme.metrics if name not in figures]:
        raise RankingError(
            *(f"the scheme ranks {name}, which is not a metric of {results.phase}" for name in unknown),
            f"its metrics are {', '.join(figures)}",
        )
    which = choices.which or results.challenge.counts
    chosen = select(results.submissions, results.ineligible, which, scheme, better)
    ranked = tuple(submission for submission in chosen if submission.team not in results.ineligible)
    if not ranked:
        raise RankingError(f"{results.phase}: no team is eligible")
    scores = SchemeScores(results, scheme, ranked)
    leaderboards = scores.places()
    analysis = Analysis(results, scheme, choices, chosen, ranked, scores, leaderboards)
    teams = _teams(results, scheme, chosen, ranked, leaderboards, analysis)
    in_ranking = set(scheme.metrics)
    board = PhaseLeaderboard(
        role=role,
        challenge=results.challenge.name,
        phase=results.phase,
        manifest=results.manifest,
        cases=len(results.cases.names) if results.cases else None,
        scheme=describe_scheme(scheme),
        metrics={
            name: MetricOfPhase(
                metric.title,
                metric.better,
                metric.unit if isinstance(metric, Metric) else "",
                name in in_ranking,
                analysis.intervals.missing.get(name),
                analysis.comparisons.get(name),
                analysis.unranked.get(name, ()),
            )
            for name, metric in figures.items()
            if any(name in submission.values for submission in chosen)
        },
        teams=_in_order(teams, scheme),
        agreement={
            name: found
            for name, standing in analysis.resampled_standings.items()
            if (found := agreement(leaderboards.boards[name], standing.places))
        },
        superiority=analysis.superiority,
        robustness=variations(
            results, scheme, ranked, scores, choices.subgroups, with_tests=not analysis.too_many_to_compare
        ),
        across=across_rankings(
            [submission.team for submission in ranked],
            {
                name: standing.places[0].tolist()
                for name, standing in leaderboards.boards.items()
                if name != scheme.overall
            },
        ),
        subgroup_tests=analysis.subgroup_tests(),
        annotators=analysis.annotators(),
    )
    tie = scheme.phase_ties.get(role or "", "")
    return RankedPhase(
        board,
        analysis.organiser_part(),
        leaderboards.boards[scheme.overall] if scheme.overall else None,
        tuple(submission.team for submission in ranked),
        analysis.resampled_standings.get(scheme.overall or ""),
        leaderboards.boards.get(tie),
        analysis.resampled_standings.get(tie),
        tuple(analysis.notices),
        against_first_place(board, scheme, better),
        of_variants(board, results.variants, better),
        beside_teams(board.teams, {s.team for s in ranked}, _annotator_scores(choices, better), better),
    )


def _annotator_scores(choices: RankOptions, metrics: Collection[str]) -> Scores:
    return choices.annotator_scores(tuple(metrics)) if choices.annotator_scores else {}


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
        position = positions.get(submission.team)
        boards: dict[str, BoardOfTeam] = {}
        ranks: dict[str, float] = {}
        if position is None:
            joined = SchemeScores(results, scheme, (*ranked, submission)).places()
            for name, standing in joined.boards.items():
                if (score := standing.score(len(ranked))) is not None:
                    boards[name] = BoardOfTeam(
                        score=float(score),
                        exact_score=exact_text(score),
                        would_be_place=standing.place(len(ranked)),
                    )
        else:
            ranks = {
                name: shared
                for name, metric_ranks in leaderboards.ranks.items()
                if (shared := shared_rank(metric_ranks, position, scheme.ties))
            }
            for name, standing in leaderboards.boards.items():
                score = standing.score(position)
                if score is not None:
                    boards[name] = BoardOfTeam(
                        standing.place(position),
                        float(score),
                        exact_text(score),
                        rank=shared_rank(standing.places, position, scheme.ties),
                        distribution=distributions[name].get(submission.team),
                    )
        teams.append(
            Team(
                submission.team,
                submission.team not in results.ineligible,
                submission.name,
                sum(other.team == submission.team for other in results.submissions),
                {
                    name: MetricOfTeam(
                        value,
                        ranks.get(name),
                        interval.lower if (interval := analysis.interval(submission.team, name)) else None,
                        interval.upper if interval else None,
                        analysis.rank_sets.get(name, {}).get(submission.team),
                    )
                    for name, value in submission.values.items()
                },
                {board.name: boards.get(board.name, BoardOfTeam()) for board in scheme.boards},
                submission.absence or _variant_note(results, submission.team),
            )
        )
    return teams


def _variant_note(results: PhaseResults, team: str) -> str | None:
    return f"variant of {results.variants[team]}" if team in results.variants else None


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
