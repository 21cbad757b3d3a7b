"""The sections of classification and of detection tasks: curves, calibration, confusion matrices."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.estimator import Curve as CurveColumns
from evaluation.core.estimator import DetectionCurves
from evaluation.core.field import Field
from evaluation.core.metric import Metric
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.classification import RocTable, roc_table, weighted_auc
from evaluation.metrics.free_response import Candidates, FrocTable
from evaluation.organiser.report.charts import curves
from evaluation.organiser.report.charts.curves import MarkedPoint, roc_chart
from evaluation.organiser.report.charts.matrices import confusion_chart
from evaluation.organiser.report.objects import HIT
from evaluation.organiser.report.page import identifier
from evaluation.organiser.report.results import SubmissionResults, curve_weights
from evaluation.organiser.report.sentences import Names, names_of

# --- Figures of several classes: confusion matrices, and each class against the rest ---

_MOST_CALIBRATIONS = 6
_MATRIX = "_confusion_matrix"
_WITHOUT = "no result"


def _class_charts(results: SubmissionResults, task: Task) -> Iterator[Chart]:
    """Yield the figures of decided classes and of class probabilities."""
    table = results.tables[task.name]
    matrices = {name: one for name, one in task.details(table).items() if name.endswith(_MATRIX)}
    for name, matrix in matrices.items():
        of = name.removesuffix(_MATRIX).replace("_", " ")
        counts, without = (np.array(matrix[part]) for part in ("by_true_and_decided", "without_result"))
        what = f"{task.title}, {of}" if len(matrices) > 1 else task.title
        yield _confusion(f"{task.name}-{name}", what, counts, matrix["classes"], "Decided classes.", without)
    for field in task.fields:
        if (numbers := field.kind.numbers) and len(numbers.names) > 1:
            yield from _figures_of_classes(task, field, numbers.names, table)


def _figures_of_classes(
    task: Task, field: Field, classes: tuple[str, ...], table: CaseTable
) -> Iterator[Chart]:
    """Yield ROC curves of each class against the rest, and the calibration of each."""
    columns, true = [f"{field.name}_probability_{i}" for i in range(len(classes))], f"{field.name}_true"
    if not {*columns, true} <= set(table.column_names):
        return
    labelled = ~np.isnan(table[true])
    tables: dict[str, RocTable] = {}
    calibrations: list[Chart] = []
    for position, (name, column) in enumerate(zip(classes, columns, strict=True)):
        scores, positive = table[column][labelled], table[true][labelled] == position
        if positive.any() and not positive.all():
            # A case without a result is ranked wrong against every other.
            worst = np.where(positive, -np.inf, np.inf)
            tables[name] = roc_table(np.where(np.isnan(scores), worst, scores), positive)
            figure = identifier(f"{task.name}-{field.name}-{name}-calibration")
            title = f"Calibration: predicted and observed share of {name}"
            calibrations.append(_calibration(figure, title, scores, positive.astype(np.float64)))
    if tables:
        yield roc_chart(
            identifier(f"{task.name}-{field.name}-classes-roc"),
            f"{field.title}: ROC of each class against the rest",
            [curves.roc_curve(name, table) for name, table in tables.items()],
        )
    yield from calibrations[:_MOST_CALIBRATIONS]


def _calibration(name: str, title: str, probability: Floats, positive: Floats) -> Chart:
    """Return the calibration of probabilities, NaN for missing ones."""
    answered = ~np.isnan(probability)
    bins = list(curves.calibration_bins(probability[answered], positive[answered], curves.CALIBRATION_BINS))
    gaps = sum(one.cases * abs(one.observed - one.predicted) for one in bins)
    error = gaps / max(1, sum(one.cases for one in bins))
    brier = float(np.mean((probability[answered] - positive[answered]) ** 2)) if answered.any() else 0.0
    described = (
        "Share of positives in bins of equal width, with Wilson's 95 % intervals. Perfect probabilities "
        f"follow the diagonal. Expected calibration error {error:.3f}, Brier score {brier:.3f}."
    )
    return curves.calibration_chart(name, title, bins, described)


# --- Confusion matrices of decisions, and their sensitivity and specificity ---


def _decision_charts(results: SubmissionResults, task: Task) -> Iterator[Chart]:
    """Yield the confusion matrices of decisions, one for each pair of columns."""
    table = results.tables[task.name]
    for metric in task.metrics:
        decision = metric.estimator.decision
        if decision is None or metric.name not in results.estimates[task.name]:
            continue
        predicted, present = table[decision.predicted], table[decision.present]
        entering = ~np.isnan(present)
        counts = _counts(predicted[entering] > 0, present[entering] > 0)
        yield _confusion(
            f"{task.name}-{metric.name}-confusion",
            re.sub("^F1 of", "Presence of", metric.title),
            counts,
            names_of(results.phase).decisions(decision.present),
            f"Decisions of {task.title}.",
        )
    if (right := _right_decisions(results, task)) is not None:
        both = "negative", "positive"
        yield _confusion(f"{task.name}-confusion", task.title, right, both, "Decisions as submitted.")


def _right_decisions(results: SubmissionResults, task: Task) -> NDArray[np.int64] | None:
    """Return the counts of a task with sensitivity and specificity as shares of cases, as `_counts` does."""
    table = results.tables[task.name]
    columns = [metric.estimator.share_column for metric in task.metrics]
    if [metric.name for metric in task.metrics] != ["sensitivity", "specificity"] or not all(columns):
        return None
    sides = (table[str(column)] for column in columns)
    found, cleared = (side[~np.isnan(side)] for side in sides)
    both = [[cleared.sum(), (1 - cleared).sum()], [(1 - found).sum(), found.sum()]]
    return np.array(both, dtype=np.int64) if found.size and cleared.size else None


def _confusion(
    name: str,
    what: str,
    counts: NDArray[np.int64],
    classes: tuple[str, ...],
    described: str,
    without: NDArray[np.int64] | None = None,
) -> Chart:
    """Return a confusion matrix, whose title says how many decisions are right; ``without`` a result."""
    title = f"{what[:1].upper()}{what[1:]}: right in {int(np.trace(counts))} of {int(counts.sum())} cases"
    if without is None or not without.any():
        return confusion_chart(identifier(name), title, counts, classes, described)
    whole = np.column_stack([counts, without])
    return confusion_chart(identifier(name), title, whole, classes, described, (_WITHOUT,))


def _counts(called: Bools, positive: Bools) -> NDArray[np.int64]:
    """Return the numbers of cases by true and predicted class, negative first."""
    return np.bincount(2 * positive + called, minlength=4).reshape(2, 2)


_THRESHOLD = 0.5
_ONE = "submission"


@dataclass(frozen=True)
class _LabelledScores:
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
    def candidates(self) -> Candidates:
        """The cases as detections of positives; a positive without a score is found at no threshold."""
        positive, score = self.table.positive, self.table.score
        ranked = np.flatnonzero(~(positive & np.isneginf(score)))
        return Candidates(ranked, score[ranked], positive[ranked], positive.astype(np.int64))

    @property
    def probabilities(self) -> Floats | None:
        """The scores if they can be probabilities, with NaN for missing ones; otherwise None."""
        scores = np.where(np.isfinite(self.table.score), self.table.score, np.nan)
        given = scores[~np.isnan(scores)]
        return scores if given.size and given.min() >= 0 and given.max() <= 1 else None


def classification_charts(results: SubmissionResults) -> Iterator[Chart]:
    """Yield the figures of tasks that have scores or decisions."""
    for task in results.tasks:
        for scored in _scored(results, task):
            yield from _curves(results, scored)
            yield from _of_probabilities(scored, names_of(results.phase))
        yield from _decision_charts(results, task)
        yield from _class_charts(results, task)


def _scored(results: SubmissionResults, task: Task) -> Iterator[_LabelledScores]:
    """Yield the scores of a task by pairs of columns, those with both classes."""
    table = results.tables[task.name]
    pairs = dict.fromkeys(
        (curve.score, curve.label) for metric in task.metrics if (curve := metric.estimator.curve)
    )
    for score, label in pairs:
        labels = table[label]
        entering = ~np.isnan(labels)
        if {0.0, 1.0} <= set(labels[entering].tolist()):
            found = roc_table(table[score][entering], labels[entering] > 0)
            names = tuple(compress(table.names, entering))
            yield _LabelledScores(task, CurveColumns(score, label, is_area=True), names, found)


def _curves(results: SubmissionResults, scored: _LabelledScores) -> Iterator[Chart]:
    negative, positive = names_of(results.phase).classes(scored.columns.label)
    table, strata = scored.table, scored.table.positive.astype(np.int64)
    weights = list(curve_weights(results.resampling, scored.names, strata))
    points = list(_operating_points(results, scored))
    band = curves.roc_band(_ONE, table, weights) if weights else None
    name, lines = f"{scored.identifier}-roc", [curves.roc_curve(_ONE, table)]
    (area,) = weighted_auc(table, np.ones((1, len(scored.names))))
    title = f"ROC: {positive} against {negative}, AUC {area:.2f}"
    yield roc_chart(name, title, lines, band, points)
    name, title = f"{scored.identifier}-precision-recall", f"Precision and recall for {positive}"
    tables = {_ONE: FrocTable(scored.candidates)}
    yield from _precision(name, title, tables, weights, prevalence=float(table.positive.mean()))


def _operating_points(results: SubmissionResults, scored: _LabelledScores) -> Iterator[MarkedPoint]:
    positive = scored.table.positive
    for metric in scored.task.metrics:
        curve = metric.estimator.curve
        estimate = results.estimates[scored.task.name].get(metric.name)
        same = curve and (curve.score, curve.label) == (scored.columns.score, scored.columns.label)
        if estimate and curve and same and not curve.is_area:
            yield curves.point_on_curve(metric.title, scored.table, estimate.value)
    for task in results.tasks:
        counts = _right_decisions(results, task)
        if counts is not None and counts.sum(axis=1).tolist() == [(~positive).sum(), positive.sum()]:
            specificity, sensitivity = (np.diag(counts) / counts.sum(axis=1)).tolist()
            yield MarkedPoint(task.title, 1 - specificity, sensitivity)
    if scored.probabilities is not None:
        yield curves.point_at_threshold(f"threshold {_THRESHOLD:g}", scored.table, _THRESHOLD)


def _of_probabilities(scored: _LabelledScores, names: Names) -> Iterator[Chart]:
    probabilities, positive = scored.probabilities, scored.table.positive.astype(np.float64)
    if probabilities is None:
        return
    title = f"Calibration: predicted and observed share of {names.classes(scored.columns.label)[1]}"
    yield _calibration(f"{scored.identifier}-calibration", title, probabilities, positive)
    # A missing probability is the wrong decision at every threshold.
    decided = np.where(np.isnan(probabilities), 1 - positive, probabilities)
    counts = _counts(decided >= _THRESHOLD, positive > 0)
    yield _confusion(
        f"{scored.identifier}-confusion",
        scored.task.title,
        counts,
        names.decisions(scored.columns.label),
        f"Called positive from a probability of {_THRESHOLD:g} on.",
    )


# --- The section of detection tasks: precision and recall of each class, and free-response curves ---


THRESHOLDS = (0.25, 0.5, 0.75)


def detection_charts(results: SubmissionResults) -> Iterator[Chart]:
    """Yield the figures of all tasks of detections; metrics of the same hits share theirs."""
    for task in results.tasks:
        drawn: dict[object, tuple[Metric, DetectionCurves]] = {}
        for metric in task.metrics:
            detections = metric.estimator.detections
            if detections and metric.name in results.estimates[task.name]:
                hits = _hits(detections, results.tables[task.name]) or metric.name
                drawn.setdefault(hits, (metric, detections))
        for metric, detections in drawn.values():
            own = len(drawn) > 1
            name, title = (f"{task.name}-{metric.name}", metric.title) if own else (task.name, task.title)
            yield from _detection_curves(results, task, metric, detections, identifier(name), title)


def _hits(detections: DetectionCurves, table: CaseTable) -> tuple[bytes, ...]:
    """Return what is equal for detections with the same curves, nothing for those of several classes."""
    if detections.matched is not None:
        return ()
    found = detections.candidates(table)
    return tuple(part.tobytes() for part in (found.case, found.confidence, found.hit, found.references))


def _detection_curves(
    results: SubmissionResults, task: Task, metric: Metric, detections: DetectionCurves, name: str, title: str
) -> Iterator[Chart]:
    """Yield precision and recall, at several thresholds if there are any, and the free-response curve."""
    table = results.tables[task.name]
    draws = results.resampling, table.names, metric.estimator.strata(table)
    if detections.matched is None:
        hit, candidates = detections.hit, detections.candidates(table)
        tables, weights = _with_objects({_ONE: candidates}), curve_weights(*draws, len(candidates.confidence))
        told = f"{title}: precision and recall"
        yield from _precision(f"{name}-precision-recall", told, tables, weights, hit)
    else:
        matched = detections.matched(table)
        thresholds, weights = matched.thresholds.tolist(), curve_weights(*draws, len(matched.confidence))
        singles = {of: matched.single_class(i) for i, of in enumerate(detections.classes)}
        for position in [thresholds.index(one) for one in THRESHOLDS if one in thresholds] or [0]:
            at = thresholds[position]
            yield from _precision(
                f"{name}-precision-recall-{round(100 * at)}",
                f"{title}: precision and recall at IoU {at:g} or more",
                _with_objects({of: one.candidates(position) for of, one in singles.items()}),
                weights,
                "The precision is the best at that recall or above. A hit has an intersection over union of "
                f"at least {at:g}.",
                is_best=True,
            )
        nearest = min(range(len(thresholds)), key=lambda one: abs(thresholds[one] - HIT))
        hit = f"A hit has an intersection over union of at least {thresholds[nearest]:g}."
        tables = _with_objects({of: one.candidates(nearest) for of, one in singles.items()})
    lines, bands = [], []
    for of, one in tables.items():
        curve = one.curve(np.ones(one.cases))
        lines.append(curves.thinned_curve(of, curve.false_positives_per_case, curve.sensitivity))
        if weights:
            bands.append(curves.froc_band(of, one, weights))
    if lines:
        told = f"{title}: found at each rate of false positives"
        yield curves.froc_chart(f"{name}-froc", told, lines, hit, bands)


def _with_objects(candidates: Mapping[str, Candidates]) -> dict[str, FrocTable]:
    """Return the tables of those that have any object to find."""
    return {of: FrocTable(one) for of, one in candidates.items() if one.references.any()}


def _precision(
    name: str,
    title: str,
    tables: Mapping[str, FrocTable],
    weights: Sequence[Floats],
    hit: str = "",
    prevalence: float | None = None,
    *,
    is_best: bool = False,
) -> Iterator[Chart]:
    """Yield the precision–recall curves with their bands, of the tables in which anything is found.

    ``is_best``: the precision is the best at a recall or above.
    """
    lines, bands = [], []
    for of, table in tables.items():
        recall, precision = curves.recall_and_precision(table, np.ones((1, table.cases)), is_best=is_best)
        if recall.any():
            # The best precision at a recall is that of the first threshold that reaches it.
            kept = np.diff(recall[0], prepend=0.0) > 0 if is_best else slice(None)
            lines.append(curves.thinned_curve(of, recall[0][kept], precision[0][kept]))
            if weights:
                blocks = (curves.recall_and_precision(table, block, is_best=is_best) for block in weights)
                bands.append(curves.precision_band(of, blocks, float(recall.max())))
    if lines:
        yield curves.precision_recall_chart(name, title, lines, bands, prevalence, hit)
