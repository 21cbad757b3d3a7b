"""Tests by exchanging two teams' results case by case: of means, sensitivities, and any metric."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.pairwise import TOO_FEW_CASES, PairTest, sign

# --- The exchanges of two teams' results behind a randomisation test: random ones, or all of them ---

PERMUTATIONS = 9_999
_ENTRIES_PER_BLOCK = 1 << 17  # stays in the processor's cache: twice as fast as a million


@dataclass(frozen=True)
class Exchanges:
    """Which units are exchanged in each of a number of rows.

    unit_of_case: shape (cases,), from 0. ``complete``: the rows are all distinct exchanges for a two-sided
    test, including none; else they are random.
    """

    unit_of_case: NDArray[np.intp]
    seed: int
    rows: int
    complete: bool

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.unit_of_case.max(initial=-1)) + 1

    def blocks(self, row_entries: int | None = None) -> Iterator[NDArray[np.bool_]]:
        """Yield blocks of shape (rows, units), True where the unit is exchanged.

        row_entries: how many numbers the caller makes of a row; it sets the size of a block and nothing else.
        """
        generator = np.random.Generator(np.random.PCG64(self.seed))
        for rows in _slices(self.rows, row_entries or self.unit_of_case.size):
            if self.complete:
                # The last unit is never exchanged: exchanging all the others instead is the mirror image.
                numbers = np.arange(rows.start, rows.stop)[:, np.newaxis]
                yield (numbers >> np.arange(self.units) & 1).astype(np.bool_)
            else:
                yield generator.random((rows.stop - rows.start, self.units)) < 0.5

    def p_value(self, reached: int) -> float:
        """Return p for the number of rows with a difference at least as large as the observed one.

        Random rows: (b + 1) / (m + 1), Phipson and Smyth 2010, SAGMB 9:39.
        """
        return reached / self.rows if self.complete else (reached + 1) / (self.rows + 1)


def exchanges(units: ArrayLike, seed: int, permutations: int = PERMUTATIONS) -> Exchanges:
    """Return random exchanges, or all if there are no more than the number asked for.

    units: shape (cases,), the cluster of every case; a cluster is exchanged as a whole. seed: of PCG64.
    """
    unit_of_case = np.unique(np.asarray(units), return_inverse=True)[1].reshape(-1)
    count = int(unit_of_case.max(initial=-1)) + 1
    complete = count > 0 and 1 << (count - 1) <= permutations + 1
    return Exchanges(unit_of_case, seed, 1 << (count - 1) if complete else permutations, complete)


# --- The paired permutation test of two teams' means over cases, for many pairs at once ---

Pair = tuple[int, int]
PERMUTATION_OF_MEANS = "permutation of the mean"
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
        members = np.array([pairs[position] for position in positions])
        tests |= zip(positions, _tests(columns, members, entering, chosen), strict=True)
    return [tests[position] for position in range(len(pairs))]


def _tests(
    columns: Floats, pairs: NDArray[np.int64], entering: NDArray[np.bool_], chosen: Exchanges
) -> list[PairTest]:
    """Return the tests of pairs, shape (pairs, 2), that are compared on the same cases."""
    units = np.unique(chosen.unit_of_case[entering]).size
    if units < 2:
        return [PairTest(PERMUTATION_OF_MEANS, None, None, note=TOO_FEW_CASES)] * len(pairs)
    teams, rows = np.unique(pairs, return_inverse=True)
    first, second = rows.reshape(-1, 2).T
    kept = columns[teams][:, entering]
    sums = _by_unit(kept, chosen, entering)
    centred = _by_unit(kept - kept.mean(axis=1, keepdims=True), chosen, entering)
    total, squares, variance = np.empty((3, len(pairs)))
    for block in _slices(len(pairs), sums.shape[1]):
        difference = sums[first[block]] - sums[second[block]]
        total[block], squares[block] = difference.sum(axis=1), np.square(difference).sum(axis=1)
        variance[block] = np.square(centred[first[block]] - centred[second[block]]).sum(axis=1)
    errors = np.sqrt(variance * units / (units - 1)) / int(entering.sum())
    magnitude = np.abs(kept).sum(axis=1)
    # Totals that differ by the tolerance are equal.
    tolerance = _EQUAL * (magnitude[first] + magnitude[second])
    ratio = np.divide(total**2, squares, out=np.zeros(len(pairs)), where=squares > 0)
    bounds = np.minimum(1.0, 2 * np.exp(-ratio / 2))
    undecided = np.flatnonzero(chosen.complete | (bounds * (chosen.rows + 1) > _NEGLIGIBLE))
    thresholds = (np.abs(total) - tolerance)[undecided]
    reached = np.zeros(len(pairs), dtype=np.int64)
    reached[undecided] = _reached(sums, first[undecided], second[undecided], thresholds, chosen)
    directions = np.where(np.abs(total) > tolerance, np.sign(total), 0).astype(np.int64)
    tests = []
    figures = (array.tolist() for array in (reached, bounds, errors, directions))
    for hits, bound, error, direction in zip(*figures, strict=True):
        p_value = chosen.p_value(hits)
        is_bound = not hits and not chosen.complete and bound < p_value
        p_value = bound if is_bound else p_value
        tests.append(PairTest(PERMUTATION_OF_MEANS, p_value, error, direction, p_is_bound=is_bound))
    return tests


def _reached(
    sums: Floats, first: NDArray[np.int64], second: NDArray[np.int64], thresholds: Floats, chosen: Exchanges
) -> NDArray[np.int64]:
    """Return how many exchanges reach the threshold of each pair of rows of the sums by unit."""
    reached = np.zeros(len(first), dtype=np.int64)
    for exchanged in chosen.blocks(max(sums.shape)) if len(first) else ():
        # The exchanged difference of two teams is the difference of their own sums with exchanged signs.
        signed = sums @ np.where(exchanged, -1.0, 1.0).T
        for block in _slices(len(first), signed.shape[1]):
            differences = signed[second[block]]
            differences -= signed[first[block]]
            np.abs(differences, out=differences)
            reached[block] += np.count_nonzero(differences >= thresholds[block, np.newaxis], axis=1)
    return reached


def _slices(rows: int, columns: int) -> Iterator[slice]:
    """Yield the slices of rows that are held at once in an array with so many columns."""
    step = max(1, _ENTRIES_PER_BLOCK // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def _by_unit(values: Floats, chosen: Exchanges, entering: NDArray[np.bool_]) -> Floats:
    """Return the sums of values of shape (teams, entering cases) over the cases of every unit."""
    if chosen.units == chosen.unit_of_case.size == values.shape[1]:
        return values
    sums = np.zeros((chosen.units, len(values)))
    np.add.at(sums, chosen.unit_of_case[entering], values.T)
    return sums.T


# --- Fisher's randomisation test: two teams' results are exchanged case by case at random ---

Difference = Callable[[NDArray[np.bool_]], Floats]
RANDOMISATION = "randomisation"


def randomisation_tests(
    differences: Sequence[Difference],
    units: ArrayLike,
    seed: int,
    permutations: int = PERMUTATIONS,
    standard_errors: Sequence[float | None] | None = None,
) -> list[PairTest]:
    """Return the two-sided tests of differences of two teams' metrics, under the same exchanges for all.

    differences: a function for each pair, from exchanges, shape (rows, cases), true where the teams' results
    are exchanged, to the differences of the metrics, shape (rows,), rounded for comparison. units: shape
    (cases,), the cluster of every case; a cluster is exchanged as a whole. seed: of PCG64. With few units all
    exchanges are made, see `exchanges`, and p is exact. A missing standard error is replaced by the spread of
    the exchanged differences about zero.
    Source: Fisher 1935, The Design of Experiments.
    """
    chosen = exchanges(units, seed, permutations)
    none_exchanged = np.zeros((1, chosen.unit_of_case.size), dtype=np.bool_)
    observed = [float(difference(none_exchanged)[0]) for difference in differences]
    existing = [position for position, value in enumerate(observed) if not np.isnan(value)]
    reached, squares = [0] * len(differences), [0.0] * len(differences)
    for exchanged in chosen.blocks() if existing else ():
        by_case = exchanged[:, chosen.unit_of_case]
        for position in existing:
            values = differences[position](by_case)
            reached[position] += int((np.abs(values) >= abs(observed[position])).sum())
            squares[position] += float(values @ values)
    tests = [PairTest(RANDOMISATION, None, None, note="the metric does not exist for both teams")] * len(
        observed
    )
    for position in existing:
        error = standard_errors[position] if standard_errors else None
        if error is None:
            error = math.sqrt(squares[position] / chosen.rows)
        p_value = chosen.p_value(reached[position])
        tests[position] = PairTest(RANDOMISATION, p_value, error, sign(observed[position]))
    return tests


# --- Sensitivities of two teams at a specificity, with their results exchanged in many ways ---

Ranks = NDArray[np.int32]
_NEVER = -1  # below the rank of every score and of every threshold


class ExchangedSensitivities:
    """The scores of several teams by class, ready for exchanges between any two of them.

    scores: shape (teams, cases), comparable between teams; −inf for a missing positive, +inf for a missing
    negative. positive: shape (cases,). target: the least specificity. The sensitivity is defined as in
    `evaluation.metrics.sensitivity_at_specificity`, with every case once: a positive is detected where at
    least ⌈target · negatives⌉ negatives score less. Raises ValueError where a class has no case.
    """

    def __init__(self, scores: ArrayLike, positive: ArrayLike, target: Fraction) -> None:
        given, is_positive = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
        self._positives, self._negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
        if not (self._positives.size and self._negatives.size):
            raise ValueError("expected positives and negatives")
        # Ranks over the scores of all teams: half as much to read, and exchanged by bits.
        distinct = np.unique(given)
        ranks = np.searchsorted(distinct, given).astype(np.int32)
        ranks[np.isneginf(given) & is_positive] = _NEVER
        self._of_positives, self._of_negatives = ranks[:, self._positives], ranks[:, self._negatives]
        self._below = math.ceil(target * self._negatives.size)

    def between(self, first: int, second: int) -> Callable[[NDArray[np.bool_]], tuple[Floats, Floats]]:
        """Return the function of exchanges between two teams, given by their positions.

        It takes an array of shape (rows, cases), true where the teams' scores are exchanged, and returns
        both sensitivities after the exchange, each of shape (rows,).
        """

        def sensitivities(exchanged: NDArray[np.bool_]) -> tuple[Floats, Floats]:
            positives = _exchanged(self._of_positives, first, second, exchanged[:, self._positives])
            of_negatives = np.take(exchanged, self._negatives, axis=1)
            negatives = _exchanged(self._of_negatives, first, second, of_negatives)
            of_first, of_second = (
                np.count_nonzero(of_team > self._thresholds(against), axis=1) / self._positives.size
                for of_team, against in zip(positives, negatives, strict=True)
            )
            return of_first, of_second

        return sensitivities

    def _thresholds(self, negatives: Ranks) -> Ranks:
        """Return each row's threshold, which a detected positive exceeds, shape (rows, 1)."""
        if self._below == 0:
            return np.full((len(negatives), 1), _NEVER, dtype=np.int32)
        last = self._below - 1
        negatives.partition(last, axis=1)
        return negatives[:, last : last + 1]


def _exchanged(ranks: Ranks, first: int, second: int, exchanged: NDArray[np.bool_]) -> tuple[Ranks, Ranks]:
    """Return both teams' ranks after exchanges, each of shape (rows, cases)."""
    differing = ranks[first] ^ ranks[second]
    # All bits are set where the case is exchanged: a choice by a random mask would be ten times as slow.
    of_first = -exchanged.astype(np.int32)
    of_first &= differing
    of_first ^= ranks[first]
    return of_first, of_first ^ differing
