"""Detections in single images, for the organiser: hits, confused classes, presence of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.edd2020.detection import HIT, DetectionRules, stacked
from evaluation.core.case_table import CaseTable, FloatArray
from evaluation.metrics.box_confusion import BoxConfusion, LabelledBoxes, confuse_boxes

_LEAST_CONFIDENCES = (0.0, 0.5)


@dataclass(frozen=True)
class ImageDetections:
    """The boxes of some images, and the match of each at the IoU `HIT`."""

    names: tuple[str, ...]
    classes: tuple[str, ...]
    missing: NDArray[np.bool_]
    predicted: LabelledBoxes
    reference: LabelledBoxes
    confusion: BoxConfusion

    @property
    def counts(self) -> NDArray[np.int64]:
        """True, false and missed boxes of every image, shape (images, 3)."""
        found = self.confusion.found
        of_kinds = (
            self.reference.images[found],
            self.predicted.images[~self.confusion.hit],
            self.reference.images[~found],
        )
        columns = [np.bincount(images, minlength=len(self.names)) for images in of_kinds]
        return np.stack(columns, axis=1).astype(np.int64)

    @property
    def f1(self) -> FloatArray:
        """F1 of the boxes of every image, shape (images,); 1 without any box, 0 without a result."""
        true, false, missed = self.counts.T
        boxes = 2 * true + false + missed
        f1 = np.divide(2 * true, boxes, out=np.ones(len(boxes)), where=boxes > 0)
        return np.where(self.missing, 0.0, f1)

    def accuracy(self, least_confidence: float) -> tuple[FloatArray, float]:
        """Return the share of images with the correct presence of each class, and of all classes.

        A class is predicted if a box of it has at least ``least_confidence``. A missing result is wrong.
        """
        kept = self.predicted.take(self.predicted.confidence >= least_confidence)
        right = self._present(kept) == self._present(self.reference)
        right[self.missing] = False
        of_classes: FloatArray = right.mean(axis=0)
        return of_classes, float(right.all(axis=1).mean())

    def _present(self, boxes: LabelledBoxes) -> NDArray[np.bool_]:
        present = np.zeros((len(self.names), len(self.classes)), dtype=np.bool_)
        present[boxes.images, boxes.classes] = True
        return present

    def details(self) -> Mapping[str, Any]:
        """Return the tables of the organiser's file."""
        counts = self.confusion.counts(self.reference.classes, len(self.classes))
        size = len(self.classes)
        on_another = np.bincount(self.confusion.called[self.confusion.called >= 0], minlength=size)
        false = np.bincount(self.predicted.classes[~self.confusion.hit], minlength=size) - on_another
        boxes = np.bincount(self.reference.classes, minlength=size)
        missed = boxes - counts.sum(axis=1)
        rows = zip(self.classes, counts.tolist(), missed.tolist(), strict=True)
        present = self._present(self.reference).sum(axis=0)
        return {
            "reference_boxes": {
                name: {"boxes": of_class, "images": images}
                for name, of_class, images in zip(self.classes, boxes.tolist(), present.tolist(), strict=True)
            },
            "class_confusion": {
                "iou_threshold": HIT,
                "reference": {
                    name: {**dict(zip(self.classes, called, strict=True)), "no box": not_called}
                    for name, called, not_called in rows
                },
                "no box": dict(zip(self.classes, false.tolist(), strict=True)),
            },
            "boxes_of_images": {
                name: dict(zip(("true", "false", "missed"), image, strict=True))
                for name, image in zip(self.names, self.counts.tolist(), strict=True)
            },
            "image_level_accuracy": [
                {
                    "least_confidence": least,
                    "all_classes": of_all,
                    "classes": dict(zip(self.classes, of_classes.tolist(), strict=True)),
                }
                for least in _LEAST_CONFIDENCES
                for of_classes, of_all in [self.accuracy(least)]
            ],
        }


def image_detections(
    rules: DetectionRules, table: CaseTable, chosen: NDArray[np.bool_] | None = None
) -> ImageDetections:
    """Return the boxes of the images, or of the ``chosen`` ones, shape (images,)."""
    if chosen is not None:
        table = table.take(np.flatnonzero(chosen))
    predicted, reference = (_boxes(table, side) for side in ("predicted", "reference"))
    confusion = confuse_boxes(predicted, reference, HIT, rules.inclusive_corners)
    return ImageDetections(table.names, rules.classes, table["missing"] > 0, predicted, reference, confusion)


def _boxes(table: CaseTable, side: str) -> LabelledBoxes:
    rows, images = stacked(table.objects(side))
    return LabelledBoxes(rows[:, 2:], images, rows[:, 0].astype(np.int64), rows[:, 1])
