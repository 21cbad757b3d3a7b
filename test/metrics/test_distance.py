import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import cdist

from evaluation.metrics.distance import euclidean_distance, image_diagonal


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([0, 0], [3, 4], 5),
        ([[0, 0], [1, 1]], [[3, 4], [1, 1]], [5, 0]),
        ([[0, 0], [6, 8]], [0, 0], [0, 10]),  # broadcast
        ([np.nan, 0], [0, 0], np.nan),
    ],
)
def test_by_hand(a, b, expected):
    np.testing.assert_array_equal(euclidean_distance(a, b), expected)


points = hnp.arrays(float, (3, 2), elements=st.floats(-1e4, 1e4))


@settings(max_examples=30)
@given(points, points)
def test_agrees_with_scipy_for_all_pairs(a, b):
    np.testing.assert_allclose(euclidean_distance(a[:, None], b[None]), cdist(a, b), rtol=1e-12, atol=1e-150)


def test_small_unsigned_coordinates_do_not_wrap():
    assert euclidean_distance(np.array([0, 0], np.uint8), np.array([3, 4], np.uint8)) == 5


@pytest.mark.parametrize("shape", [(3,), (2, 3), ()])
def test_refused_shapes(shape):
    with pytest.raises(ValueError, match=r"points: expected shapes \(…, 2\), found "):
        euclidean_distance(np.zeros(shape), np.zeros(2))


@given(st.integers(1, 5000), st.integers(1, 5000), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=30)
def test_no_distance_within_an_image_exceeds_the_diagonal(width, height, x, y):
    corner_to_point = euclidean_distance([0, 0], [x * width, y * height])
    assert corner_to_point <= image_diagonal(width, height)


def test_diagonal():
    assert image_diagonal(30, 40) == 50
