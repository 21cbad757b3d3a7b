"""A team's cup-to-disc ratio beside its likelihood, against scikit-learn and DeLong's formula written out."""

import json
import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from evaluation.core.class_estimators import RocArea
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking.classifiers import classifiers_of_teams
from evaluation.organiser.ranking.leaderboard_writing import write_organiser_part
from evaluation.organiser.ranking.pair_tests import TestChoice
from evaluation.organiser.ranking.resampling import TeamCases
from evaluation.organiser.ranking.results import RankingError
from test.faults import faulted
from test.organiser.ranking.teams import labels, refuge_columns, write_team
from test.organiser.ranking.test_leaderboard import ranked

GLAUCOMA = labels(60, 20)
RATIO, TRUE_RATIO = "predicted_vertical_cup_to_disc_ratio", "reference_vertical_cup_to_disc_ratio"
LIKELIHOOD = "classification.likelihood"
TITLES = (LIKELIHOOD, f"segmentation.{RATIO}", f"segmentation.{TRUE_RATIO}")


def columns(seed: int, separation: float = 1.5):
    rng = np.random.default_rng(seed)
    found = refuge_columns(GLAUCOMA, rng, separation, 0.85)
    true = 0.5 + 0.1 * GLAUCOMA + 0.1 * np.random.default_rng(0).normal(size=60)
    found["segmentation"] |= {RATIO: np.round(true + 0.05 * rng.normal(size=60), 2), TRUE_RATIO: true}
    return found


def scores_of(found) -> dict[str, np.ndarray]:
    arrays = (
        found["classification"]["likelihood"],
        found["segmentation"][RATIO],
        found["segmentation"][TRUE_RATIO],
    )
    return dict(zip(TITLES, arrays, strict=True))


def delong_p(first: np.ndarray, second: np.ndarray) -> float:
    """DeLong's test, with the placements of every case written out."""
    areas, of_positives, of_negatives = [], [], []
    for score in (first, second):
        won = np.sign(score[GLAUCOMA == 1][:, None] - score[GLAUCOMA == 0][None, :]) / 2 + 0.5
        areas.append(won.mean())
        of_positives.append(won.mean(axis=1))
        of_negatives.append(won.mean(axis=0))
    covariance = np.cov(of_positives) / 20 + np.cov(of_negatives) / 40
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    return float(2 * norm.sf(abs(areas[0] - areas[1]) / math.sqrt(variance)))


def test_every_ratio_is_a_classifier_with_a_test_and_a_curve(tmp_path):
    teams = {"alpha": columns(1, 2.5), "beta": columns(2)}
    for team, of_team in teams.items():
        write_team(tmp_path / "teams" / team, of_team)
    part = ranked(tmp_path / "teams").organiser
    found = part.classifiers
    for team, of_team in teams.items():
        scores = scores_of(of_team)
        areas = {
            one.classifier: one
            for one in found.values
            if (one.metric, one.team) == ("classification.auc", team)
        }
        assert tuple(areas) == TITLES
        for title, score in scores.items():
            assert areas[title].value == pytest.approx(roc_auc_score(GLAUCOMA, score))
            assert areas[title].lower < areas[title].value < areas[title].upper
        tests = [one for one in found.tests if one.team == team]
        pairs = {(one.first, one.second) for one in tests}
        assert pairs == {(TITLES[0], TITLES[1]), (TITLES[0], TITLES[2]), (TITLES[1], TITLES[2])}
        for one in tests:
            assert one.method == "DeLong"
            assert one.difference == pytest.approx(areas[one.first].value - areas[one.second].value)
            assert one.p_value == pytest.approx(delong_p(scores[one.first], scores[one.second]))
            better = one.first if one.difference > 0 else one.second
            assert one.favours == better
        curves = {one.classifier: one for one in found.curves if one.team == team}
        for title, score in scores.items():
            curve = curves[title]
            area = np.trapezoid(curve.sensitivity, curve.false_positive_rate)
            assert area == pytest.approx(roc_auc_score(GLAUCOMA, score))
    written = {path.name: path for path in write_organiser_part(part, tmp_path, "")}
    assert "classifier-tests.csv" in written
    content = json.loads(written["organiser.json"].read_bytes())
    assert len(content["classifiers"]["curves"]) == 6


def test_p_is_corrected_for_the_teams_that_answer_one_question(tmp_path):
    for seed, team in enumerate("abc"):
        write_team(tmp_path / team, columns(seed, 2.0))
    (tmp_path / "teams.csv").write_text("team,eligible\nc,no\n", encoding="utf-8")
    tests = ranked(tmp_path).organiser.classifiers.tests
    question = {one.team: one for one in tests if (one.first, one.second) == TITLES[:2]}
    smaller, larger = sorted((question["a"], question["b"]), key=lambda one: one.p_value)
    # Holm's correction of two tests by hand; the team that is not ranked is alone in its family.
    assert smaller.p_holm == pytest.approx(min(1.0, 2 * smaller.p_value))
    assert larger.p_holm == pytest.approx(max(smaller.p_holm, larger.p_value))
    assert question["c"].p_holm == question["c"].p_value


def test_a_missing_mask_can_only_lower_the_area(tmp_path):
    complete, lost = columns(3), columns(3)
    lost["segmentation"][RATIO] = lost["segmentation"][RATIO].copy()
    lost["segmentation"][RATIO][[0, 59]] = np.nan
    for team, of_team in (("complete", complete), ("lost", lost)):
        write_team(tmp_path / team, of_team)
    found = ranked(tmp_path).organiser.classifiers
    areas = {
        one.team: one.value
        for one in found.values
        if (one.metric, one.classifier) == ("classification.auc", TITLES[1])
    }
    worst = lost["segmentation"][RATIO].copy()
    worst[[0, 59]] = -9, 9
    assert areas["lost"] == pytest.approx(roc_auc_score(GLAUCOMA, worst))
    assert areas["lost"] < areas["complete"]
    (test,) = (one for one in found.tests if one.team == "lost" and (one.first, one.second) == TITLES[:2])
    assert test.method == "randomisation"


def test_a_column_that_the_organiser_names_is_one_more_classifier(tmp_path):
    one_task = columns(5)
    del one_task["segmentation"]
    for team, of_team in (("a", columns(6)), ("without masks", one_task)):
        write_team(tmp_path / team, of_team)
    given = {"true ratio": f"segmentation.{TRUE_RATIO}", "Dice": "segmentation.dice_cup"}
    found = ranked(tmp_path, classifiers=given).organiser.classifiers
    titles = {one.classifier for one in found.values}
    assert titles == {LIKELIHOOD, f"segmentation.{RATIO}", "true ratio", "Dice"}
    assert {one.team for one in (*found.values, *found.tests, *found.curves)} == {"a"}


def test_columns_need_a_curve():
    metrics = {"t.dice": Metric("dice", "Dice", Mean("dice"), best=1, worst=0)}
    arguments = (TeamCases((), ()), (), Resampling(0, 0, 10), TestChoice(0))
    assert classifiers_of_teams(metrics, {}, *arguments).values == ()
    with faulted(RankingError, "annotators"):
        classifiers_of_teams(metrics, {"x": "t.x"}, *arguments)
    curved = {"t.auc": Metric("auc", "AUC", RocArea("likelihood", "label"), best=1, worst=0)}
    assert classifiers_of_teams(curved, {"x": "t.x"}, *arguments).values == ()
