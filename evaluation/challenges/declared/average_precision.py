"""Average precision and average recall of boxes, by the rules of COCO or PASCAL VOC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared.boxes import BoxesField, numbers_of_boxes
from evaluation.challenges.declared.detections import CERTAIN
from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.measure import Comparison, Measure, MetricTable
from evaluation.core.case_table import CaseTable, Row, WeightedCases
from evaluation.core.challenge import Values
from evaluation.core.form import CaseForm
from evaluation.core.keys import Key
from evaluation.core.metric import Aggregate, DetectionCurves, Metric
from evaluation.metrics.arrays import Floats
from evaluation.metrics.boxes import ThresholdMatches, iou_of_corners, match_at_thresholds, match_boxes
from evaluation.metrics.detection import AveragePrecision, DetectionTable, mean_over_classes

_MAX_CASES = 2000
_COCO_THRESHOLDS = [hundredths / 100 for hundredths in range(50, 100, 5)]
Threshold = Annotated[float, Key(gt=0, le=1)]


@dataclass(frozen=True)
class _Matched:
    """The predictions of a case: class, probability, and whether each is a hit at each threshold.

    found: shape (predictions, thresholds). objects: shape (classes,), numbers of reference boxes.
    """

    classes: NDArray[np.int64]
    confidence: Floats
    found: NDArray[np.bool_]
    objects: NDArray[np.int64]

    def columns(self, name: str) -> Row:
        """Return the columns of a metric of that name."""
        parts = (self.classes, self.confidence, self.found, self.objects)
        return dict(zip(_columns(name), parts, strict=True))


def _columns(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{part}" for part in ("classes", "confidence", "found", "objects"))


class _AverageOfBoxes(MetricTable):
    """A mean over classes and IoU thresholds."""

    iou_thresholds: list[Threshold] = Key(
        default=_COCO_THRESHOLDS,
        description="Smallest intersections over union of a hit, over which the mean is taken. Default: 0.5, "
        "0.55, … 0.95, as in COCO.",
        min_length=1,
    )
    matching: Literal["coco", "voc"] = Key(
        default="coco",
        description="Predictions are matched by falling probability. `coco`: each takes the best object that "
        "is not yet taken. `voc`: only its best object counts, and it is false if that is taken.",
    )
    inclusive_corners: bool = Key(
        default=False, description="Whether a box includes the pixels of both its corners, as in PASCAL VOC."
    )
    max_detections: int = Key(
        default=100,
        description="So many predictions of a class in a case count, the most probable ones.",
        ge=1,
    )

    kinds: ClassVar[tuple[type[FieldTable], ...]] = (BoxesField,)

    def averages(
        self,
        name: str,
        field_name: str,
        table: FieldTable,
        figure: Callable[[DetectionTable, Floats], Floats],
    ) -> Measure:
        """Return the mean over the classes of a figure (resamples, classes, thresholds), and each class.

        Raises ValueError for a field without probabilities.
        """
        assert isinstance(table, BoxesField)
        if not table.probability:
            raise ValueError(f"expected probability = true in field {field_name!r}")
        count = max(1, len(table.classes))
        thresholds = np.array(self.iou_thresholds)
        columns = _columns(name)

        def matched(table: CaseTable) -> DetectionTable:
            return table.derive(columns, lambda table: _table(table, columns, thresholds))

        def of_classes(cases: WeightedCases) -> Floats:
            """Return the figure of every class, shape (resamples, classes)."""

            def values(cases: WeightedCases) -> Floats:
                return figure(matched(cases.table), cases.weights)

            mean: Floats = cases.derive(columns, values).mean(axis=2)
            return mean

        def mean(cases: WeightedCases) -> Floats:
            return mean_over_classes(of_classes(cases)[..., np.newaxis])[:, 0]

        def metric(of: str, title: str, values: Callable[[WeightedCases], Floats]) -> Metric:
            return Metric(of, title, Aggregate(values, _all_cases, max_cases=_MAX_CASES), best=1, worst=0)

        def part(position: int) -> Callable[[WeightedCases], Floats]:
            return lambda cases: of_classes(cases)[:, position]

        def worst(case: CaseForm, references: Values) -> Row:
            return _missing(numbers_of_boxes(references[field_name], count), thresholds.size).columns(name)

        title = self.title_of(name)
        curves = DetectionCurves(
            lambda table: matched(table).candidates(0),
            f"A hit has an intersection over union of at least {thresholds[0]:g}.",
            matched,
            tuple(table.classes) or (table.title_of(field_name),),
        )
        whole = metric(name, title, mean)
        whole = replace(whole, aggregate=replace(whole.aggregate, detections=curves))
        parts = [
            metric(f"{name}_{of}", f"{title}, {of}", part(position))
            for position, of in enumerate(table.class_names())
        ]
        return Measure(
            (whole, *parts),
            row=lambda comparison: self._matched(comparison, count, thresholds).columns(name),
            worst=worst,
        )

    def _matched(self, comparison: Comparison, count: int, thresholds: Floats) -> _Matched:
        options = (self.matching, self.inclusive_corners, self.max_detections, *self.iou_thresholds)

        def match(comparison: Comparison) -> _Matched:
            found, true = comparison.submitted.rows, comparison.reference.rows
            kept, hits = [found[:0]], [np.zeros((0, thresholds.size), dtype=np.bool_)]
            for label in range(count):
                of_class = found[found[:, 0] == label]
                order = np.argsort(-of_class[:, 1], kind="stable")[: self.max_detections]
                kept.append(of_class[order])
                hits.append(self._hits(of_class[order], true[true[:, 0] == label], thresholds))
            rows = np.concatenate(kept)
            objects = np.array(numbers_of_boxes(comparison.reference, count))
            return _Matched(rows[:, 0].astype(np.int64), rows[:, 1], np.concatenate(hits), objects)

        return comparison.derive(("matched boxes", options), match)

    def _hits(self, found: Floats, true: Floats, thresholds: Floats) -> NDArray[np.bool_]:
        """Return the hits of the predictions of one class at every threshold."""
        corners, true_corners, confidence = found[:, 2:], true[:, 2:], found[:, 1]
        if self.matching == "voc":
            groups, true_groups = (np.zeros(len(of), dtype=np.int64) for of in (found, true))
            matches = match_boxes(
                corners, groups, confidence, true_corners, true_groups, self.inclusive_corners
            )
            return matches.found(thresholds)
        overlap = iou_of_corners(corners[:, np.newaxis], true_corners[np.newaxis], self.inclusive_corners)
        return match_at_thresholds(overlap, confidence, thresholds).at_thresholds


class BoxAveragePrecision(_AverageOfBoxes):
    """Average precision of boxes: the mean over classes and IoU thresholds; by default COCO's mAP.

    From 0 to 1, higher is better, with a figure for each class. Classes without any object in the reference
    do not count, and a phase without any object has no such figure. In a case without a result all objects
    are missed, and as many predictions with the highest probability are false, at least one of each class.

    Oracle: pycocotools, `COCOeval`. Source: Lin et al., ECCV 2014 (COCO); Everingham et al., International
    Journal of Computer Vision 88:303, 2010 (PASCAL VOC).
    """

    metric: Literal["box_average_precision"]
    curve: AveragePrecision = Key(
        default="101_points",
        description="Where the precision–recall curve is read. `101_points`: the mean at 101 levels of "
        "recall (COCO). `all_points`: the whole area (PASCAL VOC from 2010 on). `11_points`: at 11 levels "
        "(PASCAL VOC to 2009).",
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean over the classes, and each class."""
        return self.averages(
            name,
            field_name,
            table,
            lambda matched, weights: matched.average_precision(weights, self.curve),
        )


