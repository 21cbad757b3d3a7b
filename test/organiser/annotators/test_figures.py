import math

import pytest

from evaluation.organiser.annotators.agreement import limits_of_agreement

# Bland and Altman 1986, Table 1: the first measurements of peak flow by two meters, l/min.
LARGE = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]

MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


def test_the_meters_of_bland_and_altman():
    bias, lower, upper = limits_of_agreement(LARGE, MINI).values()
    assert bias == pytest.approx(-2.1, abs=0.05)
    assert (upper - bias) / 1.96 == pytest.approx(38.8, abs=0.05)
    assert bias - lower == pytest.approx(upper - bias)


def test_limits_of_two_cases_by_hand():
    bias, _, upper = limits_of_agreement([1, 3], [0, 0]).values()
    assert bias == 2
    assert upper - bias == pytest.approx(1.96 * math.sqrt(2))
    assert limits_of_agreement([1], [0]) == {}
