"""Every choice of a challenge on one small example, under each of its values, and in the definitions."""

import re
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import metrics_of
from evaluation.phase.registry import challenge_named
from test.repository import REPOSITORY

PAGE = (REPOSITORY / "docs/definitions.md").read_text(encoding="utf-8")


def task(challenge, name, **options):
    known = challenge_named(challenge)
    return next(task for task in known.tasks(known.options(**options)) if task.name == name)


def value(of_task, metric, rows):
    table = CaseTable([f"case{number}" for number in range(len(rows))], rows)
    chosen = [found for found in of_task.metrics if found.name == metric]
    return metric_values(chosen, table)[metric]


PERFECT, TIED = ([9, 9], range(9)), ([1, 1], [1] * 10)


@pytest.mark.parametrize(
    ("definition", "scores", "expected"),
    [
        ("step", PERFECT, 1.0),
        # All tied: the curve is the diagonal.
        ("interpolated", TIED, 0.15),
        # Above 2, 3 and 4 of 20 negatives, and above all: three are just allowed, 17 of 20 are 85 %.
        ("step", ([0.175, 0.165, 0.155, 0.5], np.arange(20) / 100), 3 / 4),
    ],
)
def test_refuge_sensitivity_at_85_specificity(definition, scores, expected):
    rows = [{"likelihood": score, "glaucoma": 1.0} for score in scores[0]]
    rows += [{"likelihood": score, "glaucoma": 0.0} for score in scores[1]]
    of_task = task("refuge", "classification", sensitivity_at_specificity=definition)
    assert value(of_task, "reference_sensitivity", rows) == pytest.approx(expected, abs=1e-12)


def values_of(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [str(found) for found in get_args(annotation)]
    return []


@pytest.mark.parametrize("name", ["refuge", "adam", "edd2020", "justraigs", "cysts"])
def test_every_choice_has_its_card(name):
    table = challenge_named(name).options
    options = {key: field.annotation for key, field in table.model_fields.items()}
    section = PAGE.partition(f"\n## {dict(zip(ORDER, TITLES, strict=True))[name]}\n")[2].partition("\n## ")[0]
    missing = [
        f"{key} = {choice}"
        for key, annotation in options.items()
        for choice in ["", *values_of(annotation)]
        if not re.search(rf"`{key}\b", section) or choice not in section
    ]
    assert missing == []


ORDER = ("refuge", "adam", "edd2020", "justraigs", "cysts")
TITLES = ("REFUGE", "ADAM", "EDD2020", "JustRAIGS", "Cysts")


def card_of(name: str) -> str:
    """Return how a card names a metric: parts that occur many times stand as placeholders."""
    name = re.sub(r"(drusen|exudate|hemorrhage|scar|other)_", "<lesion>_", name)
    name = re.sub(r"_(BE|suspicious|HGD|cancer|polyp)$", "_<class>", name)
    name = re.sub(r"(justification)\.(?!hamming)\w+_error$", r"\1.<label>_error", name)
    return re.sub(r"_level_\d$", "_level_<n>", name)


@pytest.mark.parametrize("name", ORDER)
def test_every_metric_has_its_card(name):
    challenge = challenge_named(name)
    tasks = challenge.tasks(challenge.options())
    names = [*metrics_of(tasks), *(composite.name for composite in challenge.composites_of(tasks))]
    pooled = {f"segmentation.{figure}_<class>" for figure in ("precision", "recall", "f1", "f2")}
    missing = {card_of(metric) for metric in names if f"`{card_of(metric)}`" not in PAGE} - pooled
    assert missing == set()
