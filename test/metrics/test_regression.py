import math

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation import metrics
from evaluation.metrics.regression import (
    concordance_influence,
    weighted_concordance_index,
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
    assert math.isnan(function([1.0], [math.nan]))
    assert function([1.0, 2.0, math.nan], [1.0, 4.0, math.nan]) == function([1.0, 2.0], [1.0, 4.0])
    with pytest.raises(ValueError, match=r"^predicted and truth:"):
        function([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match=r"^weights:"):
        function([1.0, 2.0], [1.0, 2.0], weights=[1, -1])


CASES = st.lists(st.tuples(*[st.integers(-5, 5)] * 2, st.integers(1, 3)), min_size=3, max_size=25)


def regression_columns(cases):
    predicted, truth, weights = (np.array(column, dtype=float) for column in zip(*cases, strict=True))
    copies = np.repeat(np.arange(len(cases)), weights.astype(int))
    return predicted, truth, weights[None], predicted[copies], truth[copies]


@given(CASES)
def test_errors_as_scikit_learn(cases):
    predicted, truth, weights, _, _ = regression_columns(cases)
    options = {"sample_weight": weights[0]}
    for ours, theirs in [
        (metrics.mean_absolute_error, oracle.mean_absolute_error(truth, predicted, **options)),
        (metrics.root_mean_squared_error, oracle.root_mean_squared_error(truth, predicted, **options)),
        (metrics.bias, np.average(predicted - truth, weights=weights[0])),
    ]:
        assert ours(predicted, truth, weights=weights[0]) == pytest.approx(theirs, abs=1e-12)


@given(CASES)
def test_correlations_as_scipy_of_copied_cases(cases):
    predicted, truth, weights, copied_predicted, copied_truth = regression_columns(cases)
    for ours, theirs in [
        (weighted_pearson_correlation, stats.pearsonr),
        (weighted_spearman_correlation, stats.spearmanr),
    ]:
        found = ours(predicted, truth, weights)[0]
        if len(set(truth)) == 1:
            assert np.isnan(found)
        elif len(set(predicted)) == 1:
            assert found == 0.0
        else:
            assert found == pytest.approx(theirs(copied_predicted, copied_truth).statistic, abs=1e-12)


def test_intraclass_correlation_of_the_paper():
    # Judges 1 and 4 of Shrout and Fleiss 1979, Table 2, through their table of sums of squares.
    first, second = np.array([9, 6, 8, 7, 10, 6.0]), np.array([8, 2, 8, 6, 9, 7.0])
    grand, number = (first.sum() + second.sum()) / 12, 6
    between = 2 * (((first + second) / 2 - grand) ** 2).sum() / (number - 1)
    judges = number * ((first.mean() - grand) ** 2 + (second.mean() - grand) ** 2)
    total = ((first - grand) ** 2).sum() + ((second - grand) ** 2).sum()
    error = (total - between * (number - 1) - judges) / (number - 1)
    expected = (between - error) / (between + error + 2 * (judges - error) / number)
    assert weighted_intraclass_correlation(first, second, np.ones((1, 6)))[0] == pytest.approx(expected)


@given(CASES)
def test_a_weight_is_a_number_of_copies(cases):
    predicted, truth, weights, copied_predicted, copied_truth = regression_columns(cases)
    ones = np.ones((1, len(copied_truth)))
    for figure in (
        weighted_intraclass_correlation,
        weighted_spearman_correlation,
    ):
        np.testing.assert_allclose(
            figure(predicted, truth, weights), figure(copied_predicted, copied_truth, ones), atol=1e-9
        )
    found = metrics.normalised_absolute_error(predicted, truth, weights=weights[0])
    expected = metrics.normalised_absolute_error(copied_predicted, copied_truth)
    assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (metrics.mean_absolute_error, 1.5),
        (metrics.root_mean_squared_error, np.sqrt(2.5)),
        (metrics.bias, 0.5),
        (metrics.normalised_absolute_error, 3 / 5),
    ],
)
def test_by_hand(figure, expected):
    # The third case has no true value and does not enter.
    assert figure([3, 3, 9], [1, 4, np.nan]) == pytest.approx(expected)


@pytest.mark.parametrize(
    "figure",
    [
        weighted_pearson_correlation,
        weighted_spearman_correlation,
        weighted_intraclass_correlation,
    ],
)
def test_nothing_has_no_value(figure):
    assert np.isnan(figure([1.0], [np.nan], np.ones((1, 1)))[0])
    assert np.isnan(figure([], [], np.ones((1, 0)))[0])


@pytest.mark.parametrize("seed", INTRACLASS)
def test_intraclass_correlation_as_pingouin(seed):
    found = weighted_intraclass_correlation(*rated_pairs(seed), np.ones((1, 25)))
    assert found[0] == pytest.approx(INTRACLASS[seed], abs=1e-9)


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
def test_an_intraclass_correlation_far_from_zero(seed):
    """What all values have in common costs no digits."""
    first, second = rated_pairs(seed)
    found = weighted_intraclass_correlation(first + 2.0**30, second + 2.0**30, np.ones((1, 25)))
    assert found[0] == pytest.approx(INTRACLASS[seed], abs=1e-6)


def test_the_influence_of_a_case_on_the_concordance_index_is_its_derivative():
    rng = np.random.default_rng(5)
    time, predicted = rng.integers(1, 9, (2, 25)) * 1.0
    event = rng.random(25) < 0.6
    time[3], predicted[4] = np.nan, np.nan
    step = 1e-6
    moved = np.ones((25, 25)) + step * np.eye(25)
    value = weighted_concordance_index(predicted, time, event, np.ones((1, 25)))
    slopes = (weighted_concordance_index(predicted, time, event, moved) - value) / step
    assert concordance_influence(predicted, time, event) == pytest.approx(slopes, abs=1e-5)
