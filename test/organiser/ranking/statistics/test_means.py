import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from evaluation.organiser.ranking.exchanges import mean_tests

NAN = math.nan


def plain_p(differences: np.ndarray, units: np.ndarray) -> float:
    """All signs of the units, one by one, in whole hundredths."""
    whole = np.rint(100 * differences).astype(int)
    observed = abs(whole.sum())
    reached = [
        abs((np.array(signs)[units] * whole).sum()) >= observed
        for signs in itertools.product([1, -1], repeat=units.max() + 1)
    ]
    return float(np.mean(reached))


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), units=st.sampled_from([np.arange(8), np.array([0, 0, 1, 2, 2, 2, 3, 4])]))
def test_few_units_against_all_exchanges(seed, units):
    values = np.random.default_rng(seed).integers(0, 100, size=(3, 8)) / 100
    pairs = [(0, 1), (2, 0), (1, 2)]
    for (first, second), found in zip(pairs, mean_tests(values, pairs, units), strict=True):
        assert found.p_value == plain_p(values[first] - values[second], units)
        total = np.rint(100 * (values[first] - values[second])).sum()
        assert found.direction == np.sign(total)


def test_many_cases_against_scipy():
    rng = np.random.default_rng(4)
    first, second = rng.normal(0.25, 1, 60), rng.normal(size=60)
    expected = permutation_test(
        (first, second),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    )
    (found,) = mean_tests([first, second], [(0, 1)], seed=3)
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.015)
    error = (first - second).std(ddof=1) / math.sqrt(60)
    assert found.standard_error == pytest.approx(error)


def test_which_cases_enter_and_tie():
    # 0.3 − 0.1 and 0.4 − 0.2 with opposite signs: the sum of both is zero, and every exchange reaches zero.
    (found,) = mean_tests([[0.3, 0.2], [0.1, 0.4]], [(0, 1)])
    assert (found.p_value, found.direction) == (1.0, 0)
    # Whole tenths: four exchanges of 0.2, −0.2, 0.2 up to the mirror image, all reach 0.2.
    (found,) = mean_tests([[0.3, 0.2, 0.9], [0.1, 0.4, 0.7]], [(0, 1)])
    assert found.p_value == 1.0
    values = [[1, 2, 3, 4, 5, NAN, 9], [0, 0, 0, 0, 0, 7, NAN], [1, 1, 1, 1, 1, 1, 1]]
    first, second, third = mean_tests(values, [(0, 1), (0, 2), (1, 1)])
    # Five differences of one sign: the largest sum of all, 2 of 2⁵ signs.
    assert first.p_value == 1 / 16
    assert first.standard_error == pytest.approx(math.sqrt(0.5))
    assert second.direction == 1
    assert third.p_value == 1.0
    (found,) = mean_tests([[1, NAN], [NAN, 2]], [(0, 1)])
    assert (found.p_value, found.note) == (None, "fewer than two cases enter both means")


def test_a_p_below_that_of_the_permutations_is_bounded():
    # 60 differences of 1: the exact p is 2 · 2⁻⁶⁰, Hoeffding's bound 2·exp(−30).
    (found,) = mean_tests([np.ones(60), np.zeros(60)], [(0, 1)], permutations=99)
    assert found.p_value == pytest.approx(2 * math.exp(-30))
    (found,) = mean_tests([np.full(60, 0.5), np.zeros(60)], [(0, 1)], permutations=99, span=1.0)
    # The mean of exp(−½ · a sum of 60 exponential weights) is (1 + ½)⁻⁶⁰.
    assert found.p_is_bound
    assert found.p_value == pytest.approx(2 * 1.5**-60)


# --- Whether means are equal, with a case that the sample may lack ---


@pytest.mark.parametrize(("differing", "others", "times"), [(4, 0, 1), (7, 5, 1), (5, 3, 2)])
def test_as_many_differences_of_the_whole_range_as_a_sign_test(differing, others, times):
    # A sum of k exponential weights is below the unseen one with probability 2⁻ᵏ; zeros change nothing.
    differences = np.repeat([1.0] * differing + [0.0] * others, times)
    units = np.arange(differences.size) // times
    values = [differences, np.zeros(differences.size)]
    (found,) = mean_tests(values, [(0, 1)], units, permutations=50_000, span=1.0)
    assert found.p_value == pytest.approx(2 * 0.5**differing, rel=0.1)
    assert found.direction == 1
    (mirrored,) = mean_tests(values[::-1], [(0, 1)], units, permutations=50_000, span=1.0)
    assert (mirrored.p_value, mirrored.direction) == (found.p_value, -1)


def test_the_range_of_the_values_stands_in_for_an_unknown_span():
    values = [[1.0, 2.0, 5.0, 4.0, 3.0], [0.0, 1.0, 2.0, 4.0, 1.0]]
    (found,), (known,) = (mean_tests(values, [(0, 1)], span=span) for span in (math.inf, 5.0))
    assert found == known
