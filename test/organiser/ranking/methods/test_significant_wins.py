"""Test then rank: Holm against its definition by hand, and weights as repeated cases."""

import numpy as np
import pytest

from evaluation.organiser.ranking.methods import one_sided_p_values, significant_wins


def test_holm_stops_at_the_first_that_is_kept():
    # Three teams, six tests. One case in which the first is better gives no test below 0.05; twenty do.
    better, worse = np.full(20, 0.9), np.linspace(0.1, 0.5, 20)
    values = np.stack([better, worse, worse])
    ones = np.ones((1, 20))
    assert significant_wins(values, ones, "higher", 0.05, "holm").tolist() == [[2, 0, 0]]
    assert significant_wins(values, ones, "lower", 0.05, "holm").tolist() == [[0, 1, 1]]
    # Twelve cases of which eleven are won: p = 0.0014 alone, and six tests at 0.01 keep it, at 0.005 do not.
    close = np.stack([np.arange(12) + 1.0, np.where(np.arange(12) == 0, 1.5, 0.0)])
    p_value = one_sided_p_values([close[0] - close[1]])[0, 0]
    assert significant_wins(close, np.ones((1, 12)), "higher", 2 * p_value, "holm")[0].tolist() == [1, 0]
    assert significant_wins(close, np.ones((1, 12)), "higher", 1.9 * p_value, "holm")[0].tolist() == [0, 0]
    assert significant_wins(close, np.ones((1, 12)), "higher", 1.9 * p_value, "none")[0].tolist() == [1, 0]


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


def test_a_single_team_beats_nobody():
    assert significant_wins(np.ones((1, 3)), np.ones((2, 3)), "higher", 0.05, "holm").tolist() == [[0], [0]]
