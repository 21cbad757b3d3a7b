"""Planning a test set: what several figures need together, and what a set of a given size gives."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from evaluation.core.fault import PhaseError
from evaluation.metrics.intervals import class_sizes
from evaluation.organiser.plan import Aim, cases_in_all, cases_needed, intervals_given
from evaluation.organiser.ranking.comparisons import difference_of_means, difference_of_pilot
from evaluation.organiser.ranking.results import read_results
from test.faults import faulted
from test.organiser.ranking.teams import write_team

SENSITIVITY, SPECIFICITY = Aim("sensitivity", 0.8, 0.02), Aim("specificity", 0.95, 0.005)


def test_a_set_has_enough_of_each_class_and_not_one_case_less():
    # 1,535 positive and 7,312 negative cases, see the test of the sample sizes.
    prevalence = Fraction("0.16")
    needed = cases_needed([SENSITIVITY, SPECIFICITY], prevalence)
    assert [(one.positives, one.negatives) for one in needed] == [(1535, None), (None, 7312)]
    # 1,535 / 0.16 = 9,593.75 and 7,312 / 0.84 = 8,704.76
    assert [one.cases for one in needed] == [9594, 8705]
    assert cases_in_all(needed) == 9594
    assert class_sizes(9594, prevalence) == (1535, 8059)
    for one, given in zip(needed, intervals_given([SENSITIVITY, SPECIFICITY], 1535, 8059), strict=True):
        assert given.half_width <= one.aim.half_width
    (given,) = intervals_given([SENSITIVITY], *class_sizes(9590, prevalence))
    assert given.half_width > SENSITIVITY.half_width


def test_a_prevalence_is_taken_as_it_is_written():
    # 7 / 0.07 is more than 100 in floating point.
    (needed,) = cases_needed([Aim("sensitivity", 1, 0.1773)], Fraction("0.07"))
    assert (needed.positives, needed.cases) == (7, 100)


def test_what_is_needed_without_a_prevalence_and_without_a_half_width():
    assert [one.cases for one in cases_needed([SENSITIVITY, SPECIFICITY], None)] == [None, None]
    aims = [Aim("sensitivity", 0.8), Aim("specificity", 0.95)]
    assert cases_needed(aims, None) == []
    found = intervals_given(aims, *class_sizes(9741, Fraction("0.16")))
    assert [round(one.half_width, 4) for one in found] == [0.0198, 0.0047]


def test_an_area_needs_both_classes():
    (needed,) = cases_needed([Aim("auc", 0.9, 0.05)], Fraction(1, 2))
    assert needed.positives + needed.negatives == needed.cases
    (given,) = intervals_given([needed.aim], needed.positives, needed.negatives)
    assert 0.049 < given.half_width <= 0.05


def test_all_faults_at_once():
    with pytest.raises(PhaseError) as caught:
        cases_needed([Aim("sensitivity", 0.8, 0.7), Aim("auc", 0.9, 0.1)], None)
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["sensitivity", "auc"]


@pytest.mark.parametrize("prevalence", [0, 1])
def test_a_set_of_one_class(prevalence):
    with faulted(PhaseError, "prevalence"):
        cases_needed([SENSITIVITY], Fraction(prevalence))
    with faulted(PhaseError, "cases", "0 positive and 3 negative"):
        intervals_given([SENSITIVITY], *class_sizes(3, Fraction(1, 100)))


# Normal differences: n = ((z₀.₉₇₅ + z₀.₈) · σ√(2(1 − ρ)) / d)² = 16 and 79 cases; Student's t needs two more.
@pytest.mark.parametrize(("correlation", "cases"), [(0.9, 18), (0.5, 81)])
def test_as_many_cases_show_a_difference_as_the_formula_says(correlation, cases):
    found = difference_of_means(0.02, 0.0635, correlation, power=0.8)
    assert (found.method, found.needed) == ("paired t", cases)
    # Of simulated sets of this size, the paired t shows the difference in 80 %.
    rng = np.random.default_rng(0)
    spread = 0.0635 * np.sqrt(2 * (1 - correlation))
    differences = rng.normal(0.02, spread, size=(4000, found.needed))
    assert (ttest_1samp(differences, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("clustered", [False, True])
def test_a_pilot_of_two_teams_says_how_many_cases_or_clusters_show_their_difference(tmp_path, clustered):
    rng = np.random.default_rng(3)
    label = np.arange(60) < 20
    table = {"cluster": [f"P{case // 2}" for case in range(60)]} if clustered else None
    for team, distance in (("a", 2.5), ("b", 1.0)):
        columns = {"glaucoma": label * 1.0, "likelihood": rng.normal(size=60) + distance * label}
        write_team(tmp_path / team, {"classification": columns}, table)
    results = read_results(tmp_path)
    found = difference_of_pilot(results, ("a", "b"), "classification.auc", power=0.8)
    assert (found.method, found.clustered) == ("DeLong", clustered)
    assert 2 < found.needed < difference_of_pilot(results, ("a", "b"), "classification.auc", 0.99).needed
    with faulted(PhaseError, "c"):
        difference_of_pilot(results, ("a", "c"), "classification.auc", power=0.8)
