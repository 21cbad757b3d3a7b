"""The section of detection tasks: precision and recall per class, and free-response curves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.edd2020.detection import DetectionRules
from evaluation.charts.chart import Chart
from evaluation.charts.curve_points import thinned
from evaluation.charts.froc import FrocLine, froc_chart
from evaluation.charts.precision_recall import PrecisionRecallCurve, precision_recall_chart
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.io.kinds.boxes import BoxList
from evaluation.metrics.box_matching import match_boxes
from evaluation.metrics.froc import Candidates, FrocCurve, FrocTable
from evaluation.phase.phase import Phase
from evaluation.report.page import Figure, Section, identifier
from evaluation.report.results import SubmissionResults

Floats = NDArray[np.float64]

THRESHOLDS = (0.25, 0.5, 0.75)
HIT = 0.5
"""Intersection over union from which on a box hits, where one figure shows one threshold."""


@dataclass(frozen=True)
class BoxHits:
    """The predicted boxes of one image: which hit, shape (boxes,); numbers found, false and missed."""

    hit: NDArray[np.bool_]
    found: int
    false: int
    missed: int


def detection_section(results: SubmissionResults) -> Section | None:
    """Return the section, None without a task of detections."""
    figures = tuple(Figure(chart) for chart in _charts(results))
    return Section("detection", "Detection", figures) if figures else None


def box_tasks(results: SubmissionResults) -> Iterator[tuple[Task, CaseTable, tuple[str, ...]]]:
    """Yield the tasks whose cases have boxes, with their tables and the names of the classes."""
    for task in results.tasks:
        table = results.tables[task.name]
        kinds = [field.kind for field in task.fields if isinstance(field.kind, BoxList)]
        if kinds and {"predicted", "reference"} <= set(table.column_names):
            yield task, table, tuple(kinds[0].classes)


def case_hits(predicted: Floats, reference: Floats, threshold: float, inclusive: bool) -> BoxHits:
    """Return which boxes of one image hit, and the numbers of hits, false and missed boxes.

    predicted, reference: shape (boxes, 6), class index, confidence and corners in pixels.
    """
    matches = match_boxes(
        predicted[:, 2:],
        predicted[:, 0].astype(np.int64),
        predicted[:, 1],
        reference[:, 2:],
        reference[:, 0].astype(np.int64),
        inclusive,
    )
    hit = (matches.claimed < threshold) & (threshold <= matches.iou)
    found = int(hit.sum())
    return BoxHits(hit, found, len(predicted) - found, len(reference) - found)


def inclusive_corners(phase: Phase) -> bool:
    """Return whether both corners of a box belong to it, as the phase chose."""
    return bool(getattr(phase.options, "inclusive_corners", False))


def _charts(results: SubmissionResults) -> Iterator[Chart]:
    for task, table, classes in box_tasks(results):
        rules = DetectionRules(classes, (HIT,), inclusive_corners(results.phase), THRESHOLDS)
        for threshold in THRESHOLDS:
            curves = list(_precision_recall(rules, table, threshold))
            if curves:
                yield precision_recall_chart(
                    identifier(f"{task.name}-precision-recall-{round(100 * threshold)}"),
                    f"Precision and recall, IoU from {threshold:g}. {task.title}",
                    curves,
                )
        if lines := list(_froc(rules, table)):
            hit = f"A hit has an intersection over union of at least {HIT:g}."
            yield froc_chart(f"{identifier(task.name)}-froc", f"FROC. {task.title}", lines, hit)
    for task in results.tasks:
        table = results.tables[task.name]
        for metric in task.metrics:
            columns = [f"{metric.name}_{part}" for part in ("hits", "false", "objects")]
            if set(columns) <= set(table.column_names) and table[columns[2]].any():
                yield froc_chart(
                    identifier(f"{task.name}-{metric.name}-froc"),
                    f"FROC. {metric.title}",
                    [_counted_froc(table, *columns)],
                    "Hits are those of the metric.",
                )


def _counted_froc(table: CaseTable, hits: str, false: str, objects: str) -> FrocLine:
    """Return the curve of columns of confidences of hits and of false detections, and numbers of objects."""
    columns = [(table.objects(column), is_hit) for column, is_hit in ((hits, True), (false, False))]
    candidates = Candidates(
        np.concatenate([np.repeat(np.arange(len(table)), list(map(len, rows))) for rows, _ in columns]),
        np.concatenate([np.asarray(one, dtype=np.float64) for rows, _ in columns for one in rows]),
        np.concatenate([np.full(len(one), is_hit) for rows, is_hit in columns for one in rows]),
        table[objects].astype(np.int64),
    )
    return _line("submission", FrocTable(candidates).curve(np.ones(len(table))))


def _line(name: str, curve: FrocCurve) -> FrocLine:
    shown = thinned(curve.false_positives_per_case, curve.sensitivity)
    return FrocLine(name, curve.false_positives_per_case[shown], curve.sensitivity[shown])


def _precision_recall(
    rules: DetectionRules, table: CaseTable, threshold: float
) -> Iterator[PrecisionRecallCurve]:
    matched, weights = rules.table(table), np.ones(len(table))
    for position, name in enumerate(rules.classes):
        points = matched.precision_recall(weights, position, rules.thresholds.index(threshold))
        if points.recall.size:
            shown = thinned(points.recall, points.precision)
            yield PrecisionRecallCurve(name, points.recall[shown], points.precision[shown])


def _froc(rules: DetectionRules, table: CaseTable) -> Iterator[FrocLine]:
    predicted, reference = table.objects("predicted"), table.objects("reference")
    hits = [
        case_hits(boxes, true, HIT, rules.inclusive_corners).hit
        for boxes, true in zip(predicted, reference, strict=True)
    ]
    for position, name in enumerate(rules.classes):
        counts = np.array([int((true[:, 0] == position).sum()) for true in reference])
        if not counts.any():
            continue
        of_class = [boxes[:, 0] == position for boxes in predicted]
        candidates = Candidates(
            np.repeat(np.arange(len(table)), [int(chosen.sum()) for chosen in of_class]),
            np.concatenate([boxes[chosen, 1] for boxes, chosen in zip(predicted, of_class, strict=True)]),
            np.concatenate([hit[chosen] for hit, chosen in zip(hits, of_class, strict=True)]),
            counts,
        )
        yield _line(name, FrocTable(candidates).curve(np.ones(len(table))))
