"""Detection tasks of EDD2020: matched boxes, metrics, single images, and generalisation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.estimator import CaseFigure, DetectionCurves, Estimator, FunctionOfCases, Strata
from evaluation.core.metric import Metric
from evaluation.metrics.arrays import Floats, mean_of_defined
from evaluation.metrics.boxes import match_boxes
from evaluation.metrics.detection import DetectionTable

OfCases = Callable[[WeightedCases], Floats]
MAX_CASES = 2000
"""Above this number of images average precision has no bootstrap interval unless the phase asks for one."""
HIT = 0.5
"""The least IoU of a found box in figures with one threshold."""


@dataclass(frozen=True)
class DetectionRules:
    """How boxes are compared: classes in the order of their indices, IoU thresholds, definition of a corner.

    Metrics are averaged over the thresholds ``averaged``; mAP is also reported at each of ``reported``. The
    task's columns are ``predicted`` and ``reference``, arrays (boxes, 6) of class index, confidence, x1, y1,
    x2, y2 in the order of the file's lines, and ``missing``, 1 for an image without a result, else 0.
    """

    classes: tuple[str, ...]
    averaged: tuple[float, ...]
    inclusive_corners: bool
    reported: tuple[float, ...] = ()

    @property
    def thresholds(self) -> tuple[float, ...]:
        """All thresholds, ascending; `HIT` is one of them."""
        return tuple(sorted({*self.averaged, *self.reported, HIT}))

    @property
    def averaged_positions(self) -> list[int]:
        """Positions of the averaged thresholds among all."""
        return [self.thresholds.index(threshold) for threshold in self.averaged]

    def table(self, table: CaseTable) -> DetectionTable:
        """Return the matched boxes of all images; the match is computed once."""
        return table.derive(("detection", self), self._match)

    def absent_classes(self, table: CaseTable) -> tuple[str, ...]:
        """Return the classes without a reference box in these images."""
        counts = self.table(table).reference_counts.sum(axis=0)
        return tuple(name for name, count in zip(self.classes, counts, strict=True) if not count)

    def counts_of_images(self, table: CaseTable) -> NDArray[np.int64]:
        """Return the true, false and missed boxes of every image at the IoU `HIT`, shape (images, 3)."""
        found = self.table(table).candidates(self.thresholds.index(HIT))
        true, false = (np.bincount(found.case[one], minlength=len(table)) for one in (found.hit, ~found.hit))
        return np.stack([true, false, found.references - true], axis=1).astype(np.int64)

    def _match(self, table: CaseTable) -> DetectionTable:
        predicted, images = stacked(table.objects("predicted"))
        reference, reference_images = stacked(table.objects("reference"))
        classes, size = predicted[:, 0].astype(np.int64), len(self.classes)
        reference_groups = reference_images * size + reference[:, 0].astype(np.int64)
        matches = match_boxes(
            predicted[:, 2:],
            images * size + classes,
            predicted[:, 1],
            reference[:, 2:],
            reference_groups,
            self.inclusive_corners,
        )
        counts = np.bincount(reference_groups, minlength=len(table) * size).reshape(len(table), size)
        never_made = counts * table["missing"].astype(np.int64)[:, None]
        return DetectionTable(
            images,
            classes,
            predicted[:, 1],
            matches.found(np.asarray(self.thresholds)),
            counts,
            self.thresholds,
            iou=matches.iou,
            missed_predictions=never_made,
        )

    def average_precision(self, cases: WeightedCases, within: str | None = None, value: int = 1) -> Floats:
        """Return AP, shape (resamples, classes, thresholds); NaN for a class that the reference lacks.

        Where ``within`` names a 0/1 column, only the cases with that ``value`` count.
        """
        weights = cases.weights
        if within is not None:
            weights = weights * (cases.table[within] == value)
        return cases.derive(
            ("average precision", self, within, value),
            lambda cases: self.table(cases.table).average_precision(weights),
        )

    def mean_average_precisions(self, cases: WeightedCases) -> Floats:
        """Return AP averaged over the classes of the reference, shape (resamples, averaged thresholds)."""
        return mean_of_defined(self.average_precision(cases)[..., self.averaged_positions], axis=-2)

    def mean_average_precision_at(self, threshold: float, cases: WeightedCases) -> Floats:
        """Return mAP at one of the thresholds, shape (resamples,)."""
        position = self.thresholds.index(threshold)
        return mean_of_defined(self.average_precision(cases)[..., position], axis=-1)

    def mean_iou(self, with_missed: bool, cases: WeightedCases) -> Floats:
        """Return the mean IoU over classes, then thresholds, shape (resamples,); see `DetectionTable`."""
        per_class = cases.derive(
            ("mean IoU", self, with_missed),
            lambda cases: self.table(cases.table).mean_iou(cases.weights, with_missed),
        )
        return np.asarray(mean_of_defined(per_class[..., self.averaged_positions], axis=-2).mean(axis=1))

    def boxes_of_absent_classes(self, cases: WeightedCases) -> Floats:
        """Return the number of predicted boxes of classes that the reference lacks, shape (resamples,)."""
        table = self.table(cases.table)
        predicted = cases.weights @ table.prediction_counts
        absent = cases.weights @ table.reference_counts == 0
        return np.asarray(np.where(absent, predicted, 0.0).sum(axis=1))


def stacked(arrays: list[Floats]) -> tuple[Floats, Strata]:
    """Return the rows of all images in one array, and the image of each row."""
    images = np.repeat(np.arange(len(arrays)), np.fromiter(map(len, arrays), np.int64, len(arrays)))
    return np.concatenate([*arrays, np.zeros((0, 6))]), images


# --- Metrics of a detection task (section IV-A) ---


def detection_metrics(rules: DetectionRules, with_missed: bool) -> tuple[Metric, ...]:
    """Return the metrics of a detection task (Eq. 3 to 5), the score first.

    ``with_missed`` says whether the mean IoU in the score includes missed boxes.
    """

    def mean_average_precision(cases: WeightedCases) -> Floats:
        return np.asarray(rules.mean_average_precisions(cases).mean(axis=1))

    def score_d(cases: WeightedCases) -> Floats:
        return 0.6 * mean_average_precision(cases) + 0.4 * rules.mean_iou(with_missed, cases)

    def share(name: str, title: str, figure: OfCases, of_case: CaseFigure | None = None) -> Metric:
        found = _figure_of(figure)  # nearly all of average precisions; a mean IoU has hardly any bias
        return Metric(name, title, replace(found, case_figure=of_case, of_envelope=True), best=1, worst=0)

    def map_at(percent: int) -> Metric:
        return share(
            f"map_{percent}",
            f"mAP at IoU {percent} %",
            partial(rules.mean_average_precision_at, percent / 100),
        )

    score = replace(_figure_of(score_d), of_envelope=True, detections=_curves_of(rules))
    return (
        Metric("score_d", "0.6 mAP + 0.4 IoU", score, best=1, worst=0),
        Metric(
            "sigma_score_d",
            "Standard deviation of mAP over the thresholds",
            _figure_of(lambda cases: rules.mean_average_precisions(cases).std(axis=1)),
            best=0,
            worst=0.5,
            ordered=False,
        ),
        share("map_d", "mAP, mean over the thresholds", mean_average_precision, f1_of_images(rules)),
        share("iou_d", "Mean IoU of the predicted boxes", partial(rules.mean_iou, False)),
        share("iou_d_with_missed", "Mean IoU of predicted and missed boxes", partial(rules.mean_iou, True)),
        *(map_at(round(100 * threshold)) for threshold in rules.reported),
        *(
            Metric(f"ap_{name}", f"AP of {name}", _class_average_precision_of(rules, position), 1, 0)
            for position, name in enumerate(rules.classes)
        ),
        Metric(
            "boxes_of_absent_classes",
            "Predicted boxes of classes that the reference lacks (in no other metric)",
            _figure_of(rules.boxes_of_absent_classes),
            best=0,
            worst=inf,
            ordered=False,
        ),
    )


def f1_of_images(rules: DetectionRules, within: str | None = None) -> CaseFigure:
    """Return the F1 of the boxes of single images, NaN for those that are 0 in the column ``within``."""

    def values(table: CaseTable) -> Floats:
        true, false, missed = rules.counts_of_images(table).T
        boxes = 2 * true + false + missed
        f1 = np.divide(2 * true, boxes, out=np.ones(len(boxes)), where=boxes > 0)  # 1 without any box
        f1 = np.where(table["missing"] > 0, 0.0, f1)
        return f1 if within is None else np.where(table[within] == 1, f1, np.nan)

    return CaseFigure(f"F1 of the image's boxes at IoU {HIT:g}", values)


def _curves_of(rules: DetectionRules) -> DetectionCurves:
    """Return the boxes for curves; those of all classes together are at one threshold."""
    return DetectionCurves(
        lambda table: rules.table(table).candidates(rules.thresholds.index(HIT)),
        f"A hit has an intersection over union of at least {HIT:g}.",
        rules.table,
        rules.classes,
    )


def _figure_of(figure: OfCases) -> FunctionOfCases:
    return FunctionOfCases(figure, max_cases=MAX_CASES)


def _class_average_precision_of(rules: DetectionRules, position: int) -> FunctionOfCases:
    """Return one class's AP averaged over the thresholds, in strata of images with and without the class."""

    def values(cases: WeightedCases) -> Floats:
        if len(cases.weights) == 1:
            # The value itself: other metrics need all classes under these weights.
            precisions = rules.average_precision(cases)[:, position]
        else:
            # No other metric has these strata, so only this class is computed under their resamples.
            class_table = cases.table.derive(
                ("class", rules, position), lambda table: rules.table(table).single_class(position)
            )
            precisions = class_table.average_precision(cases.weights)[:, 0]
        return np.asarray(precisions[:, rules.averaged_positions].mean(axis=1))

    def strata(table: CaseTable) -> Strata:
        return (rules.table(table).reference_counts[:, position] > 0).astype(np.int64)

    return FunctionOfCases(values, strata, max_cases=MAX_CASES, of_envelope=True)


