"""Teams at the experts' specificity, with the counts of REFUGE's experts (section 4.1) and with oracles."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import roc_curve

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking.pair_tests import TestChoice
from evaluation.organiser.ranking.readers import AnnotatorPoint, _Compared, annotator_points, mcnemar_p
from evaluation.organiser.ranking.resampling import TeamCases

METRICS = {"classification.auc": Metric("auc", "AUC", RocArea("likelihood", "glaucoma"), best=1, worst=0)}
# 40 positives, then 360 negatives; the first expert detects 34 and calls 328 negatives negative.
LABEL = np.repeat([1.0, 0.0], [40, 360])
EXPERT = np.repeat([1.0, 0.0, 0.0, 1.0], [34, 6, 328, 32])


def points(
    scores: dict[str, np.ndarray],
    decisions: dict[str, np.ndarray],
    label: np.ndarray = LABEL,
    clusters: dict[str, str] | None = None,
    ranked: tuple[str, ...] | None = None,
) -> dict[tuple[str, str], AnnotatorPoint]:
    names = [f"C{position}" for position in range(len(label))]
    tables = tuple(
        {
            "classification": CaseTable(
                names, [{"likelihood": x, "glaucoma": y} for x, y in zip(score, label, strict=True)]
            )
        }
        for score in scores.values()
    )
    found = annotator_points(
        lambda names: decisions,
        METRICS,
        TeamCases(tuple(scores), tables, clusters),
        tuple(scores) if ranked is None else ranked,
        Resampling(seed=1, resamples=200, interval_minimum=10),
        TestChoice(1),
    )
    return {(one.annotator, one.team): one for one in found}


def test_a_team_that_finds_four_more_at_the_experts_specificity():
    # 38 positives score 2. Of the negatives, 32 score 2 too and 328 less: the specificity is just reached.
    score = np.repeat([2.0, 0.0, 1.0, 2.0], [38, 2, 328, 32])
    found = points({"team": score}, {"expert": EXPERT})["expert", "team"]
    assert (found.positives, found.negatives) == (40, 360)
    assert (found.specificity, found.annotator_sensitivity) == (328 / 360, 34 / 40)
    assert found.team_sensitivity == 38 / 40
    assert found.difference == pytest.approx(0.1)  # "increments in sensitivity up to a 10 %" (section 5.3)
    assert (found.only_team, found.only_annotator) == (4, 0)
    assert found.p_value == pytest.approx(2 / 2**4)
    assert found.lower <= 0.1 <= found.upper
    # One negative more among the high scores: the threshold must rise above all scores.
    score[40 + 327] = 2.0
    assert points({"team": score}, {"expert": EXPERT})["expert", "team"].team_sensitivity == 0.0


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs(first, second):
    expected = binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar_p(first, second) == pytest.approx(expected)


@given(st.data())
def test_the_sensitivity_is_the_highest_on_scikit_learns_curve_at_that_specificity(data):
    drawn = data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=30))
    label = np.array([*drawn, 0.0, 1.0])
    cells = st.lists(st.integers(0, 5), min_size=len(label), max_size=len(label))
    score = np.array(data.draw(cells), dtype=float)
    decision = (np.array(data.draw(cells)) > 2).astype(float)
    found = points({"t": score}, {"e": decision}, label)["e", "t"]
    false_positive_rate, sensitivity, _ = roc_curve(label, score, drop_intermediate=False)
    reached = false_positive_rate <= np.mean(decision[label == 0]) + 1e-9
    assert found.team_sensitivity == pytest.approx(sensitivity[reached].max())


def test_which_cases_enter_and_a_missing_positive_is_never_detected():
    label, decision = LABEL.copy(), EXPERT.copy()
    label[:5] = np.nan
    decision[395:] = np.nan
    score = np.linspace(1, 0, 400)
    found = points({"team": score}, {"expert": decision}, label)["expert", "team"]
    assert (found.positives, found.negatives) == (35, 355)
    assert found.specificity == 328 / 355
    everything = np.ones(400)
    score = np.where(LABEL > 0, -math.inf, 0.0)
    found = points({"team": score}, {"expert": everything})["expert", "team"]
    # The expert calls all positive: every threshold has the specificity 0.
    assert (found.specificity, found.annotator_sensitivity, found.team_sensitivity) == (0.0, 1.0, 0.0)


def test_holm_clusters_and_what_is_no_operating_point():
    better = np.repeat([2.0, 0.0, 1.0, 2.0], [40, 0, 328, 32])
    scores = {"a": better, "b": EXPERT, "ensemble": better}
    found = points(scores, {"expert": EXPERT}, ranked=("a", "b"))
    assert found["expert", "a"].p_value == pytest.approx(2 / 2**6)
    assert found["expert", "a"].p_holm == pytest.approx(2 * 2 / 2**6)
    assert found["expert", "ensemble"].p_holm == found["expert", "ensemble"].p_value
    # All differences are in one person: with two signs for it, p is 1.
    score = np.repeat([2.0, 0.0, 1.0, 2.0], [38, 2, 328, 32])
    persons = {f"C{position}": "" for position in range(400)} | {f"C{i}": "one" for i in range(34, 38)}
    found = points({"team": score}, {"expert": EXPERT}, clusters=persons)["expert", "team"]
    assert found.difference == pytest.approx(0.1)
    assert found.method == "permutation of the mean"
    assert found.p_value == 1.0
    nothing = np.full(400, np.nan)
    positives_only = np.where(LABEL > 0, 1.0, np.nan)
    decisions = {"score": np.linspace(0, 1, 400), "none": nothing, "half": positives_only}
    assert points({"team": np.linspace(1, 0, 400)}, decisions) == {}
    assert annotator_points(None, METRICS, TeamCases((), ()), (), Resampling(0, 0, 10), TestChoice(0)) == ()


def test_resampling_weights_count_cases():
    """The interval's figures are those of a table in which cases occur as often as they were drawn."""
    rng = np.random.default_rng(0)
    label = rng.random(40) < 0.4
    score, decision = rng.integers(0, 6, 40).astype(float), rng.random(40) < 0.5
    weights = rng.integers(0, 4, (20, 40)).astype(float)
    one = _Compared(score, label, decision, None)
    for row, difference in zip(weights, one.difference(weights), strict=True):
        drawn = np.repeat(np.arange(40), row.astype(int))
        again = _Compared(score[drawn], label[drawn], decision[drawn], None)
        assert difference == pytest.approx(again.difference(np.ones((1, drawn.size)))[0])
