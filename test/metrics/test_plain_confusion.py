"""The public confusion matrix against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from evaluation.metrics import confusion_matrix

NAMES = ("mild", "moderate", "severe")
CASES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(1, 3)), min_size=1, max_size=20
)


@given(CASES)
def test_as_scikit_learn_under_weights(cases):
    predicted, reference, weights = (np.array(column) for column in zip(*cases, strict=True))
    for chosen in (None, weights):
        expected = oracle.confusion_matrix(reference, predicted, labels=NAMES, sample_weight=chosen)
        np.testing.assert_allclose(
            confusion_matrix(predicted, reference, classes=NAMES, weights=chosen), expected
        )


def test_a_case_without_a_result_is_in_no_cell():
    assert confusion_matrix([None, 1], [0, 1], classes=[0, 1]).tolist() == [[0, 0], [0, 1]]


def test_without_a_case_all_cells_are_zero():
    assert confusion_matrix([], [], classes=["mild", "severe"]).tolist() == [[0, 0], [0, 0]]
    assert confusion_matrix(["mild"], [None], classes=["mild", "severe"]).tolist() == [[0, 0], [0, 0]]


def test_a_class_that_is_not_listed():
    with pytest.raises(ValueError, match="classes: expected every class that occurs, 'mild' is not listed"):
        confusion_matrix(["mild"], ["severe"], classes=["severe"])
