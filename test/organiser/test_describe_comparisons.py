"""Tests between groups, against arithmetic by hand."""

import math

import numpy as np
import pytest

from evaluation.organiser.describe import KRUSKAL_WALLIS, RANK_SUM, compare_groups

THREE = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([4.0, 5.0, 6.0]), "c": np.array([7.0, 8.0, 9.0])}


def test_three_groups_by_hand():
    """Rank sums 6, 15, 24: H = 12 / 90 · 279 − 30 = 7.2, p = exp(−7.2 / 2); pairs: 2 of 20 orders."""
    overall, *pairs = compare_groups(THREE)
    assert (overall.method, overall.first, overall.second) == (KRUSKAL_WALLIS, "", "")
    assert overall.statistic == pytest.approx(7.2)
    assert overall.p_value == overall.p_bonferroni == pytest.approx(math.exp(-3.6))
    assert overall.note.startswith("rough")
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pair.method for pair in pairs] == [RANK_SUM] * 3
    assert [pair.statistic for pair in pairs] == [0.0, 0.0, 0.0]
    assert [pair.p_value for pair in pairs] == pytest.approx([0.1] * 3)
    assert [pair.p_bonferroni for pair in pairs] == pytest.approx([0.3] * 3)


def test_against_one_group_there_are_fewer_tests_to_correct_for():
    _, *pairs = compare_groups(THREE, "b")
    assert [(pair.first, pair.second) for pair in pairs] == [("b", "a"), ("b", "c")]
    assert [pair.p_bonferroni for pair in pairs] == pytest.approx([0.2, 0.2])
    assert [pair.statistic for pair in pairs] == [9.0, 0.0]


def test_normal_approximation_with_ties_by_hand():
    """12 values of which 6 are tied in each group: U = 18 is its mean, so that p = 1 whatever its spread."""
    tied = np.repeat([1.0, 2.0], 6)
    (pair,) = compare_groups({"a": tied, "b": tied})
    assert (pair.statistic, pair.p_value) == (72.0, 1.0)
    shifted = compare_groups({"a": np.repeat(1.0, 10), "b": np.repeat(2.0, 10)})[0]
    # U = 0; Var = 10·10/12 · (21 − 2·(10³−10)/(20·19)) = 131.58; z = (50 − ½) / √131.58
    z = 49.5 / math.sqrt(100 / 12 * (21 - 2 * 990 / 380))
    assert shifted.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-9)


def test_equal_values_are_not_tested():
    found = compare_groups({name: np.ones(6) for name in "abc"})
    assert [test.p_value for test in found] == [None] * 4
    assert {test.note for test in found} == {"all values are equal"}


def test_less_than_two_groups_are_not_compared():
    assert compare_groups({"a": THREE["a"], "b": np.array([])}) == []
    assert [test.method for test in compare_groups({**THREE, "d": np.array([])}, "d")] == [KRUSKAL_WALLIS]
