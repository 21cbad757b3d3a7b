"""Ends of published intervals: the nearest decimals that are not further inside, by hand."""

import pytest

from evaluation.phase.leaderboard import rounded_outwards


@pytest.mark.parametrize(
    ("lower", "upper", "digits", "expected"),
    [
        (0.121, 0.129, 2, (0.12, 0.13)),
        (0.12, 0.13, 2, (0.12, 0.13)),  # an end that has so many digits stays where it is
        # 0.29 · 100 is 28.999…96, 0.07 · 100 is 7.000…01 and 0.1 + 0.2 is 0.300…04: no further step for these
        (0.29, 0.58, 2, (0.29, 0.58)),
        (0.07, 1.1, 2, (0.07, 1.1)),
        (0.1, 0.1 + 0.2, 1, (0.1, 0.3)),
        # three millionths of a step are one, 0.4 millionths are the error of a fraction
        (0.5 - 3e-8, 0.5 + 3e-8, 2, (0.49, 0.51)),
        (0.5 - 4e-9, 0.5 + 4e-9, 2, (0.5, 0.5)),
        (-0.129, -0.121, 2, (-0.13, -0.12)),
        (-2.5, 7.5, 0, (-3, 8)),
    ],
)
def test_an_end_goes_to_the_next_decimal_outside_and_no_further(lower, upper, digits, expected):
    assert rounded_outwards(lower, upper, digits) == expected
