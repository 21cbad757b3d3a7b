"""What a phase tells of its labels, against counts by hand and by enumeration."""

import itertools
import json
import math
import re
import shutil
import tomllib
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.class_estimators import PresenceF1, RocArea, SensitivityAtSpecificity
from evaluation.evaluate import evaluate
from evaluation.organiser.audit import (
    Labels,
    PublishedFigure,
    audit,
    bits_of,
    limit_of,
    warnings_of,
)
from evaluation.organiser.settings import public_paths
from evaluation.organiser.validate import validate_phase
from evaluation.phase.config import Submissions
from evaluation.phase.manifest import scan
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.validation import read_table
from evaluation.platform.result_file import render
from test.catalogue import keys_in_toml
from test.repository import REPOSITORY


def test_auc_of_40_positives_in_400_takes_28801_values():
    rows = [{"score": 0.0, "label": int(number < 40)} for number in range(400)]
    table = CaseTable([str(n) for n in range(400)], rows)
    assert RocArea("score", "label").possible_values(table) == 28_801
    assert PublishedFigure("t.auc", "value", 1, 1.0, 12, exact=28_801).bits() == pytest.approx(14.8, abs=0.02)
    labels = Labels(("t",), {str(number): str(number < 40) for number in range(400)})
    assert labels.bits == pytest.approx(184, abs=0.5)
    assert labels.bits == pytest.approx(math.log2(math.comb(400, 40)))


AGGREGATES = {
    "auc": RocArea("score", "label"),
    "sensitivity": SensitivityAtSpecificity("score", "label", Fraction(1, 2)),
}
F1 = PresenceF1("score", "label")


@pytest.mark.parametrize("name", AGGREGATES)
def test_every_counted_value_occurs_and_no_other(name):
    """All orders, with ties, of two positives and three negatives."""
    labels = [1, 1, 0, 0, 0]
    found = set()
    for scores in itertools.product(range(5), repeat=5):
        if set(scores) == set(range(max(scores) + 1)):
            found.add(value_of(AGGREGATES[name], scores, labels))
    assert len(found) == AGGREGATES[name].possible_values(table_of([0] * 5, labels))


@pytest.mark.parametrize("positives", [1, 2, 3, 4])
def test_f1_of_one_submission_counts_the_true_positives(positives):
    """All labels of five images, for the decisions with the most values: how many they mark is no secret."""
    most = 0
    for decisions in itertools.product((0, 1), repeat=5):
        labels = {
            tuple(int(image in chosen) for image in range(5))
            for chosen in itertools.combinations(range(5), positives)
        }
        most = max(most, len({value_of(F1, decisions, each) for each in labels}))
    assert F1.possible_values(table_of([0] * 5, [1] * positives + [0] * (5 - positives))) == most


def table_of(scores, labels):
    rows = [{"score": s, "label": y} for s, y in zip(scores, labels, strict=True)]
    return CaseTable([str(number) for number in range(len(rows))], rows)


def value_of(aggregate, scores, labels):
    cases = WeightedCases(table_of(scores, labels), np.ones((1, len(labels)), dtype=np.int64))
    return round(float(aggregate.values(cases)[0]), 9)


def test_rounding_leaves_the_steps_of_the_range():
    figure = PublishedFigure("t.m", "value", 1, 1.0, 12, exact=28_801)
    assert [figure.values(digits) for digits in (None, 5, 4, 2, 0)] == [28_801, 28_801, 10_001, 101, 2]
    assert replace(figure, digits=3).values(4) == 1001
    assert PublishedFigure("t.m", "interval", 2, 1.0, 3).bits(2) == pytest.approx(2 * math.log2(101))


OPEN = "metric_detail = {}\n"  # refuge-onsite publishes less of classification and fovea


def changed(folder: Path, lines: str, tables: str = "", name: str = "refuge-onsite") -> Phase:
    """Return a bundled phase with other keys; ``tables`` replaces its limit of submissions."""
    phase = Path(shutil.copytree(REPOSITORY / "ground-truth" / name, folder / name))
    content = tomllib.loads((phase / "phase.toml").read_text()) | {"submissions": {}}
    content |= tomllib.loads(lines)
    if tables:
        del content["subgroups"]
    text = "".join(f"{line}\n" for line in keys_in_toml(content))
    (phase / "phase.toml").write_text(text + tables)
    return load_phase(phase, scan(phase))


def test_bundled_phase_by_hand(tmp_path):
    """12 positives of 40: the AUC takes 2·12·28 + 1 values, the sensitivity 13."""
    disclosure = audit(changed(tmp_path, ""), 0)
    labels = disclosure.labels[0]
    assert (labels.name, sorted(labels.counts.values())) == ("classification.glaucoma", [12, 28])
    assert [figure.values() for figure in disclosure.made_of(labels)] == [673, 13]
    bound = math.ceil(math.log2(math.comb(40, 12)) / math.log2(673 * 13))
    assert disclosure.bound(labels) == bound == 3


@pytest.mark.parametrize(("digits", "values", "ends"), [(None, 673, 1000), (2, 101, 100)])
def test_intervals_are_pairs_of_ends_with_the_digits_of_the_phase(tmp_path, digits, values, ends):
    """With three decimals, 1001 · 1002 / 2 pairs twice for the AUC and twice for the sensitivity."""
    rounded = f'digits = {{ "classification.auc" = {digits} }}\n' if digits else ""
    disclosure = audit(changed(tmp_path, OPEN + rounded), 0)
    labels = disclosure.labels[0]
    auc = [figure for figure in disclosure.made_of(labels) if figure.metric == "classification.auc"]
    assert [figure.digits for figure in auc] == ([digits] * 3 if digits else [4, 3, 3])
    of_auc = math.log2(values * ((ends + 1) * (ends + 2) / 2) ** 2)
    assert bits_of(auc) == pytest.approx(of_auc)
    assert bits_of(disclosure.made_of(labels)) == pytest.approx(
        of_auc + math.log2(13 * (1001 * 1002 / 2) ** 2)
    )
    assert disclosure.bound(labels) == 1