# --- Detections in single images, for the organiser ---


def image_details(rules: DetectionRules, table: CaseTable) -> Mapping[str, Any]:
    """Return the boxes of each class, and the true, false and missed boxes of each image."""
    of_classes = rules.table(table).reference_counts.astype(np.int64)
    counts = rules.counts_of_images(table).tolist()
    boxes, images = of_classes.sum(axis=0).tolist(), (of_classes > 0).sum(axis=0).tolist()
    return {
        "reference_boxes": {
            name: {"boxes": of_class, "images": with_class}
            for name, of_class, with_class in zip(rules.classes, boxes, images, strict=True)
        },
        "boxes_of_images": {
            name: dict(zip(("true", "false", "missed"), image, strict=True))
            for name, image in zip(table.names, counts, strict=True)
        },
    }


# --- The generalisation task (section IV-C): detection in one set of images compared with a second set ---


@dataclass(frozen=True)
class TwoSets:
    """Two sets of images under the same rules; ``column`` is 0 in the first of ``names``, 1 in the second.

    The mAP of a set is the mean over the classes in its reference. Each set is resampled separately.
    """

    rules: DetectionRules
    column: str
    names: tuple[str, ...]

    def metrics(self) -> tuple[Metric, ...]:
        """Return the metrics of the generalisation task (Eq. 7); a gap alone does not rank submissions."""

        def gap(name: str, title: str, estimator: Estimator, best: float = 0) -> Metric:
            return Metric(name, title, estimator, best, worst=1, ordered=False)

        def of_second(cases: WeightedCases) -> Floats:
            return mean_of_defined(self._precisions(cases, 1), axis=-1)

        mean_of_second = FunctionOfCases(
            of_second,
            lambda table: np.where(table[self.column] == 1, 0, -1),
            max_cases=MAX_CASES,
            of_envelope=True,
            case_figure=f1_of_images(self.rules, self.column),
        )

        return (
            Metric("map_g", "mAP out of sample, mean over the thresholds", mean_of_second, 1, 0),
            gap("dev_g", "|mAP in sample − mAP out of sample|", self._difference()),
            gap("dev_g_signed", "mAP in sample − mAP out of sample", self._difference(signed=True), best=-1),
            gap(
                "dev_g_common_classes",
                "|mAP in sample − mAP out of sample| over the classes that both sets have",
                self._difference(common_classes=True),
            ),
        )

    def _difference(self, signed: bool = False, common_classes: bool = False) -> FunctionOfCases:
        """Return mAP of the first set − mAP of the second, by default the absolute value.

        With ``common_classes`` both are means over the classes that occur in both sets.
        """

        def values(cases: WeightedCases) -> Floats:
            first, second = self._precisions(cases, 0), self._precisions(cases, 1)
            if common_classes:
                absent = np.isnan(first) | np.isnan(second)
                first, second = (np.where(absent, np.nan, set_values) for set_values in (first, second))
            difference = mean_of_defined(first, axis=-1) - mean_of_defined(second, axis=-1)
            return difference if signed else np.abs(difference)

        return FunctionOfCases(values, lambda table: table[self.column].astype(np.int64), max_cases=MAX_CASES)

    def notices(self, table: CaseTable) -> list[str]:
        """Return one sentence for every class that occurs in only one of the two sets."""
        counts = self.rules.table(table).reference_counts
        present = [counts[table[self.column] == value].sum(axis=0) > 0 for value in (0, 1)]
        return [
            f"the {name} set has no box of {of}, so that dev_g compares means over different classes"
            for name, own, other in zip(self.names, present, reversed(present), strict=True)
            for of, is_absent in zip(self.rules.classes, other & ~own, strict=True)
            if is_absent
        ]

    def details(self, table: CaseTable) -> Mapping[str, Any]:
        """Return figures of single images of the second set."""
        second = np.flatnonzero(table[self.column] == 1)
        return image_details(self.rules, table.take(second)) if second.size else {}

    def _precisions(self, cases: WeightedCases, value: int) -> Floats:
        """Return the AP of each class in one of the sets, shape (resamples, classes), NaN for absent ones."""
        found = self.rules.average_precision(cases, self.column, value)
        return np.asarray(found[..., self.rules.averaged_positions].mean(axis=2))
