"""Pairs of predictions and references that are near enough to match, and the rules that choose among them.

Memory grows with the pairs that are near, and not with predictions times references.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Bools, Floats, Integers
from evaluation.metrics.matching import optimal_pairs

_REFERENCES_AT_ONCE = 64
_PAIRS_OF_A_TABLE = 4096

Measure = Callable[[Integers, Integers], tuple[Floats, Bools]]
"""Takes positions of predictions and references; returns how far apart they are and whether they are near."""


@dataclass(frozen=True, slots=True)
class NearPairs:
    """Pairs that may match, in the order of their predictions, then of their references.

    prediction, reference: positions, shape (pairs,). distance: shape (pairs,), the smaller the better.
    predictions, references: how many there are of each.
    """

    prediction: Integers
    reference: Integers
    distance: Floats
    predictions: int
    references: int

    @classmethod
    def of_table(cls, distance: Floats, near: Bools) -> "NearPairs":
        """Return the near pairs of tables of shape (predictions, references)."""
        prediction, reference = np.nonzero(near)
        predictions, references = near.shape
        return cls(prediction, reference, distance[near], predictions, references)

    @classmethod
    def within(
        cls, lower: Floats, upper: Floats, reference_lower: Floats, reference_upper: Floats, measure: Measure
    ) -> "NearPairs":
        """Return the pairs that ``measure`` finds near, asked of those alone whose extents touch.

        lower, upper: corners of the predictions' extents, shape (predictions, axes), and of the references'.
        """
        if len(lower) * len(reference_lower) <= _PAIRS_OF_A_TABLE:
            return cls.of_table(*measure(np.arange(len(lower)), np.arange(len(reference_lower))))
        found = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
        by_lower = np.argsort(lower[:, 0], kind="stable")
        starts, ends = lower[by_lower, 0], np.fmax.accumulate(upper[by_lower, 0])
        for block in _blocks(reference_lower):
            low, high = np.fmin.reduce(reference_lower[block]), np.fmax.reduce(reference_upper[block])
            # Those before all end too low on the first axis, those after all start too high.
            first, last = np.searchsorted(ends, low[0]), np.searchsorted(starts, high[0], side="right")
            chosen = by_lower[first:last]
            chosen = chosen[((lower[chosen] <= high) & (upper[chosen] >= low)).all(axis=1)]
            distance, near = measure(chosen, block)
            rows, columns = np.nonzero(near)
            found.append((chosen[rows], block[columns], distance[rows, columns]))
        prediction, reference, distance = map(np.concatenate, zip(*found, strict=True))
        order = np.lexsort((reference, prediction))
        pairs = (prediction[order], reference[order], distance[order])
        return cls(*pairs, len(lower), len(reference_lower))

    def nearest(self, second_choice: bool) -> Integers:
        """Each reference in its order takes the nearest prediction; a taken one leaves it without, or others.

        Return the prediction of each reference, −1 without one; so do all rules. Of equals the first.
        """
        hit, free = self._no_hits(), np.ones(self.predictions, dtype=np.bool_)
        order = np.argsort(self.reference, kind="stable")
        for pairs in _runs(self.reference[order]):
            near = self.prediction[order[pairs]]
            distance = self.distance[order[pairs]]
            if second_choice:
                near, distance = near[free[near]], distance[free[near]]
            if near.size and free[nearest := near[distance.argmin()]]:
                hit[self.reference[order[pairs.start]]], free[nearest] = nearest, False
        return hit

    def most_confident(self, confidence: Floats) -> Integers:
        """Each reference in its order takes the most confident free prediction, of equals the nearest."""
        place = np.empty(len(self.distance))
        place[np.lexsort((self.distance, -confidence[self.prediction]))] = np.arange(len(self.distance))
        ranked = NearPairs(self.prediction, self.reference, place, self.predictions, self.references)
        return ranked.nearest(second_choice=True)

    def any_of(self, confidence: Floats) -> Integers:
        """Each reference takes its most confident prediction, the first of equals, also one that is taken."""
        hit = self._no_hits()
        order = np.lexsort((-self.prediction, confidence[self.prediction]))
        hit[self.reference[order]] = self.prediction[order]  # of several values the last one stays
        return hit

    def by_confidence(self, confidence: Floats) -> Integers:
        """Each prediction, by falling confidence, takes the nearest free reference."""
        hit = self._no_hits()
        for pairs in self.falling(confidence):
            free = hit[self.reference[pairs]] < 0
            if free.any():
                nearest = np.where(free, self.distance[pairs], np.inf).argmin()
                hit[self.reference[pairs][nearest]] = self.prediction[pairs.start]
        return hit

    def falling(self, confidence: Floats, together: bool = True) -> list[slice]:
        """Return where the pairs of each prediction lie, by its falling confidence.

        ``together``: of equals the nearer comes first; those with the same distances to all references are
        interchangeable. Else the first.
        """

        def key(pairs: slice) -> tuple[float, float, list[tuple[float, ...]]]:
            near = list(zip(self.reference[pairs].tolist(), self.distance[pairs].tolist(), strict=True))
            return certain(pairs), min(distance for _, distance in near), [*near, (np.inf,)]

        def certain(pairs: slice) -> float:
            return -float(confidence[self.prediction[pairs.start]])

        return sorted(_runs(self.prediction), key=key if together else certain)

    def optimal(self) -> Integers:
        """As many pairs as possible, of those the ones with the smallest sum of distances."""
        hit = self._no_hits()
        if len(self.distance):
            # One pair more is worth more than any sum of distances.
            most = (float(self.distance.max()) + 1.0) * (min(self.predictions, self.references) + 1)
            chosen = optimal_pairs(self.prediction, self.reference, most - self.distance)
            hit[self.reference[chosen]] = self.prediction[chosen]
        return hit

    def _no_hits(self) -> Integers:
        return np.full(self.references, -1, dtype=np.int64)


def _blocks(lower: Floats) -> list[Integers]:
    """Return the positions of references in blocks that lie close together, by strips of the first axis."""
    count = len(lower)
    order = np.arange(count)
    blocks = -(-count // _REFERENCES_AT_ONCE)
    if blocks > 1:
        strip = np.empty(count, dtype=np.int64)
        strip[np.argsort(lower[:, 0], kind="stable")] = order * int(np.ceil(np.sqrt(blocks))) // count
        order = np.lexsort((lower[:, -1], strip))
    return [order[start : start + _REFERENCES_AT_ONCE] for start in range(0, count, _REFERENCES_AT_ONCE)]


def _runs(sorted_values: Integers) -> list[slice]:
    """Return where each run of equal values lies."""
    starts = np.flatnonzero(np.diff(sorted_values, prepend=-1)).tolist()
    return [slice(*ends) for ends in pairwise([*starts, len(sorted_values)])]


def reach_of(radius: Floats, centres: Floats) -> NDArray[np.float64]:
    """Return how far extents must reach from centres, so that rounding leaves out no pair in a radius."""
    wide = radius[:, np.newaxis] + 4 * np.spacing(np.abs(centres) + radius[:, np.newaxis])
    return np.where(np.isnan(wide), np.inf, wide)