def test_wilson_intervals_tell_no_more_than_the_count_behind_a_share(tmp_path):
    """Ten referable of 61: 11 counts of detected eyes; each bootstrap interval adds pairs of ends."""
    disclosure = audit(changed(tmp_path, OPEN + 'public_detail = "full"\n', name="justraigs-phase1"), 0)
    name = "referral.sensitivity_at_95_specificity"
    value, bootstrap, wilson, unseen = (figure for figure in disclosure.figures if figure.metric == name)
    assert (wilson.what, wilson.bits()) == ("further intervals", 0)
    assert bits_of([value, bootstrap, unseen]) == pytest.approx(math.log2(11 * (1001 * 1002 / 2) ** 2))


def test_figures_count_for_the_labels_of_their_reference(tmp_path):
    """Dice does not tell who has glaucoma; the features of referable eyes tell who is referable."""
    refuge = audit(changed(tmp_path, ""), 0)
    tasks = {labels.name: labels.tasks for labels in refuge.labels}
    assert tasks == {
        "classification.glaucoma": ("classification",),
        "fovea_x": ("fovea",),
        "fovea_y": ("fovea",),
    }
    eyes = audit(changed(tmp_path, "", name="justraigs-phase1"), 0)
    assert all(labels.tasks == ("referral", "decision", "justification") for labels in eyes.labels)
    assert {"referral.referable", "agreed large cup"} <= {labels.name for labels in eyes.labels}


DAYS = "opens_at = 2024-01-01T00:00:00Z\ncloses_at = 2024-01-11T00:00:00Z\n"


@pytest.mark.parametrize(
    ("submissions", "limit"),
    [
        ("", math.inf),
        ("limit = 0", 0),
        ("limit = 2", 2),
        ("limit = 2\nperiod_days = 7", math.inf),
        # Ten days overlap three periods of seven at most.
        (f"limit = 2\nperiod_days = 7\n{DAYS}", 6),
        (f"limit = 2\n{DAYS}", 2),
    ],
)
def test_a_limit_is_of_all_submissions(submissions, limit):
    assert limit_of(read_table(Submissions, tomllib.loads(submissions))) == limit


@pytest.mark.parametrize(
    ("limit", "accepted", "told"),
    [(2, [], False), (3, [], True), (None, [], True), (3, ["class*", "fovea_*"], False)],
)
def test_seal_warns_of_labels_that_the_submissions_could_tell(tmp_path, limit, accepted, told):
    """Two submissions learn at most 26.2 of 32.4 bits, three 39.3."""
    lines = "submissions = {}\n" if limit is None else f"submissions = {{ limit = {limit} }}\n"
    phase = changed(tmp_path, lines + f"learnable_labels = {json.dumps(accepted)}\n")
    found = validate_phase(phase.folder, scan(phase.folder), 0).notices
    assert [("classification.glaucoma (3)" in notice) for notice in found] == [True] * told


@pytest.mark.parametrize("name", sorted(path.name for path in (REPOSITORY / "ground-truth").iterdir()))
def test_bundled_phases_allow_fewer_submissions_than_could_tell_their_labels(name):
    folder = REPOSITORY / "ground-truth" / name
    phase = load_phase(folder, scan(folder))
    assert warnings_of(audit(phase, 0)) == []


def test_the_page_tells_how_much_of_their_labels_bundled_phases_give_up():
    """Between which shares the label lies that the submissions of a phase tell most of."""
    text = (REPOSITORY / "docs" / "what-results-reveal.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"submissions tell (\d+) to (\d+) % of the bits of one label", text)
    shares = []
    for path in REPOSITORY.glob("ground-truth/*/phase.toml"):
        if path.parent.name != "cysts":  # its submissions have no limit
            found = audit(load_phase(path.parent, scan(path.parent)), 0)
            shares.append(max(found.share(one) for one in found.labels if not one.accepted))
    assert (f"{100 * min(shares):.0f}", f"{100 * max(shares):.0f}") == told


@pytest.mark.parametrize(
    ("lines", "tables"),
    [
        ("", ""),
        (OPEN, ""),
        (OPEN + "resamples = 0", ""),
        ('publish_label_subgroups = ["eye"]\nsubgroup_minimum = 5', '[[subgroups]]\ncolumn = "eye"\n'),
        ("publish_cases = true", ""),
    ],
)
def test_every_published_number_is_counted(tmp_path, lines, tables):
    """Against the numbers in metrics.json; half-widths follow from the ends, methods, reasons are words."""
    phase = changed(tmp_path, lines + "\n", tables)
    result = evaluate(phase, REPOSITORY / "test" / "input" / "refuge-onsite", 0)
    content = json.loads(render(asdict(result.metrics)))
    paths = [
        path
        for path in public_paths({key: content.get(key, {}) for key in ("aggregates", "subgroups", "case")})
        if not path.endswith((".half_width", ".method", ".interval"))
    ]
    assert sum(figure.numbers for figure in audit(phase, 0).figures) == len(paths)
