"""The public functions on classes against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from evaluation import metrics

NAMES = ("mild", "moderate", "severe")
CASES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(1, 3)), min_size=1, max_size=20
)
FIGURES = {
    metrics.accuracy: oracle.accuracy_score,
    metrics.balanced_accuracy: oracle.balanced_accuracy_score,
    metrics.matthews_correlation: oracle.matthews_corrcoef,
    metrics.mean_f1: lambda *a, **k: oracle.f1_score(*a, **k, average="macro"),
}


@pytest.mark.parametrize("ours", FIGURES, ids=lambda figure: figure.__name__)
@pytest.mark.filterwarnings("ignore")
@given(CASES)
def test_as_scikit_learn_under_weights(ours, cases):
    predicted, reference, weights = (np.array(column) for column in zip(*cases, strict=True))
    for chosen in (None, weights):
        expected = FIGURES[ours](reference, predicted, sample_weight=chosen)
        assert ours(predicted, reference, weights=chosen) == pytest.approx(expected, abs=1e-12)
    weighted = metrics.mean_f1(predicted, reference, averaging="weighted", weights=weights)
    expected = oracle.f1_score(reference, predicted, average="weighted", sample_weight=weights)
    assert weighted == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__)
def test_without_a_case_there_is_no_value(figure):
    assert math.isnan(figure([], []))
    assert math.isnan(figure(["mild"], [None]))
    assert math.isnan(figure([1.0, 2.0], [1.0, 2.0], weights=[0, 0]))


def test_a_case_without_a_result_is_wrong():
    assert metrics.accuracy([1.0, np.nan], [1.0, 2.0]) == 0.5
    assert metrics.balanced_accuracy([None, "mild"], ["mild", "mild"]) == 0.5
    # Both halves of a pair are wrong: the missing one has the other class.
    assert metrics.matthews_correlation(["a", "b", None], ["a", "b", "b"]) == pytest.approx(0.5)


def test_arguments_that_do_not_fit():
    with pytest.raises(ValueError, match="expected one length, found 1 and 2"):
        metrics.accuracy([1], [1, 2])
    with pytest.raises(ValueError, match="averaging: expected 'macro' or 'weighted', found 'micro'"):
        metrics.mean_f1([1], [1], averaging="micro")
