"""Operating points of teams against scikit-learn, at ADAM's false-positive rate of 0.2."""

import math

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from evaluation.challenges.adam import CHALLENGE, AdamOptions
from evaluation.core.case_table import CaseTable
from evaluation.organiser.ranking.classifiers import (
    TeamOperatingPoint,
    operating_points,
    predictive_values,
)
from evaluation.organiser.ranking.resampling import TeamCases

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
    assert [(point.task, point.team) for point in found] == [("classification", "a"), ("classification", "b")]
    for point in found:
        false, true, _ = roc_curve(amd, likelihoods[point.team], drop_intermediate=False)
        assert point.sensitivity == pytest.approx(true[np.rint(false * 311) <= 62].max())
        assert point.false_positives <= 62
        assert point.false_positive_rate == pytest.approx(point.false_positives / 311)
        assert point.true_positives + point.false_negatives == 89
        assert point.specificity == pytest.approx(1 - point.false_positive_rate)
        above = likelihoods[point.team] >= point.threshold
        assert (above & (amd == 0)).sum() == point.false_positives


def test_a_team_without_the_task_and_a_set_without_a_class_have_no_point():
    one_class = classified([0.5, 0.7], [1.0, 1.0])
    assert operating_points(TASKS, TeamCases(("a", "b"), (one_class, None))) == ()


def point(hits, missed, false, rejected):
    shares = hits / (hits + missed), rejected / (rejected + false), false / (rejected + false)
    return TeamOperatingPoint("t", "a", 0.8, 0.5, *shares, hits, missed, false, rejected)


def test_predictive_values_at_a_prevalence():
    # Sensitivity 0.9, specificity 0.8. Of 1,000 persons 32 are positive: 28.8 found and 193.6 false alarms.
    (found,) = predictive_values([point(90, 10, 40, 160)], 0.032)
    assert found.positive == pytest.approx(28.8 / (28.8 + 193.6))
    assert found.negative == pytest.approx(774.4 / (774.4 + 3.2))
    # Mercaldo, Lau and Zhou 2007: the variance of the PPV's logit.
    centre = math.log(0.032 / 0.968 * 0.9 / 0.2)
    error = math.sqrt(0.1 / 0.9 / 100 + 0.8 / 0.2 / 200)
    ends = [1 / (1 + math.exp(-(centre + side * 1.959963984540054 * error))) for side in (-1, 1)]
    assert [found.positive_lower, found.positive_upper] == pytest.approx(ends)


@pytest.mark.parametrize(("counts", "positive"), [((50, 0, 0, 50), 1.0), ((0, 50, 0, 50), None)])
def test_predictive_values_without_a_wrong_or_a_positive_decision(counts, positive):
    (found,) = predictive_values([point(*counts)], 0.1)
    assert found.positive == positive
    assert 0 < found.positive_lower < found.positive_upper <= 1
    assert found.negative_lower < found.negative <= found.negative_upper
