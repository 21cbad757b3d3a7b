import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from evaluation.metrics import brier_score, expected_calibration_error, macro_auc


@given(st.integers(3, 5), st.integers(0, 2**32 - 1))
def test_several_classes_as_scikit_learn(classes, seed):
    generator = np.random.default_rng(seed)
    labels = np.concatenate((np.arange(classes), generator.integers(0, classes, 10)))
    shares = generator.dirichlet(np.ones(classes), len(labels))
    weights = generator.integers(1, 4, len(labels))
    for chosen in (None, weights):
        options = {"labels": range(classes), "sample_weight": chosen}
        expected = oracle.brier_score_loss(labels, shares, scale_by_half=False, **options)
        assert brier_score(shares, labels, weights=chosen) == pytest.approx(expected)
        expected = oracle.roc_auc_score(labels, shares, multi_class="ovr", sample_weight=chosen)
        assert macro_auc(shares, labels, weights=chosen) == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.integers(1, 3)), min_size=1, max_size=20),
    st.integers(1, 12),
)
def test_two_classes_by_their_definitions(cases, bins):
    shares, labels, weights = (np.array(column, dtype=float) for column in zip(*cases, strict=True))
    expected = oracle.brier_score_loss(labels, shares, sample_weight=weights, pos_label=1)
    assert brier_score(shares, labels, weights=weights) == pytest.approx(expected, abs=1e-12)
    distance = 0.0
    for number in range(bins):
        # The bin of a number is decided by its product with the number of bins.
        position = np.minimum(np.floor(shares * bins), bins - 1)
        inside = position == number
        if inside.any():
            predicted, observed = (np.average(x[inside], weights=weights[inside]) for x in (shares, labels))
            distance += weights[inside].sum() / weights.sum() * abs(predicted - observed)
    found = expected_calibration_error(shares, labels, bins=bins, weights=weights)
    assert found == pytest.approx(distance, abs=1e-12)


def test_empty_input():
    assert math.isnan(brier_score([], []))
    assert math.isnan(expected_calibration_error([], []))
    assert math.isnan(macro_auc(np.zeros((0, 3)), []))


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: brier_score([1.5], [1]), "probabilities: expected numbers from 0 to 1"),
        (lambda: brier_score([math.nan], [1]), "probabilities: expected numbers from 0 to 1"),
        (lambda: brier_score([0.5], [2]), "labels: expected 0 and 1 only, found 2"),
        (lambda: brier_score([[0.5, 0.5]], [2]), "labels: expected class indices from 0 to 1"),
        (lambda: brier_score([0.5, 0.5], [1]), r"labels: expected shape \(2,\), found \(1,\)"),
        (lambda: expected_calibration_error([0.5], [1], bins=0), "bins: expected at least 1, found 0"),
        (lambda: expected_calibration_error([[0.5, 0.5]], [1]), r"expected shape \(cases,\), found \(1, 2\)"),
        (lambda: macro_auc([0.5], [1]), r"scores: expected numbers of shape \(cases, classes\)"),
        (lambda: macro_auc([[0.5, math.nan]], [1]), r"scores: expected numbers of shape \(cases, classes\)"),
    ],
)
def test_arguments_that_do_not_fit(call, problem):
    with pytest.raises(ValueError, match=problem):
        call()
