"""The choice of cases that are shown as pictures, and their section."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task, fields_of
from evaluation.core.metric import Metric
from evaluation.metrics.arrays import Floats, ratio_or_nan
from evaluation.organiser.report.case_images import CaseImage, CaseReading, PictureKind, is_read, is_shown
from evaluation.organiser.report.case_views import ViewedCase, Viewer
from evaluation.organiser.report.objects import HIT, case_hits, matching_metric
from evaluation.organiser.report.overlays import AGREEMENT, FALSE, LEFT_OUT, MISSED
from evaluation.organiser.report.page import Gallery, Picture, Text, shown
from evaluation.organiser.report.results import SubmissionResults
from evaluation.organiser.report.sentences import names_of
from evaluation.organiser.report.sources import followed, words_in
from evaluation.organiser.report.value_figures import averaged_metrics
from evaluation.organiser.views import left_out

# --- How good each case of a task is, to choose the worst, the median and the best ---

Counts = NDArray[np.float64]
"""Numbers of hits, false predictions and objects by case, shape (3, cases)."""

_SUMMED = ("true_positives", "false_positives", "false_negatives")


def goodness_of_cases(results: SubmissionResults, task: Task) -> Floats:
    """Return how good each case of a task is, higher is better, NaN if unknown or in no ordered metric.

    For detections, the F1 at any confidence. Else the mean over the task's averaged metrics of their position
    between worst and best; where none has a worst value, the first metric, with its sign such that higher is
    better.
    """
    table = results.tables[task.name]
    ordered = [metric.estimator.strata(table) >= 0 for metric in task.metrics if metric.ordered]
    entering = np.any(ordered, axis=0) if ordered else np.ones(len(table), np.bool_)
    return np.where(entering, _goodness(results, task, table), np.nan)


def _goodness(results: SubmissionResults, task: Task, table: CaseTable) -> Floats:
    counts = next(_counts(results, task, table), None)
    if counts is not None:
        hits, false, objects = counts
        return ratio_or_nan(2 * hits, hits + false + objects)
    metrics = [metric for metric in task.metrics if metric.ordered and metric.estimator.mean_column]
    bounded = [metric for metric in metrics if math.isfinite(metric.best) and math.isfinite(metric.worst)]
    if bounded:
        # The position of each value between the worst (0) and the best (1).
        places = np.array([(_values(table, m) - m.worst) / (m.best - m.worst) for m in bounded])
        entering = ~np.isnan(places)
        total = np.where(entering, places, 0.0).sum(axis=0)
        count = entering.sum(axis=0)
        return ratio_or_nan(total, count.astype(np.float64))
    if metrics:
        sign = 1.0 if metrics[0].better == "higher" else -1.0
        return sign * _values(table, metrics[0])
    return np.full(len(table), np.nan)


def _counts(results: SubmissionResults, task: Task, table: CaseTable) -> Iterator[Counts]:
    """Yield the counts in the columns of detection metrics, the first metric first."""
    columns = table.column_names
    if {"predicted", "reference"} <= set(columns):
        inclusive = any(field.kind.objects and field.kind.objects.inclusive for field in task.fields)
        sides = zip(table.objects("predicted"), table.objects("reference"), strict=True)
        numbers = ((int(case_hits(*pair, HIT, inclusive).sum()), *map(len, pair)) for pair in sides)
        yield _as_counts((hits, boxes - hits, objects) for hits, boxes, objects in numbers)
    for metric in task.metrics:
        parts = ("hits", "false", "found", "objects")
        hits, false, found, objects = (f"{metric.name}_{part}" for part in parts)
        # of the metric itself, or of each class
        of_metric = [column for column in columns if column.startswith(f"{metric.name}_")]
        summed = [[table[one] for one in of_metric if one.endswith(f"_{part}")] for part in _SUMMED]
        if all(summed):
            right, wrong, missed = (np.sum(values, axis=0) for values in summed)
            yield np.array([right, wrong, right + missed])
        elif {hits, false, objects} <= set(columns):
            rows = zip(table.objects(hits), table.objects(false), table[objects].tolist(), strict=True)
            yield _as_counts((len(right), len(wrong), number) for right, wrong, number in rows)
        elif {found, objects} <= set(columns):
            # all classes, at the first threshold
            pairs = zip(table.objects(found), table.objects(objects), strict=True)
            sums = ((int(made[:, 0].sum()), len(made), int(numbers.sum())) for made, numbers in pairs)
            yield _as_counts((right, made - right, number) for right, made, number in sums)


def _as_counts(rows: Iterator[tuple[float, float, float]]) -> Counts:
    return np.array(list(rows), dtype=np.float64).reshape(-1, 3).T


def _values(table: CaseTable, metric: Metric) -> Floats:
    column = metric.estimator.mean_column
    assert column is not None  # of the metrics that are asked for
    return table[column]


MOST_PICTURES = 12
_RANKS = {
    4: ("worst", "second worst", "median", "best"),
    3: ("worst", "median", "best"),
    2: ("worst", "best"),
    1: ("worst",),
}
_MOST_VALUES = 6
_EXTREMES = (
    ("true positive", 1, 1),
    ("true negative", 0, -1),
    ("false positive", 0, 1),
    ("false negative", 1, -1),
)
_COLOURS = {"agreement": AGREEMENT, "missed": MISSED, "false": FALSE, "left out": LEFT_OUT}
_WORDS = words_in("pictures.toml")
LEGENDS = {
    kind: tuple((_COLOURS[colour], meaning) for colour, meaning in one["legend"])
    for kind, one in _WORDS.items()
}
_NOTES = {kind: str(one["note"]).format(HIT=HIT) for kind, one in _WORDS.items()}


def chosen_cases(results: SubmissionResults) -> dict[str, dict[str, str]]:
    """Return the cases to be shown of each task that can be drawn, each with its role, such as "worst".

    At most twelve cases are shown in all, one to four of each of the first twelve tasks; cases without a
    submitted value are not.
    """
    shown_tasks = [task for task in results.tasks if any(is_shown(field) for field in task.fields)]
    shown_tasks = shown_tasks[:MOST_PICTURES]
    ranks = _RANKS[min(max(_RANKS), MOST_PICTURES // max(1, len(shown_tasks)))]
    absent = {(task, case.name) for case in results.cases for task in case.worst}
    chosen: dict[str, dict[str, str]] = {}
    for task in shown_tasks:
        names = results.tables[task.name].names
        goodness = goodness_of_cases(results, task)
        known = [
            position
            for position in np.argsort(goodness, kind="stable").tolist()
            if not math.isnan(goodness[position]) and (task.name, names[position]) not in absent
        ]
        places = {"worst": 0, "second worst": 1, "median": len(known) // 2, "best": len(known) - 1}
        rank_of: dict[str, str] = {}
        # The best of two cases is neither called the median nor the second worst.
        for rank in sorted(ranks, key=("worst", "best", "second worst", "median").index):
            if 0 <= places[rank] < len(known):
                rank_of.setdefault(names[known[places[rank]]], rank)
        chosen[task.name] = dict(sorted(rank_of.items(), key=lambda item: ranks.index(item[1])))
    return chosen


def classified_cases(results: SubmissionResults) -> dict[str, dict[str, str]]:
    """Return the cases of the first task of scores that are shown as photographs: four named extremes.

    The positive and the negative cases with the highest and with the lowest score.
    """
    for task in results.tasks:
        curve = next((curve for metric in task.metrics if (curve := metric.estimator.curve)), None)
        if curve is None or any(is_shown(field) for field in task.fields):
            continue
        table = results.tables[task.name]
        score, label = table[curve.score], table[curve.label]
        chosen: dict[str, str] = {}
        for kind, of_class, sign in _EXTREMES:
            members = np.flatnonzero((label == of_class) & np.isfinite(score))
            if members.size:
                at = members[np.argmax(sign * score[members])]
                chosen.setdefault(table.names[at], f"{kind} (score {shown(float(score[at]), 3)})")
        return {task.name: chosen}
    return {}


def galleries(
    results: SubmissionResults, chosen: Mapping[str, Mapping[str, str]], values: Sequence[CaseReading]
) -> Iterator[Gallery]:
    """Yield the pictures of each task."""
    by_name = {value.name: value.pictures for value in values}
    for task in results.tasks:
        images = {
            name: by_name[name][task.name]
            for name in chosen.get(task.name, {})
            if task.name in by_name.get(name, {})
        }
        if images:
            kind = next(iter(images.values())).kind
            ranks = chosen[task.name]
            pictures = (_picture(results, task, name, ranks[name], image) for name, image in images.items())
            shows = "classified photographs" if kind == "photograph" else f"pictures of {task.name}"
            source = followed(results.phase.challenge.name, shows)
            note = _note(results, task, kind) + (f" Follows {source}." if source else "")
            yield Gallery(task.title, tuple(pictures), LEGENDS[kind], note)


def viewer_of(results: SubmissionResults, values: Sequence[CaseReading]) -> Iterator[Viewer]:
    """Yield the viewer of all cases, if any has a view."""
    by_name, cases = {value.name: value.views for value in values}, []
    for task in results.tasks:
        table = results.tables[task.name]
        columns = [(metric.title, table[column]) for metric, column in averaged_metrics(results, task)]
        for row, name in enumerate(table.names):
            if view := by_name.get(name, {}).get(task.name):
                numbers = {title: (known_or_none(column[row]),) for title, column in columns[:_MOST_VALUES]}
                cases.append(ViewedCase(name, task.title, (view,), numbers))
    if cases:
        yield Viewer(("",), tuple(cases))


def known_or_none(value: float | None) -> float | None:
    """Return a number, None for one that is not known or not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


