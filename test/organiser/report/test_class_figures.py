"""Figures of several classes, against scikit-learn."""

import numpy as np
import pytest
from sklearn import metrics

import evaluation
from evaluation.charts.chart import Chart
from evaluation.organiser.report.classification import classification_blocks
from evaluation.organiser.report.results import results_of
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase, write_table

CLASSES = ["none", "mild", "severe"]
TABLES = """\
[fields.grade]
kind = "class_probabilities"
classes = ["none", "mild", "severe"]

[fields.side]
kind = "class"
table = "sides.csv"
classes = ["left", "right"]

[tasks.grading.metrics]
macro_auc = { field = "grade" }
accuracy = { field = "grade" }
balanced_accuracy = { field = "grade" }
kappa = { metric = "cohen_kappa", field = "side" }
"""
COUNT = 60


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Return true grades, submitted probabilities of all cases but the last two, and the figures."""
    folder = tmp_path_factory.mktemp("classes")
    random = np.random.default_rng(4)
    grade = random.integers(0, 3, COUNT)
    shares = random.dirichlet(np.ones(3), COUNT) + 0.6 * np.eye(3)[grade]
    shares = np.round(shares / shares.sum(axis=1, keepdims=True), 4)
    names = [f"c{number:02d}" for number in range(COUNT)]
    sides = np.array(["left", "right"])[random.integers(0, 2, COUNT)]
    cases = {"name": names, "grade": np.array(CLASSES)[grade], "side": sides}
    phase = declared_phase(folder / "phase", TABLES, cases, keys='missing = "worst"\nresamples = 0')
    evaluation.seal(phase)
    given = slice(COUNT - 2)
    columns = {name: shares[given, i] for i, name in enumerate(CLASSES)}
    write_table(folder / "submission" / "predictions.csv", {"case": names[given], **columns})
    write_table(folder / "submission" / "sides.csv", {"case": names, "side": sides})
    scored = evaluation.evaluate(phase, folder / "submission", workers=0)
    results = results_of(load_phase(phase), scored.to_dict(), scored.records)
    charts = {block.name: block for block in classification_blocks(results) if isinstance(block, Chart)}
    return grade, shares, charts


def test_decided_classes_have_a_confusion_matrix(graded):
    grade, shares, charts = graded
    cells = charts["grading-grade-confusion-matrix"].data["cells"]
    counts = metrics.confusion_matrix(grade[:-2], shares[:-2].argmax(axis=1))
    found = {(cell["true"], cell["predicted"]): cell["cases"] for cell in cells}
    for i, true in enumerate(CLASSES):
        for j, predicted in enumerate(CLASSES):
            assert found[true, predicted] == counts[i, j]
        assert found[true, "no result"] == np.count_nonzero(grade[-2:] == i)
    sides = charts["grading-side-confusion-matrix"].data["cells"]
    assert {cell["predicted"] for cell in sides} == {"left", "right"}  # every case has a result
    assert sum(cell["cases"] for cell in sides if cell["true"] == cell["predicted"]) == COUNT


def test_each_class_has_a_curve_against_the_rest_and_its_calibration(graded):
    grade, shares, charts = graded
    rows = charts["grading-grade-classes-roc"].data["curves"]
    for position, name in enumerate(CLASSES):
        positive = grade == position
        score = shares[:, position].copy()
        score[-2:] = np.where(positive[-2:], -1, 2)  # a case without a result loses
        curve = [(row["false_positive_rate"], row["sensitivity"]) for row in rows if row["name"] == name]
        x, y = np.transpose(curve)
        # Without a result, a positive case is found at no threshold, a negative one is false at every one.
        assert y.max() == pytest.approx(1 - positive[-2:].sum() / positive.sum())
        assert x[y > 0].min() >= np.count_nonzero(~positive[-2:]) / np.count_nonzero(~positive) - 1e-12
        assert np.trapezoid(y, x) == pytest.approx(metrics.roc_auc_score(positive, score), abs=0.003)
    for position, name in enumerate(CLASSES):
        bins = charts[f"grading-grade-{name}-calibration"].data["bins"]
        assert sum(row["cases"] for row in bins) == COUNT - 2
        observed = sum(row["cases"] * row["observed"] for row in bins)
        assert observed == pytest.approx(np.count_nonzero(grade[:-2] == position))
        predicted = sum(row["cases"] * row["predicted"] for row in bins)
        assert predicted == pytest.approx(shares[:-2, position].sum())
