from decimal import Decimal
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.organiser.ranking.rank_statistics import published, published_difference
from evaluation.platform.result_file import as_written

twelve_digits = st.builds(
    lambda digits, exponent: float(Decimal(digits).scaleb(exponent)),
    st.integers(-(10**12) + 1, 10**12 - 1),
    st.integers(-14, 4),
)


def test_what_is_no_number_stays():
    np.testing.assert_array_equal(published([nan, inf, -inf, 0.0]), [nan, inf, -inf, 0.0])
    assert np.isnan(published_difference([nan, 1.0], [1.0, nan])).all()


@given(st.floats(-1e15, 1e15).filter(lambda value: value == 0 or abs(value) > 1e-10))
def test_the_digits_are_those_of_metrics_json(value):
    # A 13th digit that is exactly 5 may be rounded either way.
    assert float(published(value)) == pytest.approx(as_written(value), rel=1.01e-11, abs=0)
    assert published(published(value)) == published(value)


@given(twelve_digits, twelve_digits)
def test_numbers_of_twelve_digits_are_subtracted_exactly(first, second):
    a, b = Decimal(repr(first)), Decimal(repr(second))
    larger = max(abs(a), abs(b))
    found = Decimal(repr(float(published_difference(first, second))))
    if larger:
        last_digit = Decimal(1).scaleb(max(larger.adjusted() - 11, -22))
        assert abs(found - (a - b)) <= last_digit / 2
    assert published_difference(second, first) == -float(found)
