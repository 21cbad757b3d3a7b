import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as oracle

from evaluation.metrics import regression
from test.metrics.record_intraclass import rated_pairs
from test.oracles import Recorded

# See record_intraclass.py.
INTRACLASS = Recorded(
    "pingouin.intraclass_corr", {0: 0.7074826458074325, 1: 0.6904375503809228, 2: 0.6011786585944787}
)

CASES = st.lists(st.tuples(*[st.integers(-5, 5)] * 2, st.integers(1, 3)), min_size=3, max_size=25)


def columns(cases):
    predicted, truth, weights = (np.array(column, dtype=float) for column in zip(*cases, strict=True))
    copies = np.repeat(np.arange(len(cases)), weights.astype(int))
    return predicted, truth, weights[None], predicted[copies], truth[copies]


@given(CASES)
def test_errors_as_scikit_learn(cases):
    predicted, truth, weights, _, _ = columns(cases)
    options = {"sample_weight": weights[0]}
    for ours, theirs in [
        (regression.mean_absolute_error, oracle.mean_absolute_error(truth, predicted, **options)),
        (regression.root_mean_squared_error, oracle.root_mean_squared_error(truth, predicted, **options)),
        (regression.bias, np.average(predicted - truth, weights=weights[0])),
    ]:
        assert ours(predicted, truth, weights)[0] == pytest.approx(theirs, abs=1e-12)


@given(CASES)
def test_correlations_as_scipy_of_copied_cases(cases):
    predicted, truth, weights, copied_predicted, copied_truth = columns(cases)
    for ours, theirs in [
        (regression.pearson_correlation, stats.pearsonr),
        (regression.spearman_correlation, stats.spearmanr),
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
    assert regression.intraclass_correlation(first, second, np.ones((1, 6)))[0] == pytest.approx(expected)


@given(CASES)
def test_a_weight_is_a_number_of_copies(cases):
    predicted, truth, weights, copied_predicted, copied_truth = columns(cases)
    ones = np.ones((1, len(copied_truth)))
    for figure in (
        regression.intraclass_correlation,
        regression.normalised_absolute_error,
        regression.spearman_correlation,
    ):
        np.testing.assert_allclose(
            figure(predicted, truth, weights), figure(copied_predicted, copied_truth, ones), atol=1e-9
        )


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        (regression.mean_absolute_error, 1.5),
        (regression.root_mean_squared_error, np.sqrt(2.5)),
        (regression.bias, 0.5),
        (regression.normalised_absolute_error, 3 / 5),
    ],
)
def test_by_hand(figure, expected):
    # The third case has no true value and does not enter.
    found = figure([3, 3, 9], [1, 4, np.nan], np.ones((1, 3)))
    assert found[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "figure",
    [
        regression.mean_absolute_error,
        regression.root_mean_squared_error,
        regression.bias,
        regression.normalised_absolute_error,
        regression.pearson_correlation,
        regression.spearman_correlation,
        regression.intraclass_correlation,
    ],
)
def test_nothing_has_no_value(figure):
    assert np.isnan(figure([1.0], [np.nan], np.ones((1, 1)))[0])
    assert np.isnan(figure([], [], np.ones((1, 0)))[0])


def test_refuses_columns_that_do_not_fit():
    with pytest.raises(ValueError, match="expected one shape"):
        regression.bias([1.0], [1.0, 2.0], np.ones((1, 2)))


@pytest.mark.parametrize("seed", INTRACLASS)
def test_intraclass_correlation_as_pingouin(seed):
    found = regression.intraclass_correlation(*rated_pairs(seed), np.ones((1, 25)))
    assert found[0] == pytest.approx(INTRACLASS[seed], abs=1e-9)
