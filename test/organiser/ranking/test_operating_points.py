"""Operating points of teams against scikit-learn, at ADAM's false-positive rate of 0.2."""

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from evaluation.challenges.adam import CHALLENGE, AdamOptions
from evaluation.core.case_table import CaseTable
from evaluation.organiser.ranking.classifiers import operating_points
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
