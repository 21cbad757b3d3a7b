import numpy as np
import pytest

from evaluation.core.field import CaseColumns, Field, Files, Reference, Socket
from evaluation.core.form import CaseForm
from evaluation.io.handover import HandoverError, encode
from evaluation.io.kinds.masks import LabelMask
from evaluation.io.kinds.number import Number
from evaluation.metrics.crops import Crop
from evaluation.workers.reports import PackedValues, ValuesOfBatch


def field_of(name, kind):
    reference = Reference(kind, CaseColumns((name,)))
    return Field(name, name, kind, Files(name, (".txt",)), Socket(name, f"{name}.json"), reference)


FIELDS = {"number": field_of("number", Number(0, 1)), "mask": field_of("mask", LabelMask({0: "disc"}, 255))}
CASE = CaseForm("A", 4, 4)
MASK = Crop(np.zeros((2, 2), np.uint8), 1, 1)


def handed_over(values):
    return PackedValues(b"".join(encode(values.packed())), FIELDS)


def test_each_case_has_its_own_values_also_where_some_are_missing():
    values = ValuesOfBatch(FIELDS, 1000)
    assert values.add(3, {"number": 0.25})
    assert values.add(0, {"mask": MASK, "number": 1.0})
    assert values.add(1, {})
    found = handed_over(values)
    assert found.of_case(3, CASE) == {"number": 0.25}
    assert found.of_case(1, CASE) == found.of_case(7, CASE) == {}
    both = found.of_case(0, CASE)
    assert both.keys() == {"mask", "number"}
    assert (both["mask"].top, both["mask"].values.tolist(), both["number"]) == (1, [[0, 0], [0, 0]], 1.0)


def test_values_without_room_are_not_kept_and_smaller_ones_are():
    values = ValuesOfBatch(FIELDS, 100)
    assert not values.add(0, {"mask": MASK})
    assert values.add(1, {"number": 0.5})
    found = handed_over(values)
    assert (found.of_case(0, CASE), found.of_case(1, CASE)) == ({}, {"number": 0.5})


@pytest.mark.parametrize("room", [None, 1000])
def test_values_that_nobody_wants_are_dropped(room):
    values = ValuesOfBatch(FIELDS, room)
    assert values.add(0, {"number": 0.5})
    values.drop()
    assert values.add(1, {"mask": MASK})
    assert values.packed() == {}


FORGED = {
    "a list": [],
    "an unknown field": {"other": [np.arange(1), np.zeros(1)]},
    "values without numbers": {"number": np.zeros(1)},
    "more values than cases": {"number": [np.arange(1), np.zeros(2)]},
    "fewer masks than cases": {"mask": [np.arange(2), [None]]},
    "numbers that are no whole ones": {"number": [np.zeros(1), np.zeros(1)]},
    "a value beyond its range": {"number": [np.arange(1), np.full(1, 2.0)]},
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_values_are_refused(name):
    with pytest.raises(HandoverError):
        PackedValues(b"".join(encode(FORGED[name])), FIELDS)


def test_a_forged_mask_is_refused_for_its_case():
    forged = PackedValues(b"".join(encode({"mask": [np.arange(1), [None]]})), FIELDS)
    with pytest.raises(HandoverError):
        forged.of_case(0, CASE)
