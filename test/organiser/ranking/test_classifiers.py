"""Further classifiers, operating points and subgroups of teams, against scikit-learn and formulas."""

import json
import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t
from sklearn.metrics import roc_auc_score, roc_curve

from evaluation.challenges.adam import CHALLENGE, AdamOptions
from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea
from evaluation.core.estimator import Mean
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking.classifiers import (
    classifiers_of_teams,
    operating_points,
)
from evaluation.organiser.ranking.difficulty import require_subgroups, values_by_subgroup
from evaluation.organiser.ranking.leaderboard import write_phase
from evaluation.organiser.ranking.resampling import TeamCases
from evaluation.phase.config import Subgroup
from evaluation.phase.scores import RecordedColumns
from test.faults import faulted
from test.organiser.ranking.teams import labels, ranked, refuge_columns, write_team

GLAUCOMA = labels(60, 20)
RATIO, TRUE_RATIO = "predicted_vertical_cup_to_disc_ratio", "reference_vertical_cup_to_disc_ratio"
LIKELIHOOD = "classification.likelihood"
TITLES = (LIKELIHOOD, f"segmentation.{RATIO}", f"segmentation.{TRUE_RATIO}")


def columns_of(seed: int, separation: float = 1.5):
    rng = np.random.default_rng(seed)
    found = refuge_columns(GLAUCOMA, rng, separation, 0.85)
    true = 0.5 + 0.1 * GLAUCOMA + 0.1 * np.random.default_rng(0).normal(size=60)
    found["segmentation"] |= {RATIO: np.round(true + 0.05 * rng.normal(size=60), 2), TRUE_RATIO: true}
    return found


def scores_of(found) -> dict[str, np.ndarray]:
    masks = found["segmentation"]
    arrays = (found["classification"]["likelihood"], masks[RATIO], masks[TRUE_RATIO])
    return dict(zip(TITLES, arrays, strict=True))


def delong_p(first: np.ndarray, second: np.ndarray) -> float:
    """DeLong's test, with the placements of every case written out."""
    areas, of_positives, of_negatives = [], [], []
    for score in (first, second):
        won = np.sign(score[GLAUCOMA == 1][:, None] - score[GLAUCOMA == 0][None, :]) / 2 + 0.5
        areas.append(won.mean())
        of_positives.append(won.mean(axis=1))
        of_negatives.append(won.mean(axis=0))
    first, second = (
        np.var(np.diff(of_positives, axis=0), ddof=1) / 20,
        np.var(np.diff(of_negatives, axis=0), ddof=1) / 40,
    )
    freedom = (first + second) ** 2 / (first**2 / 19 + second**2 / 39)
    return float(2 * t.sf(abs(areas[0] - areas[1]) / math.sqrt(first + second), freedom))


def test_every_ratio_is_a_classifier_with_a_test_and_a_curve(tmp_path):
    teams = {"alpha": columns_of(1, 2.5), "beta": columns_of(2)}
    for team, of_team in teams.items():
        write_team(tmp_path / "teams" / team, of_team)
    phase = ranked(tmp_path / "teams")
    part = phase.organiser
    values = [one for one in part.classifiers.values if one.metric == "classification.auc"]
    for team, of_team in teams.items():
        scores = scores_of(of_team)
        areas = {one.classifier: one for one in values if one.team == team}
        curves = {title: of_teams[team] for title, of_teams in part.classifiers.curves.items()}
        assert tuple(areas) == TITLES
        for title, score in scores.items():
            expected = pytest.approx(roc_auc_score(GLAUCOMA, score))
            figure = areas[title].figure
            assert figure.value == expected
            assert figure.lower < figure.value < figure.upper
            assert np.trapezoid(curves[title].sensitivity, curves[title].false_positive_rate) == expected
        tests = [one for one in part.classifiers.tests if one.team == team]
        assert {(one.first, one.second) for one in tests} == set(combinations(TITLES, 2))
        for one in tests:
            found = one.difference
            assert found.method == "DeLong"
            expected = areas[one.first].figure.value - areas[one.second].figure.value
            assert found.value == pytest.approx(expected)
            assert found.p_value == pytest.approx(delong_p(scores[one.first], scores[one.second]))
            assert one.favours == (one.first if found.value > 0 else one.second)
    written = {path.name: path for path in write_phase(phase, tmp_path, "")}
    assert "classifier-tests.csv" in written
    assert len(json.loads(written["organiser.json"].read_bytes())["classifiers"]["curves"]) == 3


