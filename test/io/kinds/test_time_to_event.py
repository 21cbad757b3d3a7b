import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.fault import FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import CellsSource
from evaluation.io.kinds.number import ObservedTime, SurvivalPrediction, TimeToEvent
from evaluation.metrics.regression import weighted_concordance_index

CASE = CaseForm("V0001")
KIND = TimeToEvent("months")


def cells(*texts):
    return CellsSource(texts, "cases.csv", 7, ("time", "event"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [(cells("12.5", "1"), (12.5, 1)), (cells("0", "0"), (0.0, 0)), (cells("3", "1.0"), (3.0, 1))],
)
def test_a_time_and_an_event_are_read(source, expected):
    assert KIND.read(source, CASE, None) == ObservedTime(*expected)


@pytest.mark.parametrize(
    ("source", "found"), [(cells("-1", "2"), ["-1", "2"]), (cells("", "yes"), ["nothing", '"yes"'])]
)
def test_every_fault_is_named(source, found):
    with pytest.raises(FormFault) as caught:
        KIND.read(source, CASE, None)
    assert [(fault.field, fault.found) for fault in caught.value.faults] == list(
        zip(("time", "event"), found, strict=True)
    )
    assert {(fault.file, fault.line) for fault in caught.value.faults} == {("cases.csv", 7)}


def test_what_is_written_reads_back_the_same():
    value = ObservedTime(1 / 3, 1)
    assert KIND.read(cells(*KIND.write_cells(value)), CASE, None) == value
    assert KIND.describe() == "a finite number of at least 0 months, and 1 (event) or 0 (censored)"


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


def test_a_case_without_a_time_has_any_prediction():
    assert SurvivalPrediction(minimum=3.0).rehearse(None, CASE, Variant.PERFECT) == 3.0
