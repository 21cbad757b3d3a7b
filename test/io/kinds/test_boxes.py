"""Boxes out of files, rows and the platform's JSON, their faults, and what is written reads back."""

import itertools
import math

import numpy as np
import pytest

from evaluation.core.fault import FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileSource, JsonSource, RowsSource
from evaluation.io.kinds.annotation_json import boxes_of_json, within_image, written_box
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.objects import Attributes, Space
from test.io.memory import InMemory

CLASSES = ("BE", "HGD")
CASE = CaseForm("E1", 100, 50)


def read(text, case=CASE, **arguments):
    kind = BoxList(CLASSES, **{"with_confidence": True, **arguments})
    return kind.read(FileSource("E1.txt"), case, InMemory({"E1.txt": text.encode()}))


def faults_of(kind, source, case=CASE, files=None):
    with pytest.raises(FormFault) as caught:
        kind.read(source, case, files)
    return list(map(str, caught.value.faults))


def faults(text, case=CASE):
    kind = BoxList(CLASSES, with_confidence=True)
    return faults_of(kind, FileSource("E1.txt"), case, InMemory({"E1.txt": text.encode()}))


def test_rows_hold_class_confidence_and_corners():
    boxes = read("HGD 0.5 1 2 3 4\nBE 0.25 5 6 7 8\n")
    assert boxes.rows.tolist() == [[1, 0.5, 1, 2, 3, 4], [0, 0.25, 5, 6, 7, 8]]


def test_an_empty_file_is_an_image_without_objects():
    assert read("").rows.shape == (0, 6)


def test_faults_name_file_and_line():
    assert faults("BE 0.5 1 2 3 4\nBE 0.5 1 2\npolyp 0.5 1 2 3 4\n") == [
        "E1.txt, line 2: expected 6 fields (class confidence x1 y1 x2 y2), found 4",
        'E1.txt, line 3: expected a class (BE, HGD), found "polyp"',
    ]


def test_without_a_size_coordinates_are_bounded_all_the_same():
    case = CaseForm("E1")
    assert read("BE 0.5 1 2 5000 4", case).rows[0, 4] == 5000
    assert len(faults("BE 0.5 1 2 1e300 4", case)) == 1


@pytest.mark.parametrize(
    ("with_confidence", "text"),
    [(True, b"HGD 0.5 1 2 3.25 4\nBE 1 0 0 0 0\n"), (False, b"HGD 1 2 3.25 4\nBE 0 0 0 0\n")],
)
def test_written_text(with_confidence, text):
    rows = np.array([[1, 0.5, 1, 2, 3.25, 4], [0, 1, 0, 0, 0, 0]])
    assert BoxList(CLASSES, with_confidence).write_file(Boxes(rows), ".txt") == text


def test_variants_for_a_rehearsal():
    reference = Boxes(np.array([[0, 1, 10, 5, 20, 15], [1, 1, 60, 30, 60.5, 40]], float))
    kind = BoxList(CLASSES, with_confidence=True)
    derived = {variant: kind.rehearse(reference, CASE, variant).rows.tolist() for variant in Variant}
    assert derived == {
        Variant.PERFECT: reference.rows.tolist(),
        Variant.NEAR: [[0, 1, 10, 5, 19, 15], [1, 1, 60, 30, 60.25, 40]],
        Variant.EMPTY: [],
        Variant.INVERTED: [[0, 1, 100, 50, 100, 50], [1, 1, 0, 0, 0, 0]],
    }


BOX = {"corners": [[1, 1, 0], [9, 1, 0], [9, 5, 0], [1, 5, 0]], "name": "BE", "probability": 0.5}
OUTSIDE = {**BOX, "corners": [[-1, 1, 0], [9, 1, 0], [9, 60, 0], [-1, 60, 0]]}


VERSION = {"major": 1, "minor": 0}


def in_json(boxes):
    return JsonSource({"type": "Multiple 2D bounding boxes", "boxes": boxes, "version": VERSION}, "b.json")


@pytest.mark.parametrize(("outside", "corners"), [("clip", [0, 1, 9, 50]), ("keep", [-1, 1, 9, 60])])
def test_boxes_of_the_platform(outside, corners):
    kind = BoxList(CLASSES, with_confidence=True, outside=outside)
    found = kind.read(in_json([OUTSIDE, BOX]), CASE, None)
    assert found.rows.tolist() == [[0, 0.5, *corners], [0, 0.5, 1, 1, 9, 5]]
    assert found.outside == 1
    again = kind.read(JsonSource(kind.write_json(found), "b.json"), CASE, None)
    assert again.rows.tolist() == found.rows.tolist()


