import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import fbeta_score, precision_score, recall_score

from evaluation.challenges.edd2020.rules import OVERLAPS, multilabel_columns, worst_multilabel_columns
from evaluation.metrics.crops import Crop, crop

CLASSES = ("BE", "HGD", "polyp")
EMPTY = np.zeros((3, 4, 5), bool)


def regions(mask):
    crops = [crop(channel.astype(np.uint8), 0) for channel in mask]
    return [Crop(cropped.values != 0, cropped.corner) for cropped in crops]


def columns(predicted, true):
    return multilabel_columns(regions(predicted), regions(true), CLASSES)


FULL = np.ones_like(EMPTY)


@pytest.mark.parametrize(
    ("predicted", "true", "value"),
    [(EMPTY, EMPTY, 1), (FULL, EMPTY, 0), (EMPTY, FULL, 0), (FULL, FULL, 1)],
)
def test_empty_sides(predicted, true, value):
    row = columns(predicted, true)
    assert [row[name] for name in (*OVERLAPS, "score")] == [value] * 5


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_agrees_with_scikit_learn(seed):
    generator = np.random.default_rng(seed)
    true, predicted = generator.random((2, 3, 4, 5)) < generator.choice([0.05, 0.5])
    row = columns(predicted, true)
    y = true.ravel(), predicted.ravel()
    if true.any() or predicted.any():
        assert row["precision"] == pytest.approx(precision_score(*y, zero_division=0))
        assert row["recall"] == pytest.approx(recall_score(*y, zero_division=0))
        for beta in (1, 2):
            assert row[f"f{beta}"] == pytest.approx(fbeta_score(*y, beta=beta, zero_division=0))
    for name, of_truth, of_prediction in zip(CLASSES, true, predicted, strict=True):
        if of_truth.any():
            expected = fbeta_score(of_truth.ravel(), of_prediction.ravel(), beta=2, zero_division=0)
            assert row[f"f2_{name}"] == pytest.approx(expected)
        else:
            assert row[f"false_{name}"] == of_prediction.any()
    worst = worst_multilabel_columns(regions(true), CLASSES)
    assert {value for value in worst.values() if not math.isnan(value)} <= {0, 1}
    assert worst.keys() == row.keys()
    for name, value in worst.items():
        if math.isnan(row[name]):
            assert math.isnan(value)
        else:
            assert value >= row[name] if name.startswith("false_") else value <= row[name]
