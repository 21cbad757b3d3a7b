"""The public functions on labels and scores against scikit-learn, degenerate input included."""

import math

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import auc, average_precision, roc_curve, sensitivity_at_specificity

# Few distinct scores, so that they tie; both classes, so that scikit-learn has a value.
cases = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans(), st.integers(1, 3)),
    min_size=2,
    max_size=15,
).filter(lambda rows: len({label for _, label, _ in rows}) == 2)


def columns(rows):
    return (np.array(column) for column in zip(*rows, strict=True))


@settings(max_examples=150, deadline=None)
@given(cases)
def test_roc_is_that_of_scikit_learn(rows):
    scores, labels, weights = columns(rows)
    for chosen in (None, weights):
        assert auc(scores, labels, weights=chosen) == pytest.approx(
            oracle.roc_auc_score(labels, scores, sample_weight=chosen), abs=1e-12
        )
        assert average_precision(scores, labels, weights=chosen) == pytest.approx(
            oracle.average_precision_score(labels, scores, sample_weight=chosen), abs=1e-12
        )
        points = roc_curve(scores, labels, weights=chosen)
        expected = oracle.roc_curve(labels, scores, sample_weight=chosen, drop_intermediate=False)
        for found, wanted in zip(
            (points.false_positive_rate, points.sensitivity, points.threshold), expected, strict=True
        ):
            np.testing.assert_allclose(found, wanted, atol=1e-12)


@settings(max_examples=150, deadline=None)
@given(cases, st.sampled_from([0.0, 0.5, 0.85, 0.95, 1.0]))
def test_sensitivity_is_the_best_point_of_scikit_learn(rows, specificity):
    scores, labels, _ = columns(rows)
    false_positives, sensitivities, _ = oracle.roc_curve(labels, scores, drop_intermediate=False)
    negatives = np.count_nonzero(~labels)
    reached = np.round((1 - false_positives) * negatives) * 100 >= round(specificity * 100) * negatives
    assert sensitivity_at_specificity(scores, labels, specificity) == pytest.approx(
        sensitivities[reached].max(), abs=1e-12
    )
    interpolated = sensitivity_at_specificity(scores, labels, specificity, definition="interpolated")
    # From the last point up to that rate on to the next one.
    rate = 1 - specificity
    last = np.searchsorted(false_positives, rate + 1e-12, side="right") - 1
    at_rate = np.interp(rate, false_positives[last : last + 2], sensitivities[last : last + 2])
    assert interpolated == pytest.approx(at_rate, abs=1e-9)


def test_a_decimal_specificity_is_exact():
    # 19 of 20 negatives are below 0.5: exactly 95 %.
    scores, labels = [*np.linspace(0, 0.4, 19), 0.6, 0.5], [0] * 20 + [1]
    assert sensitivity_at_specificity(scores, labels, 0.95) == 1
    assert sensitivity_at_specificity(scores, labels, 0.9500001) == 0


@pytest.mark.parametrize(("scores", "labels"), [([], []), ([0.5, 1], [0, 0]), ([0.5], [1])])
def test_without_a_class_there_is_no_value(scores, labels):
    assert math.isnan(auc(scores, labels))
    assert math.isnan(sensitivity_at_specificity(scores, labels, 0.9))
    points = roc_curve(scores, labels)
    rates = points.sensitivity if 1 not in labels else points.false_positive_rate
    assert np.isnan(rates).all()


def test_a_missing_score_loses():
    # By hand: one of two positives is missing; the other is above both negatives.
    assert auc([-math.inf, 0.9, 0.1, -math.inf], [1, 1, 0, 0]) == 0.5
    assert sensitivity_at_specificity([-math.inf, 0.9, 0.1, 0.2], [1, 1, 0, 0], 0.0) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auc([0, 1], [0.1, 0.9]), "labels: expected 0 and 1 only, found 0.1"),  # exchanged
        (lambda: auc([0.5, math.nan], [0, 1]), "found NaN at cases"),
        (lambda: auc([0.5], [0, 1]), "one value per case"),
        (lambda: auc([0.5, 1], [0, 1], weights=[1, -1]), "2 finite numbers of at least 0"),
        (lambda: roc_curve([0.5, 1], [0, 1], weights=[1]), "2 finite numbers of at least 0"),
        (lambda: sensitivity_at_specificity([0.5], [1], 1.5), "from 0 to 1, found 1.5"),
        (lambda: sensitivity_at_specificity([0.5], [1], math.nan), "from 0 to 1, found nan"),
        (lambda: sensitivity_at_specificity([0.5], [1], definition="best"), "'step' or 'interpolated'"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
