"""Ranks by every method on simulated tasks, against those that R gives (`challenger/oracle.R`)."""

from pathlib import Path

import numpy as np
import pandas
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.core.metric import mean_metric
from evaluation.core.scheme import Method
from evaluation.metrics.bootstrap import bootstrap_weights
from evaluation.organiser.ranking.methods import team_scores
from evaluation.phase.places import competition_ranks, shared_ranks

ORACLE = Path(__file__).parent.parent / "challenger"
VALUES = pandas.read_csv(ORACLE / "example.csv")
RANKS = pandas.read_csv(ORACLE / "ranks.csv")
METRIC = mean_metric("value", "Value", best=1, worst=0)


def tables_of(task):
    table = VALUES[VALUES.task == task].pivot(index="case", columns="team", values="value")
    names = [f"C{case:03}" for case in table.index]
    return {
        team: CaseTable(names, [{"value": value} for value in table[team].tolist()]) for team in table.columns
    }


@pytest.mark.parametrize(
    "row", list(RANKS.itertuples()), ids=lambda row: f"{row.task}, {row.scheme}, {row.ties}"
)
def test_ranks_are_those_of_r(row):
    name, _, unadjusted = row.scheme.partition(", ")
    if name == "mean-then-rank":
        assert team_scores(METRIC, tables_of(row.task), Method(name), row.ties) is None
        return
    tables = tables_of(row.task)
    method = Method(name, adjust="none" if unadjusted else "holm")
    found = team_scores(METRIC, tables, method, row.ties)
    scores = found.under(np.ones((1, len(found.table))))
    numerators, denominator = shared_ranks(competition_ranks(scores, found.better), row.ties)
    assert (numerators[0] / denominator).tolist() == [getattr(row, team) for team in tables]


def test_scores_are_resampled_with_the_weights_of_the_metric():
    tables = tables_of("random")
    found = team_scores(METRIC, tables, Method("rank-then-mean"), "min")
    resampled = found.resampled(bootstrap_weights(np.zeros(50, dtype=int), None, 1, 300, 100))
    assert resampled.shape == (300, 5)
    # The mean of the ranks is linear in the weights, so its resamples scatter about the value.
    np.testing.assert_allclose(resampled.mean(axis=0), found.under(np.ones((1, 50)))[0], atol=0.1)


def test_for_a_distance_the_worse_end_is_the_upper_one():
    distance = mean_metric("value", "Distance", best=0, worst=1)
    tables = tables_of("random")
    found = team_scores(distance, tables, Method("quantile-then-rank", quantile=0.1), "min")
    expected = [np.quantile(table["value"], 0.9) for table in tables.values()]
    np.testing.assert_allclose(found.under(np.ones((1, 50)))[0], expected, rtol=1e-11)
    assert found.better == "lower"
