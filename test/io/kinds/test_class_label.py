import math

import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource
from evaluation.io.kinds.classes import ClassLabel, ReferenceClass

CASE = CaseForm("V0001", 16, 12)
EYES = ClassLabel(("RG", "NRG", "U"))
GRADES = ClassLabel((0, 1, 2, 3, 4))
DECISION = ClassLabel(("benign", "malignant"), boolean_json=True)
BIRADS = ClassLabel((1, 2, 5))


def cell(text):
    return CellsSource((text,), "grades.csv", 7, ("Grade",))


def value(content):
    return JsonSource(content, "output/grade.json", "[3]")


def fault_of(kind, source):
    with pytest.raises(FormFault) as caught:
        kind.read(source, CASE, None)
    (fault,) = caught.value.faults
    return fault


@pytest.mark.parametrize(
    ("kind", "source", "position"),
    [
        (EYES, cell("RG"), 0),
        (EYES, cell("U"), 2),
        (EYES, value("NRG"), 1),
        (GRADES, cell("4"), 4),
        (GRADES, cell("4.0"), 4),
        (GRADES, cell(" 2 "), 2),
        (GRADES, value(3), 3),
        (GRADES, value(3.0), 3),
        (BIRADS, value(5), 2),
        (DECISION, cell("malignant"), 1),
        (DECISION, value(True), 1),
        (DECISION, value(False), 0),
    ],
)
def test_a_class_is_read_as_its_position(kind, source, position):
    found = kind.read(source, CASE, None)
    assert (type(found), found) == (int, position)


@pytest.mark.parametrize(
    ("kind", "source", "fault_kind", "found"),
    [
        (EYES, cell(""), FaultKind.WRONG_VALUE, "nothing"),
        (EYES, cell("NaN"), FaultKind.WRONG_VALUE, "'NaN'"),
        (EYES, cell("0"), FaultKind.WRONG_VALUE, "'0'"),
        (EYES, value(None), FaultKind.MALFORMED, "null"),
        (EYES, value(True), FaultKind.MALFORMED, "true"),
        (EYES, value(["RG"]), FaultKind.MALFORMED, "a list of 1"),
        (EYES, value({"RG": 1}), FaultKind.MALFORMED, "an object"),
        (EYES, value(float("nan")), FaultKind.MALFORMED, "the number nan"),
        (GRADES, cell("2.7"), FaultKind.WRONG_VALUE, "2.7"),
        (GRADES, cell("5"), FaultKind.WRONG_VALUE, "5"),
        (GRADES, cell("-1"), FaultKind.WRONG_VALUE, "-1"),
        (GRADES, cell(""), FaultKind.MALFORMED, "nothing"),
        (GRADES, cell("nan"), FaultKind.MALFORMED, '"nan"'),
        (GRADES, value(2.7), FaultKind.WRONG_VALUE, "2.7"),
        (GRADES, value(True), FaultKind.MALFORMED, "true"),
        (GRADES, value("2"), FaultKind.MALFORMED, "the text '2'"),
        (GRADES, value(float("nan")), FaultKind.MALFORMED, "a number that is not finite"),
        (GRADES, value(10**399), FaultKind.MALFORMED, "a number that is not finite"),
        (DECISION, value("malignant"), FaultKind.MALFORMED, "the text 'malignant'"),
        (DECISION, value(1), FaultKind.MALFORMED, "the number 1"),
    ],
)
def test_what_is_none_of_the_classes(kind, source, fault_kind, found):
    fault = fault_of(kind, source)
    assert (fault.kind, fault.found) == (fault_kind, found)
    assert fault.expected in (kind.describe(), kind.describe_json())
    assert fault.place in {"grades.csv, line 7, Grade", "output/grade.json, [3]"}


@pytest.mark.parametrize(
    ("kind", "source", "meant"),
    [
        (EYES, cell("RGG"), "'RG'"),
        (EYES, value("Nrgs"), "'NRG'"),
        (ClassLabel(("1", "2a", "2b")), value(1), 'the text "1"'),
        (ClassLabel(("1", "2")), cell("2.0"), "'2'"),
    ],
)
def test_a_class_that_is_nearly_one_is_hinted_at(kind, source, meant):
    assert fault_of(kind, source).hint == f"did you mean {meant}?"


def test_a_text_of_a_megabyte_is_cut():
    fault = fault_of(EYES, value("R" * 1_000_000))
    assert len(str(fault)) < 300
    assert fault.hint is None


@pytest.mark.parametrize(
    ("classes", "problem"),
    [
        (("a",), "expected at least two, found 1"),
        (("a", 1), "expected texts only or whole numbers only, found 'a', 1"),
        ((0, True), "expected texts only or whole numbers only, found 0, True"),
        (("a", "nan"), "not NaN, found 'nan'"),
        (("a", ""), "without spaces at their ends and not NaN, found ''"),
        (("a", "b "), "without spaces at their ends and not NaN, found 'b '"),
        (("a", "A"), "differ in more than case, found 'a' twice"),
        ((1, 2, 1), "differ in more than case, found 1 twice"),
        ((0, 1 << 31), "expected whole numbers below 2147483648, found 2147483648"),
    ],
)
def test_classes_that_could_be_confused(classes, problem):
    with pytest.raises(ValueError, match=r"^classes: ") as caught:
        ClassLabel(classes)
    assert str(caught.value).endswith(problem)


def test_a_boolean_has_two_classes():
    with pytest.raises(ValueError, match=r"^classes:"):
        ClassLabel(("a", "b", "c"), boolean_json=True)


@pytest.mark.parametrize(
    ("kind", "words", "in_json"),
    [
        (EYES, "RG, NRG or U", "the text RG, NRG or U"),
        (GRADES, "a whole number from 0 to 4", "a whole number from 0 to 4"),
        (BIRADS, "1, 2 or 5", "1, 2 or 5"),
        (ClassLabel((0, 1)), "0 or 1", "0 or 1"),
        (DECISION, "benign or malignant", "true for malignant, false for benign"),
    ],
)
def test_description(kind, words, in_json):
    assert (kind.describe(), kind.describe_json()) == (words, in_json)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [(0, [0, 0, 0, 4]), (1, [1, 1, 0, 4]), (2, [2, 2, 0, 4]), (3, [3, 3, 0, 0]), (math.nan, [0, 0, 0, 0])],
)
def test_variants_for_a_rehearsal(reference, expected):
    assert [GRADES.rehearse(reference, CASE, variant) for variant in Variant] == expected


def test_a_reference_can_leave_cases_out():
    kind = ReferenceClass(("RG", "NRG"), excluded=("U", ""))
    found = [kind.read(cell(text), CASE, None) for text in ("RG", "NRG", "U", "")]
    assert found == pytest.approx([0, 1, math.nan, math.nan], nan_ok=True)
    assert fault_of(kind, cell("u")).expected == "RG or NRG"
