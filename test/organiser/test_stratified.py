"""Random parts in which every stratum has its share."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.organiser.subset import apportion, draw_part


@pytest.mark.parametrize(
    ("sizes", "total", "parts"),
    [
        # Quotas 49.8, 9.6 and 0.6: two seats are left for three remainders.
        ({"NRG": 498, "RG": 96, "U": 6}, 60, {"NRG": 50, "RG": 10, "U": 0}),
        # 0.5 each: equal remainders, the first gets it.
        ({"a": 5, "b": 5}, 1, {"a": 1, "b": 0}),
        ({"a": 3, "b": 0}, 3, {"a": 3, "b": 0}),
        ({}, 0, {}),
    ],
)
def test_parts_by_hand(sizes, total, parts):
    assert apportion(sizes, total) == parts


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.fractions(0, 1))
def test_each_group_gets_its_quota_rounded_down_or_up(sizes, share):
    total = int(share * sum(sizes))
    parts = apportion({str(number): size for number, size in enumerate(sizes)}, total)
    assert sum(parts.values()) == total
    for size, part in zip(sizes, parts.values(), strict=True):
        quota = Fraction(total * size, max(1, sum(sizes)))
        assert 0 <= part <= size
        assert abs(part - quota) < 1


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), max_size=60),
    st.fractions(0, 1),
    st.integers(0, 2**32),
)
def test_the_first_value_has_its_share_whatever_the_second_is(strata, share, seed):
    drawn = draw_part(strata, share, seed)
    assert drawn == sorted(set(drawn))
    assert abs(len(drawn) - share * len(strata)) <= Fraction(1, 2)
    sizes, counts = Counter(first for first, _ in strata), Counter(strata[i][0] for i in drawn)
    for value, size in sizes.items():
        assert abs(counts[value] - Fraction(len(drawn) * size, len(strata))) < 1


def test_equal_remainders_of_small_strata_do_not_change_the_prevalence():
    # 4 of 40 cases; each of the ten strata has a quota of 0.4. Taken together, the first four would get one.
    strata = [(label, site) for label in "ab" for site in "vwxyz" for _ in range(4)]
    for seed in range(10):
        labels = Counter(strata[i][0] for i in draw_part(strata, Fraction(1, 10), seed))
        assert labels == {"a": 2, "b": 2}


def test_all_sets_of_a_stratum_are_drawn_about_equally_often():
    strata = [("a",)] * 4 + [("b",)] * 2
    found = Counter(tuple(draw_part(strata, Fraction(1, 2), seed)) for seed in range(3000))
    # 2 of 4 and 1 of 2: 12 sets, 250 ± 15 each; six standard deviations are never left.
    assert set(found) == {(*two, one) for two in combinations(range(4), 2) for one in (4, 5)}
    assert all(abs(count - 250) < 92 for count in found.values())


def test_cases_without_strata():
    assert len(draw_part([()] * 9, Fraction(1, 2), 0)) == 5
    assert draw_part([], Fraction(1, 2), 0) == []
