"""DeLong's variance of one area against the definition, and Obuchowski's where cases belong together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from evaluation.metrics.intervals import area_variance, components


def placements(score: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """DeLong 1988, Eq. 4 and 5, as written."""
    won = np.array(
        [[1.0 if x > y else 0.5 if x == y else 0.0 for y in score[~positive]] for x in score[positive]]
    )
    return won.mean(axis=1), won.mean(axis=0)


def by_clusters(score: np.ndarray, positive: np.ndarray, units: np.ndarray) -> float:
    """Obuchowski 1997, as written: sums over clusters, one by one."""
    v10, v01 = placements(score, positive)
    area, m, n = v10.mean(), len(v10), len(v01)
    s10 = s01 = s11 = 0.0
    for unit in np.unique(units):
        of_positives = v10[units[positive] == unit]
        of_negatives = v01[units[~positive] == unit]
        first = of_positives.sum() - len(of_positives) * area
        second = of_negatives.sum() - len(of_negatives) * area
        s10, s01, s11 = s10 + first**2, s01 + second**2, s11 + first * second
    with_positive, with_negative = np.unique(units[positive]).size, np.unique(units[~positive]).size
    both = np.unique(units).size
    s10 *= with_positive / ((with_positive - 1) * m)
    s01 *= with_negative / ((with_negative - 1) * n)
    s11 *= both / (both - 1)
    return s10 / m + s01 / n + 2 * s11 / (m * n)


@settings(max_examples=40, deadline=None)
@given(
    score=st.lists(st.integers(0, 5), min_size=10, max_size=16),
    positives=st.integers(3, 6),
    size=st.sampled_from([1, 2, 3]),
    data=st.data(),
)
def test_against_the_definitions(score, positives, size, data):
    scores = np.array(score, dtype=float)
    positive = np.array(data.draw(st.permutations(np.arange(scores.size) < positives)))
    units = np.arange(scores.size) // size
    if min(np.unique(units[chosen]).size for chosen in (positive, ~positive)) < 2:
        return
    parts = components(scores, positive, units)
    assert float(parts.area) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)
    expected = by_clusters(scores, positive, units)
    assert area_variance(parts).variance == pytest.approx(max(0.0, expected), abs=1e-12)
    if size == 1:
        v10, v01 = placements(scores, positive)
        delong = v10.var(ddof=1) / v10.size + v01.var(ddof=1) / v01.size
        assert area_variance(parts).variance == pytest.approx(delong, abs=1e-12)
        assert components(scores, positive).won.tolist() == parts.won.tolist()


def test_degrees_of_freedom_by_hand():
    # Positives place 1, 1, ½ and negatives ½ + ½/… : one of 3 × 3 pairs is tied and one is lost.
    parts = components([4, 3, 1, 2, 1, 0], np.arange(6) < 3)
    v10, v01 = np.array([1, 1, 0.5]), np.array([2 / 3, 2.5 / 3, 1])
    first, second = v10.var(ddof=1) / 3, v01.var(ddof=1) / 3
    found = area_variance(parts)
    assert found.variance == pytest.approx(first + second)
    assert found.degrees_of_freedom == pytest.approx((first + second) ** 2 / (first**2 / 2 + second**2 / 2))


def test_doubled_cases_in_clusters_add_nothing():
    rng = np.random.default_rng(1)
    positive = np.arange(30) < 12
    score = rng.normal(size=30) + positive
    single = area_variance(components(score, positive)).variance
    doubled = components(np.repeat(score, 2), np.repeat(positive, 2), np.repeat(np.arange(30), 2))
    assert area_variance(doubled).variance == pytest.approx(single)


def test_several_classifiers_and_their_difference():
    rng = np.random.default_rng(2)
    positive = np.arange(40) < 15
    score = rng.normal(size=(2, 40)) + positive
    parts = components(score, positive)
    assert parts.area.tolist() == pytest.approx([roc_auc_score(positive, row) for row in score])
    difference = parts.of(0).minus(parts.of(1))
    v10, v01 = zip(*(placements(row, positive) for row in score), strict=True)
    expected = (v10[0] - v10[1]).var(ddof=1) / 15 + (v01[0] - v01[1]).var(ddof=1) / 25
    assert area_variance(difference).variance == pytest.approx(expected)
    assert area_variance(parts.of(0).minus(parts.of(0))).variance == 0


def test_missing_results_take_the_last_place():
    parts = components([-np.inf, 3, 2, np.inf], [True, True, False, False])
    # Of four pairs, (3, 2) alone is in order.
    assert float(parts.area) == 0.25


@pytest.mark.parametrize(("score", "positive"), [([1.0, np.nan], [1, 0]), ([1.0, 2.0], [1, 0, 1])])
def test_what_is_refused(score, positive):
    with pytest.raises(ValueError, match=r"^score and positive:"):
        components(score, np.array(positive, dtype=bool))
