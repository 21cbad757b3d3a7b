"""Named points, each of which a case has once."""

import pytest

from evaluation.core.fault import FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import JsonSource, RowsSource
from evaluation.io.kinds.objects import Space
from evaluation.io.kinds.points import Keypoints

CASE = CaseForm("S1", 100, 50)
KIND = Keypoints(("nose", "ear"), Space(2, "pixels"))


def rows(*lines, kind=KIND):
    numbered = tuple((number, tuple(line.split(","))) for number, line in enumerate(lines, start=2))
    return RowsSource(numbered, "points.csv", kind.columns)


def faults(source, kind=KIND):
    with pytest.raises(FormFault) as caught:
        kind.read(source, CASE, None)
    return [(fault.expected, fault.found) for fault in caught.value.faults]


def test_points_are_in_the_order_of_the_names():
    found = KIND.read(rows("1,2,ear", "3,4,nose"), CASE, None)
    assert found.positions.tolist() == [[3, 4], [1, 2]]
    written = KIND.write_json(found)
    assert [point["name"] for point in written["points"]] == ["nose", "ear"]
    again = KIND.read(JsonSource(written, "p.json"), CASE, None)
    assert again.positions.tolist() == [[3, 4], [1, 2]]
    assert KIND.write_rows(found) == [("3.0", "4.0", "nose"), ("1.0", "2.0", "ear")]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["1,2,ear"], [("the point 'nose' of S1 once", "none")]),
        (
            ["1,2,ear"] * 2,
            [("the point 'nose' of S1 once", "none"), ("the point 'ear' of S1 once", "2 times")],
        ),
        (["1,2,ear", "1,2,eye", "1,2,nose"], [("a class (nose, ear)", '"eye"')]),
        (["1,2,ear"] * 5, [("at most 4 rows for S1", "5")]),
    ],
)
def test_each_name_once(lines, expected):
    assert faults(rows(*lines)) == expected


def test_one_name_alone():
    kind = Keypoints(("fovea",), Space(2, "pixels"))
    assert kind.read(rows("1,2,fovea", kind=kind), CASE, None).positions.tolist() == [[1, 2]]
    assert faults(rows("1,2,disc", kind=kind), kind) == [("a class (fovea)", '"disc"')]


def test_variants_for_a_rehearsal():
    reference = KIND.read(rows("1,2,ear", "93,4,nose"), CASE, None)
    assert KIND.rehearse(reference, CASE, Variant.EMPTY) is None
    assert KIND.rehearse(reference, CASE, Variant.NEAR).positions.tolist() == [[92, 4], [2, 2]]
    assert KIND.rehearse(reference, CASE, Variant.INVERTED).positions.tolist() == [[0, 50], [100, 50]]
