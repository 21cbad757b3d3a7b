"""Classes, probabilities of classes and sets of flags, from tables and JSON."""

import math

import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileSource, JsonSource, RowsSource
from evaluation.io.kinds.boxes import BoxList
from evaluation.io.kinds.classes import LABEL, ClassLabel, ClassProbabilities, FlagSet, ReferenceClass
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import Points
from test.faults import faulted
from test.io.memory import InMemory

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
    (fault,) = faults_of(kind, source)
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
        (LABEL, cell("1.0"), 1),
        (LABEL, cell("-0"), 0),
    ],
)
def test_a_class_is_read_as_its_position(kind, source, position):
    found = kind.read(source, CASE, None)
    assert (type(found), found) == (int, position)


@pytest.mark.parametrize(
    ("kind", "source", "fault_kind", "found"),
    [
        (EYES, cell(""), FaultKind.WRONG_VALUE, "nothing"),
        (EYES, value(None), FaultKind.MALFORMED, "null"),
        (GRADES, cell("2.7"), FaultKind.WRONG_VALUE, "2.7"),
        (GRADES, cell("nan"), FaultKind.MALFORMED, '"nan"'),
        (GRADES, value(True), FaultKind.MALFORMED, "true"),
        (GRADES, value(10**399), FaultKind.MALFORMED, "a number that is not finite"),
        (DECISION, value("malignant"), FaultKind.MALFORMED, "the text 'malignant'"),
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


def test_a_reference_can_leave_cases_out():
    kind = ReferenceClass(("RG", "NRG"), excluded=("U", ""))
    found = [kind.read(cell(text), CASE, None) for text in ("RG", "NRG", "U", "")]
    assert found == pytest.approx([0, 1, math.nan, math.nan], nan_ok=True)
    assert fault_of(kind, cell("u")).expected == "RG or NRG"


CLASSES = ("melanoma", "naevus", "other")
KIND = ClassProbabilities(CLASSES)
FREE = ClassProbabilities(CLASSES, tolerance=None)


def cells(*texts):
    return CellsSource(texts, "classes.csv", 7, CLASSES)


def value_shares(content):
    return JsonSource(content, "output/classes.json")


def faults_of(kind, source):
    with pytest.raises(FormFault) as caught:
        kind.read(source, CASE, None)
    return caught.value.faults


def complaints(kind, source):
    return [str(fault) for fault in faults_of(kind, source)]


@pytest.mark.parametrize(
    "source",
    [
        cells("0.25", "0.5", ".25"),
        value_shares([0.25, 0.5, 0.25]),
        value_shares({"other": 0.25, "naevus": 0.5, "melanoma": 0.25}),
    ],
)
def test_probabilities_are_read_in_the_order_of_the_classes(source):
    assert KIND.read(source, CASE, None) == (0.25, 0.5, 0.25)


@pytest.mark.parametrize(
    ("content", "found"),
    [([0.25, 0.5, 0.252], "1.002"), ([0, 0, 0], "0"), ([1, 1, 1], "3"), ([0.25, 0.5, 0.248], "0.998")],
)
def test_a_sum_that_is_not_one(content, found):
    expected = "expected probabilities whose sum is 1 (within 0.001), found a sum of"
    assert complaints(KIND, value_shares(content)) == [f"output/classes.json: {expected} {found}"]
    assert FREE.read(value_shares(content), CASE, None) == tuple(content)


@pytest.mark.parametrize(
    ("source", "places", "found"),
    [
        (cells("", "nan", "1.5"), [*CLASSES], ["nothing", '"nan"', "1.5"]),
        (value_shares([0.5, True, -0.1]), [None, None], ["true", "-0.1"]),
        (
            value_shares({"melanoma": float("nan"), "naevus": "1", "other": 0}),
            [None, None],
            ["a number that is not finite", "the text '1'"],
        ),
        (
            value_shares({"Melanomas": 1, "naevus": 0, "other": 0}),
            [None, None],
            ["the key 'Melanomas'", "none"],
        ),
    ],
)
def test_every_fault_is_named(source, places, found):
    assert [(one.field, one.found) for one in faults_of(KIND, source)] == list(
        zip(places, found, strict=True)
    )


def test_an_object_of_a_hundred_thousand_other_keys_is_refused_quickly():
    found = complaints(KIND, value_shares({f"class {number}": 0.0 for number in range(100_000)}))
    assert found[10].endswith("found 99990 other keys")
    assert len(found) == 14
    assert found[-1] == "output/classes.json: expected the key 'other', found none"


@pytest.mark.parametrize("tolerance", [-0.1, float("nan")])
def test_a_tolerance_is_a_number_of_at_least_zero(tolerance):
    with pytest.raises(ValueError, match=r"^tolerance:"):
        ClassProbabilities(CLASSES, tolerance)


FLAGS = FlagSet(("large cup", "laminar dots", "disc hemorrhages"))


def of_json(value):
    return FLAGS.read(JsonSource(value, "features.json", "job 1, socket features", 3), CASE, None)


def of_cells(*cells):
    return FLAGS.read(CellsSource(cells, "features.csv", 2, FLAGS.names), CASE, None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"large cup": True, "laminar dots": False, "disc hemorrhages": True}, (True, False, True)),
        ({"disc hemorrhages": True, "laminar dots": False, "large cup": True}, (True, False, True)),
        ({"large cup": None, "laminar dots": False}, (None, False, None)),
        ({}, (None, None, None)),
    ],
)
def test_reads_objects(value, expected):
    assert of_json(value) == expected


