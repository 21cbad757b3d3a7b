import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as oracle

from evaluation.metrics import partial_auc, specificity_at_sensitivity

CASES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans(), st.integers(1, 3)),
    min_size=2,
    max_size=15,
).filter(lambda rows: len({label for _, label, _ in rows}) == 2)


@given(CASES, st.sampled_from([0.05, 0.1, 0.5]))
def test_partial_area_as_scikit_learn(rows, rate):
    scores, labels, weights = (np.array(column) for column in zip(*rows, strict=True))
    for chosen in (None, weights):
        found = partial_auc(scores, labels, 1 - rate, standardised=True, weights=chosen)
        expected = oracle.roc_auc_score(labels, scores, max_fpr=rate, sample_weight=chosen)
        assert found == pytest.approx(expected, abs=1e-9)


@given(CASES)
def test_parts_add_up_to_the_area(rows):
    scores, labels, _ = (np.array(column) for column in zip(*rows, strict=True))
    parts = partial_auc(scores, labels, 0.6, 1.0) + partial_auc(scores, labels, 0.0, 0.6)
    assert parts == pytest.approx(oracle.roc_auc_score(labels, scores), abs=1e-12)


@given(CASES, st.sampled_from([0.0, 0.5, 0.85, 0.95, 1.0]))
def test_specificity_is_the_best_point_of_scikit_learn(rows, sensitivity):
    scores, labels, weights = (np.array(column) for column in zip(*rows, strict=True))
    rates, sensitivities, _ = oracle.roc_curve(labels, scores, sample_weight=weights, drop_intermediate=False)
    reached = sensitivities >= sensitivity - 1e-12
    found = specificity_at_sensitivity(scores, labels, sensitivity, weights=weights)
    assert found == pytest.approx(1 - rates[reached].min(), abs=1e-12)


def test_empty_input_and_bounds():
    assert math.isnan(partial_auc([], []))
    assert math.isnan(specificity_at_sensitivity([0.5], [1]))
    with pytest.raises(ValueError, match="min_specificity: expected a number from 0 to 1, found 90"):
        partial_auc([0.5, 1], [0, 1], 90)
    with pytest.raises(ValueError, match="expected 0 ≤ min_specificity < max_specificity ≤ 1"):
        partial_auc([0.5, 1], [0, 1], 0.9, 0.9)
    with pytest.raises(ValueError, match="sensitivity: expected a number from 0 to 1"):
        specificity_at_sensitivity([0.5, 1], [0, 1], math.nan)
