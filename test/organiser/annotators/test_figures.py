import math

import pytest
from scipy.stats import t

from evaluation.organiser.annotators.agreement import limits_of_agreement

# Bland and Altman 1986, Table 1: the first measurements of peak flow by two meters, l/min.
LARGE = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]

MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


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
