"""Draws of a bootstrap of cases, as weights of the units that are drawn and of the cases."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.numbers import Bools, Floats, Integers, Positions

_ENTRIES_PER_BLOCK = 500_000
_DRAWS_AT_ONCE = 1 << 16  # half a megabyte, which stays in the processor's cache, as do the counts


@dataclass(frozen=True)
class UnitWeights:
    """Resamples as counts of units: shape (rows, units); and the unit of every case, shape (cases,).

    There are fewer units than cases where cases belong together.
    """

    of_units: Integers
    unit_of_case: Positions

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of cases."""
        return len(self.of_units), self.unit_of_case.size

    @cached_property
    def of_cases(self) -> Floats:
        """The weights of the cases, shape (rows, cases)."""
        return self.of_units.astype(np.float64).take(self.unit_of_case, axis=1, mode="clip")

    def among(self, chosen: Bools) -> "UnitWeights":
        """Return the weights of some of the cases."""
        return UnitWeights(self.of_units, self.unit_of_case[chosen])


@dataclass(frozen=True)
class Bootstrap:
    """A bootstrap of units within groups; made by `bootstrap_of`.

    unit_of_case: shape (cases,), −1 for a case that is not drawn. Units are numbered group by group:
    ``sizes`` has the number of units of each.
    """

    unit_of_case: Positions
    sizes: Integers
    seed: int
    resamples: int

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.sizes.sum())

    def unit_weights(self, rows: range) -> Iterator[UnitWeights]:
        """Yield the weights of the units in some successive resamples, block by block.

        Each row holds multinomial counts: in every group there are as many draws with replacement as units.
        """
        draws = _Draws(self, rows.start)
        for start in rows[:: draws.most_rows]:
            counts = draws.counts(min(draws.most_rows, rows.stop - start))
            yield UnitWeights(counts, self.unit_of_case)

    def case_weights(self) -> Iterator[Floats]:
        """Yield the weights of the cases, shape (rows, cases), in blocks of about half a million entries."""
        cases, drawn = self.unit_of_case.size, self.unit_of_case >= 0
        block_rows = max(1, _ENTRIES_PER_BLOCK // max(1, cases))
        for start in range(0, self.resamples, block_rows):
            block, first = np.zeros((min(block_rows, self.resamples - start), cases)), 0
            for part in self.unit_weights(range(start, start + len(block))) if drawn.any() else ():
                last = first + len(part.of_units)
                np.multiply(part.of_cases, drawn, out=block[first:last])
                first = last
            yield block


class _Draws:
    """The draws of a bootstrap, row by row; at most ``most_rows`` at once."""

    def __init__(self, bootstrap: Bootstrap, first_row: int) -> None:
        sizes, units = bootstrap.sizes, bootstrap.units
        self.most_rows = min(max(1, _DRAWS_AT_ONCE // max(1, units)), bootstrap.resamples)
        # The units of a group are adjacent: a draw is its first unit and a share of its size.
        self._size = np.repeat(sizes, sizes).astype(np.float64)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        self._first = first + np.arange(self.most_rows)[:, np.newaxis] * units
        self._uniform = np.empty((self.most_rows, units))
        self._drawn = np.empty((self.most_rows, units), dtype=np.intp)
        # One random number for each draw.
        numbers = np.random.PCG64(bootstrap.seed).advance(first_row * units)
        self._generator = np.random.Generator(numbers)

    def counts(self, rows: int) -> Integers:
        """Return how often each unit is drawn in the next rows, shape (rows, units)."""
        uniform, drawn = self._uniform[:rows], self._drawn[:rows]
        self._generator.random(out=uniform)
        uniform *= self._size  # floor(u·n) < n for every double u < 1
        drawn[:] = uniform
        drawn += self._first[:rows]
        return np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)


def bootstrap_of(strata: ArrayLike, clusters: ArrayLike | None, seed: int, resamples: int) -> Bootstrap:
    """Return the stratified bootstrap of cases, or of clusters of them.

    strata: integers, shape (cases,); cases of stratum −1 are not in the metric and are not drawn.
    clusters: None, or integers of shape (cases,), such as the person an eye belongs to. Then clusters are
        drawn and every member has its cluster's count; a cluster is resampled among those whose members have
        the same set of strata, and the weights of a row sum to the number of cases only on average. Cases of
        stratum −1 do not count as members.
    seed: of PCG64. One uniform number per row and drawn unit, rows first, units by stratum and then position
        (clusters: by set of strata and then number).
    Raises ValueError for shapes that differ, a stratum below −1, and resamples below 1.
    """
    stratum = np.asarray(strata, dtype=np.int64)
    cluster = np.arange(stratum.size) if clusters is None else np.asarray(clusters)
    if stratum.ndim != 1 or cluster.shape != stratum.shape:
        raise ValueError(
            "strata and clusters: expected one value per case, "
            f"found shapes {stratum.shape} and {cluster.shape}"
        )
    if stratum.min(initial=0) < -1:
        raise ValueError(f"strata: expected −1 or more, found {stratum.min()}")
    if resamples < 1:
        raise ValueError(f"resamples: expected at least 1, found {resamples}")
    members = np.flatnonzero(stratum >= 0)
    if clusters is None:
        group, unit_of_member = stratum[members], np.arange(members.size)
    else:
        group, unit_of_member = _cluster_groups(stratum[members], cluster[members])
    by_group = np.argsort(group, kind="stable")
    place = np.empty(group.size, dtype=np.intp)
    place[by_group] = np.arange(group.size)
    unit_of_case = np.full(stratum.size, -1, dtype=np.intp)
    unit_of_case[members] = place[unit_of_member]
    sizes = np.bincount(group)
    return Bootstrap(unit_of_case, sizes[sizes > 0], seed, resamples)


def _cluster_groups(stratum: Integers, cluster: Integers) -> tuple[Integers, Positions]:
    """Return each cluster's group (one per set of strata that its cases have) and each case's cluster."""
    unit_of_case, kind_of_case = _numbered(cluster), _numbered(stratum)
    # Marked by the strata they lack, clusters of one stratum are sorted in the order of their strata.
    shape = unit_of_case.max(initial=-1) + 1, kind_of_case.max(initial=-1) + 1
    lacks = np.ones(shape, dtype=np.bool_)
    lacks[unit_of_case, kind_of_case] = False
    group = np.zeros(len(lacks), dtype=np.int64)
    for of_kind in lacks.T:
        group = _numbered(2 * group + of_kind)
    return group, unit_of_case


def _numbered(values: Integers) -> Integers:
    """Return for each integer its position among those that occur, in ascending order."""
    lowest, highest = values.min(initial=0), values.max(initial=0)
    if highest - lowest > 8 * values.size:
        return np.unique(values, return_inverse=True)[1].reshape(-1)
    # Close together, as they usually are, they need not be sorted.
    occurs = np.zeros(highest - lowest + 1, dtype=np.bool_)
    occurs[values - lowest] = True
    return np.asarray((np.cumsum(occurs) - 1)[values - lowest])
