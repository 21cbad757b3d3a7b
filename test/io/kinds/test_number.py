"""Numbers, labels, times of events and scores of a condition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource, JsonSource
from evaluation.io.kinds.number import (
    Number,
    TwoClasses,
)
from evaluation.io.kinds.survival import ObservedTime, SurvivalPrediction, TimeToEvent
from evaluation.metrics.regression import weighted_concordance_index

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


@given(
    seed=st.integers(0, 9),
    minimum=st.sampled_from((-math.inf, -7.0, 0.5, 40.0)),
    width=st.sampled_from((1, math.inf)),
)
def test_an_example_is_within_the_range(seed, minimum, width):
    maximum = (
        3.0 if minimum == -math.inf and width == 1 else minimum + width if minimum > -math.inf else math.inf
    )
    example = Number(minimum, maximum).example(CASE, np.random.default_rng(seed))
    assert minimum <= example <= maximum
    assert math.isfinite(example)


KIND = TwoClasses(("RG", "suspect"), ("NRG",), ("U", ""))


@pytest.mark.parametrize(
    ("text", "value"), [("RG", 1), ("suspect", 1), ("NRG", 0), ("U", math.nan), ("", math.nan)]
)
def test_a_cell_is_one_of_two_classes_or_left_out(text, value):
    assert KIND.read(cell(text), CASE, None) == pytest.approx(value, nan_ok=True)


def test_any_other_cell_is_a_fault():
    expected = "risks.csv, line 7, Risk: expected one of 'RG', 'suspect', 'NRG', 'U', '', found 'rg'"
    assert str(fault_of(KIND, cell("rg"))) == expected
    with pytest.raises(TypeError):
        KIND.read(JsonSource("RG", "class.json"), CASE, None)


KIND_TIME = TimeToEvent("months")


def cells(*texts):
    return CellsSource(texts, "cases.csv", 7, ("time", "event"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [(cells("12.5", "1"), (12.5, 1)), (cells("0", "0"), (0.0, 0)), (cells("3", "1.0"), (3.0, 1))],
)
def test_a_time_and_an_event_are_read(source, expected):
    assert KIND_TIME.read(source, CASE, None) == ObservedTime(*expected)


@pytest.mark.parametrize(
    ("source", "found"), [(cells("-1", "2"), ["-1", "2"]), (cells("", "yes"), ["nothing", '"yes"'])]
)
def test_every_fault_is_named(source, found):
    with pytest.raises(FormFault) as caught:
        KIND_TIME.read(source, CASE, None)
    assert [(fault.field, fault.found) for fault in caught.value.faults] == list(
        zip(("time", "event"), found, strict=True)
    )
    assert {(fault.file, fault.line) for fault in caught.value.faults} == {("cases.csv", 7)}


TIMES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 1)), min_size=2, max_size=12)
BOUNDS = st.sampled_from([{}, {"minimum": 0.0, "maximum": 1.0}, {"minimum": 5.0}, {"maximum": -2.0}])


@given(TIMES, BOUNDS, st.booleans(), st.sampled_from([1, 1000, 0.01]))
def test_variants_for_a_rehearsal_have_the_concordance_that_they_should(cases, bounds, risk, scale):
    kind = SurvivalPrediction(**bounds, risk=risk)
    times = [ObservedTime(scale * time, event) for time, event in cases]
    time, event = np.array(times, dtype=float).T
    expected = {Variant.PERFECT: 1.0, Variant.NEAR: 1.0, Variant.EMPTY: 0.5, Variant.INVERTED: 0.0}
    for variant, wanted in expected.items():
        values = np.array([kind.rehearse(observed, CASE, variant) for observed in times])
        assert (values >= kind.minimum).all()
        assert (values <= kind.maximum).all()
        found = weighted_concordance_index(
            -values if risk else values, time, event, np.ones((1, len(times)))
        )[0]
        assert np.isnan(found) or found == pytest.approx(wanted)
