"""Names of classes and features in another letter case, in every kind that reads them."""

import numpy as np
import pytest

from evaluation.core.fault import FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource, RowsSource
from evaluation.io.box_files import BoxFormat, read_box_lines
from evaluation.io.kinds.classes import ClassLabel, ClassProbabilities, FlagSet
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import Points
from evaluation.io.pixels import Size

CASE = CaseForm("V1", 100, 50)
NAMES = ("BE", "Suspicious", "HGD")
FEATURES = ("disc hemorrhages", "nasalization of the vessel trunk", "baring of the circumlinear vessel")


def json_of(value):
    return JsonSource(value, "a.json")


@pytest.mark.parametrize("text", ["be", "Be", "BE"])
def test_letter_case_does_not_matter(text):
    cell = CellsSource((text,), "a.csv", 2, ("class",))
    assert ClassLabel(NAMES).read(cell, CASE, None) == 0
    assert ClassLabel(NAMES).read(json_of(text), CASE, None) == 0
    boxes = read_box_lines(
        memoryview(f"{text} 1 2 3 4\n".encode()), BoxFormat({"BE": 0, "HGD": 1}, False), Size(9, 9), 9
    )
    assert (boxes.rows, boxes.problems) == ([(0, 1.0, 1, 2, 3, 4)], [])
    points = Points(Space(2), Attributes(NAMES))
    found = points.read(RowsSource(((2, ("1", "2", text)),), "a.csv", ("x", "y", "class")), CASE, None)
    assert found.classes.tolist() == [0]
    shares = {text: 0.5, "suspicious": 0.25, "hgd": 0.25}
    assert ClassProbabilities(NAMES).read(json_of(shares), CASE, None) == (0.5, 0.25, 0.25)
    assert FlagSet(NAMES).read(json_of({text: True, "HGD": False}), CASE, None) == (True, None, False)
    assert FlagSet(NAMES, listed=True).read(json_of([text]), CASE, None) == (True, False, False)


@pytest.mark.parametrize("listed", [False, True])
def test_two_spellings_of_one_name_are_a_fault(listed):
    value = ["BE", "be"] if listed else {"BE": True, "be": False}
    with pytest.raises(FormFault):
        FlagSet(NAMES, listed=listed).read(json_of(value), CASE, None)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Disc haemorrhage", FEATURES[0]),
        ("Nasalisation of vessel trunk", FEATURES[1]),
        ("Baring circumlinear vessel", FEATURES[2]),
    ],
)
def test_another_spelling_is_answered_with_the_name_that_is_meant(written, meant):
    for kind, value in ((FlagSet(FEATURES), {written: True}), (FlagSet(FEATURES, listed=True), [written])):
        with pytest.raises(FormFault) as raised:
            kind.read(json_of(value), CASE, None)
        assert meant in (raised.value.faults[0].hint or "")


def test_names_that_differ_in_letter_case_alone_stay_apart():
    lines = b"be 1 2 3 4\nBE 1 2 3 4\nBe 1 2 3 4\n"
    found = read_box_lines(memoryview(lines), BoxFormat({"BE": 0, "be": 1}, False), Size(9, 9), 9)
    assert np.array(found.rows)[:, 0].tolist() == [1, 0]
    assert [problem.line for problem in found.problems] == [3]
