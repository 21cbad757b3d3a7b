"""Exchanges of the results of two teams, and tests by them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.classification import roc_table
from evaluation.metrics.operating_points import weighted_sensitivity_at_specificity
from evaluation.organiser.ranking.exchanges import ExchangedSensitivities, exchanges, randomisation_tests


@pytest.mark.parametrize("units", [1, 2, 5])
def test_all_exchanges_are_made_once_up_to_the_mirror_image(units):
    chosen = exchanges(np.arange(units), seed=1)
    rows = np.concatenate(list(chosen.blocks()))
    assert chosen.complete
    assert rows.shape == (2 ** (units - 1), units)
    assert not rows[0].any()
    both = {tuple(row) for row in np.concatenate([rows, ~rows]).tolist()}
    assert len(both) == 2**units


@pytest.mark.parametrize(
    ("permutations", "complete", "rows"), [(15, True, 16), (14, False, 14), (9_999, True, 16)]
)
def test_random_exchanges_only_where_all_would_be_more(permutations, complete, rows):
    chosen = exchanges(np.arange(5), 1, permutations)
    assert (chosen.complete, chosen.rows) == (complete, rows)


def test_p_values_and_missing_classes():
    assert exchanges(np.arange(5), 1).p_value(3) == 3 / 16
    assert exchanges(np.arange(50), 1, 99).p_value(3) == 4 / 100
    with pytest.raises(ValueError, match="expected positives and negatives"):
        ExchangedSensitivities([[0.0, 1.0]], [True, True], Fraction(1, 2))


def test_random_exchanges_depend_on_the_seed_and_not_on_the_blocks():
    units = np.arange(40) // 2

    def rows(seed: int) -> np.ndarray:
        blocks = list(exchanges(units, seed, 10_000).blocks())
        assert len(blocks) > 1
        return np.concatenate(blocks)

    expected = rows(3)
    assert expected.shape == (10_000, 20)
    assert expected.mean() == pytest.approx(0.5, abs=0.03)
    assert not np.array_equal(rows(4), expected)
    np.testing.assert_array_equal(rows(3), expected)
    np.testing.assert_array_equal(np.concatenate(list(exchanges(units, 3, 10_000).blocks(7))), expected)


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


def test_the_smallest_p_and_none():
    first, second = np.full(40, 1.0), np.zeros(40)
    found = randomisation_test(mean_difference(first, second), np.arange(40), seed=0, permutations=99)
    assert found.p_value == 1 / 100
    found = randomisation_test(lambda exchanged: np.full(len(exchanged), np.nan), np.arange(4), seed=0)
    assert found.p_value is None


@given(
    st.integers(2, 12).flatmap(
        lambda cases: st.tuples(
            st.lists(st.booleans(), min_size=cases, max_size=cases).filter(lambda label: len({*label}) == 2),
            *[st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=cases, max_size=cases)] * 2,
            st.lists(st.lists(st.booleans(), min_size=cases, max_size=cases), min_size=1, max_size=4),
        )
    ),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(17, 20), Fraction(19, 20), Fraction(1)]),
)
def test_after_exchanges(drawn, target):
    label, *given_scores, exchanged = drawn
    # A missing result is as bad as can be for its class.
    missing = np.where(label, -np.inf, np.inf)
    first, second = (np.array(scores, dtype=float) for scores in given_scores)
    first, second = (np.where(np.isnan(scores), missing, scores) for scores in (first, second))
    found = ExchangedSensitivities([first, second], label, target).between(0, 1)(np.array(exchanged))
    for row, moved in enumerate(exchanged):
        for of_team, kept, taken in zip(found, (first, second), (second, first), strict=True):
            table = roc_table(np.where(moved, taken, kept), label)
            assert (
                of_team[row]
                == weighted_sensitivity_at_specificity(table, np.ones((1, len(label))), target)[0]
            )
