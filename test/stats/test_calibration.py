import numpy as np
import pytest
from scipy.stats import binom

from evaluation.stats.calibration import expected_calibration_errors_when_right


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
