import math

import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileSource, JsonSource
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


@pytest.mark.parametrize(
    ("x", "y", "messages"),
    [
        ("16.5", "3", ["fovea.csv, line 3, Fovea_X, Fovea_Y: expected x from 0 to 16, found x = 16.5"]),
        ("3", "13", ["fovea.csv, line 3, Fovea_X, Fovea_Y: expected y from 0 to 12, found y = 13"]),
        ("-1", "nan", [
            "fovea.csv, line 3, Fovea_X, Fovea_Y: expected x from 0 to 16, found x = -1",
            'fovea.csv, line 3, Fovea_Y: expected a finite number, found "nan"',
        ]),
        ("", "left", [
            "fovea.csv, line 3, Fovea_X: expected a finite number, found nothing",
            'fovea.csv, line 3, Fovea_Y: expected a finite number, found "left"',
        ]),
    ],
)  # fmt: skip
def test_the_faults_of_both_coordinates_are_reported(x, y, messages):
    assert list(map(str, faults_of(cells(x, y)))) == messages


@pytest.mark.parametrize(
    ("value", "found"),
    [({"x": 1, "y": 2}, "an object"), ([1], "a list of 1"), (None, "null"), ([], "a list of 0")],
)
def test_json_that_is_no_point_is_one_fault(value, found):
    (fault,) = faults_of(JsonSource(value, "fovea.json"))
    assert str(fault) == f"fovea.json: expected a list [x, y], found {found}"
    assert fault.kind is FaultKind.MALFORMED


def test_a_written_point_reads_back_the_same():
    point = Point(0.1, 11 / 3)
    assert KIND.read(cells(*KIND.write_cells(point)), CASE, None) == point
    assert KIND.read(JsonSource(KIND.write_json(point), "fovea.json"), CASE, None) == point


def test_distance_is_euclidean():
    assert distance(Point(1, 1), Point(4, 5)) == 5
    assert distance(Point(0, 0), Point(16, 12)) == math.hypot(16, 12) == 20


def test_a_point_is_no_file():
    with pytest.raises(TypeError):
        KIND.read(FileSource("fovea.bmp"), CASE, None)


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
