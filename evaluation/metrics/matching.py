"""Objects of two maps, such as instances, fragments or lesions: how they overlap, and which of them match.

The overlaps of all pairs come from one pass over the voxels. Lesions, instances and findings match here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.arrays import Bools, Floats, Integers

Matching = Literal["any", "optimal", "best", "most_overlap"]
Agreement = Literal["iou", "dice"]
AnyIntegers = NDArray[np.integer[Any]]
_TIE = 1e-13  # the share of a gain that decides between equal ones


@dataclass(frozen=True, slots=True)
class Overlaps:
    """The objects of a predicted and a reference map, and the pairs that overlap, or those that match.

    prediction_voxels, reference_voxels: size of each object. pair_prediction, pair_reference: indices of the
    objects of each pair; pair_voxels: voxels that both have; all of shape (pairs,).
    """

    prediction_voxels: Integers
    reference_voxels: Integers
    pair_prediction: Integers
    pair_reference: Integers
    pair_voxels: Integers

    @property
    def iou(self) -> Floats:
        """Intersection over union of each pair, in (0, 1]."""
        return self.pair_voxels / self.pair_union

    @property
    def pair_union(self) -> Integers:
        """Voxels that either object of each pair has."""
        sizes = self.prediction_voxels[self.pair_prediction] + self.reference_voxels[self.pair_reference]
        return np.asarray(sizes - self.pair_voxels)

    @property
    def dice(self) -> Floats:
        """Dice coefficient of each pair, in (0, 1]."""
        return 2 * self.pair_voxels / (self.pair_union + self.pair_voxels)

    @property
    def detected(self) -> int:
        """Number of reference objects in any pair."""
        return len(np.unique(self.pair_reference))

    @property
    def hits(self) -> int:
        """Number of predicted objects in any pair."""
        return len(np.unique(self.pair_prediction))

    @property
    def false(self) -> int:
        """Number of predicted objects in no pair."""
        return len(self.prediction_voxels) - self.hits

    @property
    def objects(self) -> int:
        """Number of objects of both maps."""
        return len(self.prediction_voxels) + len(self.reference_voxels)

    @property
    def false_voxels(self) -> int:
        """Voxels of the predicted objects in no pair."""
        return int(np.delete(self.prediction_voxels, self.pair_prediction).sum())

    @property
    def missed_voxels(self) -> int:
        """Voxels of the reference objects in no pair."""
        return int(np.delete(self.reference_voxels, self.pair_reference).sum())

    def take(self, pairs: NDArray[Any]) -> Overlaps:
        """Return the same objects with some of the pairs."""
        chosen = (of[pairs] for of in (self.pair_prediction, self.pair_reference, self.pair_voxels))
        return Overlaps(self.prediction_voxels, self.reference_voxels, *chosen)

    def among(self, predictions: Bools, references: Bools) -> Overlaps:
        """Return some of the objects, with the pairs of these."""
        kept = self.take(predictions[self.pair_prediction] & references[self.pair_reference])
        return Overlaps(
            self.prediction_voxels[predictions],
            self.reference_voxels[references],
            (np.cumsum(predictions) - 1)[kept.pair_prediction],
            (np.cumsum(references) - 1)[kept.pair_reference],
            kept.pair_voxels,
        )

    def matched(
        self, threshold: float, strict: bool, matching: Matching, agreement: Agreement = "iou"
    ) -> Overlaps:
        """Return the pairs that match: those that agree by at least a threshold (``strict``: by more).

        "any": each of them. "optimal": one to one, as many as possible, and of these the largest sum of the
        agreement; Source: Kirillov et al. 2019, CVPR, p. 9396, where it is more than ½ and so unique.
        "best", "most_overlap": each reference object takes
        the predicted one with which it agrees best, or has most voxels in common, which may serve several.
        Ties go to the first predicted object.
        """
        if matching == "most_overlap":
            return self.of_most_voxels().matched(threshold, strict, "any", agreement)
        score = self.iou if agreement == "iou" else self.dice
        enough = score > threshold if strict else score >= threshold
        kept, score = self.take(enough), score[enough]
        if matching == "any":
            return kept
        if matching == "best":
            return kept._of_each_reference(score)
        fewer = max(1, min(len(self.prediction_voxels), len(self.reference_voxels)))
        return kept.take(optimal_pairs(kept.pair_prediction, kept.pair_reference, 1 + score / (2 * fewer)))

    def of_most_voxels(self) -> Overlaps:
        """Return the pair of each reference object and the predicted one with most of its voxels."""
        return self._of_each_reference(self.pair_voxels)

    def _of_each_reference(self, score: NDArray[Any]) -> Overlaps:
        order = np.lexsort((self.pair_prediction, -score, self.pair_reference))
        return self.take(order[np.unique(self.pair_reference[order], return_index=True)[1]])


def overlaps_of(
    prediction: AnyIntegers, reference: AnyIntegers, predictions: int, references: int
) -> Overlaps:
    """Return the objects of two maps of one shape, and all pairs that overlap.

    prediction, reference: the number of each voxel's object, from 1 to ``predictions`` or ``references``, 0
    for none.
    """
    # Maps consist of runs of equal numbers along x: only the first voxel of each is looked at.
    made, true = prediction.reshape(-1), reference.reshape(-1)
    first = np.empty(len(made), np.bool_)
    first[:1] = True
    np.not_equal(made[1:], made[:-1], out=first[1:])
    first[1:] |= true[1:] != true[:-1]
    starts = np.flatnonzero(first)
    columns = references + 1
    keys = made[starts].astype(np.int64) * columns + true[starts]
    lengths = np.diff(starts, append=len(made))
    if (predictions + 1) * columns <= 4 * len(keys):
        voxels = np.bincount(keys, lengths, (predictions + 1) * columns)
        cells = np.flatnonzero(voxels)
        voxels = voxels[cells]
    else:
        order = np.argsort(keys)
        ordered = keys[order]
        begins = np.flatnonzero(np.diff(ordered, prepend=-1))
        cells, voxels = ordered[begins], np.add.reduceat(lengths[order], begins) if len(begins) else lengths
    of_prediction, of_reference = np.divmod(cells, columns)
    voxels = voxels.astype(np.int64)
    pairs = (of_prediction > 0) & (of_reference > 0)
    return Overlaps(
        np.bincount(of_prediction, voxels, predictions + 1)[1:].astype(np.int64),
        np.bincount(of_reference, voxels, columns)[1:].astype(np.int64),
        of_prediction[pairs] - 1,
        of_reference[pairs] - 1,
        voxels[pairs],
    )


def optimal_pairs(first: Integers, second: Integers, gain: Floats) -> Bools:
    """Return which pairs of objects to take, none of them twice, so that the sum of their gains is largest.

    first, second, gain: shape (pairs,); gains are above 0. Ties go to the lowest numbers of ``first``.
    """
    chosen = _alone(first) & _alone(second)
    rest = np.flatnonzero(~chosen)
    if rest.size:
        from scipy.sparse import csr_array  # 0.3 s that few phases need
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching

        rows, row = np.unique(first[rest], return_inverse=True)
        columns, column = np.unique(second[rest], return_inverse=True)
        # Each may stay alone, which is a match with a column of its own that gains nothing.
        own = np.arange(len(rows))
        gains = gain[rest] * (1 - _TIE * row / len(rows))
        weights = np.concatenate([1 + gains, np.ones(len(rows))])
        places = np.concatenate([row, own]), np.concatenate([column, len(columns) + own])
        graph = csr_array((weights, places), shape=(len(rows), len(columns) + len(rows)))
        taken = min_weight_full_bipartite_matching(graph, maximize=True)[1]
        chosen[rest] = taken[row] == column
    return chosen


def _alone(objects: Integers) -> Bools:
    """Return for each pair whether its object is in no other one."""
    return np.asarray(np.bincount(objects)[objects] == 1)


# --- Instances of a map ---


def in_order(values: AnyIntegers) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each voxel's object by its position from 1 on, 0 for none, and the number of each object.

    values: the number of each voxel's object, at least 0, 0 for none. Objects have 16 bits, or 32 if many.
    """
    highest = int(values.max(initial=0))
    if highest < max(1 << 16, 2 * values.size):
        occurs = np.zeros(highest + 1, np.bool_)
        occurs[values.reshape(-1)] = True
        occurs[0] = False
        numbers = np.flatnonzero(occurs)
        places = np.cumsum(occurs) * occurs
    else:
        distinct, inverse = np.unique(values, return_inverse=True)
        numbers = distinct[distinct > 0].astype(np.int64)
        values, places = inverse.reshape(values.shape), np.cumsum(distinct > 0) * (distinct > 0)
    small = np.uint16 if len(numbers) <= np.iinfo(np.uint16).max else np.uint32
    return places.astype(small)[values], numbers
