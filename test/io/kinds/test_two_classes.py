import math

import pytest

from evaluation.core.fault import FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource
from evaluation.io.kinds.number import ConditionScore, TwoClasses

CASE = CaseForm("V0001")
KIND = TwoClasses(("RG", "suspect"), ("NRG",), ("U", ""))


def cell(text):
    return CellsSource((text,), "cases.csv", 3, ("class",))


@pytest.mark.parametrize(
    ("text", "value"), [("RG", 1), ("suspect", 1), ("NRG", 0), ("U", math.nan), ("", math.nan)]
)
def test_a_cell_is_one_of_two_classes_or_left_out(text, value):
    assert KIND.read(cell(text), CASE, None) == pytest.approx(value, nan_ok=True)


def test_any_other_cell_is_a_fault():
    with pytest.raises(FormFault) as caught:
        KIND.read(cell("rg"), CASE, None)
    expected = "cases.csv, line 3, class: expected one of 'RG', 'suspect', 'NRG', 'U', '', found 'rg'"
    assert str(caught.value) == expected
    with pytest.raises(TypeError):
        KIND.read(JsonSource("RG", "class.json"), CASE, None)


@pytest.mark.parametrize("value", [1.0, 0.0, math.nan])
def test_what_is_written_reads_back_the_same(value):
    assert KIND.read(cell(*KIND.write_cells(value)), CASE, None) == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    ("kind", "label", "expected"),
    [
        (ConditionScore(), 1, [1, 0.95, 0, 0]),
        (ConditionScore(), 0, [0, 0.05, 0, 1]),
        (ConditionScore(0, 100), 1, [100, 95, 0, 0]),
        (ConditionScore(0, 100), 0, [0, 5, 0, 100]),
        (ConditionScore(-4, 4), 0, [-4, -3.6, 0, 4]),
        (ConditionScore(0, 100), math.nan, [0, 5, 0, 100]),
    ],
)
def test_variants_for_a_rehearsal(kind, label, expected):
    found = [kind.rehearse(label, CASE, variant) for variant in Variant]
    assert found == pytest.approx(expected)
