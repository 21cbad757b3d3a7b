"""Points, named points and single ones, their faults, and what objects share."""

import math
from dataclasses import replace

import pytest

from evaluation.core.fault import Fault, FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileSource, JsonSource, RowsSource
from evaluation.io.kinds.annotation_json import MAX_FAULTS
from evaluation.io.kinds.objects import Attributes, Space, all_or_faults
from evaluation.io.kinds.points import Keypoints, PointInImage, Points, point_set

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


def test_the_diameter_of_a_reference_may_be_unknown():
    lines = ["1,2,3,6.5", "1,2,3,", "1,2,3,-1"]
    known = replace(NODULES, unknown_diameter=10.0)
    assert known.read(rows(known, *lines), CASE, None).diameters.tolist() == [6.5, 10, 10]
    assert faults(NODULES, rows(NODULES, *lines)) == [
        "points.csv, line 3, diameter: expected a diameter, found nothing",
        "points.csv, line 4, x, y, z, diameter: expected a diameter of at least 0, found -1",
    ]


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
    assert faults(few, rows(few, "1,2,3", "1,2,3")) == [
        "points.csv: expected at most 1 rows for S1, found more than 1"
    ]
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


KIND = Keypoints(("nose", "ear"), Space(2, "pixels"))


def test_points_are_in_the_order_of_the_names():
    found = KIND.read(rows(KIND, "1,2,ear", "3,4,nose"), CASE, None)
    assert found.positions.tolist() == [[3, 4], [1, 2]]
    written = KIND.write_json(found)
    assert [point["name"] for point in written["points"]] == ["nose", "ear"]
    again = KIND.read(JsonSource(written, "p.json"), CASE, None)
    assert again.positions.tolist() == [[3, 4], [1, 2]]
    assert KIND.write_rows(found) == [("3.0", "4.0", "nose"), ("1.0", "2.0", "ear")]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["1,2,ear"], ["the point 'nose' of S1 once, found none"]),
        (
            ["1,2,ear"] * 2,
            ["the point 'nose' of S1 once, found none", "the point 'ear' of S1 once, found 2 times"],
        ),
        (["1,2,ear", "1,2,eye", "1,2,nose"], ['a class (nose, ear), found "eye"']),
        (["1,2,ear"] * 5, ["at most 4 rows for S1, found more than 4"]),
    ],
)
def test_each_name_once(lines, expected):
    assert [fault.partition(": expected ")[2] for fault in faults(KIND, rows(KIND, *lines))] == expected


SMALL = CaseForm("V0001", width=16, height=12)
IN_IMAGE = PointInImage()


@pytest.mark.parametrize(("x", "y"), [(0, 0), (16, 12), (16, 0), (7.25, 3.5)])
def test_a_point_is_read_from_cells_and_json(x, y):
    # A third coordinate of the platform is left aside.
    in_json = (JsonSource([x, y, *more], "fovea.json") for more in ([], [0]))
    cells = CellsSource((str(x), str(y)), "fovea.csv", 3, ("Fovea_X", "Fovea_Y"))
    for source in (cells, *in_json):
        assert IN_IMAGE.read(source, SMALL, None).positions.tolist() == [[x, y]]


SIZED, UNSIZED = CaseForm("a", 100, 50), CaseForm("a")


@pytest.mark.parametrize("space", [Space(2), Space(3), Space(2, "pixels"), Space(3, "pixels")])
@pytest.mark.parametrize("case", [SIZED, UNSIZED])
@pytest.mark.parametrize("position", [(0.0, 0.0, 0.0), (80.0, 10.0, 5.0)])
def test_far_away_is_within_the_bounds(space, case, position):
    position = position[: space.axes]
    far = space.farthest(position, case)
    assert list(space.faults(FileSource("f"), far, space.bounds(case))) == []
    assert abs(far[0] - position[0]) >= 50


def test_no_row_is_read_after_so_many_faults():
    read, faults = [], []

    def rows():
        for number in range(10 * MAX_FAULTS):
            read.append(number)
            faults.extend([Fault(FaultKind.MISSING, "a.csv", "a number", "none", number)] * (number % 2))
            yield (float(number),)

    with pytest.raises(FormFault) as caught:
        all_or_faults(rows(), faults)
    assert (len(read), len(caught.value.faults)) == (2 * MAX_FAULTS, MAX_FAULTS)
    assert all_or_faults(iter([(1.0,), (2.0,)]), []) == [(1.0,), (2.0,)]


@pytest.mark.parametrize("with_probability", [False, True])
@pytest.mark.parametrize("names", [(), ("mitosis", "other")])
def test_participants_read_of_the_attributes_that_a_point_has(names, with_probability):
    attributes = Attributes(names, with_probability=with_probability)
    for words in (attributes.in_words(), attributes.in_words_of_json()):
        assert ("probability" in words) == with_probability
        assert ("mitosis, other" in words) == bool(names)
