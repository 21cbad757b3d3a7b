"""Boxes out of rows and the platform's JSON, their faults, and what is written reads back."""

import numpy as np
import pytest

from evaluation.core.fault import FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource, RowsSource
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace
from evaluation.io.kinds.objects import Attributes, Space

CASE = CaseForm("S1", 100, 50)
FLAT = BoxesInSpace(Space(2, "pixels"), Attributes(("cyst", "stone"), with_probability=True))
DEEP = BoxesInSpace(Space(3))
ONE = BoxesInSpace(Space(2, "pixels"), single=True)
VERSION = {"major": 1, "minor": 0}
CORNERS = [[1, 2, 0], [3, 2, 0], [3, 4, 0], [1, 4, 0]]


def rows(kind, *lines):
    numbered = tuple((number, tuple(line.split(","))) for number, line in enumerate(lines, start=2))
    return RowsSource(numbered, "boxes.csv", kind.columns)


def listed(*boxes):
    value = {"type": "Multiple 2D bounding boxes", "boxes": list(boxes), "version": VERSION}
    return JsonSource(value, "b.json")


def faults(kind, source):
    with pytest.raises(FormFault) as caught:
        kind.read(source, CASE, None)
    return list(map(str, caught.value.faults))


def test_columns():
    assert FLAT.columns == ("x1", "y1", "x2", "y2", "class", "probability")
    assert DEEP.columns == ("x1", "y1", "z1", "x2", "y2", "z2")


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
    (fault,) = faults(FLAT, rows(FLAT, line))
    assert fault.startswith("boxes.csv, line 2, ")
    assert fault.endswith(f": {expected}")


def test_boxes_of_the_platform():
    box = {"corners": CORNERS, "name": "stone", "probability": 0.5}
    # The order of the corners tells nothing.
    other = {**box, "corners": [CORNERS[2], CORNERS[0], CORNERS[3], CORNERS[1]]}
    assert FLAT.read(listed(box, other), CASE, None).rows.tolist() == [[1, 0.5, 1, 2, 3, 4]] * 2
    assert FLAT.socket_kind == "Multiple 2D bounding boxes"


def test_a_single_box():
    value = {"type": "2D bounding box", "corners": CORNERS, "version": VERSION}
    found = ONE.read(JsonSource(value, "b.json"), CASE, None)
    assert found.rows.tolist() == [[0, 1, 1, 2, 3, 4]]
    assert ONE.write_json(found) == value
    cells = CellsSource(ONE.write_cells(found), "boxes.csv", 2, ONE.columns)
    assert ONE.read(cells, CASE, None).rows.tolist() == found.rows.tolist()
    assert faults(ONE, rows(ONE)) == ["boxes.csv: expected one row for S1, found 0"]
    assert ONE.rehearse(found, CASE, Variant.EMPTY) is None


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
