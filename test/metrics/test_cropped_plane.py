import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.metrics.cropped_plane import EMPTY_PLANE, NOTHING, Box, CroppedPlane, box_of_content


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.float32, np.float64])
@given(mask=arrays(np.bool_, st.tuples(st.integers(1, 5), st.integers(1, 5))))
def test_a_box_holds_everything_and_no_empty_border(dtype, mask):
    plane = mask.astype(dtype)
    box = box_of_content(plane)
    rows, columns = np.nonzero(mask)
    if len(rows):
        assert box == Box(rows.min(), rows.max() + 1, columns.min(), columns.max() + 1)
    else:
        assert box == NOTHING
        assert box.is_empty
    cropped = CroppedPlane(plane[box.slices], box)
    np.testing.assert_array_equal(cropped.within(Box(0, mask.shape[0], 0, mask.shape[1])), plane)


def test_nan_is_content():
    plane = np.zeros((3, 3), dtype=np.float32)
    plane[1, 2] = np.nan
    assert box_of_content(plane) == Box(1, 2, 2, 3)


def test_nothing_adds_nothing_to_a_union():
    box = Box(3, 4, 5, 6)
    assert box.union(NOTHING) == NOTHING.union(box) == box
    assert box.union(Box(1, 2, 7, 9)) == Box(1, 4, 5, 9)


def test_an_empty_plane_within_a_box_is_zero():
    assert EMPTY_PLANE.within(Box(2, 4, 1, 4)).tolist() == [[0, 0, 0], [0, 0, 0]]
