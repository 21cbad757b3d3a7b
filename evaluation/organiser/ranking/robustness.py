"""The places of teams under other schemes and on parts of the cases, beside the places in force."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from evaluation.core.resampling import by_task, values_under
from evaluation.core.scheme import Board, MethodName, Scheme, Term
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.rank_tests import kendall_tau_b
from evaluation.organiser.ranking.resampling import as_ranked
from evaluation.organiser.ranking.scheme_scores import SchemeScores
from evaluation.phase.places import Leaderboards, place_teams


def left_out_metrics(scheme: Scheme) -> Iterator[tuple[str, Scheme]]:
    """Yield the scheme without each of its metrics, where any is left; a board without terms is left out."""
    for metric in scheme.metrics:
        if boards := _without(scheme.boards, metric):
            overall = scheme.overall if any(board.name == scheme.overall for board in boards) else None
            phases = scheme.phases if overall else {}
            names = {board.name for board in boards}
            ties = {role: name for role, name in scheme.phase_ties.items() if phases and name in names}
            yield metric, replace(scheme, boards=boards, overall=overall, phases=phases, phase_ties=ties)


def _without(boards: tuple[Board, ...], metric: str) -> tuple[Board, ...]:
    kept: dict[str, Board] = {}

    def remaining(terms: tuple[Term, ...]) -> tuple[Term, ...]:
        return tuple(
            term for term in terms if (term.board in kept if term.rank is None else term.rank != metric)
        )

    for board in boards:
        if terms := remaining(board.terms):
            kept[board.name] = replace(board, terms=terms, ties=remaining(board.ties))
    return tuple(kept.values())


Kind = Literal["method", "without metric", "subgroup"]
_MIN_CASES = 2


@dataclass(frozen=True)
class Variation:
    """The places of the ranked teams in one board after one change to the scheme in force.

    ``places``: by team, without teams that have no place. ``tau_b``: Kendall's τ-b to the places in force,
    over the teams that have both; None where it is undefined.
    """

    board: str
    kind: Kind
    change: str
    places: dict[str, int]
    tau_b: float | None = None


def variations(
    scores: SchemeScores, subgroups: Iterable[str], with_tests: bool = True
) -> tuple[Variation, ...]:
    """Return the places under every other method, without each metric, and by subgroup.

    scores: of the ranked submissions, in force. subgroups: columns of the case table; a value with fewer
    than two cases is left out. with_tests: whether test-then-rank is a method. The boards are the overall
    one, or all where there is none. Methods are left out where they change no metric of the phase or where
    results per case are missing.
    """
    results, scheme, submissions = scores.results, scores.scheme, scores.submissions
    boards = [scheme.overall] if scheme.overall else list(scheme.board_names)
    values, better, cases = scores.values(), scores.better, results.cases
    in_force = place_teams(scheme, values, better).boards
    found: list[Variation] = []

    def add(kind: Kind, change: str, affected: Collection[str], new: Leaderboards) -> None:
        for name in boards:
            if name in new.boards and name in affected:
                before, now = in_force[name].places[0], new.boards[name].places[0]
                both = (before > 0) & (now > 0)
                taus = kendall_tau_b(before[both], now[both][np.newaxis]) if both.sum() > 1 else [np.nan]
                tau = None if np.isnan(taus[0]) else float(taus[0])
                named = zip((submission.team for submission in submissions), now.tolist(), strict=True)
                places = {team: place for team, place in named if place}
                found.append(Variation(name, kind, change, places, tau))

    ranked = [results.metrics[name] for name in scheme.metrics if name in results.metrics]
    has_means = any(metric.estimator.mean_column is not None for metric in ranked)
    is_complete = all(submission.tables for submission in submissions if submission.values)
    for method in get_args(MethodName) if is_complete and has_means else ():
        if method != scheme.method.name and (with_tests or method != "test-then-rank"):
            other = replace(scheme, method=replace(scheme.method, name=method))
            add("method", method, scheme.board_names, SchemeScores(results, other, submissions).places())
    for change, other in left_out_metrics(scheme):
        affected = [name for name in scheme.board_names if change in scheme.metrics_of(name)]
        add("without metric", change, affected, place_teams(other, values, better))
    for column in subgroups if is_complete else ():
        assert cases is not None
        labels = dict(zip(cases.names, cases.labels(column), strict=True))
        for value in cases.values(column):
            members = {case for case, label in labels.items() if label == value}
            if len(members) >= _MIN_CASES:
                places = _places_in(scores, members)
                add("subgroup", f"{column} = {value}", scheme.board_names, places)
    return tuple(sorted(found, key=lambda variation: boards.index(variation.board)))


def _places_in(scores: SchemeScores, members: set[str]) -> Leaderboards:
    """Return the leaderboards over some of the cases."""

    def weights_of(names: Sequence[str]) -> Floats:
        return np.array([[name in members for name in names]], dtype=np.float64)

    values: dict[str, Floats] = {}
    for task, metrics in by_task(scores.metrics()).items():
        if tables := scores.cases.task_tables(task):
            given = list(tables.values())
            found = values_under(metrics, given, [weights_of(given[0].names)])
            values |= scores.cases.columns(tables, found)
    values = as_ranked(values, scores.results.challenge.composites)
    values |= scores.under({name: weights_of(part.cases) for name, part in scores.by_method.items()})
    return place_teams(scores.scheme, values, scores.better)
