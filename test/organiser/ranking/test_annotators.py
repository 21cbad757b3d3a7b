"""REFUGE, section 4.1: two experts beside the teams."""

from fractions import Fraction

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea, SensitivityAtSpecificity
from evaluation.core.estimator import Mean
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.organiser.ranking.annotators import describe_annotators, operating_point, read_annotators
from evaluation.organiser.ranking.results import RankingError
from test.faults import faulted

# 40 positives, then 360 negatives. Both experts find the same 34 positives. They call 328 and 329 negatives
# negative: 321 both, 7 the first alone, 8 the second alone, 24 neither.
LABEL = np.repeat([1.0, 0.0], [40, 360])
FIRST = np.repeat([1.0, 0.0, 0.0, 0.0, 1.0, 1.0], [34, 6, 321, 7, 8, 24])
SECOND = np.repeat([1.0, 0.0, 0.0, 1.0, 0.0, 1.0], [34, 6, 321, 7, 8, 24])
METRICS = {
    "classification.auc": Metric("auc", "AUC", RocArea("likelihood", "glaucoma"), best=1, worst=0),
    "classification.sensitivity": Metric(
        "sensitivity",
        "Sensitivity",
        SensitivityAtSpecificity("likelihood", "glaucoma", Fraction(85, 100)),
        best=1,
        worst=0,
    ),
}
NAMES = [f"C{position}" for position in range(400)]
TABLES = {
    "classification": CaseTable(NAMES, [{"likelihood": 0.0, "glaucoma": label} for label in LABEL.tolist()])
}


def described(**columns: np.ndarray):
    return describe_annotators(columns, METRICS, TABLES)


def test_the_published_figures_of_the_two_experts():
    found = described(first=FIRST, second=SECOND)
    first, second = found.points["first"], found.points["second"]
    assert (first.true_positives, first.positives) == (second.true_positives, second.positives) == (34, 40)
    assert (first.true_negatives, second.true_negatives, first.negatives) == (328, 329, 360)
    # 85 %, 91.11 % and 91.39 %, 90.50 % and 90.75 %.
    assert (first.sensitivity, first.specificity, first.accuracy) == (34 / 40, 328 / 360, 362 / 400)
    assert (second.sensitivity, second.specificity, second.accuracy) == (34 / 40, 329 / 360, 363 / 400)
    (pair,) = found.agreement
    assert (pair.agreed, pair.cases) == (385, 400)  # 96.25 %
    consensus = pair.consensus
    assert (consensus.true_positives, consensus.positives) == (34, 40)
    assert (consensus.true_negatives, consensus.negatives) == (321, 345)
    assert consensus.accuracy == 355 / 385  # 92.21 %


def test_a_score_is_a_classifier():
    # The score of half of the positives is above that of all negatives, the rest is tied: AUC 0.75.
    score = np.where(np.arange(400) < 20, 0.9, 0.4)
    found = described(ratio=score)
    assert found.points == {}
    assert found.classifiers == {
        "ratio": {"classification.auc": pytest.approx(0.75), "classification.sensitivity": 0.5}
    }


def test_annotators_who_read_some_cases():
    partial = FIRST.copy()
    partial[:30] = np.nan
    point = described(partial=partial).points["partial"]
    assert (point.true_positives, point.positives) == (4, 10)
    nothing = operating_point(np.full(400, np.nan), LABEL)
    assert (nothing.sensitivity, nothing.specificity, nothing.accuracy) == (None, None, None)


def test_a_challenge_without_a_curve_has_no_annotators():
    metrics = {"t.dice": Metric("dice", "Dice", Mean("dice"), best=1, worst=0)}
    with faulted(RankingError, "annotators"):
        describe_annotators({"a": FIRST}, metrics, {})


def test_reading_the_table(tmp_path):
    path = tmp_path / "annotators.csv"
    path.write_text("name,a,b\nc2.png,1,0.5\nC1,,1\n", encoding="utf-8")
    columns = read_annotators(path, ("C1", "C2", "C3"))
    np.testing.assert_array_equal(columns["a"], [np.nan, 1, np.nan])
    np.testing.assert_array_equal(columns["b"], [1, 0.5, np.nan])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("case,a\nC1,1\n", "column 'name' (did you mean 'case'?) is missing"),
        ("name\nC1\n", "expected a column for each annotator, found 'name' alone"),
        ("name,a,a\nC1,1,1\n", "duplicate column 'a'"),
        ("name,a\nC9,1\n", "line 2, name: 'C9' is not a case of this phase"),
        ("name,a\nC1,1\nC1,0\n", "line 3, name: 'C1' is also in an earlier row"),
        ("name,a\nC1,yes\n", 'line 2, a: expected a finite number, found "yes"'),
        ("name,a\nC1\n", "line 2: expected 2 cells"),
    ],
)
def test_faults_of_the_table(tmp_path, text, problem):
    path = tmp_path / "annotators.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PhaseError) as error:
        read_annotators(path, ("C1", "C2"))
    assert problem in str(error.value)
