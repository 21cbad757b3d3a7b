"""Comparison of a predicted volume with a reference of confidences and levels, plane by plane.

One pass collects all sums, counts, components and marked voxels for the figures of a volume. The result does
not depend on the number of planes added at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.components import LEVELS, ComponentCounter
from evaluation.metrics.confidence import ConfidenceSums
from evaluation.metrics.crop import Box, Crop, box_of_content
from evaluation.metrics.overlap import OverlapCounts

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ComparedVolume:
    """The sums and counts for all figures of one volume.

    ``overlap`` compares the marked voxels with the voxels of level > 0, ``annotator_overlaps`` with each
    annotator's (in the order given), ``intersection_overlap`` with the voxels that all annotators marked
    (None without annotators). ``voxels`` and ``found`` count the reference's voxels by level, all and the
    marked ones. ``cysts`` counts its components by their highest level and by whether they are touched
    (level, untouched | touched), ``false_components`` the predicted components that touch no voxel of level >
    0. ``confidences`` are the distinct confidences of the reference above 0, with the number of voxels of
    each. The planes hold the marked voxels.
    """

    sums: ConfidenceSums
    overlap: OverlapCounts[int]
    annotator_overlaps: tuple[OverlapCounts[int], ...]
    intersection_overlap: OverlapCounts[int] | None
    voxels: Counts
    found: Counts
    cysts: Counts
    false_components: int
    confidences: NDArray[np.float64]
    voxels_of_confidence: Counts
    predicted_planes: tuple[Crop, ...]
    reference_planes: tuple[Crop, ...]


class VolumeComparison:
    """Collects a `ComparedVolume` from the planes of a volume, in order.

    ``width``: of a row in pixels. ``marked_from``: the lowest prediction of a marked voxel.
    ``across_planes``: whether components join planes.
    """

    def __init__(self, width: int, marked_from: float, across_planes: bool, annotators: int = 0) -> None:
        self._marked_from = marked_from
        self._cysts = ComponentCounter(width, across_planes)
        self._predicted = ComponentCounter(width, across_planes)
        self._products: list[float] = []
        self._predicted_squares: list[float] = []
        self._reference_squares: list[float] = []
        self._overlap = np.zeros(3, dtype=np.int64)
        self._of_annotators = np.zeros(
            (annotators + 1, 3), dtype=np.int64
        )  # the last row is their intersection
        self._voxels = np.zeros(LEVELS, dtype=np.int64)
        self._found = np.zeros(LEVELS, dtype=np.int64)
        self._distinct: dict[float, int] = {}
        self._predicted_planes: list[Crop] = []
        self._reference_planes: list[Crop] = []

    def add(
        self,
        prediction: Crop,
        level: Crop,
        confidence: Crop,
        annotators: Sequence[Crop] = (),
    ) -> None:
        """Add a plane: the prediction in [0, 1], level 0 to 5, confidence, and each annotator's level.

        Raises `ValueError` where a confidence is above 0 although the level is 0.
        """
        box = reduce(Box.union, (plane.box for plane in (prediction, level, confidence, *annotators)))
        predicted, levels, true = prediction.within(box), level.within(box), confidence.within(box)
        marked, annotated = predicted >= self._marked_from, levels > 0
        if ((true > 0) & ~annotated).any():
            raise ValueError("expected confidence 0 where the level is 0, found a confidence above 0")
        self._add_sums(predicted, true[annotated], predicted[annotated])
        self._overlap += _counts(marked, annotated)
        self._voxels += np.bincount(levels[annotated], minlength=LEVELS)
        self._found += np.bincount(levels[marked & annotated], minlength=LEVELS)
        corner = (box.top, box.left)
        self._cysts.add(annotated, marked, corner, levels)
        self._predicted.add(marked, annotated, corner)
        self._predicted_planes.append(_cropped(marked, box))
        self._reference_planes.append(_cropped(annotated, box))
        if annotators:
            annotator_overlaps = [annotator.within(box) > 0 for annotator in annotators]
            for row, annotator_marks in enumerate(
                [*annotator_overlaps, np.logical_and.reduce(annotator_overlaps)]
            ):
                self._of_annotators[row] += _counts(marked, annotator_marks)

    def result(self) -> ComparedVolume:
        """Return the comparison; no plane can be added afterwards."""
        cysts = self._cysts.counts()
        annotators = [OverlapCounts(*row) for row in self._of_annotators.tolist()]
        distinct = sorted(self._distinct.items())
        return ComparedVolume(
            sums=ConfidenceSums(
                math.fsum(self._products),
                math.fsum(self._predicted_squares),
                math.fsum(self._reference_squares),
            ),
            overlap=OverlapCounts(*self._overlap.tolist()),
            annotator_overlaps=tuple(annotators[:-1]),
            intersection_overlap=annotators[-1] if len(annotators) > 1 else None,
            voxels=self._voxels,
            found=self._found,
            cysts=cysts,
            false_components=int(self._predicted.counts()[:, 0].sum()),
            confidences=np.array([confidence for confidence, _ in distinct], dtype=np.float64),
            voxels_of_confidence=np.array([voxels for _, voxels in distinct], dtype=np.int64),
            predicted_planes=tuple(self._predicted_planes),
            reference_planes=tuple(self._reference_planes),
        )

    def _add_sums(self, predicted: NDArray[Any], true: NDArray[Any], at_true: NDArray[Any]) -> None:
        true = true.astype(np.float64)
        self._products.append(float((true * at_true).sum()))
        self._predicted_squares.append(float(np.square(predicted, dtype=np.float64).sum()))
        values, counts = np.unique(true, return_counts=True)
        self._reference_squares.append(float((values * values * counts).sum()))
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            if value > 0:
                self._distinct[value] = self._distinct.get(value, 0) + count


def _cropped(mask: NDArray[np.bool_], box: Box) -> Crop:
    """Return a mask in a box as a plane cropped to its content. It is copied to release the full plane."""
    own = box_of_content(mask)
    if own.is_empty:
        return Crop(np.zeros((0, 0), dtype=np.bool_))
    return Crop(mask[own.slices].copy(), own.top + box.top, own.left + box.left)


def _counts(prediction: NDArray[np.bool_], reference: NDArray[np.bool_]) -> Counts:
    both = np.count_nonzero(prediction & reference)
    return np.array((both, np.count_nonzero(prediction), np.count_nonzero(reference)), dtype=np.int64)
