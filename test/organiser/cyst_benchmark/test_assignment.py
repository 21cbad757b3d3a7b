"""Complementary annotators, balanced workloads: by hand, and against trying everything."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.organiser.cyst_benchmark.assignment import assign, complementarity, pairs
from evaluation.organiser.cyst_benchmark.data import QUALITIES, Stratum, median_quality, partition

values = st.integers(0, 8).map(lambda eighths: eighths / 8)
accuracies = st.lists(values, min_size=6, max_size=6).map(np.array)


def flat(value):
    return np.full(6, value)


def test_complementarity_by_hand():
    first = np.array([0.5, 0.4, 0.5, 0.6, 0.7, 0.8])
    second = np.array([0.5, 0.3, 0.6, 0.5, 0.9, 0.9])
    assert complementarity(first, second) == pytest.approx(0.4 + 0.6 + 0.6 + 0.9 + 0.9)


def test_pairs_of_four_annotators():
    assert pairs("abcd") == (("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "c"), ("b", "d"))


def test_one_annotator_is_no_pair():
    with pytest.raises(ValueError, match=r"^annotators:"):
        assign({"1": flat(1.0)}, 2)


@settings(max_examples=30)
@given(st.lists(accuracies, min_size=2, max_size=4), st.integers(1, 4))
def test_best_of_all_balanced_assignments(of_annotators, parts):
    annotators = {f"r{i}": accuracy for i, accuracy in enumerate(of_annotators)}
    found = assign(annotators, parts)

    def shares(assignment):
        counts = Counter(annotator for pair in assignment for annotator in pair)
        return [counts[annotator] for annotator in annotators]

    def value(assignment):
        return sum(complementarity(annotators[one], annotators[other]) for one, other in assignment)

    assert len(found) == parts
    assert max(shares(found)) - min(shares(found)) <= 1
    everything = itertools.combinations_with_replacement(pairs(tuple(annotators)), parts)
    balanced = [choice for choice in everything if max(shares(choice)) - min(shares(choice)) <= 1]
    assert value(found) == max(map(value, balanced))
    assert found == next(choice for choice in balanced if value(choice) == value(found))


# --- Parts that are small copies of the whole ---


strata = st.builds(Stratum, st.sampled_from("ABCD"), st.sampled_from(QUALITIES))
data_sets = st.dictionaries(st.integers(0, 99).map(str), strata, max_size=40)


@pytest.mark.parametrize(
    ("ranks", "median"),
    [
        (["high", "low", "medium"], "medium"),
        (["high", "high", "low"], "high"),
        (["low"], "low"),
        (["high", "low"], "low"),
    ],
)
def test_median_quality(ranks, median):
    assert median_quality(ranks) == median


@pytest.mark.parametrize("ranks", [[], ["good"]])
def test_other_ranks_are_faults(ranks):
    with pytest.raises(ValueError, match="low, medium, high"):
        median_quality(ranks)


@settings(max_examples=60)
@given(data_sets, st.integers(1, 5), st.integers(0, 3))
def test_every_volume_once_and_every_part_a_small_copy(data_set, parts, seed):
    found = partition(data_set, parts, seed)
    assert found.keys() == data_set.keys()
    assert set(found.values()) <= set(range(parts))

    def differ_by_at_most_one(volumes):
        counts = Counter(found[volume] for volume in volumes)
        sizes = [counts[part] for part in range(parts)]
        return max(sizes) - min(sizes) <= 1

    assert differ_by_at_most_one(data_set)
    for vendor in "ABCD":
        assert differ_by_at_most_one(v for v, stratum in data_set.items() if stratum.vendor == vendor)
    for stratum in set(data_set.values()):
        members = [v for v, other in data_set.items() if other == stratum]
        assert differ_by_at_most_one(members)
        if len(members) >= parts:
            assert {found[v] for v in members} == set(range(parts))


def test_the_seed_and_nothing_else_decides():
    data_set = {str(i): Stratum("AB"[i % 2], QUALITIES[i % 3]) for i in range(26)}
    backwards = dict(reversed(data_set.items()))
    assert partition(data_set, 3, 7) == partition(backwards, 3, 7)
    assert len({tuple(sorted(partition(data_set, 3, seed).items())) for seed in range(5)}) > 1
