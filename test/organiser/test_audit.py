"""What a phase tells of its labels, against counts by hand and by enumeration."""

import itertools
import json
import math
import shutil
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.metric import Resolution, auc_of, f1_of_presence_of, sensitivity_at_specificity_of
from evaluation.evaluate import evaluate
from evaluation.metrics.confusion import values_of_f1
from evaluation.organiser.audit import HiddenLabels, LabelCountError, PublishedFigure, audit, bits_of
from evaluation.organiser.settings import public_paths
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from evaluation.platform.result_file import render
from test.repository import REPOSITORY


def test_auc_of_40_positives_in_400_takes_28801_values():
    rows = [{"score": 0.0, "label": int(number < 40)} for number in range(400)]
    resolution = auc_of("score", "label").resolution(CaseTable([str(n) for n in range(400)], rows))
    assert resolution == Resolution(40, 360, 28_801)
    assert PublishedFigure("t.auc", "value", 1, 1.0, 12, exact=28_801).bits() == pytest.approx(14.8, abs=0.02)
    assert HiddenLabels("t", (40, 360)).bits == pytest.approx(184, abs=0.5)
    assert HiddenLabels("t", (40, 360)).bits == pytest.approx(math.log2(math.comb(400, 40)))


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
        Fraction(2 * true, true + positives + false) if true + positives + false else Fraction(1)
        for true in range(positives + 1)
        for false in range(negatives + 1)
    }
    assert values_of_f1(positives, negatives) == len(values)


def test_rounding_leaves_the_steps_of_the_range():
    figure = PublishedFigure("t.m", "value", 1, 1.0, 12, exact=28_801)
    assert [figure.values(digits) for digits in (None, 5, 4, 2, 0)] == [28_801, 28_801, 10_001, 101, 2]
    assert replace(figure, digits=3).values(4) == 1001
    assert PublishedFigure("t.m", "interval", 2, 1.0, 3).bits(2) == pytest.approx(2 * math.log2(101))


def changed(folder: Path, lines: str, tables: str = "") -> Phase:
    phase = Path(shutil.copytree(REPOSITORY / "ground-truth" / "refuge-onsite", folder / "phase"))
    text = (phase / "phase.toml").read_text()
    text = text.replace('submission = "archive"', f'submission = "archive"\n{lines}') + tables
    (phase / "phase.toml").write_text(text)
    return load_phase(phase, scan(phase))


def test_bundled_phase_by_hand(tmp_path):
    """12 positives of 40: the AUC takes 2·12·28 + 1 values, the sensitivity 13."""
    disclosure = audit(changed(tmp_path, "resamples = 0\n"), 0)
    labels = disclosure.labels[0]
    assert (labels.name, sorted(labels.counts)) == ("classification.glaucoma", [12, 28])
    assert [figure.values() for figure in disclosure.made_of(labels)] == [673, 13]
    assert labels.submissions(bits_of(disclosure.made_of(labels))) == math.ceil(
        math.log2(math.comb(40, 12)) / math.log2(673 * 13)
    )
    assert not any("interval" in figure.what for figure in disclosure.figures)


def test_other_numbers_of_labels(tmp_path):
    sizes = {"classification": LabelCountError(40, 400)}
    disclosure = audit(changed(tmp_path, "value_digits = 12\n"), 0, sizes)
    labels = disclosure.labels[0]
    assert sorted(labels.counts) == [40, 360]
    assert labels.bits == pytest.approx(math.log2(math.comb(400, 40)))
    assert [figure.values() for figure in disclosure.made_of(labels)] == [28_801, 41]


@pytest.mark.parametrize(
    ("lines", "tables"),
    [
        ("", ""),
        ("resamples = 0", ""),
        ('publish_label_subgroups = ["eye"]\nsubgroup_minimum = 5', '[[subgroups]]\ncolumn = "eye"\n'),
        ("publish_cases = true", ""),
    ],
)
def test_every_published_number_is_counted(tmp_path, lines, tables):
    """Against the numbers in metrics.json; half-widths follow from the ends, methods are words."""
    phase = changed(tmp_path, lines + "\n", tables)
    result = evaluate(phase, REPOSITORY / "test" / "input" / "refuge-onsite", 0)
    content = json.loads(render(asdict(result.metrics)))
    paths = [
        path
        for path in public_paths({key: content.get(key, {}) for key in ("aggregates", "subgroups", "case")})
        if not path.endswith((".half_width", ".method"))
    ]
    assert sum(figure.numbers for figure in audit(phase, 0).figures) == len(paths)


def test_digits_of_the_phase_are_its_remedy(tmp_path):
    before = audit(changed(tmp_path / "plain", ""), 0)
    after = audit(changed(tmp_path / "rounded", 'digits = { "classification.auc" = 2 }\n'), 0)

    def auc(disclosure):
        return [figure for figure in disclosure.figures if figure.metric == "classification.auc"]

    assert [figure.digits for figure in auc(before)] == [4, 3]
    assert [figure.digits for figure in auc(after)] == [2, 2]
    assert bits_of(auc(after)) == pytest.approx(bits_of(auc(before), 2)) == pytest.approx(3 * math.log2(101))
