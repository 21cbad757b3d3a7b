"""Every choice of a challenge on one small example, under each of its values, and in the definitions."""

import re
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import metrics_of
from evaluation.io.kinds.boxes import Boxes
from evaluation.metrics.surfaces import SurfaceConvention
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


def sensitivity(challenge, name, metric, label, positives, negatives, **options):
    rows = [{"likelihood": score, label: 1.0} for score in positives]
    rows += [{"likelihood": score, label: 0.0} for score in negatives]
    return value(task(challenge, name, **options), metric, rows)


PERFECT, TIED = ([9, 9], range(9)), ([1, 1], [1] * 10)


@pytest.mark.parametrize(
    ("definition", "scores", "expected"),
    [
        # All positives above all negatives: of the curve scikit-learn keeps (0, 0), (0, 1) and (1, 1), and
        # the public script draws a line from specificity 0 and sensitivity 1 to specificity 1 and sensitivity
        # 0.
        ("step", PERFECT, 1.0),
        ("interpolated", PERFECT, 1.0),
        ("between_kept_points", PERFECT, 0.15),
        # All tied: the curve is the diagonal.
        ("step", TIED, 0.0),
        ("interpolated", TIED, 0.15),
        ("between_kept_points", TIED, 0.15),
        # Above 2, 3 and 4 of 20 negatives, and above all: three are just allowed, 17 of 20 are 85 %.
        ("step", ([0.175, 0.165, 0.155, 0.5], np.arange(20) / 100), 3 / 4),
    ],
)
def test_refuge_sensitivity_at_85_specificity(definition, scores, expected):
    found = sensitivity(
        "refuge",
        "classification",
        "reference_sensitivity",
        "glaucoma",
        *scores,
        sensitivity_at_specificity=definition,
    )
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("definition", "expected"), [("step", 0.3), ("first_kept_point", 0.7)])
def test_justraigs_sensitivity_at_95_specificity(definition, expected):
    # Above 18 no false positive and 3 of 10 positives; from 18 on 2 of 20 false positives, more than 5 %, and
    # 7.
    found = sensitivity(
        "justraigs",
        "referral",
        "sensitivity_at_95_specificity",
        "referable",
        [30, 30, 30, 18, 18, 18, 18, 5, 5, 5],
        [*range(18), 18, 18],
        sensitivity_at_specificity=definition,
    )
    assert found == pytest.approx(expected, abs=1e-12)


def test_adam_names_the_point_at_a_false_positive_rate_of_20_percent():
    # 10 negatives: two false positives are allowed, so that the third positive is found and the fourth not.
    of_task = task("adam", "classification")
    rows = [{"likelihood": 9.5 - number, "amd": 1.0} for number in range(5)]
    rows += [{"likelihood": float(number), "amd": 0.0} for number in range(10)]
    point = of_task.details(CaseTable([f"case{number}" for number in range(15)], rows))["operating_point"]
    assert (point["specificity_at_least"], point["false_positive_rate"]) == (0.8, 0.2)
    assert (point["true_positives"], point["false_positives"]) == (3, 2)
    assert point["false_negative_cases"] == ["case4", "case3"]
    assert point["false_positive_cases"] == ["case14", "case13"]


BE = 0


def detection(predicted, reference, metric, **options):
    of_task = task("edd2020", "detection", classes=("BE",), **options)
    rows = [
        of_task.score(
            {"detection_boxes": Boxes(np.array(boxes, dtype=np.float64).reshape(-1, 6))},
            {"detection_boxes": Boxes(np.array(true, dtype=np.float64).reshape(-1, 6))},
        )
        for boxes, true in zip(predicted, reference, strict=True)
    ]
    return value(of_task, metric, rows)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("all_points", 1 / 3 + 1 / 3 * 2 / 3),
        ("101_points", (34 + 33 * 2 / 3) / 101),
        ("11_points", (4 + 3 * 2 / 3) / 11),
    ],
)
def test_edd2020_average_precision(rule, expected):
    # Right, wrong, right, of three boxes: precision 1 up to recall 1/3, 2/3 up to 2/3.
    true = [[BE, 1, x, 0, x + 9, 9] for x in (0, 20, 40)]
    found = [[BE, 0.9, *true[0][2:]], [BE, 0.8, 80, 80, 89, 89], [BE, 0.7, *true[1][2:]]]
    assert detection([found], [true], "map_d", average_precision=rule) == pytest.approx(expected, rel=1e-12)


def test_cysts_options_reach_the_surfaces():
    options = challenge_named("cysts").options
    assert options().convention() == SurfaceConvention()
    chosen = options(surface="elements", surface_directions="pooled").convention()
    assert chosen == SurfaceConvention("elements", "index", "pooled")
    with pytest.raises(ValueError, match="expected 'index' for surface 'elements'"):
        options(surface="elements", hausdorff_percentile="linear")


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
