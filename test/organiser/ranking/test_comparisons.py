"""Which test compares two teams in which metric, and that its figures are right."""

import math
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, permutation_test, wilcoxon

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import PresenceF1, RocArea, SensitivityAtSpecificity
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.ranking.comparisons import Comparisons, compare
from evaluation.organiser.ranking.pair_tests import TestChoice, TestOfMeans
from evaluation.organiser.ranking.resampling import TeamCases, draw_cases, resample_teams
from evaluation.organiser.ranking.results import RankingError
from test.faults import faulted

AUC = Metric("auc", "AUC", RocArea("score", "label"), best=1, worst=0)
SENSITIVITY = Metric(
    "sensitivity",
    "Sensitivity",
    SensitivityAtSpecificity("score", "label", Fraction(95, 100)),
    best=1,
    worst=0,
)
DICE = Metric("dice", "Dice", Mean("dice"), best=1, worst=0)
DISTANCE = Metric("distance", "Distance", Mean("dice"), best=0, worst=math.inf)
F1 = Metric("f1", "F1", PresenceF1("predicted", "present"), best=1, worst=0)
CHOICE = TestChoice(seed=4, permutations=999)


def compared(
    metric: Metric,
    columns: dict[str, dict[str, np.ndarray]],
    clusters: list[str] | None = None,
    choice: TestChoice = CHOICE,
    resamples: int = 300,
) -> Comparisons:
    """``columns``: by team and column."""
    cases = len(next(iter(next(iter(columns.values())).values())))
    names = [f"C{case:04}" for case in range(cases)]
    tables = tuple(
        {
            "t": CaseTable(
                names, [dict(zip(of_team, row, strict=True)) for row in zip(*of_team.values(), strict=True)]
            )
        }
        for of_team in columns.values()
    )
    teams = TeamCases(
        tuple(columns), tables, None if clusters is None else dict(zip(names, clusters, strict=True))
    )
    name = f"t.{metric.name}"
    values = {
        team: metric_values([metric], tables[position]["t"])[metric.name]
        for position, team in enumerate(columns)
    }
    resampling = Resampling(1, resamples, 10, clusters=teams.clusters)
    found = resample_teams({name: metric}, teams, draw_cases({name: metric}, teams, resampling)).values
    by_team = dict(zip(teams.teams, found[name].T, strict=True)) if name in found else {}
    return compare(name, metric, values, teams, by_team, choice)


