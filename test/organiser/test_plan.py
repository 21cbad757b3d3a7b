"""Planning a test set: what several figures need together, and what a set of a given size gives."""

from fractions import Fraction

import pytest

from evaluation.core.fault import PhaseError
from evaluation.organiser.plan import Aim, cases_in_all, cases_needed, intervals_given

SENSITIVITY, SPECIFICITY = Aim("sensitivity", 0.8, 0.02), Aim("specificity", 0.95, 0.005)


def test_a_set_has_enough_of_each_class_and_not_one_case_less():
    # 1,535 positive and 7,312 negative cases, see the test of the sample sizes.
    prevalence = Fraction("0.16")
    needed = cases_needed([SENSITIVITY, SPECIFICITY], prevalence)
    assert [(one.positives, one.negatives) for one in needed] == [(1535, None), (None, 7312)]
    # 1,535 / 0.16 = 9,593.75 and 7,312 / 0.84 = 8,704.76
    assert [one.cases for one in needed] == [9594, 8705]
    assert cases_in_all(needed) == 9594
    given = intervals_given([SENSITIVITY, SPECIFICITY], 9594, prevalence)
    assert [(one.positives, one.negatives, one.enough) for one in given] == [(1535, 8059, True)] * 2
    assert [one.enough for one in intervals_given([SENSITIVITY], 9590, prevalence)] == [False]


def test_a_prevalence_is_taken_as_it_is_written():
    # 7 / 0.07 is more than 100 in floating point.
    (needed,) = cases_needed([Aim("sensitivity", 1, 0.1773)], Fraction("0.07"))
    assert (needed.positives, needed.cases) == (7, 100)


def test_without_a_prevalence_only_the_classes_are_known():
    assert [one.cases for one in cases_needed([SENSITIVITY, SPECIFICITY], None)] == [None, None]


def test_an_area_needs_both_classes():
    (needed,) = cases_needed([Aim("auc", 0.9, 0.05)], Fraction(1, 2))
    assert needed.positives + needed.negatives == needed.cases
    (given,) = intervals_given([needed.aim], needed.cases, Fraction(1, 2))
    assert given.enough
    assert 0.049 < given.interval.half_width <= 0.05


def test_what_has_no_half_width_needs_nothing_and_is_given():
    aims = [Aim("sensitivity", 0.8), Aim("specificity", 0.95)]
    assert cases_needed(aims, None) == []
    found = intervals_given(aims, 9741, Fraction("0.16"))
    assert [round(one.interval.half_width, 4) for one in found] == [0.0198, 0.0047]
    assert [one.enough for one in found] == [None, None]


def test_all_faults_at_once():
    with pytest.raises(PhaseError) as caught:
        cases_needed([Aim("sensitivity", 0.8, 0.7), Aim("auc", 0.9, 0.1)], None)
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["sensitivity", "auc"]


@pytest.mark.parametrize("prevalence", [0, 1])
def test_a_set_of_one_class(prevalence):
    with pytest.raises(PhaseError, match="prevalence: expected a number between 0 and 1"):
        cases_needed([SENSITIVITY], Fraction(prevalence))
    with pytest.raises(PhaseError, match="at least one case of each class"):
        intervals_given([SENSITIVITY], 3, Fraction(1, 100))
