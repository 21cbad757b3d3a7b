import math

import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileSource, JsonSource
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
    ("kind", "source", "fault_kind", "complaint"),
    [
        (EYES, cell(""), FaultKind.WRONG_VALUE, "expected RG, NRG or U, found nothing"),
        (EYES, cell("NaN"), FaultKind.WRONG_VALUE, "expected RG, NRG or U, found 'NaN'"),
        (EYES, cell("RGG"), FaultKind.WRONG_VALUE, "expected RG, NRG or U, found 'RGG' (did you mean 'RG'?)"),
        (EYES, cell("0"), FaultKind.WRONG_VALUE, "expected RG, NRG or U, found '0'"),
        (
            EYES,
            value("Nrgs"),
            FaultKind.WRONG_VALUE,
            "expected RG, NRG or U, found the text 'Nrgs' (did you mean 'NRG'?)",
        ),
        (EYES, value(None), FaultKind.MALFORMED, "expected the text RG, NRG or U, found null"),
        (EYES, value(True), FaultKind.MALFORMED, "expected the text RG, NRG or U, found true"),
        (EYES, value(["RG"]), FaultKind.MALFORMED, "expected the text RG, NRG or U, found a list of 1"),
        (EYES, value({"RG": 1}), FaultKind.MALFORMED, "expected the text RG, NRG or U, found an object"),
        (
            EYES,
            value(float("nan")),
            FaultKind.MALFORMED,
            "expected the text RG, NRG or U, found the number nan",
        ),
        (
            ClassLabel(("1", "2a", "2b")),
            value(1),
            FaultKind.MALFORMED,
            'expected the text 1, 2a or 2b, found the number 1 (did you mean the text "1"?)',
        ),
        (
            ClassLabel(("1", "2")),
            cell("2.0"),
            FaultKind.WRONG_VALUE,
            "expected 1 or 2, found '2.0' (did you mean '2'?)",
        ),
        (GRADES, cell("2.7"), FaultKind.WRONG_VALUE, "expected a whole number from 0 to 4, found 2.7"),
        (GRADES, cell("5"), FaultKind.WRONG_VALUE, "expected a whole number from 0 to 4, found 5"),
        (GRADES, cell("-1"), FaultKind.WRONG_VALUE, "expected a whole number from 0 to 4, found -1"),
        (GRADES, cell(""), FaultKind.MALFORMED, "expected a whole number from 0 to 4, found nothing"),
        (GRADES, cell("nan"), FaultKind.MALFORMED, 'expected a whole number from 0 to 4, found "nan"'),
        (GRADES, value(2.7), FaultKind.WRONG_VALUE, "expected a whole number from 0 to 4, found 2.7"),
        (GRADES, value(True), FaultKind.MALFORMED, "expected a whole number from 0 to 4, found true"),
        (GRADES, value("2"), FaultKind.MALFORMED, "expected a whole number from 0 to 4, found the text '2'"),
        (
            GRADES,
            value(float("nan")),
            FaultKind.MALFORMED,
            "expected a whole number from 0 to 4, found a number that is not finite",
        ),
        (
            GRADES,
            value(10**399),
            FaultKind.MALFORMED,
            "expected a whole number from 0 to 4, found a number that is not finite",
        ),
        (
            DECISION,
            value("malignant"),
            FaultKind.MALFORMED,
            "expected true for malignant, false for benign, found the text 'malignant'",
        ),
        (
            DECISION,
            value(1),
            FaultKind.MALFORMED,
            "expected true for malignant, false for benign, found the number 1",
        ),
    ],
)
def test_what_is_none_of_the_classes(kind, source, fault_kind, complaint):
    fault = fault_of(kind, source)
    assert (fault.kind, fault.complaint) == (fault_kind, complaint)
    assert fault.place in {"grades.csv, line 7, Grade", "output/grade.json, [3]"}


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


@pytest.mark.parametrize("kind", [EYES, GRADES, BIRADS, DECISION])
def test_a_written_class_reads_back_the_same(kind):
    for position in range(len(kind.classes)):
        assert kind.read(cell(*kind.write_cells(position)), CASE, None) == position
        assert kind.read(value(kind.write_json(position)), CASE, None) == position


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


def test_a_class_is_no_file():
    with pytest.raises(TypeError):
        EYES.read(FileSource("grade.png"), CASE, None)


def test_a_reference_can_leave_cases_out():
    kind = ReferenceClass(("RG", "NRG"), excluded=("U", ""))
    found = [kind.read(cell(text), CASE, None) for text in ("RG", "NRG", "U", "")]
    assert found == pytest.approx([0, 1, math.nan, math.nan], nan_ok=True)
    assert fault_of(kind, cell("u")).expected == "RG or NRG"
