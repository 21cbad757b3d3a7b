"""The public functions on decisions against scikit-learn and by hand, degenerate input included."""

import math

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import f1_score, hamming_distance, sensitivity, specificity


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(1, 3)), max_size=12))
def test_f1_is_that_of_scikit_learn(rows):
    if not rows:
        assert f1_score([], []) == 1
        return
    predicted, reference, weights = (np.array(column) for column in zip(*rows, strict=True))
    for chosen in (None, weights):
        wanted = oracle.f1_score(reference, predicted, sample_weight=chosen, zero_division=1)
        assert f1_score(predicted, reference, weights=chosen) == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(1, 3)), min_size=1, max_size=12))
def test_sensitivity_and_specificity_are_those_of_scikit_learn(rows):
    predicted, reference, weights = (np.array(column) for column in zip(*rows, strict=True))
    for figure, positive in ((sensitivity, 1), (specificity, 0)):
        for chosen in (None, weights):
            found = figure(predicted, reference, weights=chosen)
            options = {"pos_label": positive, "sample_weight": chosen, "zero_division": np.nan}
            wanted = oracle.recall_score(reference.astype(int), predicted.astype(int), **options)
            assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True)
    assert math.isnan(sensitivity([], []))


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_hamming_distance_is_that_of_scikit_learn(rows, labels, seed):
    predicted, reference = np.random.default_rng(seed).integers(0, 2, (2, rows, labels))
    expected = oracle.hamming_loss(reference, predicted)
    assert hamming_distance(predicted, reference) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("predicted", "reference", "expected"),
    [
        ([1, 0], [1, None], 0),
        ([None, 0], [1, 0], 0.5),
        ([[1, 0], [0, 0]], [[None, None], [1, 0]], 0.5),
        ([[math.nan, 1.0]], [[1.0, 1.0]], 0.5),
        ([1, 0], [None, None], math.nan),
        ([], [], math.nan),
    ],
)
def test_hamming_distance_with_gaps_by_hand(predicted, reference, expected):
    assert hamming_distance(predicted, reference) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: f1_score([1, 0], [1]), r"found \(2,\) and \(1,\)"),
        (lambda: f1_score([2], [1]), "expected 0 and 1 only, found 2"),
        (lambda: hamming_distance([1], [1, 0]), r"found \(1,\) and \(2,\)"),
        (lambda: hamming_distance([0.5], [1]), "expected 0 and 1 only, found 0.5"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
