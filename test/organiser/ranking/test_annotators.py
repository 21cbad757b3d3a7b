"""Annotators beside teams: REFUGE's two experts, and the values of ADAM's Tables 7 and 14."""

from fractions import Fraction

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea, SensitivityAtSpecificity
from evaluation.core.estimator import Mean
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.organiser.ranking.annotator_scores import beside_teams, read_annotator_scores
from evaluation.organiser.ranking.annotators import describe_annotators, operating_point, read_annotators
from evaluation.organiser.ranking.leaderboard_file import MetricOfTeam, Team
from evaluation.organiser.ranking.results import RankingError
from test.faults import faulted
from test.organiser.ranking.test_published import read

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


def test_scores_and_annotators_who_read_some_cases():
    # The score of half of the positives is above that of all negatives, the rest is tied: AUC 0.75.
    score = np.where(np.arange(400) < 20, 0.9, 0.4)
    found = described(ratio=score)
    assert found.points == {}
    assert found.classifiers == {
        "ratio": {"classification.auc": pytest.approx(0.75), "classification.sensitivity": 0.5}
    }
    partial = FIRST.copy()
    partial[:30] = np.nan
    point = described(partial=partial).points["partial"]
    assert (point.true_positives, point.positives) == (4, 10)
    nothing = operating_point(np.full(400, np.nan), LABEL)
    assert (nothing.sensitivity, nothing.specificity, nothing.accuracy) == (None, None, None)
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
    ("text", "told"),
    [
        ("case,a\nC1,1\n", ("'name'",)),
        ("name\nC1\n", ("'name'",)),
        ("name,a,a\nC1,1,1\n", ("'a'",)),
        ("name,a\nC9,1\n", ("line 2, name", "'C9'")),
        ("name,a\nC1,1\nC1,0\n", ("line 3, name", "'C1'")),
        ("name,a\nC1,yes\n", ("line 2, a", '"yes"')),
    ],
)
def test_faults_of_the_table(tmp_path, text, told):
    path = tmp_path / "annotators.csv"
    path.write_text(text, encoding="utf-8")
    with faulted(PhaseError, *told):
        read_annotators(path, ("C1", "C2"))


BETTER = {"disc.dice": "higher", "disc.f1": "higher", "fovea.distance": "lower"}


def team(name, **metrics):
    values = {key.replace("__", "."): MetricOfTeam(float(value)) for key, value in metrics.items()}
    return Team(name, True, name, 1, values, {})


@pytest.fixture
def annotators(tmp_path):
    path = tmp_path / "annotators.csv"
    columns = {"disc.dice": "disc_dice", "disc.f1": "disc_f1", "fovea.distance": "fovea_distance"}
    lines = [",".join(["annotator", *columns])]
    lines += [
        ",".join([row["grader"], *(row[column] for column in columns.values())])
        for row in read("adam_table14_graders.csv")
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return read_annotator_scores(path, BETTER)


def test_what_the_paper_says_of_the_fovea(annotators):
    rows = read("adam_table7_fovea.csv")
    teams = [team(row["team"], fovea__distance=row["euclidean_distance"]) for row in rows]
    found = {
        row.name: row
        for row in beside_teams(teams, {row["team"] for row in rows}, annotators, BETTER)
        if row.metric == "fovea.distance"
    }
    # Section 4.4: two teams are better than user3, and the top six better than user5.
    assert (found["user3"].teams_better, found["user3"].rank, found["user3"].value) == (2, 3, 21.1393)
    assert (found["user5"].teams_better, found["user5"].teams_worse) == (6, 4)
    assert list(found)[:4] == ["VUNO EYE TEAM", "ForbiddenFruit", "user3", "Voxelcloud"]
    assert {row.kind for row in found.values()} == {"team", "annotator"}


def test_ties_teams_that_are_not_ranked_and_metrics_of_annotators():
    teams = [team("a", disc__dice=0.9), team("b", disc__dice=0.8), team("x", disc__dice=0.9)]
    rows = beside_teams(teams, {"a", "b"}, {"user": {"disc.dice": 0.8}}, BETTER)
    assert [
        (row.name, row.kind, row.rank, row.teams_better, row.teams_equal, row.teams_worse) for row in rows
    ] == [
        ("a", "team", 1, 0, 0, 1),
        ("x", "unranked team", 1, 0, 1, 1),
        ("b", "team", 2, 1, 0, 0),
        ("user", "annotator", 2, 1, 1, 0),
    ]
    rows = beside_teams([team("a", disc__dice=0.9, disc__f1=1)], {"a"}, {"user": {"disc.f1": 0.5}}, BETTER)
    assert {row.metric for row in rows} == {"disc.f1"}
    assert beside_teams([team("a", disc__dice=0.9)], {"a"}, {}, BETTER) == ()


def test_the_table_that_fuse_writes(tmp_path):
    path = tmp_path / "annotators.csv"
    path.write_text("annotator,task,metric,cases,value\nuser1,disc,dice,3,0.5\nuser1,fovea,distance,2,\n")
    assert read_annotator_scores(path, BETTER) == {"user1": {"disc.dice": 0.5}}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("annotator,dice\nuser1,0.5\n", ("annotators.csv",)),
        ("annotator,disc.volume\nuser1,0.5\n", ("line 2, metric", "'disc.volume'")),
        ("annotator,disc.dice\nuser1,0.5\nuser1,0.6\n", ("disc.dice of 'user1'",)),
        ("annotator,disc.dice\n,0.5\n", ("line 2, annotator", "nothing")),
        ("annotator,disc.dice\nuser1,much\n", ("line 2, disc.dice",)),
        ("annotator,disc.dice\n", ("annotators.csv", "none")),
    ],
)
def test_faults(tmp_path, text, told):
    path = tmp_path / "annotators.csv"
    path.write_text(text, encoding="utf-8")
    with faulted(PhaseError, *told):
        read_annotator_scores(path, BETTER)
