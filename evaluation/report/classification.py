"""The section of classification tasks: curves, calibration, confusion matrices, decision curves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.calibration import CALIBRATION_BINS, calibration_bins, calibration_chart
from evaluation.charts.chart import Chart
from evaluation.charts.confusion_matrix import confusion_chart
from evaluation.charts.curve_points import (
    point_at_threshold,
    point_on_curve,
    precision_band,
    precision_recall_curve,
    recall_and_precision,
    roc_band,
    roc_curve,
)
from evaluation.charts.decision_curve import decision_curve_chart
from evaluation.charts.precision_recall import precision_recall_chart
from evaluation.charts.roc import OperatingPoint, roc_chart
from evaluation.core.challenge import Task
from evaluation.core.metric import Curve as CurveColumns
from evaluation.metrics.probabilities import brier_score, expected_calibration_error
from evaluation.metrics.roc import RocTable, roc_table
from evaluation.report.class_figures import class_charts
from evaluation.report.curve_weights import curve_weights
from evaluation.report.decision_figures import (
    classes_of,
    counts_of_decisions,
    decision_charts,
    right_decisions,
)
from evaluation.report.graders import grader_points
from evaluation.report.page import Figure, Section, identifier
from evaluation.report.papers import followed
from evaluation.report.results import SubmissionResults

Floats = NDArray[np.float64]
_THRESHOLD = 0.5


@dataclass(frozen=True)
class Scored:
    """The scores of a task and the labels of its cases, each of shape (cases,)."""

    task: Task
    columns: CurveColumns
    names: tuple[str, ...]
    table: RocTable

    @property
    def identifier(self) -> str:
        """The start of the names of its figures."""
        return identifier(f"{self.task.name}-{self.columns.label}")

    @property
    def probabilities(self) -> Floats | None:
        """The scores if they can be probabilities, with NaN for missing ones; otherwise None."""
        scores = np.where(np.isfinite(self.table.score), self.table.score, np.nan)
        given = scores[~np.isnan(scores)]
        return scores if given.size and given.min() >= 0 and given.max() <= 1 else None


def classification_section(results: SubmissionResults) -> Section | None:
    """Return the section, None without a task that has scores or decisions."""
    charts = [chart for task in results.tasks for chart in _charts(results, task)]
    figures = tuple(Figure(chart) for chart in charts)
    return Section("classification", "Classification", figures) if figures else None


def _charts(results: SubmissionResults, task: Task) -> Iterator[Chart]:
    for scored in _scored(results, task):
        yield from _curves(results, scored)
        yield from _of_probabilities(scored)
    yield from decision_charts(results, task)
    yield from class_charts(results, task)


def _scored(results: SubmissionResults, task: Task) -> Iterator[Scored]:
    """Yield the scores of a task by pairs of columns, those with both classes."""
    table = results.tables[task.name]
    pairs = dict.fromkeys(
        (curve.score, curve.label) for metric in task.metrics if (curve := metric.aggregate.curve)
    )
    for score, label in pairs:
        labels = table[label]
        entering = ~np.isnan(labels)
        if {0.0, 1.0} <= set(labels[entering].tolist()):
            names = tuple(name for name, enters in zip(table.names, entering.tolist(), strict=True) if enters)
            found = roc_table(table[score][entering], labels[entering] > 0)
            yield Scored(task, CurveColumns(score, label, is_area=True), names, found)


def _curves(results: SubmissionResults, scored: Scored) -> Iterator[Chart]:
    title = f"{scored.task.title}: {scored.columns.score} for {scored.columns.label}".replace("_", " ")
    table, strata = scored.table, scored.table.positive.astype(np.int64)
    weights = list(curve_weights(results.resampling, scored.names, strata))
    points = [
        *_operating_points(results, scored),
        *grader_points(results, scored.columns.label, scored.names, table),
    ]
    band = roc_band(table, weights) if weights else None
    yield roc_chart(
        f"{scored.identifier}-roc",
        f"ROC. {title}",
        [roc_curve("submission", table)],
        band,
        points,
        followed(results.phase.challenge.name, "ROC"),
    )
    yield precision_recall_chart(
        f"{scored.identifier}-precision-recall",
        f"Precision and recall. {title}",
        [precision_recall_curve("submission", table)],
        [precision_band("submission", (recall_and_precision(table, block) for block in weights))]
        if weights
        else (),
        float(table.positive.mean()),
    )


def _operating_points(results: SubmissionResults, scored: Scored) -> Iterator[OperatingPoint]:
    for metric in scored.task.metrics:
        curve = metric.aggregate.curve
        estimate = results.estimates[scored.task.name].get(metric.name)
        same = curve and (curve.score, curve.label) == (scored.columns.score, scored.columns.label)
        if estimate and curve and same and not curve.is_area:
            yield point_on_curve(metric.title, scored.table, estimate.value)
    for task in results.tasks:
        decided = right_decisions(results, task)
        if decided and decided.cases == (
            int(scored.table.positive.sum()),
            int((~scored.table.positive).sum()),
        ):
            yield OperatingPoint(task.title, 1 - decided.specificity, decided.sensitivity)
    if scored.probabilities is not None:
        yield point_at_threshold(f"threshold {_THRESHOLD:g}", scored.table, _THRESHOLD)


def _of_probabilities(scored: Scored) -> Iterator[Chart]:
    probabilities, positive = scored.probabilities, scored.table.positive.astype(np.float64)
    if probabilities is None:
        return
    answered = ~np.isnan(probabilities)
    weights = np.ones((1, positive.size))
    yield calibration_chart(
        f"{scored.identifier}-calibration",
        f"Calibration. {scored.task.title}",
        list(calibration_bins(probabilities[answered], positive[answered], CALIBRATION_BINS)),
        float(expected_calibration_error(probabilities, positive, weights, CALIBRATION_BINS)[0]),
        float(brier_score(probabilities, positive, weights)[0]),
    )
    # A missing probability is the wrong decision at every threshold.
    decided = np.where(answered, probabilities, 1 - positive)
    yield decision_curve_chart(
        f"{scored.identifier}-decision-curve", f"Decision curve. {scored.task.title}", decided, positive
    )
    yield confusion_chart(
        f"{scored.identifier}-confusion",
        f"Confusion matrix. {scored.task.title}",
        counts_of_decisions(decided >= _THRESHOLD, positive > 0),
        classes_of(scored.columns.label),
        f"Called positive from a probability of {_THRESHOLD:g} on.",
    )
