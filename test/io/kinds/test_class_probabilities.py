import math

import pytest

from evaluation.core.fault import FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, FileSource, JsonSource
from evaluation.io.kinds.classes import ClassProbabilities

CASE = CaseForm("V0001", 16, 12)
CLASSES = ("melanoma", "naevus", "other")
KIND = ClassProbabilities(CLASSES)
FREE = ClassProbabilities(CLASSES, tolerance=None)


def cells(*texts):
    return CellsSource(texts, "classes.csv", 7, CLASSES)


def value(content):
    return JsonSource(content, "output/classes.json")


def complaints(kind, source):
    with pytest.raises(FormFault) as caught:
        kind.read(source, CASE, None)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    "source",
    [
        cells("0.25", "0.5", ".25"),
        cells("0.2500", "5e-1", "0.25"),
        value([0.25, 0.5, 0.25]),
        value({"other": 0.25, "naevus": 0.5, "melanoma": 0.25}),
    ],
)
def test_probabilities_are_read_in_the_order_of_the_classes(source):
    assert KIND.read(source, CASE, None) == (0.25, 0.5, 0.25)


@pytest.mark.parametrize("last", ["0.2505", "0.2495"])
def test_a_rounded_sum_is_accepted(last):
    assert KIND.read(cells("0.25", "0.5", last), CASE, None)[2] == float(last)


@pytest.mark.parametrize(
    ("content", "found"),
    [([0.25, 0.5, 0.252], "1.002"), ([0, 0, 0], "0"), ([1, 1, 1], "3"), ([0.25, 0.5, 0.248], "0.998")],
)
def test_a_sum_that_is_not_one(content, found):
    expected = "expected probabilities whose sum is 1 (within 0.001), found a sum of"
    assert complaints(KIND, value(content)) == [f"output/classes.json: {expected} {found}"]
    assert FREE.read(value(content), CASE, None) == tuple(content)


@pytest.mark.parametrize(
    ("source", "places", "found"),
    [
        (cells("", "nan", "1.5"), [*CLASSES], ["nothing", '"nan"', "1.5"]),
        (value([0.5, True, -0.1]), [None, None], ["true", "-0.1"]),
        (
            value({"melanoma": float("nan"), "naevus": "1", "other": 0}),
            [None, None],
            ["a number that is not finite", "the text '1'"],
        ),
        (value({"Melanomas": 1, "naevus": 0, "other": 0}), [None, None], ["the key 'Melanomas'", "none"]),
    ],
)
def test_every_fault_is_named(source, places, found):
    with pytest.raises(FormFault) as caught:
        KIND.read(source, CASE, None)
    assert [(fault.field, fault.found) for fault in caught.value.faults] == list(
        zip(places, found, strict=True)
    )


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ([0.5, 0.5], "a list of 2"),
        ([], "a list of 0"),
        (0.5, "the number 0.5"),
        ("melanoma", "the text 'melanoma'"),
    ],
)
def test_what_is_neither_an_object_nor_a_list_of_all(content, found):
    (complaint,) = complaints(KIND, value(content))
    assert complaint.endswith(f", found {found}")


def test_an_object_of_a_hundred_thousand_other_keys_is_refused_quickly():
    found = complaints(KIND, value({f"class {number}": 0.0 for number in range(100_000)}))
    assert found[10].endswith("found 99990 other keys")
    assert len(found) == 14
    assert found[-1] == "output/classes.json: expected the key 'other', found none"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        (1, [(0, 1, 0), (1 / 30, 28 / 30, 1 / 30), (1 / 3,) * 3, (0.5, 0, 0.5)]),
        (math.nan, [(1 / 3,) * 3] * 4),
    ],
)
def test_variants_for_a_rehearsal(reference, expected):
    found = [KIND.rehearse(reference, CASE, variant) for variant in Variant]
    assert found == [pytest.approx(values) for values in expected]


@pytest.mark.parametrize("tolerance", [-0.1, float("nan")])
def test_a_tolerance_is_a_number_of_at_least_zero(tolerance):
    with pytest.raises(ValueError, match=r"^tolerance:"):
        ClassProbabilities(CLASSES, tolerance)


def test_classes_are_named():
    with pytest.raises(ValueError, match=r"^classes:"):
        ClassProbabilities(("melanoma",))
    with pytest.raises(TypeError):
        KIND.read(FileSource("classes.png"), CASE, None)
