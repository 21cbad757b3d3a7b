"""Points out of rows, cells and the platform's JSON, their faults, and what is written reads back."""

import math
from dataclasses import replace

import pytest

from evaluation.core.fault import FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource, RowsSource
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import Points, point_set

CASE = CaseForm("S1", 100, 50)
MM = Points(Space(3))
SCORED = Points(Space(2, "pixels"), Attributes(("mitosis", "other"), with_probability=True))
NODULES = Points(Space(3), with_diameter=True)
VERSION = {"major": 1, "minor": 0}


def rows(kind, *lines):
    numbered = tuple((number, tuple(line.split(","))) for number, line in enumerate(lines, start=2))
    return RowsSource(numbered, "points.csv", kind.columns)


def listed(*points, **more):
    return JsonSource(
        {"type": "Multiple points", "points": list(points), "version": VERSION} | more, "p.json"
    )


def plain(points):
    return [
        [*position, label, probability, None if math.isnan(diameter) else diameter]
        for position, label, probability, diameter in zip(
            points.positions.tolist(),
            points.classes.tolist(),
            points.probabilities.tolist(),
            points.diameters.tolist(),
            strict=True,
        )
    ]


def faults(kind, source):
    with pytest.raises(FormFault) as caught:
        kind.read(source, CASE, None)
    return list(map(str, caught.value.faults))


def test_rows_hold_coordinates_class_and_probability():
    found = SCORED.read(rows(SCORED, "3,4.5,other,0.25", "100,50,mitosis,1"), CASE, None)
    assert plain(found) == [[3, 4.5, 1, 0.25, None], [100, 50, 0, 1, None]]


def test_a_case_without_rows_has_no_points():
    assert plain(MM.read(rows(MM), CASE, None)) == []
    assert MM.read(rows(MM), CASE, None).positions.shape == (0, 3)


def test_the_diameter_of_a_reference_may_be_unknown():
    lines = ["1,2,3,6.5", "1,2,3,", "1,2,3,-1"]
    known = replace(NODULES, unknown_diameter=10.0)
    assert known.read(rows(known, *lines), CASE, None).diameters.tolist() == [6.5, 10, 10]
    assert faults(NODULES, rows(NODULES, *lines)) == [
        "points.csv, line 3, diameter: expected a diameter, found nothing",
        "points.csv, line 4, x, y, z, diameter: expected a diameter of at least 0, found -1",
    ]


def test_points_of_the_platform():
    found = MM.read(listed({"point": [-1, 2.5, 3]}, {"point": [4, 5, 6], "name": "a"}), CASE, None)
    assert plain(found) == [[-1, 2.5, 3, 0, 1, None], [4, 5, 6, 0, 1, None]]
    point = {"point": [7, 8, 0], "name": "other", "probability": 0.5}
    # Two dimensions have a third coordinate all the same, which does not count.
    assert plain(SCORED.read(listed(point), CASE, None)) == [[7, 8, 1, 0.5, None]]


def test_a_single_point():
    kind = Points(Space(3), single=True)
    value = {"type": "Point", "point": [1, 2, 3], "version": VERSION}
    cells = CellsSource(("1", "2", "3"), "points.csv", 2, kind.columns)
    for source in (cells, rows(kind, "1,2,3"), JsonSource(value, "p.json")):
        assert plain(kind.read(source, CASE, None)) == [[1, 2, 3, 0, 1, None]]
    assert faults(kind, rows(kind)) == ["points.csv: expected one row for S1, found 0"]
    assert faults(kind, rows(kind, "1,2,3", "4,5,6")) == ["points.csv: expected one row for S1, found 2"]
    assert kind.write_json(kind.read(cells, CASE, None)) == value
    assert kind.write_cells(kind.read(cells, CASE, None)) == ("1.0", "2.0", "3.0")
    assert kind.rehearse(kind.read(cells, CASE, None), CASE, Variant.EMPTY) is None
    assert (kind.socket_kind, MM.socket_kind) == ("Point", "Multiple points")


ALL = "x, y, class, probability"
FAULTS_OF_ROWS = {
    "3,4.5,other,x": [("probability", '"x"')],
    "3,4.5,other,1.5": [("probability", "1.5")],
    "3,4.5,cell,1": [("class", '"cell"')],
    "3,4.5,,1": [("class", "nothing")],
    ",nan,other,1": [("x", "nothing"), ("y", '"nan"')],
    "100.5,-1,other,1": [(ALL, "x = 100.5"), (ALL, "y = -1")],
}
POINT = {"point": [1, 2, 3], "name": "other", "probability": 1}
FAULTS_OF_JSON = [
    ({**POINT, "point": [1, 2]}, "points[0], point", "a list of 2"),
    ({"point": [1, 2, 3], "name": "other"}, "points[0]", "none"),
    ({"point": [1, 2, 3], "probability": 1}, "points[0]", "none"),
    ({**POINT, "point": [101, 2, 3]}, "points[0]", "x = 101"),
]


@pytest.mark.parametrize("line", FAULTS_OF_ROWS)
def test_faults_of_rows(line):
    with pytest.raises(FormFault) as caught:
        SCORED.read(rows(SCORED, line), CASE, None)
    assert [(fault.field, fault.found) for fault in caught.value.faults] == FAULTS_OF_ROWS[line]
    assert {(fault.file, fault.line) for fault in caught.value.faults} == {("points.csv", 2)}


@pytest.mark.parametrize(("point", "place", "found"), FAULTS_OF_JSON)
def test_faults_of_json(point, place, found):
    with pytest.raises(FormFault) as caught:
        SCORED.read(listed(point), CASE, None)
    assert [(fault.field, fault.found) for fault in caught.value.faults] == [(place, found)]


def test_counts_and_coordinates_are_bounded():
    few = Points(Space(3), most=1)
    assert faults(few, rows(few, "1,2,3", "1,2,3")) == ["points.csv: expected at most 1 rows for S1, found 2"]
    (fault,) = faults(few, listed({"point": [1, 2, 3]}, {"point": [1, 2, 3]}))
    assert fault == "p.json, points: expected at most 1 points, found 2"
    assert faults(MM, rows(MM, "1e9,0,0")) == [
        "points.csv, line 2, x, y, z: expected x from -67108864 to 67108864, found x = 1000000000"
    ]
    assert len(faults(MM, rows(MM, *["x,0,0"] * 5000))) == 1000


def test_variants_for_a_rehearsal():
    reference = point_set([[10, 20, 0, 1, 5], [90, 20, 1, 1, 5]], 2)
    kind = SCORED
    derived = {variant: plain(kind.rehearse(reference, CASE, variant)) for variant in Variant}
    assert derived == {
        Variant.PERFECT: [[10, 20, 0, 1, None], [90, 20, 1, 1, None]],
        Variant.NEAR: [[11, 20, 0, 1, None], [89, 20, 1, 1, None]],
        Variant.EMPTY: [],
        Variant.INVERTED: [[100, 50, 0, 1, None], [0, 50, 1, 1, None]],
    }
    # Where there is nothing, wrong everywhere is a point far away.
    empty = point_set([], 3)
    assert plain(MM.rehearse(empty, CASE, Variant.INVERTED)) == [[1e6, 0, 0, 0, 1, None]]
    assert plain(MM.rehearse(empty, CASE, Variant.NEAR)) == []