@pytest.mark.parametrize(
    ("value", "kind", "expected", "found"),
    [
        ({"large  cup": True}, FaultKind.UNKNOWN, "only the keys large cup, ", "the key 'large  cup'"),
        ({"large cup": 1}, FaultKind.MALFORMED, "true, false or null for 'large cup'", "the number 1"),
        ([True, False, True], FaultKind.MALFORMED, "an object", "a list of 3"),
    ],
)
def test_faults_name_place_and_index(value, kind, expected, found):
    with pytest.raises(FormFault) as caught:
        of_json(value)
    (fault,) = caught.value.faults
    assert (fault.kind, fault.found) == (kind, found)
    assert fault.expected.startswith(expected)
    assert fault.field == "job 1, socket features, index 3"


def test_reads_cells():
    assert of_cells("1", "0", "") == (True, False, None)
    with faulted(FormFault, "features.csv, line 2, laminar dots", "'yes'", kind=FaultKind.MALFORMED):
        of_cells("1", "yes", "0")


NAMES = ("BE", "Suspicious", "HGD")
FEATURES = ("disc hemorrhages", "nasalization of the vessel trunk", "baring of the circumlinear vessel")


def json_of(value):
    return JsonSource(value, "a.json")


@pytest.mark.parametrize("text", ["be", "Be", "BE"])
def test_letter_case_does_not_matter(text):
    cell = CellsSource((text,), "a.csv", 2, ("class",))
    assert ClassLabel(NAMES).read(cell, CASE, None) == 0
    assert ClassLabel(NAMES).read(json_of(text), CASE, None) == 0
    assert boxes_of(f"{text} 1 2 3 4\n", NAMES).tolist() == [[0, 1.0, 1, 2, 3, 4]]
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
    assert boxes_of("be 1 2 3 4\nBE 1 2 3 4\n", ("BE", "be"))[:, 0].tolist() == [1, 0]
    with pytest.raises(FormFault):
        boxes_of("Be 1 2 3 4\n", ("BE", "be"))


def boxes_of(text, names):
    files = InMemory({"a.txt": text.encode()})
    return BoxList(attributes=Attributes(names)).read(FileSource("a.txt"), CASE, files).rows