def test_p_is_corrected_for_the_teams_that_answer_one_question(tmp_path):
    for seed, team in enumerate("abc"):
        write_team(tmp_path / team, columns_of(seed, 2.0))
    (tmp_path / "teams.csv").write_text("team,eligible\nc,no\n", encoding="utf-8")
    tests = ranked(tmp_path).organiser.classifiers.tests
    question = {one.team: one for one in tests if (one.first, one.second) == TITLES[:2]}
    p_values = {team: one.difference.p_value for team, one in question.items()}
    smaller, larger = sorted("ab", key=p_values.get)
    # Holm's correction of two tests by hand; the team that is not ranked is alone in its family.
    assert question[smaller].p_holm == pytest.approx(min(1.0, 2 * p_values[smaller]))
    assert question[larger].p_holm == pytest.approx(max(question[smaller].p_holm, p_values[larger]))
    assert question["c"].p_holm == p_values["c"]


def test_a_missing_mask_can_only_lower_the_area(tmp_path):
    lost = columns_of(3)
    worst = lost["segmentation"][RATIO].copy()
    worst[[0, 59]] = -9, 9
    lost["segmentation"][RATIO] = np.where(np.abs(worst) == 9, np.nan, worst)
    for team, of_team in (("complete", columns_of(3)), ("lost", lost)):
        write_team(tmp_path / team, of_team)
    found = ranked(tmp_path).organiser.classifiers
    of_ratio = [one for one in found.values if one.classifier == TITLES[1]]
    areas = {one.team: one.figure.value for one in of_ratio if one.metric == "classification.auc"}
    assert areas["lost"] == pytest.approx(roc_auc_score(GLAUCOMA, worst))
    assert areas["lost"] < areas["complete"]
    (test,) = (one for one in found.tests if one.team == "lost" and (one.first, one.second) == TITLES[:2])
    assert test.difference.method == "DeLong"


def test_columns_need_a_curve():
    metrics = {"t.dice": Metric("dice", "Dice", Mean("dice"), best=1, worst=0)}
    arguments = (TeamCases((), ()), (), Resampling(0, 0, 10))
    assert classifiers_of_teams(metrics, (), *arguments).values == ()
    with faulted(PhaseError, "annotators"):
        classifiers_of_teams(metrics, ["t.x"], *arguments)
    curved = {"t.auc": Metric("auc", "AUC", RocArea("likelihood", "label"), best=1, worst=0)}
    assert classifiers_of_teams(curved, ["t.x"], *arguments).values == ()


TASKS = CHALLENGE.tasks(AdamOptions())


def classified(likelihoods, amd):
    names = tuple(f"T{number:03}" for number in range(len(amd)))
    rows = [
        {"likelihood": likelihood, "amd": label} for likelihood, label in zip(likelihoods, amd, strict=True)
    ]
    return {"classification": CaseTable(names, rows)}


def test_sensitivity_where_the_false_positive_rate_is_a_fifth():
    rng = np.random.default_rng(5)
    # The on-site set: 89 images with AMD and 311 without, so that 62 of 311 may be false positives.
    amd = (np.arange(400) < 89).astype(float)
    likelihoods = {team: np.round(rng.normal(shift * amd), 2) for team, shift in (("a", 2.0), ("b", 0.5))}
    cases = TeamCases(("a", "b"), tuple(classified(values.tolist(), amd) for values in likelihoods.values()))
    found = operating_points(TASKS, cases)
    assert [(point["task"], point["team"]) for point in found] == [
        ("classification", "a"),
        ("classification", "b"),
    ]
    for point in found:
        false, true, _ = roc_curve(amd, likelihoods[point["team"]], drop_intermediate=False)
        assert point["sensitivity"] == pytest.approx(true[np.rint(false * 311) <= 62].max())
        assert point["false_positives"] <= 62
        assert point["false_positive_rate"] == pytest.approx(point["false_positives"] / 311)
        assert point["true_positives"] + point["false_negatives"] == 89
        assert point["specificity"] == pytest.approx(1 - point["false_positive_rate"])
        above = likelihoods[point["team"]] >= point["threshold"]
        assert (above & (amd == 0)).sum() == point["false_positives"]


