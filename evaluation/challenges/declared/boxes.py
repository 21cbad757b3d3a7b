"""Boxes: detections with an extent, matched by overlap or centre, and their average precision."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared import detections
from evaluation.challenges.declared.spaces import SingleFieldTable, figure_names
from evaluation.challenges.declared.tables import (
    MATCHING,
    FieldComparison,
    FieldTable,
    Measure,
    MetricTable,
    described,
    titles_of_each,
)
from evaluation.core.case_table import CaseTable, Row, WeightedCases
from evaluation.core.challenge import Values
from evaluation.core.estimator import DetectionCurves, FunctionOfCases, Mean, MeanOfFigures
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace
from evaluation.metrics.arrays import Floats, mean_of_defined
from evaluation.metrics.boxes import iou_of_corners
from evaluation.metrics.detection import (
    COCO_THRESHOLDS,
    BoxMatching,
    CurveReading,
    DetectionTable,
    Ties,
    hits_at_thresholds,
    most_confident,
)
from evaluation.metrics.near_pairs import NearPairs
from evaluation.metrics.points import PointMatches, match_pairs


class BoxesField(detections.ObjectFieldTable):
    """Any number of boxes parallel to the axes in each case.

    In an archive they are rows of a table: x1, y1, x2, y2 (with three axes x1, y1, z1, x2, y2, z2), then the
    class where there are several, and the probability where the phase asks for it. A case without a row has
    no boxes. In an algorithm phase they are the platform's `Multiple 2D bounding boxes`, whose `name` is the
    class; the platform has no boxes with three axes.

    The reference is a csv file in the phase folder with any number of rows for a case: the corners, then the
    class.
    """

    kind: Literal["boxes"]
    dimensions: Literal[2, 3] = Key(default=2, description="Number of coordinates of a corner.")
    unit: Literal["mm", "pixels"] = Key(
        default="pixels", description=described(detections.ObjectFieldTable, "unit")
    )

    def value_kind(self, submitted: bool) -> BoxesInSpace:
        most, mean = self.limits(submitted)
        return BoxesInSpace(self.space, self.attributes(submitted), most=most, average_items=mean)


class BoxMetric(detections.ObjectMetric):
    """A metric of boxes, with the rule that tells hits from false predictions."""

    hit: Literal["iou", "centre"] = Key(
        default="iou",
        description="`iou`: a prediction can hit an object whose intersection over union with it is at least "
        "`iou`. `centre`: one in whose box the prediction's centre lies.",
    )
    iou: float = Key(default=0.5, description="Smallest intersection over union of a hit.", gt=0, le=1)
    matching: Literal["by_confidence", "optimal", "any"] = Key(default="by_confidence", description=MATCHING)

    kinds: ClassVar[tuple[type[FieldTable], ...]] = (BoxesField,)

    def case_detections(self, field_name: str, table: FieldTable) -> detections.CaseDetections:
        assert isinstance(table, BoxesField)
        if self.matching != "optimal" and not table.probability:
            raise ValueError(f"matching: {self.matching!r} needs probability = true in field {field_name!r}")
        options = (self.hit, self.iou, self.matching)
        return self.detections_of(field_name, table, options, _labels)

    def matched(self, field_name: str, submitted: Boxes, references: Values) -> detections.MatchedObjects:
        found, true = submitted.rows, references[field_name].rows
        return detections.MatchedObjects(
            _labels(submitted),
            found[:, 1],
            _labels(references[field_name]),
            lambda label: self._matches(*(side[side[:, 0] == label] for side in (found, true))),
        )

    def _matches(self, found: Floats, true: Floats) -> PointMatches:
        corners, true_corners = found[:, 2:], true[:, 2:]
        axes = corners.shape[1] // 2

        def measure(made: NDArray[np.int64], of: NDArray[np.int64]) -> tuple[Floats, NDArray[np.bool_]]:
            sides = corners[made][:, np.newaxis], true_corners[of][np.newaxis]
            if self.hit == "centre":
                return _centres(*sides)
            overlap = iou_of_corners(*sides, inclusive_corners=False)
            return 1 - overlap, overlap >= self.iou

        # Boxes apart have no overlap, and a centre lies in its box.
        extent = corners[:, :axes], corners[:, axes:]
        pairs = NearPairs.within(*extent, true_corners[:, :axes], true_corners[:, axes:], measure)
        return match_pairs(pairs, self.matching, found[:, 1])


class BoxF1(detections.ShareOfObjects, BoxMetric):
    """F1 of detected boxes: hits, false predictions and missed objects summed over all cases.

    From 0 to 1, higher is better; 2 hits / (2 hits + false + missed).

    Oracle: SciPy, `linear_sum_assignment`.
    """

    metric: Literal["box_f1"]
    share = "f1"


class BoxPrecision(detections.ShareOfObjects, BoxMetric):
    """Precision of detected boxes: the share of hits among the predictions of all cases.

    From 0 to 1, higher is better; 0 if nothing is predicted.

    Oracle: SciPy, `linear_sum_assignment`.
    """

    metric: Literal["box_precision"]
    share = "precision"


class BoxRecall(detections.ShareOfObjects, BoxMetric):
    """Recall of detected boxes: the share of the objects of all cases that are hit.

    From 0 to 1, higher is better.

    Oracle: SciPy, `linear_sum_assignment`.
    """

    metric: Literal["box_recall"]
    share = "recall"


class BoxFroc(detections.FrocOfObjects, BoxMetric):
    """Free-response ROC of boxes: mean sensitivity at given numbers of false positives per case.

    From 0 to 1, higher is better.

    Oracle: the curve of few boxes by hand.
    """

    metric: Literal["box_froc"]


class BoxField(SingleFieldTable):
    """Exactly one box parallel to the axes in each case, such as the box of an organ.

    In an archive it is a row of a table with a row for each case: x1, y1, x2, y2 (with three axes x1, y1, z1,
    x2, y2, z2). In an algorithm phase it is the platform's `2D bounding box`. The reference lies in columns
    of `cases.csv`, by default `<field>_x1`, `<field>_y1` and so on.
    """

    kind: Literal["box"]
    dimensions: Literal[2, 3] = Key(default=2, description="Number of coordinates of a corner.")
    unit: Literal["mm", "pixels"] = Key(default="pixels", description=described(SingleFieldTable, "unit"))

    def value_kind(self, submitted: bool) -> BoxesInSpace:
        return BoxesInSpace(self.space, single=True)


class BoxOverlap(MetricTable):
    """It is the mean over cases of a box with its reference. A case without a result counts 0.

    Oracle: pycocotools, `iou`.
    """

    metric: Literal["box_iou"]
    kinds: ClassVar[tuple[type[FieldTable], ...]] = (BoxField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        def row(comparison: FieldComparison) -> Row:
            (found,), (true,) = comparison.submitted.rows[:, 2:], comparison.reference.rows[:, 2:]
            return {name: float(iou_of_corners(found, true, inclusive_corners=False))}

        return Measure((Metric(name, self.title or "Mean IoU", Mean(name), best=1, worst=0),), row)


def _labels(boxes: Boxes) -> NDArray[np.int64]:
    return boxes.rows[:, 0].astype(np.int64)


def _centres(found: Floats, true: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the distances between centres, and whether found centres lie in true boxes."""
    axes = found.shape[-1] // 2
    with np.errstate(over="ignore"):  # of boxes that are infinitely far from all
        centre, true_centre = ((of[..., :axes] + of[..., axes:]) / 2 for of in (found, true))
        difference = centre - true_centre
        distance: Floats = np.sqrt((difference * difference).sum(axis=-1))
    inside = (true[..., :axes] <= centre) & (centre <= true[..., axes:])
    return distance, np.asarray(inside.all(axis=-1))


