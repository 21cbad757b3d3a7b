import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp

from evaluation.metrics.cup_to_disc import vertical_cup_to_disc_ratio, vertical_diameter


def region(*rows):
    return np.array([[pixel == "#" for pixel in row] for row in rows])


@pytest.mark.parametrize(
    ("mask", "column_count", "extent"),
    [
        (region("....", "...."), 0, 0),
        (region(".#..", "...."), 1, 1),
        (region("..#.", ".##.", "..#."), 3, 3),
        (region("#...", ".#..", "..#.", "...#"), 1, 4),  # slanted
        (region(".#.", "...", ".#.", ".#."), 3, 4),  # a hole
        (region("#####"), 1, 1),  # wide and flat
        (np.zeros((0, 4), dtype=bool), 0, 0),
        (np.zeros((4, 0), dtype=bool), 0, 0),
        (np.ones((300, 2), dtype=bool), 300, 300),  # beyond one byte
        (np.ones((2, 300), dtype=bool).T, 300, 300),  # not contiguous
        (np.ones((600, 4), dtype=bool)[::2, ::2], 300, 300),
    ],
)
def test_vertical_diameter(mask, column_count, extent):
    assert vertical_diameter(mask, "column_count") == column_count
    assert vertical_diameter(mask, "extent") == extent


@settings(max_examples=50)
@given(hnp.arrays(bool, (6, 5)))
def test_count_never_exceeds_extent_and_cropping_changes_neither(mask):
    count, extent = vertical_diameter(mask, "column_count"), vertical_diameter(mask, "extent")
    assert 0 <= count <= extent <= 6
    assert (count == 0) == (not mask.any())
    rows, columns = np.nonzero(mask)
    if rows.size:
        cropped = mask[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        assert vertical_diameter(cropped, "column_count") == count
        assert vertical_diameter(cropped, "extent") == extent


@pytest.mark.parametrize(
    ("cup", "disc", "ratio"), [(30, 60, 0.5), (0, 60, 0), (0, 0, 0), (5, 0, 0), (60, 60, 1)]
)
def test_ratio(cup, disc, ratio):
    assert vertical_cup_to_disc_ratio(cup, disc) == ratio


def test_refused_input():
    with pytest.raises(ValueError, match=r"expected a bool array \(y, x\), found uint8 of shape \(2, 2\)"):
        vertical_diameter(np.full((2, 2), 255, dtype=np.uint8), "column_count")
    with pytest.raises(ValueError, match=r"found bool of shape \(2, 2, 1\)"):
        vertical_diameter(np.ones((2, 2, 1), dtype=bool), "extent")
    with pytest.raises(ValueError, match="expected 'column_count' or 'extent', found 'height'"):
        vertical_diameter(np.ones((2, 2), dtype=bool), "height")
