"""Sets of flags through a whole declared phase, against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import hamming_loss

from test.challenges.declared.scalars import rehearsed, sealed, values
from test.oracles import checked

FINDINGS = """\
[fields.findings]
kind = "flags"
classes = ["drusen", "haemorrhage", "exudate"]
reference_columns = ["d", "h", "e"]

[tasks.findings]
metrics = ["hamming_distance"]
"""
NAMES = ("drusen", "haemorrhage", "exudate")
CASES = 30


@pytest.fixture(scope="module")
def flags():
    random = np.random.default_rng(2)
    return random.integers(0, 2, (CASES, 3)), random.integers(0, 2, (CASES, 3))


def phase_of(folder, true, tables=FINDINGS):
    cases = {"name": [f"f{number:02d}" for number in range(CASES)]}
    return sealed(folder, tables, cases | dict(zip("dhe", true.T, strict=True)), 'missing = "worst"\n')


def submitted(made, cases=CASES):
    columns = {"case": [f"f{number:02d}" for number in range(cases)]}
    return columns | dict(zip(NAMES, made[:cases].T, strict=True))


@checked(
    hamming_distance="sklearn.metrics.hamming_loss",
)
def test_as_scikit_learn(tmp_path, flags):
    true, made = flags
    phase = phase_of(tmp_path / "phase", true)
    found = values(phase, tmp_path / "all", submitted(made))
    assert found == {"hamming_distance": pytest.approx(hamming_loss(true, made), abs=1e-6)}
    # Of a case without a result all flags are wrong.
    wrong = np.where(np.arange(CASES)[:, None] < 24, made, 1 - true)
    found = values(phase, tmp_path / "part", submitted(made, 24))
    assert found == {"hamming_distance": pytest.approx(hamming_loss(true, wrong), abs=1e-6)}
    assert rehearsed(phase).problems == ()


def test_unknown_flags_do_not_count_and_missing_ones_are_wrong(tmp_path, flags):
    true, made = (columns.astype(object) for columns in flags)
    true[0], true[1, :2] = "", ""
    made[1:3, 2] = ""
    tables = FINDINGS.replace('["hamming_distance"]', "{ hamming_distance = {}, pooled = POOLED }")
    tables = tables.replace("POOLED", '{ metric = "hamming_distance", over_cases = "pooled" }')
    found = values(phase_of(tmp_path / "phase", true, tables), tmp_path / "flags", submitted(made))
    # By hand: the first case has no known flag, the second one only, which is missing.
    rows = [1.0, (np.count_nonzero(true[2, :2] != made[2, :2]) + 1) / 3]
    rows += [np.count_nonzero(true[case] != made[case]) / 3 for case in range(3, CASES)]
    assert found["hamming_distance"] == pytest.approx(np.mean(rows), abs=1e-6)
    known = true != ""
    assert found["pooled"] == pytest.approx((true != made)[known].mean(), abs=1e-6)
