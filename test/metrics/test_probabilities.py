import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from evaluation.metrics import probabilities
from evaluation.metrics.roc import roc_table

CASES = st.lists(
    st.tuples(st.integers(0, 20).map(lambda k: k / 20), st.booleans(), st.integers(1, 3)),
    min_size=1,
    max_size=30,
)


def columns(cases):
    probability, positive, weights = (np.array(column, dtype=float) for column in zip(*cases, strict=True))
    return probability, positive, weights[None]


@given(CASES)
def test_brier_score_as_scikit_learn(cases):
    probability, positive, weights = columns(cases)
    expected = oracle.brier_score_loss(positive, probability, sample_weight=weights[0], pos_label=1)
    assert probabilities.brier_score(probability, positive, weights)[0] == pytest.approx(expected, abs=1e-12)


@given(st.integers(2, 4), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_multiclass_brier_score_as_scikit_learn(classes, number, seed):
    generator = np.random.default_rng(seed)
    probability = generator.dirichlet(np.ones(classes), number)
    truth = generator.integers(0, classes, number)
    expected = oracle.brier_score_loss(truth, probability, labels=range(classes), scale_by_half=False)
    found = probabilities.multiclass_brier_score(probability, truth, np.ones((1, number)))[0]
    assert found == pytest.approx(expected, abs=1e-12)


@given(CASES)
@pytest.mark.filterwarnings("ignore:No positive class found")
def test_average_precision_as_scikit_learn(cases):
    probability, positive, weights = columns(cases)
    found = probabilities.average_precision(roc_table(probability, positive), weights)[0]
    if positive.any():
        expected = oracle.average_precision_score(positive, probability, sample_weight=weights[0])
        assert found == pytest.approx(expected, abs=1e-12)
    else:
        assert np.isnan(found)


def test_calibration_error_by_hand():
    # Bins of a half: 0.25 and 0.375 (none positive), 0.5 and 1.0 (both positive, 1 lies in the last bin).
    found = probabilities.expected_calibration_error(
        [0.25, 0.375, 0.5, 1.0], [0, 0, 1, 1], np.ones((1, 4)), bins=2
    )
    assert found[0] == pytest.approx((abs(0.625 - 0) + abs(1.5 - 2)) / 4)


def test_calibration_error_weighs_cases():
    # Two copies of the second case: |0.2 + 2 · 0.4 − 2| over three cases, all in one bin.
    found = probabilities.expected_calibration_error([0.2, 0.4], [0, 1], [[1, 2]], bins=1)
    assert found[0] == pytest.approx(1.0 / 3)


@pytest.mark.parametrize(
    ("figure", "missing", "expected"),
    [
        (probabilities.brier_score, [np.nan, 0.0], 0.5),
        (probabilities.expected_calibration_error, [np.nan, 0.0], 0.5),
    ],
)
def test_a_case_without_a_probability_counts_one(figure, missing, expected):
    assert figure(missing, [1, 0], np.ones((1, 2)))[0] == pytest.approx(expected)
    assert np.isnan(figure(missing, [np.nan, np.nan], np.ones((1, 2)))[0])


def test_missing_scores_come_last_for_positives_and_first_for_negatives():
    table = roc_table([np.inf, 0.9, -np.inf], [False, True, True])
    # The missing negative first, then the one found positive: precision ½ for half of the positives.
    assert probabilities.average_precision(table, np.ones((1, 3)))[0] == pytest.approx(0.25)


def test_a_row_of_class_probabilities_with_nan_counts_two():
    found = probabilities.multiclass_brier_score([[np.nan, np.nan], [0, 1]], [0, 1], np.ones((1, 2)))
    assert found[0] == pytest.approx(1.0)
