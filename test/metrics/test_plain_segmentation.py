"""The public overlap functions against scikit-learn and by hand, degenerate input included."""

import math

import numpy as np
import pytest
import sklearn.metrics as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from evaluation.metrics import cup_to_disc_ratio, dice, f_beta, jaccard, precision, recall, weighted_dice

MASKS = array_shapes(min_dims=1, max_dims=3, max_side=4).flatmap(
    lambda shape: st.tuples(*[arrays(np.bool_, shape)] * 2)
)


@settings(max_examples=150, deadline=None)
@given(MASKS, st.sampled_from([0.5, 1.0, 2.0]))
def test_overlaps_are_those_of_scikit_learn(masks, beta):
    prediction, reference = masks
    arguments = reference.ravel(), prediction.ravel()
    if not prediction.any() and not reference.any():
        for function in (dice, jaccard, precision, recall, f_beta):
            assert function(prediction, reference) == 1
            assert math.isnan(function(prediction, reference, both_empty=math.nan))
        return
    for found, wanted in (
        (dice, oracle.f1_score(*arguments, zero_division=0)),
        (jaccard, oracle.jaccard_score(*arguments, zero_division=0)),
        (precision, oracle.precision_score(*arguments, zero_division=0)),
        (recall, oracle.recall_score(*arguments, zero_division=0)),
        (lambda *both: f_beta(*both, beta), oracle.fbeta_score(*arguments, beta=beta, zero_division=0)),
    ):
        assert found(prediction, reference) == pytest.approx(wanted, abs=1e-12)
        assert found(prediction.astype(np.uint8), reference.astype(float)) == pytest.approx(wanted, abs=1e-12)
    assert weighted_dice(prediction, reference) == pytest.approx(dice(prediction, reference), abs=1e-12)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ([1.0, 0.5, 0.0], [1.0, 1.0, 0.5], 2 * 1.5 / (1.25 + 2.25)),
        ([0.0, 0.0], [0.0, 0.0], 1),
        ([], [], 1),
        ([0.0], [0.5], 0),
    ],
)
def test_weighted_dice_by_hand(prediction, reference, expected):
    assert weighted_dice(prediction, reference) == pytest.approx(expected, rel=1e-12)


def test_cup_to_disc_ratio_by_hand():
    disc = np.ones((6, 3), bool)
    cup = np.zeros((6, 3), bool)
    cup[1, 0] = cup[3, 0] = cup[4, 1] = True
    assert cup_to_disc_ratio(cup, disc) == 2 / 6
    assert cup_to_disc_ratio(cup, disc, definition="extent") == 4 / 6
    assert cup_to_disc_ratio(cup, ~disc) == 0
    assert cup_to_disc_ratio(np.zeros((0, 0)), np.zeros((0, 0))) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dice([0, 255], [0, 1]), "prediction: expected 0 and 1 only; choose a label first"),
        (lambda: dice([0, 1], [0, math.nan]), "reference: expected 0 and 1 only"),
        (lambda: recall([0, 1], [0, 1, 1]), r"expected shape \(3,\), found \(2,\)"),
        (lambda: f_beta([1], [1], 0), "above 0, found 0"),
        (lambda: weighted_dice([1.5], [1]), "prediction: expected confidences from 0 to 1"),
        (lambda: weighted_dice([1], [math.nan]), "reference: expected confidences from 0 to 1"),
        (lambda: weighted_dice([1], [1, 1]), r"one shape, found \(1,\) and \(2,\)"),
        (lambda: cup_to_disc_ratio([1], [1]), r"expected a bool array \(y, x\)"),
        (lambda: cup_to_disc_ratio([[1]], [[1, 1]]), "one shape"),
        (lambda: cup_to_disc_ratio([[1]], [[1]], definition="area"), "'column_count' or 'extent'"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
