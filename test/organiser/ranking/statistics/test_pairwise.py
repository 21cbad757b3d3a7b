"""Tests between two teams: what they could have found, and many of them at once."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from evaluation.organiser.ranking.exchanges import mean_tests
from evaluation.organiser.ranking.pairwise import (
    PairTest,
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


@pytest.mark.parametrize("cases", [30, 100, 400])
def test_a_difference_is_found_with_that_power_beside_an_unseen_case(cases):
    rng, shown = np.random.default_rng(cases), 0
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


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_never_lowers_and_is_no_stricter_than_bonferroni(p_values):
    for p, adjusted in zip(p_values, holm(p_values), strict=True):
        assert p <= adjusted <= min(1.0, p * len(p_values)) + 1e-15


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


def test_a_pair_that_could_not_be_tested_is_called_neither_equal_nor_different():
    assert significance_tiers([1, 2], lambda a, b: None) is None
    # 2 opens a tier of its own, so that 1 and 3 need no test.
    answers = {(1, 2): True, (1, 3): None, (2, 3): False}
    assert significance_tiers([1, 2, 3], lambda a, b: answers[a, b]) == ((1,), (2, 3))


@dataclass(frozen=True)
class Record:
    family: str
    p_value: float | None
    p_holm: float | None = None


def test_holm_within_families_by_hand():
    # Of two: 0.01 twice, then 0.04. Of three, one not computed: 0.02 three times, then 0.03 twice, but 0.06.
    values = [("a", 0.04), ("b", 0.02), ("b", None), ("a", 0.01), ("b", 0.03)]
    tests = [Record(family, p_value) for family, p_value in values]
    found = [test.p_holm for test in corrected(tests, lambda test: test.family)]
    assert found == [pytest.approx(0.04), pytest.approx(0.06), None, pytest.approx(0.02), pytest.approx(0.06)]
    assert corrected([], lambda test: test) == ()
