"""Metrics of a detection task (section IV-A), and its precision–recall curves for plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from evaluation.challenges.edd2020.detection import HIT, MAX_CASES, DetectionFigures, DetectionRules
from evaluation.core.case_table import CaseTable, FloatArray, WeightedCases
from evaluation.core.metric import Aggregate, CaseFigure, DetectionCurves, Metric, Strata

Figure = Callable[[DetectionFigures], FloatArray]


def detection_metrics(rules: DetectionRules, with_missed: bool) -> tuple[Metric, ...]:
    """Return the metrics of a detection task (Eq. 3 to 5), the score first.

    ``with_missed`` says whether the mean IoU in the score includes missed boxes.
    """

    def score_d(figures: DetectionFigures) -> FloatArray:
        score: FloatArray = 0.6 * figures.mean_average_precisions.mean(axis=1)
        return score + 0.4 * figures.mean_iou(with_missed)

    def share(name: str, title: str, figure: Figure, of_case: CaseFigure | None = None) -> Metric:
        return Metric(name, title, replace(_figure_of(rules, figure), case_figure=of_case), best=1, worst=0)

    def map_at(percent: int) -> Metric:
        return share(
            f"map_{percent}",
            f"mAP at IoU {percent} %",
            lambda figures: figures.mean_average_precision_at(percent / 100),
        )

    score = share("score_d", "0.6 mAP + 0.4 IoU", score_d)
    return (
        replace(score, aggregate=replace(score.aggregate, detections=_curves_of(rules))),
        Metric(
            "sigma_score_d",
            "Standard deviation of mAP over the thresholds",
            _figure_of(rules, lambda figures: figures.mean_average_precisions.std(axis=1)),
            best=0,
            worst=0.5,
            ordered=False,
        ),
        share(
            "map_d",
            "mAP, mean over the thresholds",
            lambda figures: figures.mean_average_precisions.mean(axis=1),
            f1_of_images(rules),
        ),
        share("iou_d", "Mean IoU of the predicted boxes", lambda figures: figures.mean_iou(False)),
        share(
            "iou_d_with_missed",
            "Mean IoU of predicted and missed boxes",
            lambda figures: figures.mean_iou(True),
        ),
        *(map_at(round(100 * threshold)) for threshold in rules.reported),
        *(
            Metric(f"ap_{name}", f"AP of {name}", _class_average_precision_of(rules, position), 1, 0)
            for position, name in enumerate(rules.classes)
        ),
        Metric(
            "boxes_of_absent_classes",
            "Predicted boxes of classes that the reference lacks (in no other metric)",
            _figure_of(rules, DetectionFigures.boxes_of_absent_classes),
            best=0,
            worst=inf,
            ordered=False,
        ),
    )


def f1_of_images(rules: DetectionRules, within: str | None = None) -> CaseFigure:
    """Return the F1 of the boxes of single images, NaN for those that are 0 in the column ``within``."""

    def values(table: CaseTable) -> FloatArray:
        from evaluation.challenges.edd2020.images import image_detections  # for the organiser alone

        f1 = image_detections(rules, table).f1
        return f1 if within is None else np.where(table[within] == 1, f1, np.nan)

    return CaseFigure(f"F1 of the image's boxes at IoU {HIT:g}", values)


def _curves_of(rules: DetectionRules) -> DetectionCurves:
    """Return the boxes for curves; for all classes together at the threshold nearest to 0.5."""
    position = min(range(len(rules.thresholds)), key=lambda one: abs(rules.thresholds[one] - 0.5))
    return DetectionCurves(
        lambda table: rules.table(table).candidates(position),
        f"A hit has an intersection over union of at least {rules.thresholds[position]:g}.",
        rules.table,
        rules.classes,
    )


def _figure_of(rules: DetectionRules, figure: Figure) -> Aggregate:
    """Return a function of the figures of all cases as an aggregate."""
    return Aggregate(
        lambda cases: figure(DetectionFigures(rules, cases)),
        lambda table: np.zeros(len(table), dtype=np.int64),
        max_cases=MAX_CASES,
    )


def _class_average_precision_of(rules: DetectionRules, position: int) -> Aggregate:
    """Return one class's AP averaged over the thresholds, in strata of images with and without the class."""

    def values(cases: WeightedCases) -> FloatArray:
        if len(cases.weights) == 1:
            # The value itself: other metrics need all classes under these weights.
            precisions = DetectionFigures(rules, cases).average_precision[:, position]
        else:
            # No other metric has these strata, so only this class is computed under their resamples.
            class_table = cases.table.derive(
                ("class", rules, position), lambda table: rules.table(table).single_class(position)
            )
            precisions = class_table.average_precision(cases.weights, rules.curve)[:, 0]
        mean: FloatArray = precisions[:, rules.averaged_positions].mean(axis=1)
        return mean

    def strata(table: CaseTable) -> Strata:
        return (rules.table(table).reference_counts[:, position] > 0).astype(np.int64)

    return Aggregate(values, strata, max_cases=MAX_CASES)


def detection_details(rules: DetectionRules, table: CaseTable) -> Mapping[str, Any]:
    """Return figures of single images, confused classes, and the points of every precision–recall curve.

    A curve has a point at each true positive.
    """
    from evaluation.challenges.edd2020.images import image_detections

    matched = rules.table(table)
    weights = np.ones(len(table))
    curves = []
    for position, name in enumerate(rules.classes):
        for number, threshold in enumerate(rules.thresholds):
            points = matched.precision_recall(weights, position, number)
            curves.append(
                {
                    "class": name,
                    "iou_threshold": threshold,
                    "reference_boxes": int(matched.reference_counts[:, position].sum()),
                    "predicted_boxes": int(matched.prediction_counts[:, position].sum()),
                    "confidence": points.confidence.tolist(),
                    "recall": points.recall.tolist(),
                    "precision": points.precision.tolist(),
                }
            )
    return {**image_detections(rules, table).details(), "precision_recall": curves}