def test_a_team_without_the_task_and_a_set_without_a_class_have_no_point():
    one_class = classified([0.5, 0.7], [1.0, 1.0])
    assert operating_points(TASKS, TeamCases(("a", "b"), (one_class, None))) == ()


NAMES = tuple("abcdefgh")
AMD = [1, 1, 1, 1, 0, 0, 0, 0]
SEVERITY = ("early", "early", "late", "late", "", "", "", "")
AGE = ("30", "40", "59.9", "60", "100", "9", "", "60")
RISKS = {"x": [0.5, 0.6, 0.7, 0.1, 0.2, 0.55, 0.3, 0.4], "y": [0.9, 0.8, 0.2, 0.3, 0.1, 0.1, 0.25, 0.85]}
DICE = {"x": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, math.nan, 0.8], "y": [1.0] * 8}
OF_GROUPS = {
    "classification.auc": Metric("auc", "AUC", RocArea("likelihood", "amd"), 1, 0),
    "disc.dice": mean_metric("dice", "Dice", 1, 0),
}


@pytest.fixture
def cases() -> TeamCases:
    tables = []
    for team in "xy":
        rows = zip(RISKS[team], AMD, strict=True)
        tables.append(
            {
                "classification": CaseTable(NAMES, [{"likelihood": a, "amd": b} for a, b in rows]),
                "disc": CaseTable(NAMES, [{"dice": value} for value in DICE[team]]),
            }
        )
    return TeamCases(("x", "y"), tuple(tables))


def recorded(*subgroups: Subgroup) -> RecordedColumns:
    given = {subgroup.column: subgroup for subgroup in subgroups}
    return RecordedColumns(NAMES, {"severity": SEVERITY, "age": AGE}, given)


def test_positives_of_a_severity_against_all_negatives(cases):
    severity = Subgroup(column="severity", compare="positives")
    found = values_by_subgroup(OF_GROUPS, cases, recorded(severity), ["severity"])
    areas = [row for row in found if row.metric == "classification.auc"]
    of_all = [(subgroup, team) for subgroup in ("early", "late") for team in "xy"]
    assert [(row.subgroup, row.team) for row in areas] == of_all
    # A mean has no classes and takes the cases of the subgroup.
    means = [(row.subgroup, row.compare, row.cases, row.value) for row in found if row.team == "x"][2:]
    assert means == [("early", "cases", 2, pytest.approx(0.15)), ("late", "cases", 2, pytest.approx(0.35))]
    for row in areas:
        chosen = [i for i in range(8) if SEVERITY[i] == row.subgroup or not AMD[i]]
        expected = roc_auc_score([AMD[i] for i in chosen], [RISKS[row.team][i] for i in chosen])
        assert row.value == pytest.approx(expected)
        assert (row.compare, row.cases, row.positives) == ("positives", 6, 2)


def test_bins_of_the_phase_in_their_order_or_the_values_of_a_column(cases):
    age = Subgroup(column="age", bins=(40, 60))
    found = values_by_subgroup(OF_GROUPS, cases, recorded(age), ["age"])
    of_x = [row for row in found if row.metric == "disc.dice" and row.team == "x"]
    # 30 and 9; 40 and 59.9; 60, 100 and 60. The age of the case without a Dice is unknown.
    assert [(row.subgroup, row.cases, row.value) for row in of_x] == [
        ("below 40", 2, pytest.approx((0.1 + 0.6) / 2)),
        ("40 to 60", 2, pytest.approx((0.2 + 0.3) / 2)),
        ("60 and above", 3, pytest.approx((0.4 + 0.5 + 0.8) / 3)),
    ]
    found = values_by_subgroup(OF_GROUPS, cases, recorded(), ["severity"])
    assert {row.subgroup for row in found} == {"early", "late"}
    # Without all negatives there is one class only, and so no AUC.
    assert {row.metric for row in found} == {"disc.dice"}


def test_many_numbers_need_bins():
    names = tuple(f"C{case}" for case in range(60))
    ages = tuple(str(20 + case % 37) for case in range(60))
    recorded = RecordedColumns(names, {"age": ages, "site": tuple(f"site {age}" for age in ages)})
    with faulted(PhaseError, "age", "37"):
        require_subgroups(recorded, ("site", "age"))
    require_subgroups(replace(recorded, subgroups={"age": Subgroup(column="age", bins=(30, 50))}), ("age",))
    with faulted(PhaseError, "sex"):
        require_subgroups(recorded, ("age", "sex"))
