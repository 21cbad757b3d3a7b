from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from evaluation.metrics import partial_roc, roc

SCORED = st.lists(
    st.tuples(st.integers(0, 6), st.booleans(), st.integers(1, 3)), min_size=2, max_size=30
).filter(lambda cases: len({positive for _, positive, _ in cases}) == 2)


def columns(cases):
    score, positive, weights = (np.array(column) for column in zip(*cases, strict=True))
    return score.astype(float), positive.astype(bool), weights[None].astype(float)


@given(SCORED, st.sampled_from([Fraction(1, 20), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]))
def test_standardised_area_as_scikit_learn(cases, max_rate):
    score, positive, weights = columns(cases)
    expected = roc_auc_score(positive, score, sample_weight=weights[0], max_fpr=float(max_rate))
    found = partial_roc.partial_auc(roc.roc_table(score, positive), weights, 1 - max_rate, standardised=True)
    assert found[0] == pytest.approx(expected, abs=1e-12)


@given(SCORED, st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(2, 3)]))
def test_parts_add_up_to_the_area_under_the_whole_curve(cases, specificity):
    score, positive, weights = columns(cases)
    table = roc.roc_table(score, positive)
    upper = partial_roc.partial_auc(table, weights, specificity)
    lower = partial_roc.partial_auc(table, weights, Fraction(0), specificity) if specificity else 0.0
    np.testing.assert_allclose(upper + lower, roc.auc(table, weights), atol=1e-12)


@given(SCORED, st.sampled_from([Fraction(1, 2), Fraction(17, 20), Fraction(1)]))
def test_specificity_at_sensitivity_is_the_best_point_of_the_curve(cases, target):
    score, positive, weights = columns(cases)
    rate, sensitivity, _ = roc_curve(positive, score, sample_weight=weights[0], drop_intermediate=False)
    reached = sensitivity * weights[0][positive].sum() >= float(target) * weights[0][positive].sum() - 1e-9
    found = partial_roc.specificity_at_sensitivity(
        partial_roc.reversed_table(score, positive), weights, target
    )
    assert found[0] == pytest.approx((1 - rate[reached]).max(), abs=1e-12)


def test_missing_results_are_worst():
    table = roc.roc_table([-np.inf, 0.9, 0.1], [True, True, False])
    # The missing positive is detected nowhere, so the curve ends at one half.
    assert partial_roc.partial_auc(table, np.ones((1, 3)), Fraction(1, 2))[0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    "bounds", [(Fraction(1), Fraction(1)), (Fraction(-1, 2), Fraction(1)), (Fraction(0), Fraction(2))]
)
def test_refuses_bounds_that_are_no_specificities(bounds):
    with pytest.raises(ValueError, match="expected 0 ≤ min_specificity < max_specificity ≤ 1"):
        partial_roc.partial_auc(roc.roc_table([0.0, 1.0], [False, True]), np.ones((1, 2)), *bounds)
