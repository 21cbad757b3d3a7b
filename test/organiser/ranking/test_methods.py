"""Scores of teams by every method, against R (`challenger/oracle.R`), pandas, NumPy, SciPy and by hand."""

from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy.stats import rankdata, wilcoxon

from evaluation.core.case_table import CaseTable
from evaluation.core.metric import mean_metric
from evaluation.core.scheme import Method
from evaluation.organiser.ranking.methods import (
    case_ranks,
    one_sided_p_values,
    significant_wins,
    team_scores,
    weighted_quantiles,
)
from evaluation.organiser.ranking.rank_tests import mid_ranks
from evaluation.phase.places import competition_ranks, shared_rank, shared_ranks
from evaluation.stats.bootstrap import bootstrap_of

SCORES = np.array(
    [[0.9, 0.5, np.nan, 0.1], [0.9, 0.7, 0.2, 0.1], [0.4, 0.7, np.inf, 0.3], [0.8, 0.1, 0.2, 0.1]]
)


@pytest.mark.parametrize("ties", ["min", "average", "max", "dense"])
@pytest.mark.parametrize("better", ["higher", "lower"])
def test_ranks_are_pandas(ties, better):
    expected = pandas.DataFrame(SCORES).rank(method=ties, ascending=better == "lower", na_option="bottom")
    np.testing.assert_array_equal(case_ranks(SCORES, better, ties), expected.to_numpy())


def test_what_is_infinite_or_not_defined():
    ranks = case_ranks([[np.nan, 1], [np.nan, 2]], "higher", "min")
    np.testing.assert_array_equal(ranks, [[np.nan, 2], [np.nan, 1]])
    assert weighted_quantiles([[np.inf, np.inf, 1.0]], np.ones((1, 3)), 0.75).tolist() == [[np.inf]]
    assert weighted_quantiles([[np.inf, 1.0]], [[0, 3]], 0.5).tolist() == [[1.0]]
    assert np.isnan(weighted_quantiles([[np.nan, np.nan]], np.ones((1, 2)), 0.5)).all()


@pytest.mark.parametrize("probability", [0, 0.05, 0.25, 0.5, 0.95, 1])
def test_quantiles_are_numpys_on_repeated_cases(probability):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(3, 20)).round(1)
    values[1, 4] = np.nan
    weights = rng.integers(0, 4, (6, 20))
    found = weighted_quantiles(values, weights, probability)
    for row, quantiles in zip(weights, found, strict=True):
        for column, quantile in zip(values, quantiles, strict=True):
            repeated = np.repeat(column, row)
            assert quantile == pytest.approx(np.nanquantile(repeated, probability), abs=1e-12)


def once(differences):
    """Return both p-values with every case once."""
    return one_sided_p_values(differences, np.ones((1, len(differences))))[0].tolist()


