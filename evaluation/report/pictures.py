"""Which cases are shown as pictures, and the section of these pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import Task
from evaluation.core.metric import Metric
from evaluation.metrics.ratio import ratio_or_nan
from evaluation.report.case_images import CaseValues, is_shown
from evaluation.report.case_pictures import CaseImage
from evaluation.report.detection import HIT, case_hits, inclusive_corners
from evaluation.report.overlays import AGREEMENT, FALSE, LEGEND, MISSED
from evaluation.report.page import Gallery, Picture, Section, shown
from evaluation.report.results import SubmissionResults
from evaluation.report.value_figures import averaged_metrics

MOST_PICTURES = 12
_RANKS = {4: ("worst", "second worst", "median", "best"), 3: ("worst", "median", "best")}
_MOST_VALUES = 6
_LEGENDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "regions": LEGEND,
    "boxes": ((AGREEMENT, "hit (predicted box)"), (MISSED, "missed (reference)"), (FALSE, "false")),
    "points": ((AGREEMENT, "reference (ring)"), (FALSE, "prediction (cross)")),
}
_NOTES: Mapping[str, str] = {
    "regions": "Predicted pixels inside the reference agree, those of the reference alone are missed.",
    "boxes": f"A predicted box hits from an intersection over union of {HIT:g} on.",
    "points": "The line joins the prediction with the reference.",
}


def chosen_cases(results: SubmissionResults) -> dict[str, dict[str, str]]:
    """Return the cases to be shown of each task that can be drawn, with what each is, such as "worst".

    At most twelve cases are shown in all, three or four of a task; those without a submitted value are not.
    """
    shown_tasks = [task for task in results.tasks if any(is_shown(field) for field in task.fields)]
    count = 4 if 4 * len(shown_tasks) <= MOST_PICTURES else 3
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
        places = [0, *([1] if count == 4 else []), len(known) // 2, len(known) - 1]
        of_task: dict[str, str] = {}
        for place, rank in zip(places, _RANKS[count], strict=True):
            if 0 <= place < len(known):
                of_task.setdefault(names[known[place]], rank)
        chosen[task.name] = of_task
    return chosen


def goodness_of_cases(results: SubmissionResults, task: Task) -> NDArray[np.float64]:
    """Return how good each case of a task is, higher is better, NaN where that cannot be said.

    The mean over the task's averaged metrics of their place between worst and best; where none has a worst
    value, the first of them, turned so that higher is better; of boxes their F1.
    """
    table = results.tables[task.name]
    if {"predicted", "reference"} <= set(table.column_names):
        inclusive = inclusive_corners(results.phase)
        found = [
            case_hits(predicted, reference, HIT, inclusive)
            for predicted, reference in zip(
                table.objects("predicted"), table.objects("reference"), strict=True
            )
        ]
        totals = [2 * hits.found + hits.false + hits.missed for hits in found]
        return np.array(
            [2 * hits.found / total if total else np.nan for hits, total in zip(found, totals, strict=True)]
        )
    metrics = [metric for metric in task.metrics if metric.ordered and metric.aggregate.spread_column]
    bounded = [metric for metric in metrics if math.isfinite(metric.best) and math.isfinite(metric.worst)]
    if bounded:
        places = np.array([_place(metric, _values(results, task, metric)) for metric in bounded])
        entering = ~np.isnan(places)
        total = np.where(entering, places, 0.0).sum(axis=0)
        count = entering.sum(axis=0)
        return ratio_or_nan(total, count.astype(np.float64))
    if metrics:
        sign = 1.0 if metrics[0].better == "higher" else -1.0
        turned: NDArray[np.float64] = sign * _values(results, task, metrics[0])
        return turned
    return np.full(len(table), np.nan)


def pictures_section(
    results: SubmissionResults, chosen: Mapping[str, Mapping[str, str]], values: Sequence[CaseValues]
) -> Section | None:
    """Return the section of the pictures that were read, None without any."""
    by_name = {value.name: value.pictures for value in values}
    galleries = []
    for task in results.tasks:
        images = {
            name: by_name[name][task.name]
            for name in chosen.get(task.name, {})
            if task.name in by_name.get(name, {})
        }
        if images:
            kind = next(iter(images.values())).kind
            pictures = tuple(
                _picture(results, task, name, chosen[task.name][name], image)
                for name, image in images.items()
            )
            galleries.append(Gallery(task.title, pictures, _LEGENDS[kind], _NOTES[kind]))
    return Section("pictures", "Pictures", tuple(galleries)) if galleries else None


def _picture(results: SubmissionResults, task: Task, name: str, rank: str, image: CaseImage) -> Picture:
    table = results.tables[task.name]
    row = table.names.index(name)
    values = [
        f"{metric.title} {shown(float(table[column][row]), 3)}"
        for metric, column in averaged_metrics(results, task)
        if metric.ordered and not math.isnan(table[column][row])
    ][:_MOST_VALUES]
    panels = f" From left to right: {', '.join(image.panels)}." if image.panels else ""
    caption = f"{rank.capitalize()}: {name}. {'; '.join(values)}{'.' if values else ''}{panels}"
    return Picture(name, image.source, caption, f"{task.title}, case {name}, {rank}.{panels}")


def _values(results: SubmissionResults, task: Task, metric: Metric) -> NDArray[np.float64]:
    column = metric.aggregate.spread_column
    assert column is not None  # of the metrics that are asked for
    return results.tables[task.name][column]


def _place(metric: Metric, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return where values are between the worst (0) and the best (1)."""
    return (values - metric.worst) / (metric.best - metric.worst)
