import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation import metrics
from evaluation.metrics.regression import (
    weighted_pearson_correlation,
    weighted_spearman_correlation,
)
from test.metrics.record_intraclass import rated_pairs
from test.oracles import Recorded

# See record_intraclass.py.
INTRACLASS = Recorded(
    "pingouin.intraclass_corr", {0: 0.7074826458074325, 1: 0.6904375503809228, 2: 0.6011786585944787}
)

CASES = st.lists(st.tuples(*[st.integers(-5, 5)] * 2, st.integers(1, 3)), min_size=2, max_size=15)


@pytest.mark.parametrize(
    "function",
    [
        metrics.mean_absolute_error,
        metrics.root_mean_squared_error,
        metrics.bias,
        metrics.normalised_absolute_error,
        metrics.pearson_correlation,
        metrics.spearman_correlation,
        metrics.intraclass_correlation,
    ],
)
def test_without_cases_there_is_no_value(function):
    assert math.isnan(function([], []))
    assert math.isnan(function([1.0], [math.nan]))
    assert function([1.0, 2.0, math.nan], [1.0, 4.0, math.nan]) == function([1.0, 2.0], [1.0, 4.0])
    with pytest.raises(ValueError, match=r"^predicted and truth:"):
        function([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match=r"^weights:"):
        function([1.0, 2.0], [1.0, 2.0], weights=[1, -1])


def regression_columns(cases):
    predicted, truth, weights = (np.array(column, dtype=float) for column in zip(*cases, strict=True))
    copies = np.repeat(np.arange(len(cases)), weights.astype(int))
    return predicted, truth, weights[None], predicted[copies], truth[copies]


@settings(max_examples=40)
@given(CASES)
def test_correlations_as_scipy_of_copied_cases(cases):
    predicted, truth, weights, copied_predicted, copied_truth = regression_columns(cases)
    for ours, public, theirs in [
        (weighted_pearson_correlation, metrics.pearson_correlation, stats.pearsonr),
        (weighted_spearman_correlation, metrics.spearman_correlation, stats.spearmanr),
    ]:
        found = ours(predicted, truth, weights)[0]
        assert public(predicted, truth, weights=weights[0]) == pytest.approx(found, nan_ok=True)
        if len(set(truth)) == 1:
            assert np.isnan(found)
        elif len(set(predicted)) == 1:
            assert found == 0.0
        else:
            assert found == pytest.approx(theirs(copied_predicted, copied_truth).statistic, abs=1e-12)


def test_predictions_that_vary_in_one_row_of_weights_alone():
    """Equal predictions have a correlation of 0, and none where the true values are equal."""
    rows = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    for figure in (weighted_pearson_correlation, weighted_spearman_correlation):
        assert figure([1, 1, 2], [1, 2, 2], rows).tolist() == pytest.approx([0, np.nan, 1], nan_ok=True)


@pytest.mark.parametrize("seed", INTRACLASS)
def test_intraclass_correlation_as_pingouin(seed):
    predicted, true = rated_pairs(seed)
    assert metrics.intraclass_correlation(predicted, true) == pytest.approx(INTRACLASS[seed], abs=1e-9)
    # What all values have in common costs no digits.
    far = metrics.intraclass_correlation(predicted + 2.0**30, true + 2.0**30)
    assert far == pytest.approx(INTRACLASS[seed], abs=1e-6)
