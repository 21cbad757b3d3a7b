import math

import numpy as np
import pytest
from scipy.stats import binom

from evaluation.metrics import average_precision, brier_score, calibration_error, macro_auc
from evaluation.metrics.classification import roc_table, weighted_average_precision
from evaluation.metrics.probabilities import (
    expected_calibration_errors_when_right,
    weighted_expected_calibration_error,
)


def test_empty_input():
    assert math.isnan(brier_score([], []))
    assert math.isnan(calibration_error([], []))
    assert math.isnan(macro_auc(np.zeros((0, 3)), []))
    assert math.isnan(average_precision([0.5], [0]))


def test_a_case_without_a_probability_counts_one():
    figure, missing = weighted_expected_calibration_error, [np.nan, 0.0]
    assert figure(missing, [1, 0], np.ones((1, 2)))[0] == pytest.approx(0.5)
    assert np.isnan(figure(missing, [np.nan, np.nan], np.ones((1, 2)))[0])


def test_missing_scores_come_last_for_positives_and_first_for_negatives():
    table = roc_table([np.inf, 0.9, -np.inf], [False, True, True])
    # The missing negative first, then the one found positive: precision ½ for half of the positives.
    assert weighted_average_precision(table, np.ones((1, 3)))[0] == pytest.approx(0.25)


def test_calibration_error_has_ten_bins():
    """0.28 and 0.32 are of two of ten bins, and of one of eleven; one is right, one wrong."""
    probabilities, labels = [0.28, 0.32], [1, 0]
    expected = (0.72 + 0.32) / 2
    assert calibration_error(probabilities, labels) == pytest.approx(expected)
    rows = np.ones((1, 2))
    assert weighted_expected_calibration_error(probabilities, labels, rows)[0] == pytest.approx(expected)


def test_calibration_errors_where_the_probabilities_are_right():
    # One bin with ten cases of probability ½: the error is |positives − 5| / 10.
    found = expected_calibration_errors_when_right(np.full(10, 0.5), 10, 4000, seed=1)
    chances = binom.pmf(np.arange(11), 10, 0.5)
    assert found.mean() == pytest.approx(chances @ np.abs(np.arange(11) - 5) / 10, abs=0.005)
    # Of two classes, the error of one is the error of the other.
    of_two = expected_calibration_errors_when_right(np.full((10, 2), 0.5), 10, 4000, seed=1)
    np.testing.assert_allclose(of_two, found)
    certain = np.array([0.0, 1.0, np.nan])
    assert expected_calibration_errors_when_right(certain, 10, 3, seed=1) == pytest.approx([1 / 3] * 3)
    assert np.isnan(expected_calibration_errors_when_right(np.zeros(0), 10, 2, seed=1)).all()


def test_probabilities_of_several_bins_when_they_are_right():
    """One case in each of ten bins: each is off by its probability, or by what that lacks of 1."""
    middles = np.arange(10) / 10 + 0.05
    found = expected_calibration_errors_when_right(middles, 10, 4000, seed=1)
    assert found.mean() == pytest.approx(2 * (middles * (1 - middles)).mean(), abs=0.005)
    # Ten cases of each of them: the mean distance of a binomial number from its mean.
    several = expected_calibration_errors_when_right(np.repeat(middles, 10), 10, 4000, seed=1)
    distances = [
        binom(10, middle).expect(lambda drawn, at=middle: abs(drawn - 10 * at)) for middle in middles
    ]
    assert several.mean() == pytest.approx(np.mean(distances) / 10, abs=0.005)


def test_cases_of_a_unit_are_right_or_wrong_together():
    # Ten persons with three images of probability ½: as ten images.
    persons = expected_calibration_errors_when_right(np.full(10, 0.5), 10, 500, seed=1)
    images = expected_calibration_errors_when_right(np.full(30, 0.5), 10, 500, 1, np.arange(30) // 3)
    np.testing.assert_allclose(images, persons)
    # Without an answer an image counts 1, whatever the other images of the person.
    given = np.where(np.arange(30) % 3 == 2, np.nan, 0.5)
    found = expected_calibration_errors_when_right(given, 10, 500, 1, np.arange(30) // 3)
    np.testing.assert_allclose(found, persons * 2 / 3 + 1 / 3)
