import math

import numpy as np
import pytest
from scipy.stats import t

from evaluation.organiser.annotators.agreement import (
    intraclass_correlations,
    limits_of_agreement,
)
from evaluation.stats.figure import Interval

# Shrout and Fleiss 1979, Table 2: six targets, four judges.
JUDGES = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]

# Bland and Altman 1986, Table 1: the first measurements of peak flow by two meters, l/min.
LARGE = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]

MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


def test_the_table_of_shrout_and_fleiss():
    agreement, consistency = intraclass_correlations(JUDGES).values()
    # Table 4: .29 and .71; intervals as published for these data with R's psych package.
    assert agreement.value == pytest.approx(0.290, abs=5e-4)
    assert consistency.value == pytest.approx(0.715, abs=5e-4)
    assert (agreement.lower, agreement.upper) == pytest.approx((0.019, 0.761), abs=1e-3)
    assert (consistency.lower, consistency.upper) == pytest.approx((0.342, 0.946), abs=1e-3)


def test_annotators_who_are_the_same():
    found = intraclass_correlations([[1, 1], [2, 2], [4, 4]])
    for one in found.values():
        assert (one.value, one.interval) == (1, Interval(1, 1))


def test_annotators_of_whom_each_says_the_same_of_all_cases():
    """No annotator tells the cases apart, so that nothing is left to agree about."""
    assert intraclass_correlations([[1, 2], [1, 2], [1, 2]]) == {}


@pytest.mark.parametrize("ratings", [[[1, 2]], [[1], [2]], [[3, 3], [3, 3]], np.empty((0, 3))])
def test_too_little_to_correlate(ratings):
    assert intraclass_correlations(ratings) == {}


def test_annotators_who_contradict_each_other_about_two_cases():
    # Two: ICC(2,1) is −1 / 0. Three: all means are equal, so that with an error mean square of e it is
    # −e / (2·e − 3·e / 2) = −2, and its degrees of freedom are 0 / 0.
    assert intraclass_correlations([[0, 1], [1, 0]]) == {}
    agreement, consistency = intraclass_correlations([[0, 0.5, 1], [1, 0.5, 0]]).values()
    assert agreement.value == pytest.approx(-2)
    assert math.isnan(agreement.lower)
    # −e / (2·e)
    assert consistency.value == pytest.approx(-1 / 2)


def test_the_meters_of_bland_and_altman():
    bias, lower, upper = limits_of_agreement(LARGE, MINI).values()
    assert bias.value == pytest.approx(-2.1, abs=0.05)
    assert (upper.value - bias.value) / 1.96 == pytest.approx(38.8, abs=0.05)
    assert (bias.lower, bias.upper) == pytest.approx((-22.0, 17.8), abs=0.1)
    # The paper rounds 1.96 to 2 and the limits' standard error to √(3/n) s: −114.3 to −45.1, 40.9 to 110.1.
    assert (lower.lower, lower.upper) == pytest.approx((-114, -45), abs=3)
    assert (upper.lower, upper.upper) == pytest.approx((41, 110), abs=3)
    error = 38.765 * math.sqrt(1 / 17 + 1.96**2 / 32)
    assert upper.upper - upper.value == pytest.approx(t.ppf(0.975, 16) * error, rel=1e-4)


def test_limits_of_two_cases_by_hand():
    bias, _, upper = limits_of_agreement([1, 3], [0, 0]).values()
    assert bias.value == 2
    assert upper.value - bias.value == pytest.approx(1.96 * math.sqrt(2))
    assert limits_of_agreement([1], [0]) == {}
    with pytest.raises(ValueError, match=r"^first and second:"):
        limits_of_agreement([1.0], [1.0, 2.0])