def test_faults_of_boxes_of_the_platform():
    kind = BoxList(CLASSES, with_confidence=True, remedy=" (or else)")
    assert faults_of(kind, in_json([OUTSIDE, {**BOX, "name": "polyp"}])) == [
        "b.json, boxes[0]: expected x1 from 0 to 100 (or else), found -1",
        "b.json, boxes[0]: expected y2 from 0 to 50 (or else), found 60",
        "b.json, boxes[1]: expected as name a class (BE, HGD), found the text 'polyp'",
    ]
    assert "the type `Multiple 2D bounding boxes`" in kind.describe_json()


FLAT = BoxesInSpace(Space(2, "pixels"), Attributes(("cyst", "stone"), with_probability=True))
DEEP = BoxesInSpace(Space(3))
ONE = BoxesInSpace(Space(2, "pixels"), single=True)
CORNERS = [[1, 2, 0], [3, 2, 0], [3, 4, 0], [1, 4, 0]]


def rows(kind, *lines):
    numbered = tuple((number, tuple(line.split(","))) for number, line in enumerate(lines, start=2))
    return RowsSource(numbered, "boxes.csv", kind.columns)


def test_rows_hold_class_probability_and_corners():
    found = FLAT.read(rows(FLAT, "1,2,3,4,stone,0.5", "0,0,100,50,cyst,1"), CASE, None)
    assert found.rows.tolist() == [[1, 0.5, 1, 2, 3, 4], [0, 1, 0, 0, 100, 50]]
    assert DEEP.read(rows(DEEP, "1,2,3,4,5,6"), CASE, None).rows.tolist() == [[0, 1, 1, 2, 3, 4, 5, 6]]
    assert DEEP.read(rows(DEEP), CASE, None).rows.shape == (0, 8)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("3,2,1,4,stone,1", "expected x1 ≤ x2, found x1 = 3, x2 = 1"),
        ("1,2,101,4,stone,1", "expected x2 from 0 to 100, found x2 = 101"),
        ("-1,2,3,4,stone,1", "expected x1 from 0 to 100, found x1 = -1"),
        ("1,2,3,inf,stone,1", 'expected a finite number, found "inf"'),
        ("1,2,3,4,rock,1", 'expected a class (cyst, stone), found "rock"'),
        ("1,2,3,4,stone,2", "expected a number from 0 to 1, found 2"),
    ],
)
def test_faults_of_rows(line, expected):
    (fault,) = faults_of(FLAT, rows(FLAT, line))
    assert fault.startswith("boxes.csv, line 2, ")
    assert fault.endswith(f": {expected}")


def test_boxes_of_the_platform_space():
    box = {"corners": CORNERS, "name": "stone", "probability": 0.5}
    # The order of the corners tells nothing.
    other = {**box, "corners": [CORNERS[2], CORNERS[0], CORNERS[3], CORNERS[1]]}
    assert FLAT.read(in_json([box, other]), CASE, None).rows.tolist() == [[1, 0.5, 1, 2, 3, 4]] * 2
    assert FLAT.socket_kind == "Multiple 2D bounding boxes"


def test_a_single_box():
    value = {"type": "2D bounding box", "corners": CORNERS, "version": VERSION}
    found = ONE.read(JsonSource(value, "b.json"), CASE, None)
    assert found.rows.tolist() == [[0, 1, 1, 2, 3, 4]]
    assert ONE.write_json(found) == value
    cells = CellsSource(ONE.write_cells(found), "boxes.csv", 2, ONE.columns)
    assert ONE.read(cells, CASE, None).rows.tolist() == found.rows.tolist()
    assert faults_of(ONE, rows(ONE)) == ["boxes.csv: expected one row for E1, found 0"]
    assert ONE.rehearse(found, CASE, Variant.EMPTY) is None


def test_variants_for_a_rehearsal_space():
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


def read_annotated(corners):
    (found,) = boxes_of_json(in_json([{"corners": corners}]), 9)
    return str(found) if isinstance(found, FormFault) else found[1]


@pytest.mark.parametrize("order", [*itertools.permutations(range(4))])
@pytest.mark.parametrize("box", [(-1.5, 2, 1e6, 2.25), (3, 4, 3, 4)])
def test_corners_in_any_order_are_the_box_that_was_written(box, order):
    corners = written_box(box, None, None)["corners"]
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
