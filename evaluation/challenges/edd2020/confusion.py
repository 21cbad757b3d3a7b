"""Which class a box is taken for: confusion of the classes of boxes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.metrics.arrays import Bools, Floats, Integers
from evaluation.metrics.boxes import match_boxes


@dataclass(frozen=True, slots=True)
class LabelledBoxes:
    """Boxes of many images: corners (boxes, 2 · axes), and for each its image, class and confidence."""

    corners: Floats
    images: Integers
    classes: Integers
    confidence: Floats

    def take(self, chosen: Bools) -> LabelledBoxes:
        """Return some of the boxes."""
        return LabelledBoxes(
            self.corners[chosen], self.images[chosen], self.classes[chosen], self.confidence[chosen]
        )


@dataclass(frozen=True, slots=True)
class BoxConfusion:
    """The outcome of every box.

    hit: shape (detections,), the true positives. found: shape (references,), the boxes that these hit.
    called: shape (references,), for a missed box the class of the false detection that lies on it, else −1.
    """

    hit: Bools
    found: Bools
    called: Integers

    def counts(self, classes: Integers, number: int) -> Integers:
        """Return how many reference boxes of each class (row) are called each class (column).

        classes: of the reference boxes, shape (references,), below ``number``. Hits are on the
        diagonal, and nothing else is. Missed boxes that no detection lies on are in no column.
        """
        called = np.where(self.found, classes, self.called)
        marked = called >= 0
        pairs = np.bincount(classes[marked] * number + called[marked], minlength=number * number)
        return pairs.reshape(number, number).astype(np.int64)


def confuse_boxes(
    detections: LabelledBoxes, references: LabelledBoxes, threshold: float, inclusive_corners: bool
) -> BoxConfusion:
    """Match detections within their classes first, then the remaining boxes of different classes.

    The first step is `match_boxes` at one IoU threshold, as for average precision. In the second, each
    false detection, by descending confidence, looks at the missed box of its image that it overlaps most: it
    lies on it if the IoU reaches the threshold, the box is not yet taken, and its class is another. So no
    detection counts twice, and where classes overlap the right one comes first. Empty input gives empty
    output.
    """
    size = 1 + int(max(detections.classes.max(initial=0), references.classes.max(initial=0)))
    matches = match_boxes(
        detections.corners,
        detections.images * size + detections.classes,
        detections.confidence,
        references.corners,
        references.images * size + references.classes,
        inclusive_corners,
    )
    hit = (matches.claimed < threshold) & (threshold <= matches.iou)
    found = np.zeros(len(references.classes), dtype=np.bool_)
    found[matches.best[hit]] = True
    false, missed = detections.take(~hit), references.take(~found)
    again = match_boxes(
        false.corners, false.images, false.confidence, missed.corners, missed.images, inclusive_corners
    )
    on = np.flatnonzero((again.claimed < threshold) & (threshold <= again.iou))
    on = on[false.classes[on] != missed.classes[again.best[on]]]
    called = np.full(len(found), -1, dtype=np.int64)
    called[np.flatnonzero(~found)[again.best[on]]] = false.classes[on]
    return BoxConfusion(hit, found, called)
