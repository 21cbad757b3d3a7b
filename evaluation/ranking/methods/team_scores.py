"""The scores of all teams in a metric by a ranking method, under any weights of the cases.

The teams' values are the columns of one table, and each team's score is a metric of that table. So scores are
resampled like every other metric.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, FloatArray, WeightedCases
from evaluation.core.metric import Aggregate, Metric
from evaluation.core.resampling import values_under
from evaluation.core.scheme import Method, Ties
from evaluation.metrics.averages import weighted_means
from evaluation.platform.result_file import as_written_values
from evaluation.ranking.methods.case_scores import case_ranks, weighted_quantiles
from evaluation.ranking.methods.significant_wins import significant_wins

Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class TeamScores:
    """One metric of several teams: their values by case, and a metric that gives each team's score.

    ``better``: the direction of the scores; for ranks and wins it differs from the metric's.
    """

    table: CaseTable
    metrics: Mapping[str, Metric]
    better: Better

    def under(self, weights: NDArray[np.float64]) -> FloatArray:
        """Return the scores under weights of shape (rows, cases), shape (rows, teams)."""
        found = values_under(self.metrics, [self.table], [weights])
        return as_written_values(np.concatenate(list(found.values()), axis=1))

    def resampled(self, blocks: Iterable[NDArray[np.float64]]) -> FloatArray:
        """Return the scores under blocks of bootstrap weights, shape (resamples, teams)."""
        return np.concatenate([self.under(weights) for weights in blocks])


def is_by_method(metric: Metric, method: Method) -> bool:
    """Return whether a method ranks other scores than the metric's own values: never "mean-then-rank".

    A metric that is not a mean over cases, such as the area under a curve, keeps its own value.
    """
    return method.name != "mean-then-rank" and metric.aggregate.spread_column is not None


def team_scores(
    metric: Metric, tables: Mapping[str, CaseTable], method: Method, ties: Ties
) -> TeamScores | None:
    """Return the scores of the teams in ``tables``, which have the same cases.

    None without any team, and where the metric's own value is ranked, see `is_by_method`.
    """
    column = metric.aggregate.spread_column
    if column is None or not is_by_method(metric, method) or not tables:
        return None
    first = next(iter(tables.values()))
    values = as_written_values(np.stack([table[column] for table in tables.values()]))
    strata = metric.aggregate.strata(first)
    better: Better = metric.better
    if method.name in ("rank-then-mean", "rank-then-median"):
        values, better = case_ranks(values, metric.better, ties), "lower"
    elif method.name == "test-then-rank":
        better = "higher"
    # Strata are a column, so that they follow where cases are taken from the table.
    table = CaseTable(
        first.names,
        [
            {"values": case, "stratum": stratum}
            for case, stratum in zip(values.T.tolist(), strata.tolist(), strict=True)
        ],
    )

    def scores(cases: WeightedCases) -> FloatArray:
        columns = np.array(cases.table.objects("values"), dtype=np.float64).T
        return _scores(method, columns, cases.weights, metric.better)

    def score_of(position: int) -> Aggregate:
        return Aggregate(
            values=lambda cases: cases.derive("scores", scores)[:, position],
            strata=lambda given: given["stratum"].astype(np.int64),
        )

    return TeamScores(
        table,
        {
            team: Metric(team, team, score_of(position), best=1, worst=0)
            for position, team in enumerate(tables)
        },
        better,
    )


def _scores(method: Method, values: FloatArray, weights: NDArray[np.float64], better: Better) -> FloatArray:
    if method.name == "rank-then-mean":
        return weighted_means(values, weights)
    if method.name in ("rank-then-median", "median-then-rank"):
        return weighted_quantiles(values, weights, 0.5)
    if method.name == "quantile-then-rank":
        probability = method.quantile if better == "higher" else 1 - method.quantile
        return weighted_quantiles(values, weights, probability)
    return significant_wins(values, weights, better, method.alpha, method.adjust)
