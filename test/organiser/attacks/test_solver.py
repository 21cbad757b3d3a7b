"""Labels from sums, against enumeration of all labels."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.organiser.attacks.attack_tools import rows_of_subsets, side_of, subsets_of_sum


def fitting(weights, lower, upper):
    """All labels whose weighted sums lie within the bounds."""
    rows = np.array(list(itertools.product((0, 1), repeat=weights.shape[1])))
    sums = rows @ weights.T
    return rows[((sums >= lower - 1e-9) & (sums <= upper + 1e-9)).all(axis=1)]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-20, 20), min_size=0, max_size=9), st.integers(-30, 30), st.integers(0, 5))
def test_subsets_against_enumeration(weights, lower, width):
    found = subsets_of_sum(weights, lower - 0.5, lower + width + 0.5, most=10_000)
    matrix = np.array([weights], dtype=np.float64).reshape(1, len(weights))
    expected = fitting(matrix, np.array([lower - 0.5]), np.array([lower + width + 0.5]))
    assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, expected.tolist()))


def test_many_weights_meet_in_the_middle():
    """2^32 subsets are too many to try; the one that was drawn is the only one of its sum."""
    random = np.random.default_rng(3)
    weights, truth = random.random(32), random.integers(0, 2, 32)
    total = float(weights @ truth)
    assert subsets_of_sum(weights.tolist(), total - 1e-12, total + 1e-12, most=10).tolist() == [
        truth.tolist()
    ]


@pytest.mark.parametrize("most", [0, 3])
def test_no_more_subsets_than_asked_for(most):
    assert len(subsets_of_sum([0.0] * 10, -1, 1, most)) == most + 1


@pytest.mark.parametrize("absent", [[], [3], [2, 5]])
def test_a_side_holds_every_subset_of_its_cases_once(absent):
    """Cases 2 … 6 of 8; sums are modulo 2^64, so that a weight of −1 takes one away."""
    weights = np.array([9, 9, -1, 5, 7, 1 << 40, 3, 9]).astype(np.uint64)
    side = side_of(weights, range(2, 7), absent, most=3)
    cases = [case for case in range(2, 7) if case not in absent]
    for size, (sums, subsets) in enumerate(zip(side.sums, side.subsets, strict=True)):
        assert len(sums) == math.comb(len(cases), size)
        found = {
            tuple(np.flatnonzero(row).tolist()): int(total)
            for row, total in zip(rows_of_subsets(subsets, 8), sums, strict=True)
        }
        assert found == {
            chosen: sum(int(weights[case]) for case in chosen) % (1 << 64)
            for chosen in itertools.combinations(cases, size)
        }
