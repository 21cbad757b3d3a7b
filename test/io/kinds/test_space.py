"""Bounds of positions, and positions that are far from others."""

import pytest

from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.objects import Space

SIZED, UNSIZED = CaseForm("a", 100, 50), CaseForm("a")
LARGEST = 1 << 26


@pytest.mark.parametrize(
    ("space", "case", "bounds"),
    [
        (Space(2, "pixels"), SIZED, ((0, 100), (0, 50))),
        (Space(3, "pixels"), SIZED, ((0, 100), (0, 50), (0, LARGEST))),
        (Space(2, "pixels"), UNSIZED, ((0, LARGEST),) * 2),
        (Space(3), SIZED, ((-LARGEST, LARGEST),) * 3),
    ],
)
def test_bounds(space, case, bounds):
    assert space.bounds(case) == bounds
    low, high = zip(*bounds, strict=True)
    assert list(space.faults(FileSource("f"), low, case)) == []
    assert list(space.faults(FileSource("f"), high, case)) == []
    beyond = [value + 1 for value in high]
    assert len(list(space.faults(FileSource("f"), beyond, case))) == space.axes


@pytest.mark.parametrize("space", [Space(2), Space(3), Space(2, "pixels"), Space(3, "pixels")])
@pytest.mark.parametrize("case", [SIZED, UNSIZED])
@pytest.mark.parametrize("position", [(0.0, 0.0, 0.0), (80.0, 10.0, 5.0)])
def test_far_away_is_within_the_bounds(space, case, position):
    position = position[: space.axes]
    far = space.farthest(position, case)
    assert list(space.faults(FileSource("f"), far, case)) == []
    assert abs(far[0] - position[0]) >= 50
