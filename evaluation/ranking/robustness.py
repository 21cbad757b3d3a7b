"""The places of teams under other schemes and on parts of the cases, beside those of the scheme in force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evaluation.core.resampling import values_under
from evaluation.core.scheme import Scheme
from evaluation.platform.result_file import as_written_values
from evaluation.ranking.boards import Leaderboards, place_teams
from evaluation.ranking.resampling import FloatArray, TeamCases, with_composites
from evaluation.ranking.results import PhaseResults, Submission
from evaluation.ranking.scheme_scores import SchemeScores
from evaluation.ranking.scheme_variants import left_out_metrics, other_methods, other_weights
from evaluation.ranking.statistics.ranks import kendall_tau_b

Kind = Literal["method", "without metric", "weight", "subgroup"]
_MIN_CASES = 2


@dataclass(frozen=True)
class Variation:
    """The places of the ranked teams in one board when one thing differs from the scheme in force.

    ``places``: by team, without teams that have no place. ``tau_b``: Kendall's τ-b to the places in force,
    over the teams that have both; None where it is undefined.
    """

    board: str
    kind: Kind
    change: str
    places: dict[str, int]
    tau_b: float | None


def variations(
    results: PhaseResults,
    scheme: Scheme,
    submissions: Sequence[Submission],
    leaderboards: Leaderboards,
    subgroups: Iterable[str],
) -> tuple[Variation, ...]:
    """Return the places under every other method, without each metric, with other weights, and by subgroup.

    submissions: the ranked ones. leaderboards: theirs in force. subgroups: columns of the case table; a value
    with fewer than two cases is left out. The boards are the overall one, or all where there is none. Another
    method is left out where it changes no metric of the phase or lacks results per case.
    """
    names = [scheme.overall] if scheme.overall else [board.name for board in scheme.boards]
    found: list[Variation] = []
    for kind, change, places in _all(results, scheme, submissions, subgroups):
        for name in names:
            if name in places.boards:
                inforce = leaderboards.boards[name].places[0]
                found.append(
                    _variation(name, kind, change, submissions, inforce, places.boards[name].places[0])
                )
    return tuple(sorted(found, key=lambda variation: names.index(variation.board)))


def _all(
    results: PhaseResults, scheme: Scheme, submissions: Sequence[Submission], subgroups: Iterable[str]
) -> Iterator[tuple[Kind, str, Leaderboards]]:
    complete = all(submission.tables for submission in submissions if submission.values)
    if complete and _has_means(results, scheme):
        for change, other in other_methods(scheme):
            yield "method", change, SchemeScores(results, other, submissions).places()
    variants: tuple[tuple[Kind, Iterator[tuple[str, Scheme]]], ...] = (
        ("without metric", left_out_metrics(scheme)),
        ("weight", other_weights(scheme)),
    )
    for kind, others in variants:
        for change, other in others:
            yield kind, change, SchemeScores(results, other, submissions).places()
    if complete and results.cases is not None:
        for column in subgroups:
            labels = dict(zip(results.cases.names, results.cases.columns.get(column, ()), strict=False))
            for value in sorted(set(labels.values()) - {""}):
                members = {case for case, label in labels.items() if label == value}
                if len(members) >= _MIN_CASES:
                    places = _places_in(results, scheme, submissions, members)
                    yield "subgroup", f"{column} = {value}", places


def _has_means(results: PhaseResults, scheme: Scheme) -> bool:
    return any(
        name in results.metrics and results.metrics[name].aggregate.spread_column for name in scheme.metrics
    )


def _places_in(
    results: PhaseResults, scheme: Scheme, submissions: Sequence[Submission], members: set[str]
) -> Leaderboards:
    """Return the leaderboards over some of the cases."""
    scores = SchemeScores(results, scheme, submissions)
    cases = TeamCases(tuple(s.team for s in submissions), tuple(s.tables for s in submissions))
    composites = {composite.name: composite for composite in results.challenge.composites}
    needed = {
        name
        for metric in scheme.metrics
        for name in (composites[metric].metrics if metric in composites else (metric,))
    }
    values: dict[str, FloatArray] = {}
    for task in dict.fromkeys(name.partition(".")[0] for name in sorted(needed)):
        metrics = {
            name: metric
            for name, metric in results.metrics.items()
            if name in needed and name.partition(".")[0] == task
        }
        if tables := cases.task_tables(task):
            weights = _weights(next(iter(tables.values())).names, members)
            found = values_under(metrics, list(tables.values()), [weights])
            values |= cases.columns(tables, {name: as_written_values(row) for name, row in found.items()})
    values = with_composites(values, list(composites.values()))
    values |= scores.under(
        {name: _weights(part.table.names, members) for name, part in scores.by_method.items()}
    )
    return place_teams(scheme, values, scores.better)


def _weights(names: Sequence[str], members: set[str]) -> FloatArray:
    return np.array([[name in members for name in names]], dtype=np.float64)


def _variation(
    board: str,
    kind: Kind,
    change: str,
    submissions: Sequence[Submission],
    inforce: np.ndarray,
    places: np.ndarray,
) -> Variation:
    both = (inforce > 0) & (places > 0)
    tau = float(kendall_tau_b(inforce[both], places[both][np.newaxis])[0]) if both.sum() > 1 else np.nan
    named = zip((submission.team for submission in submissions), places.tolist(), strict=True)
    return Variation(
        board, kind, change, {team: place for team, place in named if place}, None if np.isnan(tau) else tau
    )


def mean_agreement(found: Sequence[Variation]) -> Mapping[str, float]:
    """Return the mean τ-b by kind of variation."""
    taus: dict[str, list[float]] = {}
    for variation in found:
        if variation.tau_b is not None:
            taus.setdefault(variation.kind, []).append(variation.tau_b)
    return {kind: float(np.mean(values)) for kind, values in taus.items()}
