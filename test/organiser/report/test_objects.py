"""Which points and boxes are drawn, and in which colours, by the rules of the phase."""

from collections import Counter

import numpy as np
import pytest

from evaluation.core.challenge import references_of
from evaluation.organiser.report.objects import case_hits, objects_of
from evaluation.organiser.report.overlays import AGREEMENT, FALSE, LEFT_OUT, MISSED
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.platform.submission import index_submission
from evaluation.workers.case_reader import CaseReader
from test.organiser.report.declared import declared


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    return declared(tmp_path_factory.mktemp("declared"))


def drawn(bundled, task_name, case_name):
    """Return what is drawn of a case in the only field of a task."""
    phase = bundled.results.phase
    (task,) = [task for task in phase.tasks if task.name == task_name]
    position = [case.name for case in phase.cases.forms].index(case_name)
    case = phase.cases.forms[position]
    index = index_submission(bundled.submission, phase.form, phase.tasks)
    sources = {task_name: index.sources[position][task_name]}
    predicted, _ = CaseReader(index.root, phase.tasks, phase.missing).read(case, sources)
    reference = OpenReference(phase.reference, references_of(phase.tasks))
    references = ReferenceValues(reference, case, phase.rows[position])
    return objects_of(phase.options, task, task.fields[0], predicted[task_name], references)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (
            "cells",
            {("ring", AGREEMENT): 1, ("cross", AGREEMENT): 1, ("ring", MISSED): 1, ("cross", FALSE): 1},
        ),
        (
            "nodules",
            {
                ("ring", AGREEMENT): 1,
                ("cross", AGREEMENT): 1,
                ("ring", MISSED): 1,
                ("cross", FALSE): 1,
                ("cross", LEFT_OUT): 1,
            },
        ),
        ("polyps", {("box", AGREEMENT): 1, ("box", MISSED): 1, ("box", FALSE): 1}),
        ("tumours", {("box", AGREEMENT): 1, ("box", FALSE): 1}),
        ("organ", {("box", AGREEMENT): 1, ("box", FALSE): 1}),
        ("skull", {("ring", AGREEMENT): 2, ("cross", FALSE): 2}),
        ("apex", {("ring", AGREEMENT): 1, ("cross", FALSE): 1}),
    ],
)
def test_hits_misses_and_false_ones_have_their_colours(bundled, task, expected):
    assert Counter((one.shape, one.colour) for one in drawn(bundled, task, "a").drawn) == expected


def test_sizes_numbers_and_joins_of_what_is_drawn(bundled):
    (ring,) = [
        one for one in drawn(bundled, "nodules", "a").drawn if one.shape == "ring" and one.colour == AGREEMENT
    ]
    assert (ring.lower, ring.upper) == ((-4, -4, -4), (4, 4, 4))
    found = drawn(bundled, "skull", "c")
    assert [one.label for one in found.drawn] == ["1", "2", "", ""]
    assert found.joined == (((30, 32), (30, 30)), ((70, 32), (70, 30)))
    assert (found.surroundings, found.in_pixels, found.axes) == (True, True, 2)
    assert drawn(bundled, "apex", "a").axes == 3
    assert not drawn(bundled, "apex", "a").in_pixels
    assert drawn(bundled, "cells", "c") is None


REFERENCE = np.array([[0, 1, 0, 0, 10, 10], [0, 1, 20, 20, 30, 30], [1, 1, 0, 0, 10, 10]], float)
PREDICTED = np.array(
    [
        [0, 0.9, 0, 0, 10, 10],  # hits the first
        [0, 0.8, 0, 0, 10, 9],  # the first is taken
        [0, 0.7, 20, 20, 30, 24],  # IoU 0.4
        [1, 0.6, 0, 0, 10, 10],  # hits the third
    ],
    float,
)


def test_hits_among_boxes():
    assert case_hits(PREDICTED, REFERENCE, 0.5, False).tolist() == [True, False, False, True]
    assert case_hits(PREDICTED, REFERENCE, 0.4, False).tolist() == [True, False, True, True]
