"""Boxes: objects detected with their extent. Hits are told by overlap or by the centre."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared.detections import Detections, Hits, Verdicts, verdicts_of
from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.list_field import ObjectFieldTable, SpaceTable, single_field
from evaluation.challenges.declared.measure import Comparison, Measure, MetricTable
from evaluation.challenges.declared.object_metrics import FrocOfObjects, ObjectMetric, ShareOfObjects
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.field import Field
from evaluation.core.keys import Key
from evaluation.core.metric import Metric, mean_of
from evaluation.io.kinds.boxes import Boxes
from evaluation.io.kinds.boxes_in_space import BoxesInSpace
from evaluation.metrics.arrays import Floats
from evaluation.metrics.boxes import iou_of_corners
from evaluation.metrics.points import PointMatches, match_pairs


class BoxesField(ObjectFieldTable):
    """Any number of boxes parallel to the axes in each case.

    In an archive they are rows of a table: x1, y1, x2, y2 (with three axes x1, y1, z1, x2, y2, z2), then the
    class where there are several, and the probability where the phase asks for it. A case without a row has
    no boxes. In an algorithm phase they are the platform's `Multiple 2D bounding boxes`, whose `name` is the
    class; the platform has no boxes with three axes.

    The reference is a csv file in the phase folder with any number of rows for a case: the corners, then the
    class.
    """

    kind: Literal["boxes"]
    axes: Literal[2, 3] = Key(default=2, description="Number of coordinates of a corner.")
    unit: Literal["mm", "pixels"] = Key(
        default="pixels", description=ObjectFieldTable.model_fields["unit"].description or ""
    )

    def submitted_kind(self) -> BoxesInSpace:
        """Return the kind of the submitted value."""
        return BoxesInSpace(self.space, self.attributes(submitted=True))

    def reference_kind(self) -> BoxesInSpace:
        """Return the kind of the reference."""
        return BoxesInSpace(self.space, self.attributes(submitted=False))


class BoxMetric(ObjectMetric):
    """A metric of boxes, with the rule that tells hits from false predictions."""

    hit: Literal["iou", "centre"] = Key(
        default="iou",
        description="`iou`: a prediction can hit an object whose intersection over union with it is at least "
        "`iou`. `centre`: one in whose box the prediction's centre lies.",
    )
    iou: float = Key(default=0.5, description="Smallest intersection over union of a hit.", gt=0, le=1)
    matching: Literal["by_confidence", "optimal"] = Key(
        default="by_confidence",
        description="`by_confidence`: each prediction, by falling probability, takes the best object that is "
        "not yet taken. `optimal`: as many pairs as possible, of those the best ones.",
    )
    minimum_probability: float = Key(
        default=0.0,
        description="Predictions of a lower probability are left out.",
        ge=0,
        le=1,
        allow_inf_nan=False,
    )

    kinds: ClassVar[tuple[type[FieldTable], ...]] = (BoxesField,)

    def detections(self, field_name: str, table: FieldTable) -> Detections:
        """Return how hits follow from boxes. Raises ValueError for options that do not fit the field."""
        assert isinstance(table, BoxesField)
        if self.matching == "by_confidence" and not table.probability:
            raise ValueError(f"matching: 'by_confidence' needs probability = true in field {field_name!r}")
        count = max(1, len(table.classes))
        options = (self.hit, self.iou, self.matching, self.minimum_probability)
        return Detections(
            hits=lambda comparison: comparison.derive(
                ("hits of boxes", options), partial(self._hits, classes=count)
            ),
            objects=lambda references: numbers_of_boxes(references[field_name], count),
            classes=table.class_names(),
        )

    def _hits(self, comparison: Comparison, classes: int) -> Sequence[Hits]:
        found, true = comparison.submitted.rows, comparison.reference.rows
        found = found[found[:, 1] >= self.minimum_probability]
        return [
            self._hits_of_class(found[found[:, 0] == label], true[true[:, 0] == label])
            for label in range(classes)
        ]

    def _hits_of_class(self, found: Floats, true: Floats) -> Hits:
        matches = self._matches(found, true)
        hits = matches.hit[matches.hit >= 0]
        return Hits(found[hits, 1], found[matches.false, 1], len(true))

    def verdicts(self, field_name: str, submitted: Boxes, references: Values) -> Verdicts:
        """Return the verdict on each box of a case, for a picture."""
        rows, true = submitted.rows, references[field_name].rows
        counted = rows[:, 1] >= self.minimum_probability
        sides = (rows[counted], true)
        return verdicts_of(
            rows[:, 0].astype(np.int64),
            counted,
            true[:, 0].astype(np.int64),
            lambda label: self._matches(*(side[side[:, 0] == label] for side in sides)),
        )

    def _matches(self, found: Floats, true: Floats) -> PointMatches:
        """Return the matches of the boxes of one class."""
        corners, true_corners = found[:, np.newaxis, 2:], true[np.newaxis, :, 2:]
        if self.hit == "iou":
            overlap = iou_of_corners(corners, true_corners, inclusive_corners=False)
            distance, near = 1 - overlap, overlap >= self.iou
        else:
            distance, near = _centres(corners, true_corners)
        return match_pairs(distance, near, self.matching, found[:, 1])


class BoxF1(ShareOfObjects, BoxMetric):
    """F1 of detected boxes: hits, false predictions and missed objects summed over all cases.

    From 0 to 1, higher is better; 2 hits / (2 hits + false + missed). With several classes, boxes hit objects
    of their own class, and there is a figure for each class beside the figure of all sums. A phase without
    any object has no such figure. In a case without a result all objects are missed, and as many predictions
    are false, at least one.

    Oracle: SciPy, `linear_sum_assignment`.
    """

    metric: Literal["box_f1"]
    share = "f1"


class BoxPrecision(ShareOfObjects, BoxMetric):
    """Precision of detected boxes: the share of hits among the predictions of all cases.

    From 0 to 1, higher is better; 0 if nothing is predicted. Everything else is as in `box_f1`.

    Oracle: SciPy, `linear_sum_assignment`.
    """

    metric: Literal["box_precision"]
    share = "precision"


class BoxRecall(ShareOfObjects, BoxMetric):
    """Recall of detected boxes: the share of the objects of all cases that are hit.

    From 0 to 1, higher is better. Everything else is as in `box_f1`.

    Oracle: SciPy, `linear_sum_assignment`.
    """

    metric: Literal["box_recall"]
    share = "recall"


class BoxFroc(FrocOfObjects, BoxMetric):
    """Free-response ROC of boxes: mean sensitivity at given numbers of false positives per case.

    From 0 to 1, higher is better; everything else is as in `froc` of points.

    Oracle: the curve of few boxes by hand.
    """

    metric: Literal["box_froc"]


class BoxField(SpaceTable):
    """Exactly one box parallel to the axes in each case, such as the box of an organ.

    In an archive it is a row of a table with a row for each case: x1, y1, x2, y2 (with three axes x1, y1, z1,
    x2, y2, z2). In an algorithm phase it is the platform's `2D bounding box`. The reference lies in columns
    of `cases.csv`, by default `<field>_x1`, `<field>_y1` and so on.
    """

    kind: Literal["box"]
    axes: Literal[2, 3] = Key(default=2, description="Number of coordinates of a corner.")
    unit: Literal["mm", "pixels"] = Key(
        default="pixels", description=SpaceTable.model_fields["unit"].description or ""
    )

    def submitted_kind(self) -> BoxesInSpace:
        """Return the kind of both sides."""
        return BoxesInSpace(self.space, single=True)

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        default = [f"{name}_{column}" for column in self.submitted_kind().columns]
        return single_field(self, name, tuple(self.reference_columns or default))


class BoxOverlap(MetricTable):
    """Mean intersection over union of a box with its reference.

    From 0 to 1, higher is better; boxes without area have none. A case without a result counts 0.

    Oracle: pycocotools, `iou`.
    """

    metric: Literal["box_iou"]
    kinds: ClassVar[tuple[type[FieldTable], ...]] = (BoxField,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean over the cases."""

        def row(comparison: Comparison) -> Row:
            (found,), (true,) = comparison.submitted.rows[:, 2:], comparison.reference.rows[:, 2:]
            return {name: float(iou_of_corners(found, true, inclusive_corners=False))}

        return Measure((Metric(name, self.title or "Mean IoU", mean_of(name), best=1, worst=0),), row)


def numbers_of_boxes(boxes: Boxes, classes: int) -> list[int]:
    """Return the number of boxes of each class."""
    numbers: list[int] = np.bincount(boxes.rows[:, 0].astype(np.int64), minlength=classes).tolist()
    return numbers


def _centres(found: Floats, true: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the distances between centres, and whether found centres lie in true boxes."""
    axes = found.shape[-1] // 2
    centre, true_centre = ((of[..., :axes] + of[..., axes:]) / 2 for of in (found, true))
    inside = (true[..., :axes] <= centre) & (centre <= true[..., axes:])
    difference = centre - true_centre
    distance: Floats = np.sqrt((difference * difference).sum(axis=-1))
    return distance, np.asarray(inside.all(axis=-1))
