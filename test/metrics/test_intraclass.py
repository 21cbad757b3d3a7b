import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from evaluation.metrics.intraclass import intraclass_correlations, limits_of_agreement
from evaluation.metrics.regression import intraclass_correlation

# Shrout and Fleiss 1979, Table 2: six targets, four judges.
JUDGES = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
# Bland and Altman 1986, Table 1: the first measurements of peak flow by two meters, l/min.
LARGE = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


def test_the_table_of_shrout_and_fleiss():
    found = intraclass_correlations(JUDGES)
    # Table 4: .29 and .71; intervals as published for these data with R's psych package.
    assert found.agreement.value == pytest.approx(0.290, abs=5e-4)
    assert found.consistency.value == pytest.approx(0.715, abs=5e-4)
    agreement, consistency = found.agreement.interval, found.consistency.interval
    assert (agreement.lower, agreement.upper) == pytest.approx((0.019, 0.761), abs=1e-3)
    assert (consistency.lower, consistency.upper) == pytest.approx((0.342, 0.946), abs=1e-3)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12))
def test_two_annotators_as_prediction_and_truth(pairs):
    first, second = np.array(pairs, dtype=float).T
    found = intraclass_correlations(np.array(pairs))
    if found is None:
        assert len(set(pairs)) == 1
    else:
        expected = intraclass_correlation(first, second, np.ones((1, len(pairs))))[0]
        assert found.agreement.value == pytest.approx(expected, abs=1e-9)


def test_a_constant_shift_lowers_agreement_and_not_consistency():
    ratings = np.array(JUDGES, dtype=float)
    plain = intraclass_correlations(ratings)
    shifted = intraclass_correlations(ratings + np.array([0, 0, 0, 10]))
    assert shifted.consistency.value == pytest.approx(plain.consistency.value)
    assert shifted.agreement.value < plain.agreement.value


def test_intervals_cover():
    # True ICC(3,1) = 1 / (1 + 1): 1,000 sets of 20 cases and 3 annotators.
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(1000):
        ratings = rng.normal(size=(20, 1)) + rng.normal(size=(20, 3)) + np.array([0, 1, 3])
        interval = intraclass_correlations(ratings).consistency.interval
        covered += interval.lower <= 0.5 <= interval.upper
    assert covered / 1000 == pytest.approx(0.95, abs=0.025)


def test_annotators_who_are_the_same():
    found = intraclass_correlations([[1, 1], [2, 2], [4, 4]])
    assert (found.agreement.value, found.consistency.value) == (1, 1)


@pytest.mark.parametrize("ratings", [[[1, 2]], [[1], [2]], [[3, 3], [3, 3]], np.empty((0, 3))])
def test_too_little_to_correlate(ratings):
    assert intraclass_correlations(ratings) is None


def test_annotators_who_contradict_each_other_about_two_cases():
    # Two: ICC(2,1) is −1 / 0. Three: all means are equal, so that with an error mean square of e it is
    # −e / (2·e − 3·e / 2) = −2, and its degrees of freedom are 0 / 0.
    assert intraclass_correlations([[0, 1], [1, 0]]) is None
    found = intraclass_correlations([[0, 0.5, 1], [1, 0.5, 0]])
    assert found.agreement.value == pytest.approx(-2)
    assert math.isnan(found.agreement.interval.lower)
    # −e / (2·e)
    assert found.consistency.value == pytest.approx(-1 / 2)


@pytest.mark.parametrize("ratings", [[1, 2], [[1, math.nan], [1, 2]]])
def test_refused_ratings(ratings):
    with pytest.raises(ValueError, match="ratings: expected numbers"):
        intraclass_correlations(ratings)


def test_the_meters_of_bland_and_altman():
    found = limits_of_agreement(LARGE, MINI)
    assert found.bias == pytest.approx(-2.1, abs=0.05)
    assert (found.upper - found.bias) / 1.96 == pytest.approx(38.8, abs=0.05)
    interval = found.bias_interval
    assert (interval.lower, interval.upper) == pytest.approx((-22.0, 17.8), abs=0.1)
    # The paper rounds 1.96 to 2 and the limits' standard error to √(3/n) s: −114.3 to −45.1, 40.9 to 110.1.
    assert (found.lower_interval.lower, found.lower_interval.upper) == pytest.approx((-114, -45), abs=3)
    assert (found.upper_interval.lower, found.upper_interval.upper) == pytest.approx((41, 110), abs=3)
    error = 38.765 * math.sqrt(1 / 17 + 1.96**2 / 32)
    assert found.upper_interval.upper - found.upper == pytest.approx(t.ppf(0.975, 16) * error, rel=1e-4)


def test_one_case_has_no_limits():
    assert limits_of_agreement([1.0], [2.0]) is None
    with pytest.raises(ValueError, match="first and second: expected equal numbers"):
        limits_of_agreement([1.0], [1.0, 2.0])
