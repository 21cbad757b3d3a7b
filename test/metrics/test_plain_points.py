import math

import numpy as np
import pytest
from grand_challenge_metrics.scorers import score_detection

from evaluation.metrics import match_points, mean_radial_error, success_detection_rate


@pytest.mark.parametrize("seed", range(20))
def test_nearest_as_the_platforms_package(seed):
    generator = np.random.default_rng(seed)
    predicted, reference = generator.uniform(0, 10, (15, 3)), generator.uniform(0, 10, (12, 3))
    expected = score_detection(ground_truth=reference, predictions=predicted, radius=3.0)
    found = match_points(predicted, reference, 3.0)
    assert found.true_positives == expected.true_positives
    assert found.false_positives == expected.false_positives
    assert found.false_negatives == expected.false_negatives


def test_without_points():
    assert match_points([], [[0, 0]], 1.0).false_negatives == 1
    assert match_points([[0, 0]], [], 1.0, rule="any", confidences=[1.0]).false_positives == 1
    assert math.isnan(mean_radial_error([], []))
    assert math.isnan(success_detection_rate([[np.nan, 0]], [[0, 0]], 1.0))


def test_landmarks_by_hand():
    predicted, reference = [[0, 0, 0], [1, 1, 1], [np.nan] * 3], [[0, 3, 4], [1, 1, 1], [0, 0, 0]]
    assert mean_radial_error(predicted, reference) == 2.5
    assert success_detection_rate(predicted, reference, 5.0) == 1.0
    assert success_detection_rate(predicted, reference, 4.9) == 0.5


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: match_points([[0, 0]], [[0, 0, 0]], 1), "expected as many axes"),
        (lambda: match_points([[0, math.nan]], [[0, 0]], 1), "predicted: expected finite numbers"),
        (lambda: match_points([0, 0], [[0, 0]], 1), r"of shape \(points, axes\), found \(2,\)"),
        (lambda: match_points([[0, 0]], [[0, 0]], 1, rule="greedy"), "rule: expected 'nearest'"),
        (lambda: match_points([[0, 0]], [[0, 0]], 1, rule="any"), "confidence: expected one per prediction"),
        (lambda: match_points([[0, 0]], [[0, 0]], 1, confidences=[1, 2]), "confidences: expected shape"),
        (lambda: match_points([[0, 0]], [[0, 0]], [1, 2]), "radius: expected one or shape"),
        (lambda: mean_radial_error([[0, 0]], [[0, 0, 0]]), "expected one shape"),
    ],
)
def test_arguments_that_do_not_fit(call, problem):
    with pytest.raises(ValueError, match=problem):
        call()
