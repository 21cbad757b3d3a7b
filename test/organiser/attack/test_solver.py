"""Labels from sums, against enumeration of all labels."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.organiser.attack_tools import Sums, only_labels, subsets_of_sum


def fitting(weights, lower, upper):
    """All labels whose weighted sums lie within the bounds."""
    rows = np.array(list(itertools.product((0, 1), repeat=weights.shape[1])))
    sums = rows @ weights.T
    return rows[((sums >= lower - 1e-9) & (sums <= upper + 1e-9)).all(axis=1)]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_only_labels_are_those_that_alone_fit(data):
    size, rows = data.draw(st.integers(2, 8)), data.draw(st.integers(1, 4))
    weight = st.lists(st.integers(-9, 9), min_size=size, max_size=size)
    weights = np.array(data.draw(st.lists(weight, min_size=rows, max_size=rows)), dtype=np.float64)
    truth = np.array(data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))
    sums = Sums(size)
    for row in weights:
        sums.add(row, float(row @ truth) - 0.25, float(row @ truth) + 0.25)
    expected = fitting(weights, np.array(sums.lower), np.array(sums.upper))
    found = only_labels(sums, seconds=10)
    if len(expected) == 1:
        assert found.tolist() == truth.tolist()
    else:
        assert found is None


def test_sums_that_nothing_fits():
    sums = Sums(2)
    sums.add(np.array([2.0, 4.0]), 3, 3)
    assert only_labels(sums, seconds=10) is None


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
