"""Connected components of a volume that is read plane by plane.

Every plane is divided into runs (adjacent pixels of one row). Runs that touch are joined, for many planes at
once, and with the components that reach the plane before. A component that does not continue is counted and
discarded. So memory holds some ten thousand runs and the runs of two planes, whatever the size of the volume.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Bools, Integers

LEVELS = 6
"""Levels are 0 to 5."""
_RUNS_TOGETHER = 1 << 14
_PLANE = 1 << 40  # from a pixel to the one behind it in the next plane, more than any plane has


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs by position; rows have one extra empty pixel, so that no run crosses two of them."""

    starts: Integers
    ends: Integers


class ComponentCounter:
    """Counts the connected components of a mask by their highest level and by whether they are touched.

    ``width`` is the length of a row in pixels. With ``across_planes`` a voxel has 26 neighbours. Otherwise it
    has the 8 neighbours in its plane, and every plane is counted separately.
    """

    def __init__(self, width: int, across_planes: bool, runs_together: int = _RUNS_TOGETHER) -> None:
        self._stride = width + 1
        self._runs_together = runs_together
        self._shifts = [self._stride]
        if across_planes:
            self._shifts += [_PLANE - self._stride, _PLANE, _PLANE + self._stride]
        self._across_planes = across_planes
        self._counts = np.zeros((LEVELS, 2), dtype=np.int64)
        self._planes = 0
        self._new: list[tuple[Integers, Integers, Integers, Bools]] = []
        self._number_of_new = 0
        # The runs of the last plane that was joined, and the components to which they belong.
        self._runs = _Runs(*np.zeros((2, 0), dtype=np.int64))
        self._component_of_run = np.zeros(0, dtype=np.int64)
        self._highest = np.zeros(0, dtype=np.int64)
        self._touched = np.zeros(0, dtype=np.bool_)

    def add(
        self, mask: Bools, touching: Bools, corner: tuple[int, int], levels: NDArray[Any] | None = None
    ) -> None:
        """Add the next plane, cropped to a box with the corner (top, left); empty planes must be added too.

        ``touching`` is the mask that components may touch, ``levels`` the level of every pixel (default 0).
        """
        before = self._planes * _PLANE
        self._planes += 1
        marked = np.flatnonzero(mask)  # several times as fast as finding rows and columns
        if not len(marked):
            return
        rows, columns = np.divmod(marked, mask.shape[1])
        positions = before + (rows + corner[0]) * self._stride + columns + corner[1]
        first = np.flatnonzero(np.diff(positions, prepend=-2) != 1)
        last = np.append(first[1:], len(positions)) - 1
        highest = np.zeros(len(first), dtype=np.int64)
        if levels is not None:
            highest[:] = np.maximum.reduceat(levels[mask], first)
        touched = np.logical_or.reduceat(touching[mask], first)
        self._new.append((positions[first], positions[last] + 1, highest, touched))
        self._number_of_new += len(first)
        if self._number_of_new >= self._runs_together:
            self._join()

    def counts(self) -> Integers:
        """Return the numbers of components, shape (level, not touched | touched); to be called last."""
        self._join()
        self._finish(np.ones(len(self._highest), dtype=np.bool_))
        return self._counts

    def _join(self) -> None:
        """Join the runs of new planes with each other and with the components that reach the plane before."""
        from scipy.sparse import coo_array  # 0.25 s that only volumes need
        from scipy.sparse.csgraph import connected_components

        if not self._new:
            return
        starts, ends, highest, touched = (np.concatenate(part) for part in zip(*self._new, strict=True))
        self._new, self._number_of_new = [], 0
        runs = _Runs(np.append(self._runs.starts, starts), np.append(self._runs.ends, ends))
        before = len(self._highest)
        nodes = before + len(starts)
        node_of_run = np.append(self._component_of_run, np.arange(before, nodes))
        pairs = [_touching_runs(runs, shift) for shift in self._shifts]
        one, other = (node_of_run[np.concatenate(side)] for side in zip(*pairs, strict=True))
        graph = coo_array((np.ones(len(one), dtype=np.bool_), (one, other)), shape=(nodes, nodes))
        number, component = connected_components(graph, directed=False)
        joined_highest = np.zeros(number, dtype=np.int64)
        np.maximum.at(joined_highest, component, np.append(self._highest, highest))
        joined_touched = np.zeros(number, dtype=np.bool_)
        joined_touched[component[np.append(self._touched, touched)]] = True
        self._highest, self._touched = joined_highest, joined_touched
        # What reaches the last plane may continue in the next one.
        at_end = starts >= (self._planes - 1) * _PLANE if self._across_planes else np.zeros(len(starts), bool)
        of_run = component[before:][at_end]
        going_on = np.zeros(number, dtype=np.bool_)
        going_on[of_run] = True
        self._finish(~going_on)
        self._runs = _Runs(starts[at_end], ends[at_end])
        self._component_of_run = (np.cumsum(going_on) - 1)[of_run]

    def _finish(self, done: Bools) -> None:
        """Count components and discard them."""
        np.add.at(self._counts, (self._highest[done], self._touched[done].astype(np.int64)), 1)
        self._highest, self._touched = self._highest[~done], self._touched[~done]


def _touching_runs(runs: _Runs, shift: int) -> tuple[Integers, Integers]:
    """Return the pairs of runs whose first one, moved, touches the second one, corners included."""
    begin = np.searchsorted(runs.ends, runs.starts + shift, side="left")
    count = np.searchsorted(runs.starts, runs.ends + shift, side="right") - begin
    total = int(count.sum())
    offset = np.arange(total) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(np.arange(len(count)), count), np.repeat(begin, count) + offset
