import math

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import f1_score, hamming_distance, sensitivity, specificity
from evaluation.metrics.confusion import label_errors, modified_hamming_distance, weighted_f1_score


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
        (lambda: f1_score([1, 0], [1]), "^predicted and reference:"),
        (lambda: f1_score([2], [1]), "^predicted:"),
        (lambda: hamming_distance([1], [1, 0]), "^predicted and reference:"),
        (lambda: hamming_distance([0.5], [1]), "^labels:"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


T, F, N = True, False, None


TABLE = {
    # labels [1,0,0,1,1,0,0,1,1,0] against [1,1,0,1,0,0,0,1,1,0]: two of ten are wrong
    "known value": ((T, F, F, T, T, F, F, T, T, F), (T, T, F, T, F, F, F, T, T, F), 0.2),
    "all right": ((T, F), (T, F), 0.0),
    "all wrong": ((T, F), (F, T), 1.0),
    "disagreement is ignored": ((T, T, T, T), (T, N, N, F), 0.5),
    "a missing label is wrong": ((N, T, T, T), (F, T, T, T), 0.25),
    "a missing label in disagreement is ignored": ((N, T), (N, T), 0.0),
    "nothing agreed": ((T, F), (N, N), math.nan),
}


# ADAM, on-site counts of Table 1 (positives of 400) and the row of a team that marked every image.
@pytest.mark.parametrize(
    ("positives", "published"), [(44, 0.1982), (39, 0.1777), (23, 0.1087), (21, 0.0998), (2, 0.0100)]
)
def test_every_image_marked(positives, published):
    found = weighted_f1_score(np.ones(400, bool), np.arange(400) < positives, np.ones((1, 400)))
    assert round(float(found[0]), 4) == published


@pytest.mark.parametrize(
    ("predicted", "present", "expected"),
    [
        ("000", "000", 1),
        ("100", "000", 0),
        ("000", "100", 0),
        ("110", "011", 0.5),
        ("111", "111", 1),
        ("", "", 1),
    ],
)
def test_f1_by_hand(predicted, present, expected):
    as_bool = [[c == "1" for c in text] for text in (predicted, present)]
    assert weighted_f1_score(*as_bool, np.ones((1, len(predicted)))).tolist() == [expected]


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_agrees_with_scikit_learn_under_weights(seed, cases):
    generator = np.random.default_rng(seed)
    predicted, present = generator.random((2, cases)) < 0.4
    weights = generator.integers(0, 4, (5, cases))
    weights = weights[weights.any(axis=1)]
    expected = [oracle.f1_score(present, predicted, sample_weight=row, zero_division=1) for row in weights]
    np.testing.assert_allclose(weighted_f1_score(predicted, present, weights), expected, atol=1e-12)


def test_f1_of_shapes_that_differ():
    with pytest.raises(ValueError, match=r"^predicted, present and weights:"):
        weighted_f1_score([True, False], [True, True], np.ones((1, 3)))


@pytest.mark.parametrize(("predicted", "agreed", "distance"), TABLE.values(), ids=TABLE)
def test_modified_hamming_distance(predicted, agreed, distance):
    found = modified_hamming_distance(label_errors(predicted, agreed))
    assert found == pytest.approx(distance, nan_ok=True)


def test_label_errors_say_which_label():
    assert label_errors((T, F, N, T), (T, T, F, N)) == pytest.approx((0, 1, 1, math.nan), nan_ok=True)


def test_labels_of_another_number_are_refused():
    with pytest.raises(ValueError, match="zip"):
        label_errors((T,), (T, F))


labels = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12)


@given(labels)
def test_equals_the_hamming_loss_where_all_is_agreed(pairs):
    predicted, agreed = zip(*pairs, strict=True)
    expected = (
        oracle.hamming_loss([list(map(int, agreed))], [list(map(int, predicted))]) if len(pairs) > 1 else None
    )
    if expected is not None:
        assert modified_hamming_distance(label_errors(predicted, agreed)) == pytest.approx(expected)


@given(labels, st.data())
def test_a_missing_label_never_improves(pairs, data):
    predicted, agreed = zip(*pairs, strict=True)
    position = data.draw(st.integers(0, len(pairs) - 1))
    fewer = (*predicted[:position], None, *predicted[position + 1 :])
    before = modified_hamming_distance(label_errors(predicted, agreed))
    assert modified_hamming_distance(label_errors(fewer, agreed)) >= before
