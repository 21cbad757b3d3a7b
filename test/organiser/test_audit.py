"""What a phase tells of its labels, against counts by hand and by enumeration."""

import itertools
import math
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.metric import Resolution, auc_of, f1_of_presence_of, sensitivity_at_specificity_of
from evaluation.metrics.decisions import values_of_f1
from evaluation.organiser.audit import Figure, Labels, audit
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from test.repository import REPOSITORY


def test_auc_of_40_positives_in_400_takes_28801_values():
    rows = [{"score": 0.0, "label": int(number < 40)} for number in range(400)]
    resolution = auc_of("score", "label").resolution(CaseTable([str(n) for n in range(400)], rows))
    assert resolution == Resolution(40, 360, 28_801)
    assert Figure("t", "auc", "value", 1, 1.0, resolution).bits(None) == pytest.approx(14.8, abs=0.02)
    assert Labels("t", 40, 360).bits == pytest.approx(184, abs=0.5)
    assert Labels("t", 40, 360).bits == pytest.approx(math.log2(math.comb(400, 40)))


AGGREGATES = {
    "auc": auc_of("score", "label"),
    "sensitivity": sensitivity_at_specificity_of("score", "label", Fraction(1, 2)),
    "f1": f1_of_presence_of("score", "label"),
}


@pytest.mark.parametrize("name", AGGREGATES)
def test_every_counted_value_occurs_and_no_other(name):
    """All score vectors with ties of two positives and three negatives, or all decisions."""
    labels = [1, 1, 0, 0, 0]
    names = list("abcde")
    found = set()
    for scores in itertools.product(range(2 if name == "f1" else 5), repeat=5):
        table = CaseTable(names, [{"score": s, "label": y} for s, y in zip(scores, labels, strict=True)])
        value = AGGREGATES[name].values(WeightedCases(table, np.ones((1, 5), dtype=np.int64)))[0]
        found.add(round(float(value), 9))
    assert len(found) == AGGREGATES[name].resolution(table).values


@pytest.mark.parametrize(("positives", "negatives"), [(0, 3), (1, 0), (4, 7), (30, 20)])
def test_values_of_f1_are_counted_as_fractions(positives, negatives):
    values = {
        Fraction(2 * true, true + positives + false) if true else Fraction(0)
        for true in range(positives + 1)
        for false in range(negatives + 1)
    }
    assert values_of_f1(positives, negatives) == len(values)


def test_rounding_leaves_the_steps_of_the_range():
    figure = Figure("t", "m", "value", 1, 1.0, Resolution(40, 360, 28_801))
    assert [figure.values(digits) for digits in (None, 5, 4, 2, 0)] == [28_801, 28_801, 10_001, 101, 2]
    assert Figure("t", "m", "interval", 2, 1.0).bits(2) == pytest.approx(2 * math.log2(101))


def changed(folder: Path, lines: str) -> Path:
    phase = Path(shutil.copytree(REPOSITORY / "ground-truth" / "refuge-onsite", folder / "phase"))
    text = (phase / "phase.toml").read_text()
    (phase / "phase.toml").write_text(
        text.replace('submission = "archive"', f'submission = "archive"\n{lines}')
    )
    return phase


def test_bundled_phase_by_hand(tmp_path):
    """12 positives of 40: the AUC takes 2·12·28 + 1 values, the sensitivity 13."""
    folder = changed(tmp_path, "resamples = 0\n")
    disclosure = audit(load_phase(folder, scan(folder)), 0)
    (labels,) = disclosure.labels
    assert (labels.positives, labels.negatives) == (12, 28)
    values = [figure for figure in disclosure.telling_of(labels) if figure.what == "value"]
    assert [figure.values(None) for figure in values] == [673, 13]
    assert not any(figure.what == "interval" for figure in disclosure.figures)


def test_digits_of_the_phase_are_its_remedy(tmp_path):
    plain, rounded = tmp_path / "plain", tmp_path / "rounded"
    folders = changed(plain, ""), changed(rounded, 'digits = { "classification.auc" = 2 }\n')
    before, after = (audit(load_phase(folder, scan(folder)), 0) for folder in folders)

    def auc(disclosure):
        return [figure for figure in disclosure.figures if figure.metric == "auc"]

    assert after.bits(auc(after)) == pytest.approx(before.bits(auc(before), 2))
    assert after.bits(auc(after)) < before.bits(auc(before)) / 4
    assert after.bits(auc(after), 4) == after.bits(auc(after))


def test_published_cases_are_counted(tmp_path):
    folder = changed(tmp_path, "publish_cases = true\n")
    figures = audit(load_phase(folder, scan(folder)), 0).figures
    assert {figure.numbers for figure in figures if figure.what == "per case"} == {40}