@pytest.mark.parametrize("decimals", [12, 1, 0])
def test_p_values_are_scipys(decimals):
    differences = np.random.default_rng(1).normal(0.2, 1, (8, 40)).round(decimals)
    for column, alternative in enumerate(("greater", "less")):
        expected = wilcoxon(
            differences, alternative=alternative, method="asymptotic", correction=True, axis=1
        )
        found = [once(pair)[column] for pair in differences]
        np.testing.assert_allclose(found, expected.pvalue, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_repeated_cases_are_weighted_cases(seed):
    rng = np.random.default_rng(seed)
    differences, weights = rng.choice([*range(-3, 4), np.nan], (4, 7)), rng.integers(0, 4, 7)
    for pair in differences:
        assert once(np.repeat(pair, weights)) == one_sided_p_values(pair, [weights])[0].tolist()


def test_equal_decimals_tie():
    as_floats = [0.3 - 0.1, 0.4 - 0.2, 0.5 - 0.7, 0.5]
    assert once(as_floats) == once([0.2, 0.2, -0.2, 0.5])


def test_nothing_left_is_no_evidence():
    assert once([-0.0, 0.0]) == once([]) == [1.0, 1.0]
    assert one_sided_p_values([0.0, np.nan], np.ones((2, 2))).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert one_sided_p_values([1.0, 0.0], [[0, 1]]).tolist() == [[1.0, 1.0]]


def test_holm_stops_at_the_first_that_is_kept():
    def wins(values, better, level, adjust):
        return significant_wins(values, np.ones((1, values.shape[1])), better, level, adjust)[0].tolist()

    # Three teams, six tests. One case in which the first is better gives no test below 0.05; twenty do.
    better, worse = np.full(20, 0.9), np.linspace(0.1, 0.5, 20)
    values = np.stack([better, worse, worse])
    assert wins(values, "higher", 0.05, "holm") == [2, 0, 0]
    assert wins(values, "lower", 0.05, "holm") == [0, 1, 1]
    assert wins(np.ones((1, 3)), "higher", 0.05, "holm") == [0]
    # Twelve cases of which eleven are won: p = 0.0014 alone, and six tests at 0.01 keep it, at 0.005 do not.
    close = np.stack([np.arange(12) + 1.0, np.where(np.arange(12) == 0, 1.5, 0.0)])
    p_value = once(close[0] - close[1])[0]
    assert wins(close, "higher", 2 * p_value, "holm") == [1, 0]
    assert wins(close, "higher", 1.9 * p_value, "holm") == [0, 0]
    assert wins(close, "higher", 1.9 * p_value, "none") == [1, 0]


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_each_row_of_weights_is_ranked_by_itself(better):
    rng = np.random.default_rng(3)
    values = (np.linspace(0, 0.8, 6)[:, np.newaxis] + rng.normal(size=(6, 40))).round(1)
    values[rng.random(values.shape) < 0.1] = np.nan
    weights = rng.integers(0, 3, (4, 40))
    together = significant_wins(values, weights, better, 0.05, "holm")
    one_by_one = [significant_wins(values, row[np.newaxis], better, 0.05, "holm")[0] for row in weights]
    np.testing.assert_array_equal(together, one_by_one)
    assert 0 < together.sum() < together.size


@pytest.mark.parametrize("rule", ["min", "average", "max", "dense"])
@pytest.mark.parametrize(
    "values", [[2.0, 0, 2, 1, 1, 4, 1, 3], [3, np.nan, 3, 0, 3, np.nan], [np.nan], [1, 1], [0, 2, 2, 2, 4]]
)
def test_ranks_of_teams_are_scipys(rule, values):
    row = np.array(values)
    present = ~np.isnan(row)
    expected = np.zeros(row.size)
    expected[present] = rankdata(row[present], method=rule)
    # A second row shows that rows do not mix.
    ranks = competition_ranks(np.stack([row, np.arange(row.size)]), "lower")
    numerators, denominator = shared_ranks(ranks, rule)
    np.testing.assert_array_equal(numerators / denominator, [expected, np.arange(1, row.size + 1)])
    if rule == "average" and present.all():
        np.testing.assert_array_equal(mid_ranks(row), expected)
    # Whole ranks are integers.
    texts = [repr(shared_rank(ranks, team, rule)) for team in range(row.size)]
    assert texts == [f"{rank:g}" if rank else "None" for rank in expected]
    np.testing.assert_array_equal(competition_ranks([-row], "higher")[0], ranks[0])


ORACLE = Path(__file__).parent / "challenger"
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
    scores = found.under(np.ones((1, len(found.cases))))
    numerators, denominator = shared_ranks(competition_ranks(scores, found.better), row.ties)
    assert (numerators[0] / denominator).tolist() == [getattr(row, team) for team in tables]


def test_scores_are_resampled_with_the_weights_of_the_metric():
    tables = tables_of("random")
    found = team_scores(METRIC, tables, Method("rank-then-mean"), "min")
    resampled = found.resampled(bootstrap_of(np.zeros(50, dtype=int), None, 1, 300).case_weights())
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