# --- Average precision and average recall of boxes, by the rules of COCO or PASCAL VOC ---

_MAX_CASES = 2000
Threshold = Annotated[float, Key(gt=0, le=1)]


_Matched = tuple[NDArray[np.int64], Floats, NDArray[np.bool_], NDArray[np.int64]]
"""The predictions of a case: class, probability, and whether each is a hit at each threshold, of shape
(predictions, thresholds); then the numbers of reference boxes of each class, shape (classes,)."""


def _columns(name: str) -> tuple[str, ...]:
    return tuple(f"{name}_{part}" for part in ("classes", "confidence", "found", "objects"))


class _AverageOfBoxes(MetricTable):
    """A mean over classes and IoU thresholds; ``of_envelope``: it is read from the envelope of curves."""

    common = (
        "There is a figure for each class. Classes without any object in the reference do not count, and a "
        "phase without any object has no such figure. In a case without a result all objects are missed, and "
        "as many predictions with the highest probability are false, at least one of each class."
    )
    of_envelope: ClassVar[bool] = False
    iou_thresholds: list[Threshold] = Key(
        default=list(COCO_THRESHOLDS),
        description="Smallest intersections over union of a hit, over which the mean is taken. Default: 0.5, "
        "0.55, … 0.95, as in COCO.",
        min_length=1,
    )
    matching: BoxMatching = Key(default="by_confidence", description=MATCHING)
    inclusive_corners: bool = Key(
        default=False, description="Whether a box includes the pixels of both its corners, as in PASCAL VOC."
    )
    max_detections: int = Key(
        default=100,
        description="So many predictions of a class in a case count, the most probable ones.",
        ge=1,
    )
    ties: Ties = Key(
        default="together",
        description="Predictions of equal probability. `together`: they pass a threshold together, and of "
        "those in one case the one with the largest overlap is matched first, so that no order of rows or "
        "names of cases changes the figure. `order`: they rank by case and row, as in COCO's protocol "
        "(pycocotools).",
    )

    level_separator: str | None = Key(
        default=None,
        description='Classes on several levels, whose names are joined by this text, as `" - "` joins '
        "quadrant, number and diagnosis of a tooth (DENTEX). Boxes are matched on each level by itself: a "
        "figure for each level, and the mean of these. Default: there is one level.",
        min_length=1,
    )

    kinds: ClassVar[tuple[type[FieldTable], ...]] = (BoxesField,)

    def most_of_class(self) -> float:
        return self.max_detections

    def averages(
        self, name: str, field_name: str, table: FieldTable, value: Callable[[DetectionTable, Floats], Floats]
    ) -> Measure:
        """Return the mean over the classes of a figure (resamples, classes, thresholds), and each class.

        Raises ValueError for a field without probabilities, and for names that have not as many levels.
        """
        assert isinstance(table, BoxesField)
        if not table.probability:
            raise ValueError(f"expected probability = true in field {field_name!r}")
        if self.level_separator is None:
            names = table.classes or [table.title_of(field_name)]
            return self._of_level(name, self.title_of(name), field_name, names, value)
        parts = [of.split(self.level_separator) for of in table.classes]
        if len({len(of) for of in parts}) != 1:
            raise ValueError("level_separator: expected as many levels in the name of each class")
        levels = [
            self._of_level(
                f"{name}_level_{number}", f"{self.title_of(name)}, level {number}", field_name, of, value
            )
            for number, of in enumerate(zip(*parts, strict=True), start=1)
        ]
        of_each = MeanOfFigures(tuple(level.metrics[0].estimator for level in levels), by_reference=False)
        mean = replace(levels[0].metrics[0], name=name, title=self.title_of(name), estimator=of_each)

        def joined(rows: Iterable[Row]) -> Row:
            return {column: value for row in rows for column, value in row.items()}

        return Measure(
            (mean, *(metric for level in levels for metric in level.metrics)),
            lambda comparison: joined(level.row(comparison) for level in levels),
            lambda references: joined(level.worst(references) for level in levels),
        )

    def _of_level(
        self,
        name: str,
        title: str,
        field_name: str,
        names: Sequence[str],
        value: Callable[[DetectionTable, Floats], Floats],
    ) -> Measure:
        """Return the figures; ``names``: those of the field's classes, of which some are the same."""
        distinct = tuple(dict.fromkeys(names))
        count, thresholds = len(distinct), np.array(self.iou_thresholds)
        level = np.array([distinct.index(of) for of in names])
        columns = _columns(name)

        def matched(table: CaseTable) -> DetectionTable:
            return table.derive(
                columns, lambda table: _table(table, columns, thresholds, self.ties == "together")
            )

        def of_classes(cases: WeightedCases) -> Floats:
            def values(cases: WeightedCases) -> Floats:
                return value(matched(cases.table), cases.weights)

            return np.asarray(cases.derive(columns, values).mean(axis=2))

        def mean(cases: WeightedCases) -> Floats:
            return mean_of_defined(of_classes(cases), axis=1)

        def metric(of: str, title: str, values: Callable[[WeightedCases], Floats]) -> Metric:
            detections = curves if of == name else None
            figure = FunctionOfCases(
                values, max_cases=_MAX_CASES, of_envelope=self.of_envelope, detections=detections
            )
            return Metric(of, title, figure, best=1, worst=0)

        def part(position: int) -> Callable[[WeightedCases], Floats]:
            return lambda cases: of_classes(cases)[:, position]

        def worst(references: Values) -> Row:
            objects = np.bincount(level[_labels(references[field_name])], minlength=count)
            return dict(zip(columns, _missing(objects, thresholds.size), strict=True))

        curves = DetectionCurves(
            lambda table: matched(table).candidates(0),
            f"A hit has an intersection over union of at least {thresholds[0]:g}.",
            matched,
            distinct,
        )
        titles = titles_of_each(name, title, figure_names(distinct))
        parts = [metric(of, words, part(place)) for place, (of, words) in enumerate(titles.items())]
        return Measure(
            (metric(name, title, mean), *parts),
            row=lambda comparison: dict(zip(columns, self._matched(comparison, level, count), strict=True)),
            worst=worst,
        )

    def _matched(self, comparison: FieldComparison, level: NDArray[np.int64], count: int) -> _Matched:
        thresholds, together = np.array(self.iou_thresholds), self.ties == "together"
        rules = (self.matching, self.inclusive_corners, together)
        options = (*level.tolist(), *rules, self.max_detections, *self.iou_thresholds)

        def match(comparison: FieldComparison) -> _Matched:
            found, true = comparison.submitted.rows.copy(), comparison.reference.rows.copy()
            for rows in (found, true):
                rows[:, 0] = level[rows[:, 0].astype(np.int64)]
            kept, hits = [found[:0]], [np.zeros((0, thresholds.size), dtype=np.bool_)]
            for label in range(count):
                of_class = found[found[:, 0] == label]
                corners = of_class[:, 2:] if together else None
                counted = of_class[most_confident(of_class[:, 1], self.max_detections, corners)]
                kept.append(counted)
                sides = counted[:, 2:], counted[:, 1], true[true[:, 0] == label, 2:]
                hits.append(hits_at_thresholds(*sides, thresholds, *rules))
            rows = np.concatenate(kept)
            objects = np.bincount(true[:, 0].astype(np.int64), minlength=count)
            return rows[:, 0].astype(np.int64), rows[:, 1], np.concatenate(hits), objects

        return comparison.derive(("matched boxes", options), match)


