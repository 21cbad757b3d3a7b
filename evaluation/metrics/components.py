"""Connected components of a volume that is read plane by plane, and whether each touches another mask.

Every plane is divided into runs (adjacent pixels of one row). Runs that touch are joined, first within the
plane, then with the components of the plane before. A component that does not continue is counted and
discarded. So the memory is that of the runs of two planes, whatever the size of the volume.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEVELS = 6
"""Levels are 0 to 5."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Runs:
    """Runs by position in a plane whose rows have one extra empty pixel, so that no run crosses two rows."""

    starts: Integers
    ends: Integers


_NO_RUNS = _Runs(*np.zeros((2, 0), dtype=np.int64))


class ComponentCounter:
    """Counts the connected components of a mask by their highest level and by whether they are touched.

    ``width`` is the length of a row in pixels. With ``across_planes`` a voxel has 26 neighbours. Otherwise it
    has the 8 neighbours in its plane, and every plane is counted separately.
    """

    def __init__(self, width: int, across_planes: bool) -> None:
        self._stride = width + 1
        self._across_planes = across_planes
        self._counts = np.zeros((LEVELS, 2), dtype=np.int64)
        self._runs = _NO_RUNS
        self._component_of_run = np.zeros(0, dtype=np.int64)
        self._highest = np.zeros(0, dtype=np.int64)
        self._touched = np.zeros(0, dtype=np.bool_)

    def add(
        self,
        mask: NDArray[np.bool_],
        touching: NDArray[np.bool_],
        corner: tuple[int, int],
        levels: NDArray[Any] | None = None,
    ) -> None:
        """Add the next plane, cropped to a box with the corner (top, left); empty planes must be added too.

        ``touching`` is the mask that components may touch, ``levels`` the level of every pixel (default 0).
        """
        marked = np.flatnonzero(mask)  # several times as fast as finding rows and columns
        if not len(marked):
            self._end()
            return
        rows, columns = np.divmod(marked, mask.shape[1])
        positions = (rows + corner[0]) * self._stride + columns + corner[1]
        first = np.flatnonzero(np.diff(positions, prepend=-2) != 1)
        last = np.append(first[1:], len(positions)) - 1
        highest = np.zeros(len(first), dtype=np.int64)
        if levels is not None:
            highest[:] = np.maximum.reduceat(levels[mask], first)
        self._join(
            _Runs(positions[first], positions[last] + 1),
            highest,
            np.logical_or.reduceat(touching[mask], first),
        )
        if not self._across_planes:
            self._end()

    def counts(self) -> Integers:
        """Return the numbers of components, shape (level, not touched | touched); to be called last."""
        self._end()
        return self._counts

    def _end(self) -> None:
        """End all components at the last plane."""
        self._finish(np.ones(len(self._highest), dtype=np.bool_))
        self._runs = _NO_RUNS
        self._component_of_run = np.zeros(0, dtype=np.int64)

    def _join(self, runs: _Runs, highest: Integers, touched: NDArray[np.bool_]) -> None:
        """Join the runs of a plane with each other and with the components of the plane before."""
        from scipy.sparse import coo_array  # 0.25 s that only volumes need
        from scipy.sparse.csgraph import connected_components

        before = len(self._highest)
        nodes = before + len(runs.starts)
        upper, lower = _touching_runs(runs, runs, self._stride)
        ends = [(upper + before, lower + before)]
        if len(self._runs.starts):
            for shift in (-self._stride, 0, self._stride):
                earlier, later = _touching_runs(self._runs, runs, shift)
                ends.append((self._component_of_run[earlier], later + before))
        one, other = (np.concatenate(side) for side in zip(*ends, strict=True))
        graph = coo_array((np.ones(len(one), dtype=np.bool_), (one, other)), shape=(nodes, nodes))
        number, component = connected_components(graph, directed=False)
        joined_highest = np.zeros(number, dtype=np.int64)
        np.maximum.at(joined_highest, component, np.concatenate((self._highest, highest)))
        joined_touched = np.zeros(number, dtype=np.bool_)
        joined_touched[component[np.concatenate((self._touched, touched))]] = True
        going_on = np.zeros(number, dtype=np.bool_)
        going_on[component[before:]] = True
        self._highest, self._touched = joined_highest, joined_touched
        self._finish(~going_on)
        self._runs = runs
        self._component_of_run = (np.cumsum(going_on) - 1)[component[before:]]

    def _finish(self, done: NDArray[np.bool_]) -> None:
        """Count components and discard them."""
        np.add.at(self._counts, (self._highest[done], self._touched[done].astype(np.int64)), 1)
        self._highest, self._touched = self._highest[~done], self._touched[~done]


def _touching_runs(first: _Runs, second: _Runs, shift: int) -> tuple[Integers, Integers]:
    """Return the pairs of runs that touch, corners included, after moving ``first`` by ``shift``."""
    begin = np.searchsorted(second.ends, first.starts + shift, side="left")
    count = np.searchsorted(second.starts, first.ends + shift, side="right") - begin
    total = int(count.sum())
    offset = np.arange(total) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(np.arange(len(count)), count), np.repeat(begin, count) + offset
