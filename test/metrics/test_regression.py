import math

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation import metrics
from evaluation.metrics.regression import (
    weighted_intraclass_correlation,
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


@settings(max_examples=30)
@given(CASES)
def test_errors_are_those_of_scikit_learn(rows):
    predicted, reference, weights = (np.array(column, float) for column in zip(*rows, strict=True))
    for chosen in (None, weights):
        absolute = oracle.mean_absolute_error(reference, predicted, sample_weight=chosen)
        squared = oracle.root_mean_squared_error(reference, predicted, sample_weight=chosen)
        assert metrics.mean_absolute_error(predicted, reference, weights=chosen) == pytest.approx(absolute)
        assert metrics.root_mean_squared_error(predicted, reference, weights=chosen) == pytest.approx(squared)
        mean = np.average(predicted - reference, weights=chosen)
        assert metrics.bias(predicted, reference, weights=chosen) == pytest.approx(mean, abs=1e-12)
        size = np.average(np.abs(reference), weights=chosen)
        expected = absolute / size if size else math.nan
        found = metrics.normalised_absolute_error(predicted, reference, weights=chosen)
        assert found == pytest.approx(expected, nan_ok=True)


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


@settings(max_examples=20)
@given(CASES)
def test_a_weight_is_a_number_of_copies(cases):
    predicted, truth, weights, *copied = regression_columns(cases)
    alone = weighted_intraclass_correlation(*copied, np.ones((1, len(copied[0]))))
    assert weighted_intraclass_correlation(predicted, truth, weights) == pytest.approx(
        alone, abs=1e-9, nan_ok=True
    )


@settings(max_examples=20)
@given(CASES)
def test_each_row_of_weights_has_its_own_value(cases):
    predicted, truth, weights, _, _ = regression_columns(cases)
    rows = np.concatenate([weights, np.ones_like(weights), np.zeros_like(weights)])
    for figure in (
        weighted_pearson_correlation,
        weighted_spearman_correlation,
        weighted_intraclass_correlation,
    ):
        alone = [figure(predicted, truth, row[np.newaxis])[0] for row in rows]
        np.testing.assert_allclose(figure(predicted, truth, rows), alone, atol=1e-9)


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