class BoxAveragePrecision(_AverageOfBoxes):
    """Predictions of equal probability pass a threshold together; `ties = "order"` ranks them as COCO does.

    Oracle: pycocotools, `COCOeval`.
    """

    metric: Literal["box_average_precision"]
    of_envelope: ClassVar[bool] = True
    curve: CurveReading = Key(
        default="101_points",
        description="Where the precision–recall curve is read. `101_points`: the mean at 101 levels of "
        "recall (COCO). `all_points`: the whole area (PASCAL VOC from 2010 on). `11_points`: at 11 levels "
        "(PASCAL VOC to 2009).",
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        return self.averages(
            name, field_name, table, lambda matched, weights: matched.average_precision(weights, self.curve)
        )


class BoxAverageRecall(_AverageOfBoxes):
    """Average recall of boxes: the share of objects that are hit, as a mean over classes and thresholds.

    From 0 to 1, higher is better; by default COCO's mAR.

    Oracle: pycocotools, `COCOeval`. Source: Lin et al., ECCV 2014 (COCO).
    """

    metric: Literal["box_average_recall"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        return self.averages(name, field_name, table, lambda matched, weights: matched.recall(weights))


def _missing(objects: NDArray[np.int64], thresholds: int) -> _Matched:
    classes = np.repeat(np.arange(len(objects)), np.maximum(1, objects))
    found = np.zeros((len(classes), thresholds), dtype=np.bool_)
    return classes, np.full(len(classes), detections.CERTAIN), found, objects


def _table(table: CaseTable, columns: Sequence[str], thresholds: Floats, together: bool) -> DetectionTable:
    # Empty arrays that are read back from a file have floats.
    classes, confidence, found, objects = (table.objects(column) for column in columns)
    images = np.repeat(np.arange(len(table)), [len(of_case) for of_case in classes])
    hits = np.concatenate(found).astype(np.bool_)
    return DetectionTable(
        images,
        np.concatenate(classes).astype(np.int64),
        np.concatenate(confidence),
        hits,
        np.stack(objects).astype(np.int64),
        thresholds,
        together=together,
    )
