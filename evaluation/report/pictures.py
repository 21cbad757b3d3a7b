"""The choice of cases that are shown as pictures, and their section."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from evaluation.core.challenge import Task
from evaluation.report.box_hits import HIT
from evaluation.report.case_goodness import goodness_of_cases
from evaluation.report.case_images import CaseValues
from evaluation.report.case_pictures import CaseImage, PictureKind, is_shown
from evaluation.report.objects import matching_metric
from evaluation.report.overlays import AGREEMENT, FALSE, LEFT_OUT, LEGEND, MISSED
from evaluation.report.page import Gallery, Picture, Section, shown
from evaluation.report.papers import followed
from evaluation.report.results import SubmissionResults
from evaluation.report.value_figures import averaged_metrics

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
LEGENDS: Mapping[PictureKind, tuple[tuple[str, str], ...]] = {
    "regions": LEGEND,
    "boxes": (
        (AGREEMENT, "hit (predicted box)"),
        (MISSED, "missed (reference)"),
        (FALSE, "false"),
        (LEFT_OUT, "does not count"),
    ),
    "box": ((AGREEMENT, "reference"), (FALSE, "prediction")),
    "points": ((AGREEMENT, "reference (ring)"), (FALSE, "prediction (cross)")),
    "objects": (
        (AGREEMENT, "hit: prediction (cross), object (ring)"),
        (MISSED, "missed (ring)"),
        (FALSE, "false (cross)"),
        (LEFT_OUT, "does not count (cross)"),
    ),
    "photograph": (),
}
_NOTES: Mapping[PictureKind, str] = {
    "regions": "Predicted pixels inside the reference agree, those of the reference alone are missed.",
    "boxes": f"A predicted box hits from an intersection over union of {HIT:g} on.",
    "box": "The box of the prediction and that of the reference.",
    "points": "The line joins the prediction with the reference.",
    "objects": "The ring of an object has its diameter, where the reference tells it.",
    "photograph": "Of the positive and of the negative cases, those with the highest and the lowest score.",
}


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
        curve = next((curve for metric in task.metrics if (curve := metric.aggregate.curve)), None)
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


def pictures_section(
    results: SubmissionResults, chosen: Mapping[str, Mapping[str, str]], values: Sequence[CaseValues]
) -> Section | None:
    """Return the section of the pictures, None without any."""
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
            shows = "classified photographs" if kind == "photograph" else f"pictures of {task.name}"
            source = followed(results.phase.challenge.name, shows)
            follows = f" Follows {source}." if source else ""
            note = f"{_note(results, task, kind)}{follows}"
            galleries.append(Gallery(task.title, pictures, LEGENDS[kind], note))
    return Section("pictures", "Pictures", tuple(galleries)) if galleries else None


def _note(results: SubmissionResults, task: Task, kind: PictureKind) -> str:
    """Return the legend of a task's pictures; for detections it depends on the metric."""
    if kind in ("boxes", "objects"):
        for field in task.fields:
            if found := matching_metric(results.phase, task, field):
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
    panels = f" From left to right: {', '.join(image.panels)}." if image.panels else ""
    if image.numbered:
        names = (f"{number} {name}" for number, name in enumerate(image.numbered, start=1))
        panels += f" Numbers: {', '.join(names)}."
    caption = f"{rank.capitalize()}: {name}. {'; '.join(values)}{'.' if values else ''}{panels}"
    return Picture(name, image.source, caption, f"{task.title}, case {name}, {rank}.{panels}")