class BoxAverageRecall(_AverageOfBoxes):
    """Average recall of boxes: the share of objects that are hit, as a mean over classes and thresholds.

    From 0 to 1, higher is better; by default COCO's mAR. Everything else is as in `box_average_precision`.

    Oracle: pycocotools, `COCOeval`. Source: Lin et al., ECCV 2014 (COCO).
    """

    metric: Literal["box_average_recall"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean over the classes, and each class."""
        return self.averages(name, field_name, table, lambda matched, weights: matched.recall(weights))


def _missing(objects: Sequence[int], thresholds: int) -> _Matched:
    """Return the predictions of a case without a result."""
    numbers = np.array(objects)
    classes = np.repeat(np.arange(len(numbers)), np.maximum(1, numbers))
    found = np.zeros((len(classes), thresholds), dtype=np.bool_)
    return _Matched(classes, np.full(len(classes), CERTAIN), found, numbers)


def _table(table: CaseTable, columns: Sequence[str], thresholds: Floats) -> DetectionTable:
    # Empty arrays that are read back from a file have floats.
    classes, confidence, found, objects = (table.objects(column) for column in columns)
    images = np.repeat(np.arange(len(table)), [len(of_case) for of_case in classes])
    hits = np.concatenate(found).astype(np.bool_)
    return DetectionTable(
        images,
        np.concatenate(classes).astype(np.int64),
        np.concatenate(confidence),
        ThresholdMatches(np.zeros(len(hits)), hits),
        np.stack(objects).astype(np.int64),
        thresholds,
    )


def _all_cases(table: CaseTable) -> NDArray[np.int64]:
    return np.zeros(len(table), dtype=np.int64)
