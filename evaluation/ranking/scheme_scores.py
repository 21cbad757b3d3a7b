"""The scores that a scheme ranks: the metrics' values, or a method's scores from the cases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.scheme import Scheme
from evaluation.ranking.boards import Leaderboards, place_teams
from evaluation.ranking.methods.team_scores import TeamScores, is_by_method, team_scores
from evaluation.ranking.methods.tied_ranks import Better
from evaluation.ranking.resampling import Draws, FloatArray, TeamCases
from evaluation.ranking.results import PhaseResults, RankingError, Submission


class SchemeScores:
    """The scores of submissions in the metrics of a scheme.

    ``by_method``: the metrics that are not ranked by their own values. ``better``: the direction of the
    scores of every metric of the phase and of its composites.
    Raises `RankingError` where a method needs results per case that are missing.
    """

    def __init__(self, results: PhaseResults, scheme: Scheme, submissions: Sequence[Submission]) -> None:
        self._scheme, self._submissions = scheme, submissions
        self._positions: dict[str, list[int]] = {}
        self.by_method: dict[str, TeamScores] = {}
        self.better: dict[str, Better] = {name: figure.better for name, figure in results.figures.items()}
        cases = TeamCases(tuple(s.team for s in submissions), tuple(s.tables for s in submissions))
        for name in scheme.metrics:
            if name not in results.metrics:
                continue
            tables = cases.task_tables(name.partition(".")[0])
            named = {f"{position}": table for position, table in tables.items()}
            without = [s.team for i, s in enumerate(submissions) if name in s.values and i not in tables]
            if without and is_by_method(results.metrics[name], scheme.method):
                raise RankingError(
                    f"{scheme.method.name} needs results per case of {name}, missing: {', '.join(without)}"
                )
            scores = team_scores(results.metrics[name], named, scheme.method, scheme.ties)
            if scores is None:
                continue
            self.by_method[name], self._positions[name] = scores, list(tables)
            self.better[name] = scores.better

    def values(self) -> dict[str, FloatArray]:
        """Return the scores by metric, shape (1, submissions), NaN where a submission has none."""
        found = {
            name: np.array([[submission.values.get(name, math.nan) for submission in self._submissions]])
            for name in self._scheme.metrics
            if name in self.better
        }
        for name, scores in self.by_method.items():
            found[name] = self._wide(name, scores.under(np.ones((1, len(scores.table)))))
        return found

    def under(self, names: Mapping[str, NDArray[np.float64]]) -> dict[str, FloatArray]:
        """Return the scores of ``by_method`` under the weights that ``names`` gives for their metrics."""
        return {
            name: self._wide(name, self.by_method[name].under(weights)) for name, weights in names.items()
        }

    def without(self, cases: Sequence[str]) -> dict[str, FloatArray]:
        """Return the scores of ``by_method`` without each of some cases, shape (cases, submissions)."""
        return self.under(
            {name: _all_but_one(scores.table, cases) for name, scores in self.by_method.items()}
        )

    def resampled(self, draws: Draws) -> dict[str, FloatArray]:
        """Return the bootstrap scores of ``by_method`` that can be resampled, (resamples, submissions)."""
        return {
            name: self._wide(name, scores.resampled(draws.weights(scores.table.names)))
            for name, scores in self.by_method.items()
            if name in draws.strata
        }

    def places(self) -> Leaderboards:
        """Return the leaderboards of the submissions, in their order."""
        return place_teams(self._scheme, self.values(), self.better)

    def _wide(self, name: str, values: FloatArray) -> FloatArray:
        wide = np.full((len(values), len(self._submissions)), np.nan)
        wide[:, self._positions[name]] = values
        return wide


def _all_but_one(table: CaseTable, cases: Sequence[str]) -> NDArray[np.float64]:
    at = {name: position for position, name in enumerate(table.names)}
    weights = np.ones((len(cases), len(table)))
    for row, name in enumerate(cases):
        if name in at:
            weights[row, at[name]] = 0
    return weights
