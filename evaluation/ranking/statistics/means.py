"""The paired permutation test of two teams' means over cases, for many pairs at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.ranking.statistics.exchanges import PERMUTATIONS, Exchanges, exchanges
from evaluation.ranking.statistics.pairwise import TOO_FEW_CASES, PairTest, sign

FloatArray = NDArray[np.float64]
Pair = tuple[int, int]
METHOD = "permutation of the mean"
# Sums are compared to one digit less than their published terms, so that rounding decides nothing.
_EQUAL = 1e-11
# Random exchanges are skipped if fewer than this number are expected to reach the difference.
_NEGLIGIBLE = 0.01


def mean_tests(
    values: ArrayLike,
    pairs: Sequence[Pair],
    units: ArrayLike | None = None,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> list[PairTest]:
    """Return the two-sided permutation test of the difference of means for pairs of teams, in their order.

    values: shape (teams, cases), NaN where a case does not enter; a pair is compared on the cases that enter
    for both. units: shape (cases,), the cluster of every case; a cluster is exchanged as a whole. seed: of
    PCG64. A pair's p depends on the two teams, the units, the seed and the number of permutations alone.
    With few units all exchanges are made, see `exchanges`, and p is exact. Where none of the random exchanges
    reaches the difference, or hardly any is expected to, p is the smaller of 1 / (m + 1) and Hoeffding's
    bound of the exact p, 2·exp(−(Σd)² / 2Σd²) with the differences d summed by unit. The bound is never below
    the exact p, and lets p be smaller than the number of permutations allows.
    The standard error of the mean difference is computed over units.
    Source: Fisher 1935, The Design of Experiments, section 21; Hoeffding 1963, JASA 58:13.
    """
    columns = np.asarray(values, dtype=np.float64)
    chosen = exchanges(np.arange(columns.shape[1]) if units is None else units, seed, permutations)
    undefined = np.isnan(columns)
    groups: dict[bytes, list[int]] = defaultdict(list)
    for position, (first, second) in enumerate(pairs):
        groups[np.packbits(undefined[first] | undefined[second]).tobytes()].append(position)
    tests: dict[int, PairTest] = {}
    for positions in groups.values():
        first, second = pairs[positions[0]]
        entering = ~(undefined[first] | undefined[second])
        members = [pairs[position] for position in positions]
        tests |= zip(positions, _tests(columns, members, entering, chosen), strict=True)
    return [tests[position] for position in range(len(pairs))]


def _tests(
    columns: FloatArray, pairs: Sequence[Pair], entering: NDArray[np.bool_], chosen: Exchanges
) -> list[PairTest]:
    """Return the tests of pairs that are compared on the same cases."""
    units = np.unique(chosen.unit_of_case[entering])
    if units.size < 2:
        return [PairTest(METHOD, None, None, note=TOO_FEW_CASES)] * len(pairs)
    teams = sorted({team for pair in pairs for team in pair})
    kept = columns[teams][:, entering]
    sums = _by_unit(kept, chosen, entering)
    centred = _by_unit(kept - kept.mean(axis=1, keepdims=True), chosen, entering)
    magnitude = np.abs(kept).sum(axis=1)
    at = {team: row for row, team in enumerate(teams)}
    seconds: dict[int, list[int]] = defaultdict(list)
    for first, second in pairs:
        seconds[at[first]].append(at[second])
    rows: list[_Row] = []
    for first, others in seconds.items():
        difference = sums[first] - sums[others]
        variance = np.square(centred[first] - centred[others]).sum(axis=1) * units.size / (units.size - 1)
        rows.append(
            _Row(
                first,
                np.array(others),
                difference.sum(axis=1),
                np.square(difference).sum(axis=1),
                _EQUAL * (magnitude[first] + magnitude[others]),
                np.sqrt(variance) / int(entering.sum()),
            )
        )
    reached = _reached(rows, sums, chosen)
    found = {
        (teams[row.first], teams[second]): test
        for row, hits in zip(rows, reached, strict=True)
        for second, test in zip(row.others.tolist(), row.tests(hits, chosen), strict=True)
    }
    return [found[pair] for pair in pairs]


@dataclass(frozen=True)
class _Row:
    """One team and those with which it is compared, ``others``; all arrays are of their shape.

    ``total`` and ``squares`` are Σd and Σd² of the differences summed by unit; totals that differ by
    ``tolerance`` are equal.
    """

    first: int
    others: NDArray[np.int64]
    total: FloatArray
    squares: FloatArray
    tolerance: FloatArray
    standard_error: FloatArray

    @property
    def bound(self) -> FloatArray:
        """Hoeffding's bound of the exact p."""
        ratio = np.zeros(len(self.others))
        np.divide(self.total**2, self.squares, out=ratio, where=self.squares > 0)
        return np.asarray(np.minimum(1.0, 2 * np.exp(-ratio / 2)))

    def undecided(self, chosen: Exchanges) -> NDArray[np.int64]:
        """Return the positions in ``others`` for which exchanges are more precise than the bound."""
        if chosen.complete:
            return np.arange(len(self.others))
        return np.flatnonzero(self.bound * (chosen.rows + 1) > _NEGLIGIBLE)

    def tests(self, reached: NDArray[np.int64], chosen: Exchanges) -> Iterator[PairTest]:
        for hits, bound, total, tolerance, error in zip(
            reached.tolist(), self.bound, self.total, self.tolerance, self.standard_error, strict=True
        ):
            p = chosen.p_value(hits)
            if not hits and not chosen.complete:
                p = min(p, float(bound))
            direction = sign(float(total)) if abs(total) > tolerance else 0
            yield PairTest(METHOD, p, float(error), direction)


def _reached(rows: Sequence[_Row], sums: FloatArray, chosen: Exchanges) -> list[NDArray[np.int64]]:
    """Return by row how many exchanges reach the difference of each pair."""
    reached = [np.zeros(len(row.others), dtype=np.int64) for row in rows]
    undecided = [row.undecided(chosen) for row in rows]
    thresholds = [
        (np.abs(row.total) - row.tolerance)[places, np.newaxis]
        for row, places in zip(rows, undecided, strict=True)
    ]
    for exchanged in chosen.blocks(max(sums.shape)):
        # The exchanged difference of two teams is the difference of their own sums with exchanged signs.
        signed = sums @ np.where(exchanged, -1.0, 1.0).T
        for row, places, threshold, counts in zip(rows, undecided, thresholds, reached, strict=True):
            if places.size:
                differences = signed[row.others[places]]
                differences -= signed[row.first]
                np.abs(differences, out=differences)
                counts[places] += np.count_nonzero(differences >= threshold, axis=1)
    return reached


def _by_unit(values: FloatArray, chosen: Exchanges, entering: NDArray[np.bool_]) -> FloatArray:
    """Return the sums of values of shape (teams, entering cases) over the cases of every unit."""
    if chosen.units == chosen.unit_of_case.size == values.shape[1]:
        return values
    sums = np.zeros((chosen.units, len(values)))
    np.add.at(sums, chosen.unit_of_case[entering], values.T)
    return sums.T
