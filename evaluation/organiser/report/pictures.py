"""The choice of cases that are shown as pictures, and their section."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task, fields_of
from evaluation.core.metric import Metric
from evaluation.metrics.arrays import Floats, ratio_or_nan
from evaluation.organiser.report.case_images import CaseImage, CaseReading, PictureKind, is_read, is_shown
from evaluation.organiser.report.case_views import ViewedCase, Viewer
from evaluation.organiser.report.objects import HIT, matching_metric, metric_of_instances
from evaluation.organiser.report.overlays import AGREEMENT, FALSE, LEFT_OUT, MISSED
from evaluation.organiser.report.page import Gallery, Picture, Text, shown
from evaluation.organiser.report.results import SubmissionResults
from evaluation.organiser.report.sentences import names_of
from evaluation.organiser.report.sources import words_in
from evaluation.organiser.report.value_figures import averaged_metrics
from evaluation.organiser.views import left_out

# --- How good each case of a task is, to choose the worst, the median and the best ---

_SUMMED = ("true_positives", "false_positives", "false_negatives")


@dataclass(frozen=True)
class FigureOfCases:
    """The figure by which cases are chosen: its title, its values, and how good each is (higher is better).

    Shape (cases,); NaN where it is not known.
    """

    title: str
    values: Floats
    goodness: Floats


def figure_of_cases(results: SubmissionResults, task: Task) -> FigureOfCases:
    """Return the main metric's figure of each case, those of the leaderboard first.

    It is the value that a mean is of, or the ratio of a case's sums. A task of detections without either has
    the F1 of all hits, at any confidence.
    """
    table = results.tables[task.name]
    ranked = results.phase.board.ranked
    metrics = [one for one in task.metrics if one.ordered and one.name in results.estimates[task.name]]
    metrics.sort(key=lambda one: f"{task.name}.{one.name}" not in ranked)
    for metric in metrics:
        values = _values(table, metric)
        if values is not None and not np.isnan(values).all():
            values = np.where(metric.estimator.strata(table) >= 0, values, np.nan)
            sign = 1.0 if metric.better == "higher" else -1.0
            # without the words on how the cases become one figure
            title = metric.title.removesuffix(", all cases together").removesuffix(", mean over cases")
            return FigureOfCases(title, values, sign * values)
    f1 = _f1_of_hits(task, table)
    if f1 is None:
        unknown = np.full(len(table), np.nan)
        return FigureOfCases("", unknown, unknown)
    if metrics:  # a case of another set has no part in the task's figures
        f1 = np.where(metrics[0].estimator.strata(table) >= 0, f1, np.nan)
    return FigureOfCases("F1 of all hits", f1, f1)


def _values(table: CaseTable, metric: Metric) -> Floats | None:
    """Return a metric's figure of each case, None where single cases have none."""
    if column := metric.estimator.mean_column:
        return table[column]
    parts = [f"{metric.name}_{part}" for part in ("number", "of")]
    return ratio_or_nan(*(table[part] for part in parts)) if {*parts} <= set(table.column_names) else None


def _f1_of_hits(task: Task, table: CaseTable) -> Floats | None:
    """Return the F1 of the hits of each case by the first metric that has any, NaN for a case without."""
    columns = table.column_names
    for metric in task.metrics:
        # of the metric itself, or of each class
        of_metric = [column for column in columns if column.startswith(f"{metric.name}_")]
        summed = [[table[one] for one in of_metric if one.endswith(f"_{part}")] for part in _SUMMED]
        lists = [f"{metric.name}_{part}" for part in ("hits", "false")]
        if detections := metric.estimator.detections:
            found = detections.candidates(table)
            hits = np.bincount(found.case[found.hit], minlength=len(table)).astype(np.float64)
            made = np.bincount(found.case, minlength=len(table)).astype(np.float64)
            objects = found.references.astype(np.float64)
        elif all(summed):
            hits, false, missed = (np.asarray(np.sum(values, axis=0), np.float64) for values in summed)
            made, objects = hits + false, hits + missed
        elif {*lists} <= set(columns):  # of a rate by area, which has no curve by case
            hits, false = (np.array([*map(len, table.objects(one))], np.float64) for one in lists)
            made, objects = hits + false, table[f"{metric.name}_objects"]
        elif of_case := metric.estimator.case_figure:
            return of_case.values(table)
        else:
            continue
        return ratio_or_nan(2.0 * hits, made + objects)
    return None


MOST_PICTURES = 12
_RANKS = {
    4: ("worst", "second worst", "median", "best"),
    3: ("worst", "median", "best"),
    2: ("worst", "best"),
    1: ("worst",),
}
_MOST_VALUES = 6
"""Of a case in the viewer."""
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
        figure = figure_of_cases(results, task)
        goodness = figure.goodness
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
        by = f" by {figure.title}" if figure.title else ""
        chosen[task.name] = {
            name: rank + by for name, rank in sorted(rank_of.items(), key=lambda item: ranks.index(item[1]))
        }
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
            yield Gallery(task.title, tuple(pictures), LEGENDS[kind], _note(results, task, kind))


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
    if kind in ("boxes", "objects", "instances"):
        find = metric_of_instances if kind == "instances" else matching_metric
        for field in task.fields:
            if found := find(results.phase.options, task, field):
                title = next(metric.title for metric in task.metrics if metric.name == found[0])
                of_kind = f" {_NOTES[kind]}" if kind == "objects" else ""
                return f"Hits and misses are those of the metric “{title}”.{of_kind}"
    return _NOTES[kind]


def _picture(results: SubmissionResults, task: Task, name: str, rank: str, image: CaseImage) -> Picture:
    table = results.tables[task.name]
    value = ""
    if " by " in rank:
        value = f" {shown(float(figure_of_cases(results, task).values[table.names.index(name)]), 3)}"
    panels = image.shows(names_of(results.phase).of)
    if image.numbered:
        names = (f"{number} {name}" for number, name in enumerate(image.numbered, start=1))
        panels += f" Numbers: {', '.join(names)}."
    caption = f"{rank[:1].upper()}{rank[1:]}{value}: {name}.{panels}"
    return Picture(name, image.source, caption, f"{task.title}, case {name}, {rank}.{panels}")


def fields_left_out(tasks: Iterable[Task]) -> Iterator[Text]:
    """Yield which fields no picture and no figure of values shows, and why."""
    views = "regions, objects, decisions or numbers that its reference has too"
    without = (one for one in fields_of(tasks) if not (is_read(one) or one.kind.choices or one.kind.numbers))
    if lines := tuple(left_out(one.name, one.kind, "pictures and sizes", views) for one in without):
        yield Text(lines)
