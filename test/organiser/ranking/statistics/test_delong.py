import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from evaluation.metrics.intervals import components
from evaluation.organiser.ranking.pairwise import area_test

LABELS = np.array([1, 1, 1, 0, 0, 0], dtype=bool)


def delong(score, positive, first=0, second=1):
    """Return the areas of the teams and the test of two of them."""
    parts = components(score, positive)
    return parts.area, area_test(parts.of(first), parts.of(second), clustered=False)


def test_a_tiny_case_by_hand():
    # Team A, positives 4 3 1, negatives 2 0 0: placements of positives 1, 1, 2/3; of negatives 2/3, 1, 1.
    # Team B, positives 4 3 2, negatives 1 0 0: all 1. AUC 8/9 and 1. The difference per positive is
    # 0, 0, −1/3: variance 1/27; the same per negative. Of the areas: (1/27)/3 + (1/27)/3 = 2/81.
    areas, found = delong([[4, 3, 1, 2, 0, 0], [4, 3, 2, 1, 0, 0]], LABELS)
    np.testing.assert_allclose(areas, [8 / 9, 1])
    assert found.p_value == pytest.approx(2 * norm.sf((1 / 9) / math.sqrt(2 / 81)), rel=1e-12)
    assert found.standard_error == pytest.approx(math.sqrt(2) / 9)


def test_equal_areas_without_variance():
    assert delong([[4, 3, 1, 2, 0, 0], [40, 30, 10, 20, 0, 0]], LABELS)[1].p_value == 1


def test_different_areas_without_variance_are_not_computable():
    # All right and all wrong: every placement differs by one.
    found = delong([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], LABELS)[1]
    assert found.p_value is None
    assert found.note == "the areas differ and their difference has no variance"


def structural_components(score: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """DeLong 1988, Eq. 4 and 5, as written."""
    won = np.array(
        [[1.0 if x > y else 0.5 if x == y else 0.0 for y in score[~positive]] for x in score[positive]]
    )
    return won.mean(axis=1), won.mean(axis=0)


@settings(max_examples=40)
@given(
    scores=st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=9, max_size=14),
    positives=st.integers(2, 6),
)
def test_against_the_definition_and_scikit_learn(scores, positives):
    score = np.array(scores, dtype=float).T
    positive = np.arange(score.shape[1]) < positives
    shares = [structural_components(of_team, positive) for of_team in score]
    covariance = np.cov([v10 for v10, _ in shares]) / positives + np.cov([v01 for _, v01 in shares]) / (
        score.shape[1] - positives
    )
    for i, j in combinations(range(3), 2):
        areas, found = delong(score, positive, i, j)
        assert areas[i] == pytest.approx(roc_auc_score(positive, score[i]), abs=1e-12)
        expected = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        assert found.standard_error == pytest.approx(math.sqrt(max(0, expected)), abs=1e-7)


@settings(max_examples=20)
@given(data=st.data(), positives=st.integers(2, 5))
def test_permuting_teams_or_cases_changes_nothing(data, positives):
    values = data.draw(st.lists(st.lists(st.integers(0, 5), min_size=9, max_size=9), min_size=3, max_size=3))
    score, positive = np.array(values, dtype=float), np.arange(9) < positives
    teams = np.array(data.draw(st.permutations(range(3))))
    cases = np.array(data.draw(st.permutations(range(9))))
    areas, found = delong(score, positive, *teams[:2])
    permuted, after = delong(score[teams][:, cases], positive[cases])
    np.testing.assert_array_equal(permuted, areas[teams])
    assert after == found


def test_the_standard_error_is_that_of_a_bootstrap():
    rng = np.random.default_rng(7)
    positive = np.arange(400) < 120
    common = rng.normal(size=400) + positive
    score = common + rng.normal(scale=[[0.6], [0.9]], size=(2, 400))
    strata = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    differences = []
    for _ in range(600):
        drawn = np.concatenate([rng.choice(stratum, stratum.size) for stratum in strata])
        areas = [roc_auc_score(positive[drawn], of_team[drawn]) for of_team in score]
        differences.append(areas[0] - areas[1])
    found = delong(score, positive)[1]
    # The bootstrap's own error at 600 resamples is 3 %.
    assert found.standard_error == pytest.approx(np.std(differences, ddof=1), rel=0.12)
