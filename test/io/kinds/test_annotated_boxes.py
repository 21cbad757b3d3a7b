"""Which four corners are a box, and what is written reads back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.fault import FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import JsonSource
from evaluation.io.kinds.annotation_json import boxes_of_json, within_image, written_box

NUMBERS = st.floats(-1e6, 1e6)


def read(corners):
    value = {"corners": corners}
    whole = {
        "type": "Multiple 2D bounding boxes",
        "boxes": [value],
        "version": {"major": 1, "minor": 0},
    }
    (found,) = boxes_of_json(JsonSource(whole, "b.json"), 9)
    return str(found) if isinstance(found, FormFault) else found[1]


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), st.permutations(range(4)))
def test_corners_in_any_order_are_the_box_that_was_written(box, order):
    x1, x2 = sorted(box[:2])
    y1, y2 = sorted(box[2:])
    corners = written_box((x1, y1, x2, y2), None, None)["corners"]
    assert read([corners[position] for position in order]) == (x1, y1, x2, y2)


def rotated(angle):
    around = [(-2, -1), (2, -1), (2, 1), (-2, 1)]
    cosine, sine = math.cos(angle), math.sin(angle)
    return [[cosine * x - sine * y, sine * x + cosine * y, 0.5] for x, y in around]


@pytest.mark.parametrize(
    "corners",
    [
        rotated(1e-3),
        rotated(math.pi / 4),
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0]],
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1]],
        [[0, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0]],
    ],
)
def test_other_corners_are_a_fault(corners):
    assert read(corners) == (
        "b.json, boxes[0]: expected corners of an axis-parallel box in one plane, found others"
    )


def test_rounding_is_no_rotation():
    assert read(rotated(math.pi)) == pytest.approx((-2, -1, 2, 1))


@pytest.mark.parametrize(
    ("outside", "corners", "expected"),
    [
        ("clip", (1, 2, 3, 4), ((1, 2, 3, 4), False)),
        ("clip", (-1, 2, 101, 60), ((0, 2, 100, 50), True)),
        ("keep", (-1, 2, 3, 60), ((-1, 2, 3, 60), True)),
        ("error", (0, 0, 100, 50), ((0, 0, 100, 50), False)),
    ],
)
def test_corners_that_leave_the_image(outside, corners, expected):
    faults = []
    case = CaseForm("E1", 100, 50)
    assert within_image(JsonSource({}, "b.json"), corners, case, outside, "", faults) == expected
    assert faults == []


def test_every_coordinate_outside_is_a_fault():
    faults = []
    within_image(JsonSource({}, "b.json"), (-1, 0, 3, 60), CaseForm("E1", 100, 50), "error", " px", faults)
    assert list(map(str, faults)) == [
        "b.json: expected x1 from 0 to 100 px, found -1",
        "b.json: expected y2 from 0 to 50 px, found 60",
    ]