def curves(seed: int, cases: int = 120, positives: int = 40) -> dict[str, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    label = (np.arange(cases) < positives).astype(float)
    common = rng.normal(size=cases)
    return {
        team: {"score": common + rng.normal(size=cases) + separation * label, "label": label}
        for team, separation in (("good", 3.0), ("poor", 1.2))
    }


def test_means_and_the_detectable_difference():
    rng = np.random.default_rng(3)
    first = rng.uniform(0.7, 0.9, 80)
    second = first - rng.normal(0.005, 0.02, 80)
    columns = {"b": {"dice": second}, "a": {"dice": first}}
    (pair,) = compared(DICE, columns, choice=TestChoice(4, 999, "permutation")).pairs
    assert (pair.first, pair.second, pair.method, pair.favours) == ("a", "b", "permutation of the mean", "a")
    assert "exchangeable" in pair.null
    (plain,) = compared(DICE, columns).pairs
    assert (plain.method, plain.null[:9]) == ("equal means", "the means")
    assert pair.difference == pytest.approx((first - second).mean())
    by_scipy = permutation_test(
        (first, second), lambda a, b: (a - b).mean(), permutation_type="samples", random_state=0
    )
    assert pair.p_value == pytest.approx(by_scipy.pvalue, abs=0.02)
    error = (first - second).std(ddof=1) / math.sqrt(80)
    assert pair.detectable_difference == pytest.approx(2.8016 * error, rel=1e-4)


def test_a_distance_is_better_where_it_is_smaller_and_other_cases_are_refused():
    (pair,) = compared(
        DISTANCE, {"far": {"dice": np.arange(20.0) + 5}, "near": {"dice": np.arange(20.0)}}
    ).pairs
    assert (pair.first, pair.second, pair.difference) == ("near", "far", -5.0)
    tables = tuple({"t": CaseTable([name], [{"dice": 0.5}])} for name in ("C1", "C2"))
    with faulted(RankingError, "b: task t", "a"):
        compare("t.dice", DICE, {"a": 0.5, "b": 0.5}, TeamCases(("a", "b"), tables), {}, CHOICE)


@pytest.mark.parametrize(
    ("means", "method", "oracle"),
    [("signed-rank", "Wilcoxon signed-rank", wilcoxon), ("rank-sum", "Mann–Whitney U", mannwhitneyu)],
)
def test_tests_of_ranks_on_request(means, method, oracle):
    first, second = np.random.default_rng(3).uniform(size=(2, 50))
    choice = TestChoice(seed=1, means=means)
    (pair,) = compared(DICE, {"a": {"dice": first}, "b": {"dice": second}}, choice=choice).pairs
    assert (pair.method, pair.cases) == (method, 50)
    assert pair.p_value == pytest.approx(oracle(first, second).pvalue)


def test_no_tier_ends_where_the_order_and_the_test_disagree():
    """``often`` is a little better on 95 of 100 cases and fails on the other 5: its mean is lower."""
    steady = np.random.default_rng(1).uniform(0.7, 0.8, 100)
    often = steady + 0.01
    often[:5] = 0.0
    columns = {"often": {"dice": often}, "steady": {"dice": steady}}
    found = compared(DICE, columns, choice=TestChoice(1, means="signed-rank"))
    (pair,) = found.pairs
    assert (pair.first, pair.favours, pair.significant) == ("steady", "often", True)
    assert found.tiers == (("steady", "often"),)
    assert pair.note == (
        "the test favours often, but the metric is better for steady: no break between tiers"
    )


def test_teams_that_are_equal_in_the_order_have_no_break():
    # The means are equal, and one team is better on 59 of 60 cases.
    steady = np.full(60, 0.5)
    other = steady + 0.001
    other[0] = 0.5 - 0.059
    columns = {"a": {"dice": steady}, "b": {"dice": other}}
    found = compared(DICE, columns, choice=TestChoice(1, means="signed-rank"))
    assert (found.pairs[0].difference, found.pairs[0].favours, found.pairs[0].significant) == (0, "b", True)
    assert found.tiers == (("a", "b"),)
    assert "but the metric is equal" in found.pairs[0].note


@pytest.mark.parametrize("means", get_args(TestOfMeans))
def test_a_test_of_means_tells_how_many_cases_enter(means):
    columns = {team: {"dice": np.random.default_rng(8).uniform(size=40)} for team in "ab"}
    for of_team in columns.values():
        of_team["dice"][28:] = np.nan
    (pair,) = compared(DICE, columns, choice=TestChoice(1, 199, means), resamples=0).pairs
    assert pair.cases == 28


def test_randomisation_agrees_with_delong_about_an_area():
    # The same pair; once a likelihood is missing in both, which costs both the same, it is randomised.
    columns = curves(11, cases=200, positives=80)
    (by_delong,) = compared(AUC, columns).pairs
    for of_team in columns.values():
        of_team["score"][0] = -math.inf
    (by_randomisation,) = compared(AUC, columns).pairs
    assert (by_delong.method, by_randomisation.method) == ("DeLong", "randomisation")
    assert by_delong.p_value < 0.01
    assert by_randomisation.p_value < 0.02


def test_duplicated_cases_in_clusters_add_no_evidence():
    columns = curves(7, cases=80, positives=30)
    doubled = {
        team: {name: np.repeat(values, 2) for name, values in of_team.items()}
        for team, of_team in columns.items()
    }
    clusters = [f"P{case}" for case in range(80) for _ in range(2)]
    (single,) = compared(AUC, columns).pairs
    (clustered,) = compared(AUC, doubled, clusters=clusters).pairs
    (ignored,) = compared(AUC, doubled).pairs
    assert clustered.method == "DeLong, clustered"
    assert clustered.detectable_difference == pytest.approx(single.detectable_difference)
    assert clustered.p_value == pytest.approx(single.p_value)
    assert ignored.detectable_difference < 0.8 * clustered.detectable_difference


def test_f1_by_randomisation_against_all_exchanges():
    # Five cases on which the teams differ: by hand the F1 are 2·5/10 and 0 with 5 present of 5.
    present = np.ones(5)
    (pair,) = compared(
        F1,
        {
            "all": {"predicted": np.ones(5), "present": present},
            "none": {"predicted": np.zeros(5), "present": present},
        },
        choice=TestChoice(seed=2, permutations=9_999),
    ).pairs
    # Only the two extreme exchanges of 2⁵ reach the observed difference of 1.
    assert pair.difference == 1.0
    assert pair.p_value == 2 / 32


def test_holm_over_all_pairs_and_tiers():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.5, 0.8, 60)
    columns = {
        "best": {"dice": base + 0.15},
        "like best": {"dice": base + 0.15 + rng.normal(-0.001, 0.02, 60)},
        "worse": {"dice": base + rng.normal(0, 0.01, 60)},
    }
    found = compared(DICE, columns)
    raw = sorted(pair.p_value for pair in found.pairs)
    adjusted = sorted(pair.p_holm for pair in found.pairs)
    assert adjusted[0] == pytest.approx(3 * raw[0])
    assert found.tiers[-1] == ("worse",)
    assert set(found.tiers[0]) == {"best", "like best"}


def test_one_team_or_one_case_gives_no_comparison():
    alone = compared(DICE, {"a": {"dice": np.full(12, 0.5)}})
    assert (alone.pairs, alone.tiers) == ((), (("a",),))
    found = compared(DICE, {"a": {"dice": np.array([0.9])}, "b": {"dice": np.array([0.1])}})
    assert found.tiers is None
    assert found.pairs[0].note == "fewer than two cases enter both means"
