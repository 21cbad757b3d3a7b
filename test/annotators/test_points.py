"""The mean of points, with the rule of visibility."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.annotators.points import combine_points
from evaluation.io.kinds.point import Point, PointInImage

ALWAYS, MAY_BE_INVISIBLE = PointInImage(), PointInImage(may_be_invisible=True)
coordinates = st.floats(0, 2000)
points = st.builds(Point, coordinates, coordinates)


@pytest.mark.parametrize(
    ("kind", "given_points", "tie_is_visible", "expected"),
    [
        (ALWAYS, [(10, 20), (20, 40)], False, (15, 30)),
        (ALWAYS, [(0, 0), (20, 40)], False, (10, 20)),
        # Two of three see it: the mean of these two.
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0), (20, 40)], False, (15, 30)),
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0), (0, 0)], False, (0, 0)),
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0)], False, (0, 0)),
        (MAY_BE_INVISIBLE, [(10, 20), (0, 0)], True, (10, 20)),
        (MAY_BE_INVISIBLE, [(0, 0), (0, 0)], True, (0, 0)),
        # On the left border, and visible.
        (MAY_BE_INVISIBLE, [(0, 7), (0, 9)], False, (0, 8)),
    ],
)
def test_by_hand(kind, given_points, tie_is_visible, expected):
    found = combine_points(kind, [Point(*point) for point in given_points], tie_is_visible)
    assert (found.x, found.y) == expected


def test_no_point_has_no_mean():
    with pytest.raises(ValueError, match="at least one"):
        combine_points(ALWAYS, [])


@settings(max_examples=50, deadline=None)
@given(st.lists(points, min_size=1, max_size=5))
def test_within_the_readers_range_in_any_order(readers):
    found = combine_points(ALWAYS, readers)
    assert min(p.x for p in readers) <= found.x <= max(p.x for p in readers)
    assert min(p.y for p in readers) <= found.y <= max(p.y for p in readers)
    assert combine_points(ALWAYS, readers[::-1]) == found
    assert combine_points(ALWAYS, [readers[0]] * 3) == readers[0]
