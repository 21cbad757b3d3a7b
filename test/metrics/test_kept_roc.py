"""Both definitions are what scikit-learn's curve gives, read as the public scripts read it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import interp1d
from sklearn.metrics import roc_curve

from evaluation.metrics.kept_roc import sensitivity_at_first_kept_point, sensitivity_between_kept_points
from evaluation.metrics.roc import roc_table, sensitivity_at_specificity

# Few scores, so that many are tied.
CASES = st.lists(st.tuples(st.booleans(), st.integers(0, 8), st.integers(0, 3)), min_size=2, max_size=40)


def weighted(cases):
    positive, score, weight = (np.array(column) for column in zip(*cases, strict=True))
    copies = np.repeat(np.arange(len(cases)), weight)
    return positive, score, weight, copies


@given(CASES, st.sampled_from([Fraction(85, 100), Fraction(95, 100), Fraction(1, 2)]))
@settings(max_examples=300)
def test_both_read_what_scikit_learn_keeps(cases, target):
    positive, score, weight, copies = weighted(cases)
    table, weights = roc_table(score, positive), weight[np.newaxis]
    first = sensitivity_at_first_kept_point(table, weights, target)[0]
    between = sensitivity_between_kept_points(table, weights, target)[0]
    if positive[copies].all() or not positive[copies].any():
        assert np.isnan([first, between]).all()
        return
    false, true, _ = roc_curve(positive[copies], score[copies])
    assert first == true[np.argmax(false >= 1 - float(target))]
    assert between == pytest.approx(float(interp1d(1 - false, true)(float(target))), abs=1e-12)


def test_artefacts_by_hand():
    positive, ones = np.array([True, True, False, False]), np.ones((1, 4))
    perfect, constant = roc_table([3, 2, 1, 0], positive), roc_table([1, 1, 1, 1], positive)
    # The point at specificity 1/2 is dropped, which leaves the line from (0, 1) to (1, 0).
    assert sensitivity_between_kept_points(perfect, ones, Fraction(85, 100))[0] == pytest.approx(0.15)
    assert sensitivity_at_first_kept_point(constant, ones, Fraction(95, 100)).tolist() == [1.0]
    assert sensitivity_at_specificity(constant, ones, Fraction(95, 100)).tolist() == [0.0]


def test_a_missing_positive_is_never_detected():
    table = roc_table([2, -np.inf, 1, np.inf], [True, True, False, False])
    # False positives 1, 1, 2 of 2 and true positives 0, 1, 1 of 2.
    assert sensitivity_at_first_kept_point(table, np.ones((1, 4)), Fraction(1, 4)).tolist() == [0.5]
