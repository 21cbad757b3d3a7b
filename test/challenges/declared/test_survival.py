"""Predictions of survival through a whole declared phase, against recorded values of lifelines."""

import numpy as np
import pytest

from evaluation.core.fault import PhaseError
from test.challenges.declared.scalars import figures, sealed, values
from test.faults import faulted
from test.metrics.record_concordance import survival_data
from test.metrics.test_survival import RECORDED
from test.oracles import checked

SURVIVAL = """\
[fields.survival]
kind = "survival"
unit = "months"

[tasks.survival]
metrics = ["concordance_index"]
"""
NAMES = [f"patient{number:02d}" for number in range(60)]


def phase_of(folder, seed, tables=SURVIVAL):
    _, time, event = survival_data(seed)
    cases = {"name": NAMES, "time": time.tolist(), "event": event.astype(int).tolist()}
    return sealed(folder, tables, cases, 'missing = "worst"\n')


@checked(
    concordance_index="lifelines.utils.concordance_index",
)
def test_as_lifelines(tmp_path):
    seed = 1
    predicted, _, _ = survival_data(seed)
    phase = phase_of(tmp_path / "phase", seed)
    found = values(phase, tmp_path / "times", {"case": NAMES, "survival": predicted})
    assert found == {"concordance_index": pytest.approx(RECORDED[seed], abs=1e-6)}
    interval = figures(phase, tmp_path / "times")["concordance_index"]["confidence_interval"]
    assert interval["lower"] < RECORDED[seed] < interval["upper"]


def test_a_risk_has_the_reverse_order(tmp_path):
    predicted, _, _ = survival_data(0)
    tables = SURVIVAL.replace('unit = "months"', "risk = true\nminimum = 0\nmaximum = 1")
    phase = phase_of(tmp_path / "phase", 0, tables)
    risk = 1 / (1 + np.exp(predicted / 10))
    found = values(phase, tmp_path / "risks", {"case": NAMES, "survival": risk})
    assert found == {"concordance_index": pytest.approx(RECORDED[0], abs=1e-6)}


@pytest.mark.parametrize(("column", "cells"), [("time", [-1] * 60), ("event", [2] * 60)])
def test_a_reference_that_is_none(tmp_path, column, cells):
    _, time, event = survival_data(0)
    table = {"name": NAMES, "time": time, "event": event.astype(int), column: cells}
    with faulted(PhaseError, "cases.csv", "line 2", column):
        sealed(tmp_path / "phase", SURVIVAL, table)
