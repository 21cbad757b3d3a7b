import math

import numpy as np
import pytest

from evaluation.metrics import concordance_index
from evaluation.metrics.regression import concordance_influence, weighted_concordance_index
from test.metrics.record_concordance import survival_data
from test.oracles import Recorded

# See record_concordance.py.
RECORDED = Recorded(
    "lifelines.utils.concordance_index",
    {0: 0.7725918570009931, 1: 0.7276073619631902, 2: 0.7690815006468306},
)


@pytest.mark.parametrize(
    ("predicted", "time", "event", "expected"),
    [
        ([1, 2, 3], [1, 2, 3], [1, 1, 1], 1.0),
        ([3, 2, 1], [1, 2, 3], [1, 1, 1], 0.0),
        # Of equal times the event comes first; two events of one time are not compared.
        ([1, 2], [5, 5], [1, 0], 1.0),
        ([1, 2], [5, 5], [1, 1], np.nan),
        # Censored before the other's event: not comparable.
        ([1, 2], [1, 2], [0, 1], np.nan),
        # The case without a result loses its pairs with both others; the one left is in order.
        ([np.nan, 2, 3], [1, 2, 3], [1, 1, 1], 1 / 3),
        # A case without a time does not enter.
        ([1, 2, 0], [1, 2, np.nan], [1, 1, 1], 1.0),
    ],
)
def test_small_sets(predicted, time, event, expected):
    found = weighted_concordance_index(predicted, time, event, np.ones((1, len(time))))
    np.testing.assert_allclose(found, [expected])


@pytest.mark.parametrize("seed", RECORDED)
def test_as_lifelines(seed):
    predicted, time, event = survival_data(seed)
    assert concordance_index(predicted, time, event) == pytest.approx(RECORDED[seed], abs=1e-12)
    assert concordance_index(-predicted, time, event) == pytest.approx(1 - RECORDED[seed], abs=1e-12)
    copies = np.repeat(np.arange(len(time)), np.arange(len(time)) % 3)
    found = concordance_index(predicted, time, event, weights=np.arange(len(time)) % 3)
    assert found == pytest.approx(concordance_index(predicted[copies], time[copies], event[copies]))


def test_empty_input_and_arguments_that_do_not_fit():
    assert math.isnan(concordance_index([], [], []))
    assert concordance_index([1, 2], [0, 0.5], [1, 1]) == 1  # observed from the very start
    with pytest.raises(ValueError, match=r"^predicted_time, time and event:"):
        concordance_index([1], [1, 2], [1, 0])
    with pytest.raises(ValueError, match=r"^time:"):
        concordance_index([1, 2, 3], [1, -2, math.nan], [1, 0, 1])
    with pytest.raises(ValueError, match=r"^event:"):
        concordance_index([1, 2], [1, 2], [1, 2])


def test_pairs_in_many_portions_count_as_at_once():
    """Each of 50 cases is there 50 times: of 2,500 there are more pairs than are looked at together."""
    rng = np.random.default_rng(8)
    predicted, time = rng.integers(1, 30, (2, 50)).astype(float)
    event, weights = rng.random(50) < 0.7, rng.integers(0, 4, (5, 50))
    many = [np.tile(column, 50) for column in (predicted, time, event)]
    np.testing.assert_allclose(
        weighted_concordance_index(*many, np.tile(weights, 50)),
        weighted_concordance_index(predicted, time, event, 50 * weights),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        50 * concordance_influence(*many),
        np.tile(concordance_influence(predicted, time, event), 50),
        rtol=1e-9,
        atol=1e-12,
    )
