"""The busiest annotator has the fewest B-scans: by hand, and against trying every order."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.organiser.cyst_benchmark.assignment import arrange, loads, pairs

PAIRS = [("1", "2"), ("2", "3"), ("1", "3")]


def test_every_pair_once_keeps_the_order():
    # Three annotators and three parts: each leaves out one part, so no order is better than another.
    assert arrange(PAIRS, [500, 30, 7]) == tuple(PAIRS)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(pairs("abcd")), st.integers(1, 9)), min_size=1, max_size=5))
def test_no_order_is_better(parts):
    given_pairs, b_scans = [pair for pair, _ in parts], [number for _, number in parts]
    found = arrange(given_pairs, b_scans)
    assert sorted(found) == sorted(given_pairs)
    least = min(max(loads(order, b_scans).values()) for order in itertools.permutations(given_pairs))
    assert max(loads(found, b_scans).values()) == least


def test_many_parts_end_in_time_and_no_worse_than_they_came():
    given_pairs, b_scans = [*pairs("abcdef"), *pairs("abcdef")], [7 * n % 31 + 1 for n in range(30)]
    found = arrange(given_pairs, b_scans)
    assert sorted(found) == sorted(given_pairs)
    assert max(loads(found, b_scans).values()) <= max(loads(given_pairs, b_scans).values())
    assert found == arrange(given_pairs, b_scans)
