"""Eq. 1 by hand, and its ring against SciPy's morphology."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from evaluation.organiser.cyst_benchmark.data import (
    RING_PIXELS,
    cysts_of,
    distinction_of,
    ring_of,
)

# 25 bins of width 1.
INTENSITIES = (0.0, 25.0)


@pytest.mark.parametrize(
    ("inner", "outer", "expected"),
    [
        ([], [1, 1], math.nan),
        ([1, 1], [], math.nan),
        ([0, 0, 1, 1], [1, 1, 2, 2], 0.5),
        ([0, 0, 0, 1], [0, 1, 1, 1], 0.5),
        ([3, 4], [3, 4], 0.0),
        ([3, 4], [4, 3, 3, 4], 0.0),
        ([0, 1, 2], [7, 8], 1.0),
        # The last bin is closed: 24.5 and 25 share it.
        ([24.5], [25.0], 0.0),
        ([0, 5, 5, 5, 5], [5, 5, 7, 7], 0.5),
    ],
)
def test_distinction_by_hand(inner, outer, expected):
    image = np.array([[*inner, *outer]], dtype=np.float64)
    inside = np.arange(image.size).reshape(1, -1) < len(inner)
    assert distinction_of(image, inside, ~inside, INTENSITIES) == pytest.approx(
        expected, abs=1e-12, nan_ok=True
    )
    if inner and outer:  # a volume of one intensity distinguishes nothing
        assert distinction_of(np.full_like(image, 7), inside, ~inside, (7.0, 7.0)) == 0.0


def test_the_centre_of_a_cyst_is_where_it_lies_in_the_b_scan():
    levels = np.zeros((6, 9), dtype=np.uint8)
    levels[3, 5:8] = 2
    levels[4, 5] = 2
    (cyst,) = cysts_of(levels)
    assert cyst.centre == pytest.approx(((5 + 6 + 7 + 5) / 4, (3 + 3 + 3 + 4) / 4))


@settings(max_examples=25)
@given(arrays(bool, (9, 50), elements=st.booleans() | st.just(False)))
def test_ring_is_a_dilation_by_a_disc(inside):
    steps = np.arange(-RING_PIXELS, RING_PIXELS + 1)
    disc = steps[:, np.newaxis] ** 2 + steps**2 <= RING_PIXELS**2
    dilated = ndimage.binary_dilation(inside, structure=disc)
    np.testing.assert_array_equal(ring_of(inside), dilated & ~inside)
