"""Figures of several classes: confusion matrices, and each class against the rest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.calibration import CALIBRATION_BINS, calibration_bins, calibration_chart
from evaluation.charts.chart import Chart
from evaluation.charts.confusion_matrix import confusion_chart
from evaluation.charts.curve_points import roc_curve
from evaluation.charts.roc import roc_chart
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.field import Field
from evaluation.io.kinds.class_probabilities import ClassProbabilities
from evaluation.metrics.probabilities import brier_score, expected_calibration_error
from evaluation.metrics.roc import roc_table
from evaluation.report.page import identifier
from evaluation.report.results import SubmissionResults

_MOST_CALIBRATIONS = 6
_MATRIX = "_confusion_matrix"
_WITHOUT = "no result"


def class_charts(results: SubmissionResults, task: Task) -> Iterator[Chart]:
    """Yield the figures of decided classes and of class probabilities."""
    table = results.tables[task.name]
    matrices = {name: one for name, one in task.details(table).items() if name.endswith(_MATRIX)}
    for name, matrix in matrices.items():
        of = name.removesuffix(_MATRIX).replace("_", " ")
        counts, without = np.array(matrix["by_true_and_decided"]), np.array(matrix["without_result"])
        missing = bool(without.any())
        yield confusion_chart(
            identifier(f"{task.name}-{name}"),
            f"Confusion matrix. {task.title}" + (f": {of}" if len(matrices) > 1 else ""),
            np.column_stack([counts, without]) if missing else counts,
            matrix["classes"],
            "Decided classes.",
            (_WITHOUT,) if missing else (),
        )
    for field in task.fields:
        if isinstance(field.kind, ClassProbabilities):
            yield from _of_probabilities(task, field, field.kind.classes, table)


def _of_probabilities(
    task: Task, field: Field, classes: tuple[str, ...], table: CaseTable
) -> Iterator[Chart]:
    """Yield ROC curves of each class against the rest, and the calibration of each."""
    columns, true = [f"{field.name}_probability_{i}" for i in range(len(classes))], f"{field.name}_true"
    if not {*columns, true} <= set(table.column_names):
        return
    labelled = ~np.isnan(table[true])
    labels = table[true][labelled]
    scores = {name: table[column][labelled] for name, column in zip(classes, columns, strict=True)}
    of_class = {name: labels == position for position, name in enumerate(classes)}
    both = [name for name in classes if of_class[name].any() and not of_class[name].all()]
    tables = {name: roc_table(_ranked(scores[name], of_class[name]), of_class[name]) for name in both}
    if both:
        yield roc_chart(
            identifier(f"{task.name}-{field.name}-classes-roc"),
            f"ROC of each class against the rest. {field.title}",
            [roc_curve(name, table) for name, table in tables.items()],
        )
    for name in both[:_MOST_CALIBRATIONS]:
        probability, positive = scores[name], of_class[name].astype(np.float64)
        answered, weights = ~np.isnan(probability), np.ones((1, positive.size))
        yield calibration_chart(
            identifier(f"{task.name}-{field.name}-{name}-calibration"),
            f"Calibration. {field.title}: {name}",
            list(calibration_bins(probability[answered], positive[answered], CALIBRATION_BINS)),
            float(expected_calibration_error(probability, positive, weights, CALIBRATION_BINS)[0]),
            float(brier_score(probability, positive, weights)[0]),
        )


def _ranked(score: NDArray[np.float64], positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return scores that rank a case without a result wrong against every other."""
    return np.where(np.isnan(score), np.where(positive, -np.inf, np.inf), score)
