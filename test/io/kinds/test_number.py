import math

import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource
from evaluation.io.kinds.number import Label, Number

CASE = CaseForm("V0001", 16, 12)


def cell(text):
    return CellsSource((text,), "risks.csv", 7, ("Risk",))


def value(text):
    return JsonSource(text, "output/risk.json", "[3]")


def fault_of(kind, source):
    with pytest.raises(FormFault) as caught:
        kind.read(source, CASE, None)
    (fault,) = caught.value.faults
    return fault


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (cell("0.25"), 0.25),
        (cell(" -3 "), -3.0),
        (cell("1e-7"), 1e-7),
        (cell(".5"), 0.5),
        (value(1), 1.0),
        (value(-0.5), -0.5),
        (value(10**300), 1e300),
    ],
)
def test_a_number_is_read(source, expected):
    assert Number().read(source, CASE, None) == expected


@pytest.mark.parametrize(
    "text", ["", "nan", "inf", "-Infinity", "1e999", "0,5", "1_000", "0x10", "٣", "high"]
)
def test_a_cell_that_is_no_number(text):
    fault = fault_of(Number(), cell(text))
    assert (fault.kind, fault.file, fault.line, fault.field) == (FaultKind.MALFORMED, "risks.csv", 7, "Risk")
    assert fault.found == (f'"{text}"' if text else "nothing")


@pytest.mark.parametrize(
    ("json_value", "found"),
    [
        (True, "true"),
        (None, "null"),
        ("0.5", "the text '0.5'"),
        ([0.5], "a list of 1"),
        ({"risk": 1}, "an object"),
        (10**400, "a number that is not finite"),
        (float("nan"), "a number that is not finite"),
        (float("-inf"), "a number that is not finite"),
    ],
)
def test_json_that_is_no_number(json_value, found):
    fault = fault_of(Number(), value(json_value))
    assert fault.kind is FaultKind.MALFORMED
    assert str(fault) == f"output/risk.json, [3]: expected a finite number, found {found}"


@pytest.mark.parametrize("text", ["0", "1", "0.5", "-0.0"])
def test_a_range_includes_its_ends(text):
    assert Number(0, 1).read(cell(text), CASE, None) == float(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("-1e-300", "-1e-300"),
        ("1.0000000000000002", "1.0000000000000002"),
        ("7.25", "7.25"),
        ("1e300", "1e+300"),
    ],
)
def test_a_number_outside_its_range(text, found):
    fault = fault_of(Number(0, 1), cell(text))
    assert fault.kind is FaultKind.WRONG_VALUE
    assert str(fault) == f"risks.csv, line 7, Risk: expected a finite number from 0 to 1, found {found}"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Number(), "a finite number"),
        (Number(0), "a finite number of at least 0"),
        (Number(0, 1), "a finite number from 0 to 1"),
        (Number(maximum=1), "a finite number of at most 1"),
        (Number(unit="mm"), "a finite number, in mm"),
        (Number(0, unit="years"), "a finite number of at least 0 years"),
        (Number(0, 100, unit="%"), "a finite number from 0 to 100 %"),
        (Number(maximum=0, unit="dB"), "a finite number of at most 0 dB"),
        (Label(), "0 or 1"),
    ],
)
def test_description(kind, words):
    assert kind.describe() == words


@pytest.mark.parametrize(("text", "label"), [("0", 0), ("1", 1), ("1.0", 1), ("-0", 0)])
def test_a_label_is_read(text, label):
    assert Label().read(cell(text), CASE, None) == label


@pytest.mark.parametrize("text", ["2", "0.5", "-1"])
def test_a_label_of_another_value(text):
    fault = fault_of(Label(), cell(text))
    assert (fault.kind, fault.expected, fault.found) == (FaultKind.WRONG_VALUE, "0 or 1", text)


@pytest.mark.parametrize("label", [0, 1])
def test_a_label_in_json_is_a_boolean(label):
    assert Label().read(value(Label().write_json(label)), CASE, None) == label
    fault = fault_of(Label(), value(label))
    assert (fault.expected, fault.found) == ("true or false", f"the number {label}")
    assert Label().read(cell(*Label().write_cells(label)), CASE, None) == label


@pytest.mark.parametrize(
    ("kind", "reference", "near", "empty", "inverted"),
    [
        (Number(), 1, 0.95, 0.0, 0.0),
        (Number(), 0, 0.05, 0.0, 1.0),
        (Number(), math.nan, 0.05, 0.0, 1.0),
        (Label(), math.nan, 0, 0, 1),
        (Number(0, 10), 2.0, 2.3, 0.0, 8.0),
        (Number(minimum=1), 4.0, 3.65, 1.0, 1.0),
        (Label(), 1, 1, 0, 0),
        (Label(), 0, 0, 0, 1),
    ],
)
def test_variants_for_a_rehearsal(kind, reference, near, empty, inverted):
    expected = (0.0 if math.isnan(reference) else float(reference), near, empty, inverted)
    assert [kind.rehearse(reference, CASE, variant) for variant in Variant] == pytest.approx(expected)
