"""Tests of means, and tests that exchange two teams' results case by case."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.arrays import Floats
from evaluation.metrics.unseen import size_of_unseen
from evaluation.organiser.ranking.pairwise import (
    EQUAL_MEANS,
    PERMUTATION_OF_MEANS,
    TOO_FEW_CASES,
    PairTest,
    sign,
)
from evaluation.organiser.ranking.rank_statistics import published

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

    @property
    def least_p(self) -> float:
        """The smallest p that a test can have: of random rows, what further rows could give."""
        return 1 / self.rows if self.complete else 0.0

    def weights(self, row_entries: int) -> Iterator[Floats]:
        """Yield blocks of random weights of the units, exponential and independent, shape (rows, units)."""
        generator = np.random.Generator(np.random.PCG64(self.seed))
        for rows in _slices(self.rows, row_entries):
            yield generator.standard_exponential((rows.stop - rows.start, self.units))

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


# --- Paired tests of two teams' means over cases, for many pairs at once ---

Pair = tuple[int, int]
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
    span: float | None = None,
) -> list[PairTest]:
    """Return a two-sided test of the difference of means for pairs of teams, in their order.

    values: shape (teams, cases), NaN where a case does not enter; a pair is compared on the cases that enter
    for both. units: shape (cases,), the cluster of every case; a cluster counts as a whole. seed: of PCG64. A
    pair's p depends on the two teams, the units, the seed, the number of permutations and the span alone. The
    standard error of the mean difference is computed over units.

    With a span, the null is that the means are equal: the largest size of a difference in a case, infinite
    for that of the values seen. The units, and one that the sample may lack, have random weights,
    exponential and independent; the unseen one differs by the span against the sign of the mean, in as many
    cases as `size_of_unseen` tells. p is twice the probability that the weighted sum has the other sign: the
    mean of min(1, exp(−Σwd / span)). It is at most the product of 1 / (1 + d / span) over units, which is
    taken where it is tiny. No population of equal means and units of one size is known that
    is rejected too often. Source: Gaffke 2005, Math. Methods Stat. 14:451.

    Without one, the null is that the teams are exchangeable in every unit. With few units all exchanges are
    made, see `exchanges`, and p is exact. Where none of the random exchanges reaches the difference, or
    hardly any is expected to, p is the smaller of 1 / (m + 1) and Hoeffding's bound of the exact p,
    2·exp(−(Σd)² / 2Σd²) with the differences d summed by unit. The bound is never below the exact p, and lets
    p be smaller than the number of permutations allows. Where teams fail unequally often, it rejects equal
    means too often.
    Source: Fisher 1935, The Design of Experiments, section 21; Hoeffding 1963, JASA 58:13.
    """
    columns = np.asarray(values, dtype=np.float64)
    of_case = np.arange(columns.shape[1]) if units is None else units
    chosen = exchanges(of_case, seed, permutations)
    if span is not None:
        chosen = replace(chosen, rows=permutations, complete=False)
    undefined = np.isnan(columns)
    groups: dict[bytes, list[int]] = defaultdict(list)
    for position, (first, second) in enumerate(pairs):
        groups[np.packbits(undefined[first] | undefined[second]).tobytes()].append(position)
    tests: dict[int, PairTest] = {}
    for positions in groups.values():
        first, second = pairs[positions[0]]
        entering = ~(undefined[first] | undefined[second])
        members = np.array([pairs[position] for position in positions])
        tests |= zip(positions, _tests(columns, members, entering, chosen, span), strict=True)
    return [tests[position] for position in range(len(pairs))]


def _tests(
    columns: Floats,
    pairs: NDArray[np.int64],
    entering: NDArray[np.bool_],
    chosen: Exchanges,
    span: float | None,
) -> list[PairTest]:
    """Return the tests of pairs, shape (pairs, 2), that are compared on the same cases."""
    cases, units = int(entering.sum()), np.unique(chosen.unit_of_case[entering]).size
    method = PERMUTATION_OF_MEANS if span is None else EQUAL_MEANS
    if units < 2:
        return [PairTest(method, None, None, note=TOO_FEW_CASES)] * len(pairs)
    teams, rows = np.unique(pairs, return_inverse=True)
    first, second = rows.reshape(-1, 2).T
    kept = columns[teams][:, entering]
    sums = _by_unit(kept, chosen, entering)
    centred = _by_unit(kept - kept.mean(axis=1, keepdims=True), chosen, entering)
    reach = np.zeros(len(pairs))
    if span is not None:
        seen = kept.max(axis=1), kept.min(axis=1)
        of_pairs = np.maximum(*(seen[0][team] for team in (first, second)))
        of_pairs = of_pairs - np.minimum(*(seen[1][team] for team in (first, second)))
        reach = np.where(of_pairs > 0, np.maximum(of_pairs, span if math.isfinite(span) else 0), 1.0)
        reach *= size_of_unseen(chosen.unit_of_case[entering])
    total, squares, variance, bounds = np.empty((4, len(pairs)))
    for block in _slices(len(pairs), sums.shape[1]):
        difference = sums[first[block]] - sums[second[block]]
        total[block], squares[block] = difference.sum(axis=1), np.square(difference).sum(axis=1)
        variance[block] = np.square(centred[first[block]] - centred[second[block]]).sum(axis=1)
        if span is not None:
            difference *= (np.sign(total[block]) / reach[block])[:, np.newaxis]
            with np.errstate(divide="ignore", invalid="ignore"):
                products = np.where(difference > -1, np.log1p(difference), -np.inf).sum(axis=1)
            bounds[block] = 2 * np.exp(-products)
    errors = np.sqrt(variance * units / (units - 1)) / cases
    magnitude = np.abs(kept).sum(axis=1)
    # Totals that differ by the tolerance are equal.
    tolerance = _EQUAL * (magnitude[first] + magnitude[second])
    directions = np.where(np.abs(total) > tolerance, np.sign(total), 0).astype(np.int64)
    if span is None:
        ratio = np.divide(total**2, squares, out=np.zeros(len(pairs)), where=squares > 0)
        bounds = 2 * np.exp(-ratio / 2)
    bounds = np.minimum(1.0, bounds)
    undecided = np.flatnonzero(chosen.complete | (bounds * (chosen.rows + 1) > _NEGLIGIBLE))
    own = first[undecided], second[undecided]
    p_values = bounds.copy()
    if span is not None:
        p_values[undecided] = _unseen_p(sums, *own, (directions / reach)[undecided], chosen)
        is_bound = np.zeros(len(pairs), dtype=np.bool_)
        is_bound[np.setdiff1d(np.arange(len(pairs)), undecided)] = True
    else:
        reached = np.zeros(len(pairs), dtype=np.int64)
        reached[undecided] = _reached(sums, *own, (np.abs(total) - tolerance)[undecided], chosen)
        exact = np.array([chosen.p_value(hits) for hits in reached.tolist()])
        is_bound = (reached == 0) & (not chosen.complete) & (bounds < exact)
        p_values = np.where(is_bound, bounds, exact)
    least = chosen.least_p if span is None else 2 * 0.5**units
    figures = (array.tolist() for array in (p_values, errors, directions, is_bound, reach / cases))
    return [
        PairTest(
            method, p_value, error, direction, p_is_bound=bound, least_p=least, unseen=unseen, units=units
        )
        for p_value, error, direction, bound, unseen in zip(*figures, strict=True)
    ]


def _unseen_p(
    sums: Floats, first: NDArray[np.int64], second: NDArray[np.int64], scales: Floats, chosen: Exchanges
) -> Floats:
    """Return the two-sided p of each pair of rows of the sums by unit, see `mean_tests`.

    scales: the sign of the difference by the unseen one, 0 where the means are equal.
    """
    found = np.zeros(len(first))
    for weights in chosen.weights(max(sums.shape)) if len(first) else ():
        weighted = sums @ weights.T
        for block in _slices(len(first), weighted.shape[1]):
            exponents = weighted[second[block]]
            exponents -= weighted[first[block]]
            exponents *= scales[block, np.newaxis]
            np.minimum(exponents, 0.0, out=exponents)
            found[block] += np.exp(exponents, out=exponents).sum(axis=1)
    # To the published digits: a product of matrices rounds the last one by how many teams it has.
    return published(np.minimum(1.0, 2 * found / chosen.rows))


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
        least = chosen.p_value(1 if chosen.complete else 0)
        tests[position] = PairTest(RANDOMISATION, p_value, error, sign(observed[position]), least_p=least)
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
