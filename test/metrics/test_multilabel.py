"""The modified Hamming distance, by hand and against scikit-learn."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import hamming_loss

from evaluation.metrics.multilabel import label_errors, modified_hamming_distance

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
    expected = hamming_loss([list(map(int, agreed))], [list(map(int, predicted))]) if len(pairs) > 1 else None
    if expected is not None:
        assert modified_hamming_distance(label_errors(predicted, agreed)) == pytest.approx(expected)


@given(labels, st.data())
def test_a_missing_label_never_improves(pairs, data):
    predicted, agreed = zip(*pairs, strict=True)
    position = data.draw(st.integers(0, len(pairs) - 1))
    fewer = (*predicted[:position], None, *predicted[position + 1 :])
    before = modified_hamming_distance(label_errors(predicted, agreed))
    assert modified_hamming_distance(label_errors(fewer, agreed)) >= before