def _note(results: SubmissionResults, task: Task, kind: PictureKind) -> str:
    """Return the legend of a task's pictures; for detections it depends on the metric."""
    if kind in ("boxes", "objects"):
        for field in task.fields:
            if found := matching_metric(results.phase.options, task, field):
                title = next(metric.title for metric in task.metrics if metric.name == found[0])
                of_kind = f" {_NOTES[kind]}" if kind == "objects" else ""
                return f"Hits and misses are those of the metric “{title}”.{of_kind}"
    return _NOTES[kind]


def _picture(results: SubmissionResults, task: Task, name: str, rank: str, image: CaseImage) -> Picture:
    table = results.tables[task.name]
    row = table.names.index(name)
    values = [
        f"{metric.title} {shown(float(table[column][row]), 3)}"
        for metric, column in averaged_metrics(results, task)
        if metric.ordered and not math.isnan(table[column][row])
    ][:_MOST_VALUES]
    panels = image.shows(names_of(results.phase).of)
    if image.numbered:
        names = (f"{number} {name}" for number, name in enumerate(image.numbered, start=1))
        panels += f" Numbers: {', '.join(names)}."
    caption = f"{rank.capitalize()}: {name}. {'; '.join(values)}{'.' if values else ''}{panels}"
    return Picture(name, image.source, caption, f"{task.title}, case {name}, {rank}.{panels}")


def fields_left_out(tasks: Iterable[Task]) -> Iterator[Text]:
    """Yield which fields no picture and no figure of values shows, and why."""
    views = "regions, objects, decisions or numbers that its reference has too"
    without = (one for one in fields_of(tasks) if not (is_read(one) or one.kind.choices or one.kind.numbers))
    if lines := tuple(left_out(one.name, one.kind, "pictures and sizes", views) for one in without):
        yield Text(lines)
