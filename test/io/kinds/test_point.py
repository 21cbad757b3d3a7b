import math

import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource
from evaluation.io.kinds.points import Point, PointInImage, distance

CASE = CaseForm("V0001", width=16, height=12)
KIND = PointInImage()


def cells(x, y):
    return CellsSource((x, y), "fovea.csv", 3, ("Fovea_X", "Fovea_Y"))


def faults_of(source):
    with pytest.raises(FormFault) as caught:
        KIND.read(source, CASE, None)
    return caught.value.faults


@pytest.mark.parametrize(("x", "y"), [(0, 0), (16, 12), (16, 0), (7.25, 3.5)])
def test_a_point_is_read_from_cells_and_json(x, y):
    assert KIND.read(cells(str(x), str(y)), CASE, None) == Point(x, y)
    assert KIND.read(JsonSource([x, y], "fovea.json"), CASE, None) == Point(x, y)


def test_a_third_coordinate_of_the_platform_is_left_aside():
    assert KIND.read(JsonSource([1, 2, 0], "fovea.json"), CASE, None) == Point(1, 2)


BOTH = "Fovea_X, Fovea_Y"


@pytest.mark.parametrize(
    ("x", "y", "faults"),
    [
        ("16.5", "3", [(BOTH, "x = 16.5")]),
        ("3", "13", [(BOTH, "y = 13")]),
        ("-1", "nan", [(BOTH, "x = -1"), ("Fovea_Y", '"nan"')]),
        ("", "left", [("Fovea_X", "nothing"), ("Fovea_Y", '"left"')]),
    ],
)
def test_the_faults_of_both_coordinates_are_reported(x, y, faults):
    assert [(fault.field, fault.found) for fault in faults_of(cells(x, y))] == faults
    assert {(fault.file, fault.line) for fault in faults_of(cells(x, y))} == {("fovea.csv", 3)}


@pytest.mark.parametrize(
    ("value", "found"),
    [({"x": 1, "y": 2}, "an object"), ([1], "a list of 1"), (None, "null"), ([], "a list of 0")],
)
def test_json_that_is_no_point_is_one_fault(value, found):
    (fault,) = faults_of(JsonSource(value, "fovea.json"))
    assert str(fault) == f"fovea.json: expected a list [x, y], found {found}"
    assert fault.kind is FaultKind.MALFORMED


def test_distance_is_euclidean():
    assert distance(Point(1, 1), Point(4, 5)) == 5
    assert distance(Point(0, 0), Point(16, 12)) == math.hypot(16, 12) == 20


@pytest.mark.parametrize(
    ("point", "near", "inverted"),
    [
        (Point(10, 5), Point(11, 5), Point(100, 50)),
        (Point(90, 40), Point(89, 40), Point(0, 0)),
        (Point(50.5, 5), Point(50, 5), Point(0, 50)),
        (Point(50, 25), Point(50, 25), Point(100, 50)),
    ],
)
def test_variants_for_a_rehearsal(point, near, inverted):
    case = CaseForm("A", width=100, height=50)
    derived = [PointInImage().rehearse(point, case, variant) for variant in Variant]
    assert derived == [point, near, Point(50, 25), inverted]
