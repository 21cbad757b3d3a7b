"""The best and the worst value of each metric: the reference itself has the one, no result the other."""

import math

import numpy as np
import pytest

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes import Boxes
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.points import point_at
from evaluation.metrics.crops import Crop
from evaluation.phase.registry import challenge_named
from test.io.memory import read_image

WIDTH, HEIGHT = 8, 6
SIZE = {"size": [[WIDTH, HEIGHT], [1, 1]]}
CLASSES = ("BE", "suspicious", "HGD", "cancer", "polyp")
LESIONS = ("drusen", "exudate", "hemorrhage", "scar", "other")

MASK = LabelMap({0: "inner", 128: "outer"}, 255, dimensions=2)


def mask(*, disc: int = 255, cup: int | None = None) -> LabelMapValue:
    image = np.full((HEIGHT, WIDTH), 255, np.uint8)
    image[1:5, 2:6] = disc
    if cup is not None:
        image[2:4, 3:5] = cup
    return read_image(MASK, image)


EMPTY = mask()
BOXES = Boxes(np.array([[label, 1, 1, 1, 4, 4] for label in range(len(CLASSES))], float))
REGION, NOTHING = (Crop(np.ones(shape, np.bool_), (1, 1)) for shape in ((2, 3), (0, 0)))
INSIDE, OUTSIDE = ({"set": name} for name in ("in-sample", "out-of-sample"))

# For each task the references of its cases, with the columns of the form; each class occurs and is lacking.
REFERENCES: dict[str, dict[str, list]] = {
    "refuge": {
        "classification": [({}, {"glaucoma_risk": label}) for label in (0, 1)],
        "segmentation": [({}, {"segmentation": mask(disc=128, cup=0)})],
        "fovea": [({}, {"fovea": point_at(3.0, 2.0), "image_width_height": SIZE["size"]})],
    },
    "adam": {
        "classification": [({}, {"amd_risk": label}) for label in (0, 1)],
        "disc": [({}, {"disc": mask(disc=0)}), ({}, {"disc": EMPTY})],
        "fovea": [({}, {"fovea": point_at(*place), **SIZE}) for place in ((3.0, 2.0), (0.0, 0.0))],
        "lesions": [({}, dict.fromkeys(LESIONS, mask(disc=0))), ({}, dict.fromkeys(LESIONS, EMPTY))],
    },
    "edd2020": {
        "detection": [(INSIDE, {"detection_boxes": BOXES})],
        "segmentation": [(INSIDE, {"masks": [region] * len(CLASSES)}) for region in (REGION, NOTHING)],
        "generalisation": [
            (INSIDE, {"detection_boxes": BOXES}),
            (OUTSIDE, {"generalisation_boxes": BOXES}),
        ],
    },
    "justraigs": {
        "referral": [({}, {"likelihood": label}) for label in (0.0, 1.0)],
        "decision": [({}, {"decision": label}) for label in (0.0, 1.0)],
        "justification": [({}, {"features": (True, False) * 5})],
    },
}
BOTH = [(challenge, task) for challenge, tasks in REFERENCES.items() for task in tasks]


def task_of(challenge: str, name: str) -> Task:
    known = challenge_named(challenge)
    return next(task for task in known.tasks(known.options()) if task.name == name)


def values(task: Task, references: list, *, missing: bool) -> dict[str, float]:
    rows = []
    for columns, reference in references:
        form = CaseForm("C", WIDTH, HEIGHT, columns)
        rows.append(task.worst_row(form, reference) if missing else task.score(reference, reference))
    return metric_values(task.metrics, CaseTable([f"C{number}" for number in range(len(rows))], rows))


@pytest.mark.parametrize(("challenge", "name"), BOTH)
def test_the_reference_itself_has_the_best_value_of_each_metric(challenge, name):
    task = task_of(challenge, name)
    found = values(task, REFERENCES[challenge][name], missing=False)
    # A signed gap is best where it favours the second set, which equal sets do not.
    assert found == {
        metric.name: 0 if metric.name == "dev_g_signed" else metric.best for metric in task.metrics
    }


@pytest.mark.parametrize(("challenge", "name"), BOTH)
def test_no_result_has_the_worst_value_of_each_metric_that_ranks(challenge, name):
    task = task_of(challenge, name)
    found = values(task, REFERENCES[challenge][name], missing=True)
    finite = [metric for metric in task.metrics if metric.ordered and math.isfinite(metric.worst)]
    assert {metric.name: found[metric.name] for metric in finite} == {
        metric.name: metric.worst for metric in finite
    }


@pytest.mark.parametrize(
    ("challenge", "name"),
    [("refuge", "segmentation"), ("adam", "disc"), ("adam", "lesions"), ("edd2020", "segmentation")],
)
def test_each_region_of_a_mask_has_a_metric_that_says_whose_it_is(challenge, name):
    task = task_of(challenge, name)
    named = {(metric.field, structure) for metric in task.metrics for structure in metric.structures}
    regions = {field.name: field.kind.regions for field in task.fields}
    assert named == {(field, region) for field, view in regions.items() for region in view.names}
    for metric in task.metrics:
        assert len(metric.structures) in (0, 1)
        assert all(metric.title.endswith(structure.split()[-1]) for structure in metric.structures)
