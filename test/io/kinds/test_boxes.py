"""Boxes out of files, rows and the platform's JSON, their faults, and what is written reads back."""

import itertools
import math

import numpy as np
import pytest

from evaluation.core.fault import FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource, JsonSource
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.objects import Attributes, Space
from test.io.memory import InMemory

NAMED = Attributes(("BE", "HGD"), with_probability=True)
CASE = CaseForm("E1", 100, 50)


def read(text, case=CASE, **arguments):
    kind = BoxList(attributes=NAMED, **arguments)
    return kind.read(FileSource("E1.txt"), case, InMemory({"E1.txt": text.encode()}))


def faults_of(kind, source, case=CASE, files=None):
    with pytest.raises(FormFault) as caught:
        kind.read(source, case, files)
    return list(map(str, caught.value.faults))


def faults(text, case=CASE):
    kind = BoxList(attributes=NAMED)
    return faults_of(kind, FileSource("E1.txt"), case, InMemory({"E1.txt": text.encode()}))


def test_without_a_size_coordinates_are_bounded_all_the_same():
    case = CaseForm("E1")
    assert read("BE 0.5 1 2 5000 4", case).rows[0, 4] == 5000
    assert len(faults("BE 0.5 1 2 1e300 4", case)) == 1


BOX = {"corners": [[1, 1, 0], [9, 1, 0], [9, 5, 0], [1, 5, 0]], "name": "BE", "probability": 0.5}
OUTSIDE = {**BOX, "corners": [[-1, 1, 0], [9, 1, 0], [9, 60, 0], [-1, 60, 0]]}


VERSION = {"major": 1, "minor": 0}


def in_json(boxes):
    return JsonSource({"type": "Multiple 2D bounding boxes", "boxes": boxes, "version": VERSION}, "b.json")


@pytest.mark.parametrize(("outside", "corners"), [("clip", [0, 1, 9, 50]), ("keep", [-1, 1, 9, 60])])
def test_boxes_of_the_platform(outside, corners):
    kind = BoxList(attributes=NAMED, outside=outside)
    found = kind.read(in_json([OUTSIDE, BOX]), CASE, None)
    assert found.rows.tolist() == [[0, 0.5, *corners], [0, 0.5, 1, 1, 9, 5]]
    assert found.outside == 1
    again = kind.read(JsonSource(kind.write_json(found), "b.json"), CASE, None)
    assert again.rows.tolist() == found.rows.tolist()


def test_faults_of_boxes_of_the_platform():
    kind = BoxList(attributes=NAMED, remedy=" (or else)")
    assert faults_of(kind, in_json([OUTSIDE, {**BOX, "name": "polyp"}])) == [
        "b.json, boxes[0]: expected x1 from 0 to 100 (or else), found x1 = -1",
        "b.json, boxes[0]: expected y2 from 0 to 50 (or else), found y2 = 60",
        "b.json, boxes[1]: expected as name a class (BE, HGD), found the text 'polyp'",
    ]
    assert "the type `Multiple 2D bounding boxes`" in kind.describe_json()


FLAT = BoxesInSpace(Space(2, "pixels"), Attributes(("cyst", "stone"), with_probability=True))
DEEP = BoxesInSpace(Space(3))


def test_variants_for_a_rehearsal():
    reference = Boxes(np.array([[0, 1, 10, 5, 20, 15], [1, 1, 60, 30, 70, 40]], float))
    derived = {variant: FLAT.rehearse(reference, CASE, variant).rows.tolist() for variant in Variant}
    assert derived == {
        Variant.PERFECT: reference.rows.tolist(),
        Variant.NEAR: [[0, 1, 10, 5, 19.9, 15], [1, 1, 60, 30, 69.9, 40]],
        Variant.EMPTY: [],
        Variant.INVERTED: [[0, 1, 100, 50, 100, 50], [1, 1, 0, 0, 0, 0]],
    }
    empty = Boxes(np.zeros((0, 8)))
    assert DEEP.rehearse(empty, CASE, Variant.INVERTED).rows.tolist() == [[0, 1, 1e6, 0, 0, 1e6, 0, 0]]


KEPT = BoxesInSpace(Space(2, "pixels"), outside="keep")


def read_annotated(corners):
    try:
        found = KEPT.read(in_json([{"corners": corners}]), CASE, None)
    except FormFault as fault:
        return str(fault)
    return tuple(found.rows[0, 2:].tolist())


@pytest.mark.parametrize("order", [*itertools.permutations(range(4))])
@pytest.mark.parametrize("box", [(-1.5, 2, 1e6, 2.25), (3, 4, 3, 4)])
def test_corners_in_any_order_are_the_box_that_was_written(box, order):
    corners = [list(corner) for corner in KEPT.vertices(box, 0)]
    assert read_annotated([corners[position] for position in order]) == box


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
    assert read_annotated(corners) == (
        "b.json, boxes[0]: expected corners of an axis-parallel box in one plane, found others"
    )


def test_rounding_is_no_rotation():
    assert read_annotated(rotated(math.pi)) == pytest.approx((-2, -1, 2, 1))
