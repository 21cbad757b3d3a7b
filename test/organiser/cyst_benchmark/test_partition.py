"""Parts that are small copies of the whole."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.organiser.cyst_benchmark.data import QUALITIES, Stratum, median_quality, partition

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
