"""Complementary annotators, balanced workloads: by hand, and against trying everything."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.organiser.cyst_benchmark.accuracy import SimilarityByConfidence
from evaluation.organiser.cyst_benchmark.assignment import assign, complementarity, pairs

values = st.integers(0, 8).map(lambda eighths: eighths / 8)
accuracies = st.builds(
    SimilarityByConfidence, values, st.fixed_dictionaries(dict.fromkeys(range(1, 6), values))
)


def flat(value):
    return SimilarityByConfidence(value, dict.fromkeys(range(1, 6), value))


def test_complementarity_by_hand():
    first = SimilarityByConfidence(0.5, {1: 0.4, 2: 0.5, 3: 0.6, 4: 0.7, 5: 0.8})
    second = SimilarityByConfidence(0.5, {1: 0.3, 2: 0.6, 3: 0.5, 4: 0.9, 5: 0.9})
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

    def loads(assignment):
        counts = Counter(annotator for pair in assignment for annotator in pair)
        return [counts[annotator] for annotator in annotators]

    def value(assignment):
        return sum(complementarity(annotators[one], annotators[other]) for one, other in assignment)

    assert len(found) == parts
    assert max(loads(found)) - min(loads(found)) <= 1
    everything = itertools.combinations_with_replacement(pairs(tuple(annotators)), parts)
    balanced = [choice for choice in everything if max(loads(choice)) - min(loads(choice)) <= 1]
    assert value(found) == max(map(value, balanced))
    assert found == next(choice for choice in balanced if value(choice) == value(found))
