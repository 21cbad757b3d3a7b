"""The public functions on numbers against scikit-learn and SciPy, degenerate input included."""

import math

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation import metrics

columns = st.lists(
    st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(1, 3)), min_size=2, max_size=9
)
ALL = (
    metrics.mean_absolute_error,
    metrics.root_mean_squared_error,
    metrics.bias,
    metrics.normalised_absolute_error,
    metrics.pearson_correlation,
    metrics.spearman_correlation,
    metrics.intraclass_correlation,
)


@settings(max_examples=150, deadline=None)
@given(columns)
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


@settings(max_examples=150, deadline=None)
@given(columns)
def test_correlations_are_those_of_scipy(rows):
    predicted, reference, _ = (np.array(column, float) for column in zip(*rows, strict=True))
    for ours, scipys in (
        (metrics.pearson_correlation, stats.pearsonr),
        (metrics.spearman_correlation, stats.spearmanr),
    ):
        found = ours(predicted, reference)
        if np.ptp(reference) == 0:
            assert math.isnan(found)
        elif np.ptp(predicted) == 0:
            assert found == 0
        else:
            assert found == pytest.approx(scipys(predicted, reference).statistic, abs=1e-9)


def test_intraclass_correlation_by_hand():
    # Means squares of three cases of two raters: cases 3, raters 1/6, error 1/6.
    predicted, reference = [1.0, 2.0, 3.0], [1.0, 3.0, 3.0]
    case_means, grand = np.array([1.0, 2.5, 3.0]), 13 / 6
    cases = 2 * ((case_means - grand) ** 2).sum() / 2
    raters = 3 * ((2.0 - grand) ** 2 + (7 / 3 - grand) ** 2)
    total = sum((value - grand) ** 2 for value in (*predicted, *reference))
    error = (total - 2 * cases - raters) / 2
    expected = (cases - error) / (cases + error + 2 * (raters - error) / 3)
    assert metrics.intraclass_correlation(predicted, reference) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("function", ALL)
def test_without_cases_there_is_no_value(function):
    assert math.isnan(function([], []))
    assert math.isnan(function([math.nan], [1.0]))
    assert function([1.0, 2.0, math.nan], [1.0, 4.0, 9.0]) == function([1.0, 2.0], [1.0, 4.0])
    with pytest.raises(ValueError, match="one shape"):
        function([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="finite numbers of at least 0"):
        function([1.0, 2.0], [1.0, 2.0], weights=[1, -1])
