import math

import numpy as np
import pytest

from evaluation.metrics import average_precision, brier_score, calibration_error, macro_auc
from evaluation.metrics.classification import roc_table, weighted_average_precision
from evaluation.metrics.probabilities import weighted_expected_calibration_error


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
