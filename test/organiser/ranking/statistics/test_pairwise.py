"""Tests between two teams: what they could have found, many of them at once, and areas by DeLong."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from evaluation.metrics.intervals import components
from evaluation.organiser.ranking.exchanges import mean_tests
from evaluation.organiser.ranking.pairwise import (
    PairTest,
    area_test,
    corrected,
    holm,
    significance_tiers,
)


def test_a_difference_of_that_size_is_found_with_80_percent_power():
    standard_error = 0.02
    shift = PairTest("z", 0.5, standard_error).detectable_difference() / standard_error
    critical = norm.ppf(0.975)
    assert norm.sf(critical - shift) == pytest.approx(0.80, abs=1e-9)
    assert shift == pytest.approx(2.8016, abs=1e-4)


def test_a_difference_is_found_with_that_power_beside_an_unseen_case():
    rng, shown, cases = np.random.default_rng(100), 0, 100
    spread, span = 0.05, 1.0
    planned = PairTest("", 0.5, spread / math.sqrt(cases), unseen=span / cases, units=cases)
    detectable = planned.detectable_difference(span)
    for _ in range(200):
        values = np.stack([rng.normal(detectable, spread, cases), np.zeros(cases)])
        (test,) = mean_tests(values, [(0, 1)], permutations=499, span=span)
        shown += test.p_value < 0.05
    assert 0.65 < shown / 200 < 0.93


@pytest.mark.parametrize(
    "test",
    [
        PairTest("no difference was seen", 1.0, 0.0),
        PairTest("three cases", 0.25, 0.1, least_p=0.25),
        PairTest("beyond the range", 0.5, 0.86),
    ],
)
def test_a_difference_that_cannot_be_found(test):
    assert test.detectable_difference(span=1.0) is None


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # By hand: 0.01·3, max(0.03, 0.02·2), max(0.04, 0.03·1).
        ([0.01, 0.02, 0.03], [0.03, 0.04, 0.04]),
        ([0.03, 0.01, 0.02], [0.04, 0.03, 0.04]),
        ([0.6, 0.5], [1.0, 1.0]),
        ([0.01, None, 0.02], [0.03, None, 0.04]),
        ([None], [None]),
        ([], []),
    ],
)
def test_holm(p_values, adjusted):
    assert holm(p_values) == [None if p is None else pytest.approx(p) for p in adjusted]


@pytest.mark.parametrize(
    ("teams", "different", "tiers"),
    [
        ([1, 2, 3], set(), [(1, 2, 3)]),
        ([1, 2, 3], {(1, 2), (1, 3), (2, 3)}, [(1,), (2,), (3,)]),
        # 3 is like 2, but it is the opener that counts.
        ([1, 2, 3], {(1, 3)}, [(1, 2), (3,)]),
        # 3 comes after the first that differs and cannot join again.
        ([1, 2, 3], {(1, 2)}, [(1,), (2, 3)]),
        ([], set(), []),
    ],
)
def test_tiers(teams, different, tiers):
    assert significance_tiers(teams, lambda a, b: (a, b) in different) == tuple(tiers)


@dataclass(frozen=True)
class Record:
    family: str
    p_value: float | None
    p_holm: float | None = None


def test_holm_within_families_and_pairs_that_could_not_be_tested():
    # Of two: 0.01 twice, then 0.04. Of three, one not computed: 0.02 three times, then 0.03 twice, but 0.06.
    values = [("a", 0.04), ("b", 0.02), ("b", None), ("a", 0.01), ("b", 0.03)]
    tests = [Record(family, p_value) for family, p_value in values]
    found = [test.p_holm for test in corrected(tests, lambda test: test.family)]
    assert found == [pytest.approx(0.04), pytest.approx(0.06), None, pytest.approx(0.02), pytest.approx(0.06)]
    assert corrected([], lambda test: test) == ()
    assert significance_tiers([1, 2], lambda a, b: None) is None
    # 2 opens a tier of its own, so that 1 and 3 need no test.
    answers = {(1, 2): True, (1, 3): None, (2, 3): False}
    assert significance_tiers([1, 2, 3], lambda a, b: answers[a, b]) == ((1,), (2, 3))


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


def test_areas_without_variance():
    assert delong([[4, 3, 1, 2, 0, 0], [40, 30, 10, 20, 0, 0]], LABELS)[1].p_value == 1
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
