"""The section of detection tasks: precision and recall per class, and free-response curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.charts.chart import Chart, NamedBand, NamedCurve
from evaluation.core.challenge import Task
from evaluation.core.metric import DetectionCurves, Metric
from evaluation.metrics.arrays import Floats
from evaluation.metrics.detection import DetectionTable
from evaluation.metrics.froc import Candidates, FrocTable
from evaluation.organiser.charts.curves import (
    froc_chart,
    precision_band,
    precision_recall_chart,
    thinned_curve,
)
from evaluation.organiser.charts.matrices import confusion_chart
from evaluation.organiser.report.objects import HIT
from evaluation.organiser.report.page import Section, identifier
from evaluation.organiser.report.results import SubmissionResults, curve_weights

THRESHOLDS = (0.25, 0.5, 0.75)
_ONE = "submission"
_GRID = 50


def detection_section(results: SubmissionResults) -> Section | None:
    """Return the section, None without a task of detections."""
    figures = tuple(_charts(results))
    return Section("detection", "Detection", figures) if figures else None


def _charts(results: SubmissionResults) -> Iterator[Chart]:
    for task in results.tasks:
        for metric in task.metrics:
            curves = metric.aggregate.detections
            if curves is None or metric.name not in results.estimates[task.name]:
                continue
            own = sum(one.aggregate.detections is not None for one in task.metrics) > 1
            name, title = (f"{task.name}-{metric.name}", metric.title) if own else (task.name, task.title)
            yield from _Drawn(results, task, metric, curves, identifier(name), title).charts()
        if confusion := task.details(results.tables[task.name]).get("class_confusion"):
            yield _class_confusion(task, confusion)


_NO_BOX = "no box"


def _class_confusion(task: Task, confusion: Mapping[str, Any]) -> Chart:
    """Return the confusion of the classes of boxes: found as which class or not, and false boxes."""
    classes = [*confusion["reference"], _NO_BOX]
    rows = {**confusion["reference"], _NO_BOX: {**confusion[_NO_BOX], _NO_BOX: 0}}
    return confusion_chart(
        identifier(f"{task.name}-class-confusion"),
        f"Confusion of classes. {task.title}",
        np.array([[rows[true][called] for called in classes] for true in classes]),
        classes,
        "Boxes of the reference by the class that they were called, from an intersection over union of "
        f"{confusion['iou_threshold']:g}; in the last row, predicted boxes that stand for none.",
    )


@dataclass(frozen=True)
class _Drawn:
    """The curves of one metric of a submission; its figures share a name and a title."""

    results: SubmissionResults
    task: Task
    metric: Metric
    curves: DetectionCurves
    name: str
    title: str

    def charts(self) -> Iterator[Chart]:
        """Yield precision and recall, at several thresholds if there are any, and the free-response curve."""
        table = self.results.tables[self.task.name]
        if self.curves.matched is None:
            yield from self._of_candidates(self.curves.candidates(table))
            return
        matched = self.curves.matched(table)
        weights = self._weights(len(matched.confidence))
        for position in _shown_thresholds(matched.thresholds.tolist()):
            yield from self._precision_recall(matched, position, weights)
        yield from self._free_response(matched, weights)

    def _weights(self, points: int) -> list[Floats]:
        table = self.results.tables[self.task.name]
        strata = self.metric.aggregate.strata(table)
        return curve_weights(self.results.resampling, table.names, strata, points)

    def _of_candidates(self, candidates: Candidates) -> Iterator[Chart]:
        if not candidates.references.any():
            return
        table, weights = FrocTable(candidates), self._weights(len(candidates.confidence))
        whole = np.ones((1, len(candidates.references)))
        precision, recall = table.precision_recall(whole)
        if precision.size:
            blocks = (table.precision_recall(block)[::-1] for block in weights)
            yield precision_recall_chart(
                f"{self.name}-precision-recall",
                f"Precision and recall. {self.title}",
                [thinned_curve(_ONE, recall[0], precision[0])],
                [precision_band(_ONE, blocks)] if weights else (),
                hit=self.curves.hit,
            )
        yield froc_chart(
            f"{self.name}-froc",
            f"FROC. {self.title}",
            [_line(_ONE, table)],
            self.curves.hit,
            bands=[froc_band(_ONE, table, weights)] if weights else (),
        )

    def _precision_recall(
        self, matched: DetectionTable, threshold: int, weights: list[Floats]
    ) -> Iterator[Chart]:
        ones, curves, bands = np.ones(len(matched.reference_counts)), [], []
        for position, name in enumerate(self.curves.classes):
            points = matched.precision_recall(ones, position, threshold)
            if not points.recall.size:
                continue
            curves.append(thinned_curve(name, points.recall, _best_from(points.precision)))
            rows = (matched.precision_recall(row, position, threshold) for block in weights for row in block)
            blocks = [(one.recall[None], _best_from(one.precision)[None]) for one in rows if one.recall.size]
            if blocks:
                bands.append(precision_band(name, blocks))
        if curves:
            at = float(matched.thresholds[threshold])
            yield precision_recall_chart(
                f"{self.name}-precision-recall-{round(100 * at)}",
                f"Precision and recall, IoU from {at:g}. {self.title}",
                curves,
                bands,
                hit="The precision is the best at that recall or above. A hit has an intersection over union "
                f"of at least {at:g}.",
            )

    def _free_response(self, matched: DetectionTable, weights: list[Floats]) -> Iterator[Chart]:
        """Yield the curves of all classes at the threshold that is nearest to `HIT`."""
        thresholds = matched.thresholds.tolist()
        threshold = min(range(len(thresholds)), key=lambda one: abs(thresholds[one] - HIT))
        lines, bands = [], []
        for position, name in enumerate(self.curves.classes):
            candidates = matched.single_class(position).candidates(threshold)
            if candidates.references.any():
                table = FrocTable(candidates)
                lines.append(_line(name, table))
                bands += [froc_band(name, table, weights)] if weights else []
        if lines:
            hit = f"A hit has an intersection over union of at least {thresholds[threshold]:g}."
            yield froc_chart(f"{self.name}-froc", f"FROC. {self.title}", lines, hit, bands=bands)


def _best_from(precision: Floats) -> Floats:
    """Return the best precision at each recall or a higher one; shape (points,), recall ascending."""
    best: Floats = np.maximum.accumulate(precision[::-1])[::-1]
    return best


def froc_band(name: str, table: FrocTable, weights: Sequence[Floats]) -> NamedBand:
    """Return the 95 % percentiles of the sensitivity at 51 numbers of false positives per case.

    ``weights`` are blocks of case weights, shape (rows, cases).
    """
    last = float(table.curve(np.ones(weights[0].shape[1])).false_positives_per_case[-1])
    rates = np.linspace(0, last, _GRID + 1)
    values = np.vstack([table.sensitivity_at(block, rates.tolist()) for block in weights])
    lower, upper = np.nanquantile(values, (0.025, 0.975), axis=0)
    return NamedBand(name, rates, lower, upper)


def _line(name: str, table: FrocTable) -> NamedCurve:
    curve = table.curve(np.ones(table.cases))
    return thinned_curve(name, curve.false_positives_per_case, curve.sensitivity)


def _shown_thresholds(thresholds: Sequence[float]) -> list[int]:
    """Return the positions of the shown thresholds: all in `THRESHOLDS`, else the first one."""
    return [thresholds.index(one) for one in THRESHOLDS if one in thresholds] or [0]
