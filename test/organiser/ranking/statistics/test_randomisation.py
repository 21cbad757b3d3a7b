import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.organiser.ranking.exchanges import randomisation_tests


def mean_difference(first: np.ndarray, second: np.ndarray):
    def difference(exchanged: np.ndarray) -> np.ndarray:
        return ((1 - 2 * exchanged) * (first - second)).mean(axis=1).round(12)

    return difference


def randomisation_test(difference, units, **options):
    return randomisation_tests([difference], units, **options)[0]


def exact_p(first: np.ndarray, second: np.ndarray, clusters: np.ndarray) -> float:
    observed = abs((first - second).mean())
    reached = [
        abs((np.array(signs)[clusters] * (first - second)).mean()) >= observed - 1e-12
        for signs in itertools.product([1, -1], repeat=clusters.max() + 1)
    ]
    return float(np.mean(reached))


@pytest.mark.parametrize("clusters", [np.arange(8), np.array([0, 0, 1, 1, 2, 2, 3, 3])])
def test_against_all_exchanges(clusters):
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.5, size=8), rng.normal(size=8)
    found = randomisation_test(mean_difference(first, second), clusters, seed=1)
    assert found.p_value == exact_p(first, second, clusters)
    found = randomisation_test(mean_difference(first, second), clusters, seed=1, permutations=2)
    assert found.p_value in (1 / 3, 2 / 3, 1.0)


def test_equal_teams_give_one():
    values = np.arange(10.0)
    assert randomisation_test(mean_difference(values, values), np.arange(10), seed=0).p_value == 1.0


def test_the_smallest_p_is_one_of_the_permutations_plus_one():
    first, second = np.full(40, 1.0), np.zeros(40)
    found = randomisation_test(mean_difference(first, second), np.arange(40), seed=0, permutations=99)
    assert found.p_value == 1 / 100


def test_a_metric_that_does_not_exist():
    found = randomisation_test(lambda exchanged: np.full(len(exchanged), np.nan), np.arange(4), seed=0)
    assert found.p_value is None


@settings(max_examples=10)
@given(seed=st.integers(0, 1000))
def test_the_seed_decides_and_the_sign_does_not(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=12), rng.normal(size=12)
    p_values = {
        randomisation_test(mean_difference(*teams), np.arange(12), seed=5, permutations=199).p_value
        for teams in ((first, second), (second, first), (first, second))
    }
    assert len(p_values) == 1


def test_a_pair_does_not_depend_on_those_beside_it():
    rng = np.random.default_rng(7)
    pairs = [mean_difference(*rng.normal(size=(2, 30))) for _ in range(3)]
    pairs.insert(1, lambda exchanged: np.full(len(exchanged), np.nan))
    together = randomisation_tests(pairs, np.arange(30), 5, 199, [None, None, 0.25, None])
    assert together[2].standard_error == 0.25
    alone = [randomisation_test(pair, np.arange(30), seed=5, permutations=199) for pair in pairs]
    assert [test.p_value for test in together] == [test.p_value for test in alone]
    assert together[0] == alone[0]
