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
    Range,
    cysts_of,
    distinctions,
    histograms,
    histograms_of,
    ring_of,
)

# 25 bins of width 1.
INTENSITIES = Range(0.0, 25.0)


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
    assert histograms_of(image, inside, ~inside, INTENSITIES).distinction == pytest.approx(
        expected, abs=1e-12, nan_ok=True
    )
    if inner and outer:  # a volume of one intensity distinguishes nothing
        alike = histograms_of(np.full_like(image, 7), inside, ~inside, Range(7.0, 7.0))
        assert alike.distinction == 0.0


def test_histograms_of_a_cyst_and_its_ring_by_hand():
    image = np.array([[2, 2, 9, 24, 25]], dtype=np.float64)
    levels = np.array([[3, 3, 0, 0, 0]], dtype=np.uint8)
    (found,) = histograms(image, levels, cysts_of(levels), INTENSITIES)
    assert {position: int(n) for position, n in enumerate(found.inside) if n} == {2: 2}
    # The last bin is closed and holds 24 and 25.
    assert {position: int(n) for position, n in enumerate(found.ring) if n} == {9: 1, 24: 2}
    assert found.distinction == 1.0


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


def test_cysts_are_eight_connected_components_of_one_confidence():
    levels = np.array(
        [
            [1, 0, 0, 2, 2],
            [0, 1, 0, 0, 5],
            [0, 0, 0, 0, 0],
            [1, 1, 0, 2, 0],
        ],
        dtype=np.uint8,
    )
    found = [(cyst.confidence, int(cyst.pixels.sum())) for cyst in cysts_of(levels)]
    assert found == [(1, 2), (1, 2), (2, 2), (2, 1), (5, 1)]
    first = cysts_of(levels)[0]
    np.testing.assert_array_equal(levels[first.box][first.pixels], [1, 1])


def test_the_ring_leaves_out_every_marked_cyst_and_ends_at_the_border():
    # Beside the cyst of confidence 1 lie one of confidence 2 (intensity 9, left out) and background (3).
    image = np.array([[1, 9, 3, 3]], dtype=np.float64)
    levels = np.array([[1, 2, 0, 0]], dtype=np.uint8)
    values = distinctions(image, levels, cysts_of(levels), INTENSITIES)
    assert values == [1.0, 1.0]
    alone = np.array([[1, 2, 2, 1]], dtype=np.uint8)
    assert all(math.isnan(value) for value in distinctions(image, alone, cysts_of(alone), INTENSITIES))


def test_the_ring_reaches_fifteen_pixels():
    image = np.zeros((1, 40))
    image[0, 16:] = 20.0
    levels = np.zeros((1, 40), dtype=np.uint8)
    levels[0, 0] = 3
    # Pixels 1 to 15 equal the cyst; the differing ones begin just beyond.
    assert distinctions(image, levels, cysts_of(levels), INTENSITIES) == [0.0]
    levels[0, 1] = 3
    # Now the ring is 2 to 16: one of 15 pixels differs.
    assert distinctions(image, levels, cysts_of(levels), INTENSITIES) == [pytest.approx(1 / 15)]
