"""Which test compares two teams in which metric, and that its figures are right."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, wilcoxon

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.metric import Metric, auc_of, f1_of_presence_of, mean_of, sensitivity_at_specificity_of
from evaluation.core.resampling import Resampling
from evaluation.ranking.comparisons import Comparisons, TestChoice, compare
from evaluation.ranking.resampling import TeamCases, resample_teams
from evaluation.ranking.results import RankingError

AUC = Metric("auc", "AUC", auc_of("score", "label"), best=1, worst=0)
SENSITIVITY = Metric(
    "sensitivity",
    "Sensitivity",
    sensitivity_at_specificity_of("score", "label", Fraction(95, 100)),
    best=1,
    worst=0,
)
DICE = Metric("dice", "Dice", mean_of("dice"), best=1, worst=0)
DISTANCE = Metric("distance", "Distance", mean_of("dice"), best=0, worst=math.inf)
F1 = Metric("f1", "F1", f1_of_presence_of("predicted", "present"), best=1, worst=0)
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
    found = resample_teams({name: metric}, teams, resampling).values.get(name)
    return compare(name, metric, values, teams, found, choice)


def curves(seed: int, cases: int = 120, positives: int = 40) -> dict[str, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    label = (np.arange(cases) < positives).astype(float)
    common = rng.normal(size=cases)
    return {
        team: {"score": common + rng.normal(size=cases) + separation * label, "label": label}
        for team, separation in (("good", 3.0), ("poor", 1.2))
    }


def test_wilcoxon_for_means_and_the_detectable_difference():
    rng = np.random.default_rng(3)
    first = rng.uniform(0.7, 0.9, 80)
    second = first - rng.normal(0.01, 0.02, 80)
    (pair,) = compared(DICE, {"b": {"dice": second}, "a": {"dice": first}}).pairs
    assert (pair.first, pair.second, pair.method) == ("a", "b", "Wilcoxon signed-rank")
    assert pair.difference == pytest.approx((first - second).mean())
    assert pair.p_value == pytest.approx(wilcoxon(first, second).pvalue)
    error = (first - second).std(ddof=1) / math.sqrt(80)
    assert pair.detectable_difference == pytest.approx(2.8016 * error, rel=1e-4)


def test_a_distance_is_better_where_it_is_smaller():
    (pair,) = compared(
        DISTANCE, {"far": {"dice": np.arange(20.0) + 5}, "near": {"dice": np.arange(20.0)}}
    ).pairs
    assert (pair.first, pair.second, pair.difference) == ("near", "far", -5.0)


def test_mann_whitney_on_request():
    rng = np.random.default_rng(3)
    first, second = rng.uniform(size=50), rng.uniform(size=50)
    choice = TestChoice(seed=1, unpaired=True)
    (pair,) = compared(DICE, {"a": {"dice": first}, "b": {"dice": second}}, choice=choice).pairs
    assert pair.method == "Mann–Whitney U"
    assert pair.p_value == pytest.approx(mannwhitneyu(first, second).pvalue)


def test_identical_teams_are_equal_in_every_test():
    columns = curves(1)
    for metric in (AUC, SENSITIVITY):
        (pair,) = compared(metric, {"a": columns["good"], "b": columns["good"]}).pairs
        assert pair.p_value == 1.0
        assert pair.significant is False


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


def test_cluster_bootstrap_of_singletons_agrees_with_delong():
    columns = curves(5, cases=300, positives=100)
    (by_delong,) = compared(AUC, columns).pairs
    (by_bootstrap,) = compared(AUC, columns, clusters=[""] * 300, resamples=2000).pairs
    assert by_bootstrap.method == "cluster bootstrap"
    assert by_bootstrap.detectable_difference == pytest.approx(by_delong.detectable_difference, rel=0.1)


def test_duplicated_cases_in_clusters_add_no_evidence():
    columns = curves(7, cases=80, positives=30)
    doubled = {
        team: {name: np.repeat(values, 2) for name, values in of_team.items()}
        for team, of_team in columns.items()
    }
    clusters = [f"P{case}" for case in range(80) for _ in range(2)]
    (single,) = compared(AUC, columns).pairs
    (clustered,) = compared(AUC, doubled, clusters=clusters, resamples=2000).pairs
    (ignored,) = compared(AUC, doubled).pairs
    assert clustered.detectable_difference == pytest.approx(single.detectable_difference, rel=0.12)
    assert ignored.detectable_difference < 0.8 * clustered.detectable_difference


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.floats(0.01, 100), shift=st.floats(-10, 10))
def test_the_scale_of_a_teams_likelihoods_does_not_matter(seed, scale, shift):
    columns = curves(seed, cases=40, positives=15)
    # Powers of two keep every order and tie exactly.
    scaled = columns | {
        "poor": {**columns["poor"], "score": columns["poor"]["score"] * 2.0 ** round(math.log2(scale))}
    }
    choice = TestChoice(seed=4, permutations=99)
    (before,) = compared(SENSITIVITY, columns, choice=choice).pairs
    (after,) = compared(SENSITIVITY, scaled, choice=choice).pairs
    assert (before.method, before.p_value) == ("randomisation", after.p_value)


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
    assert pair.p_value == pytest.approx(2 / 32, abs=0.01)


def test_holm_over_all_pairs_and_tiers():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.6, 0.9, 60)
    columns = {
        "best": {"dice": base + 0.05},
        "like best": {"dice": base + 0.05 + rng.normal(-0.001, 0.02, 60)},
        "worse": {"dice": base + rng.normal(0, 0.01, 60)},
    }
    found = compared(DICE, columns)
    raw = sorted(pair.p_value for pair in found.pairs)
    adjusted = sorted(pair.p_holm for pair in found.pairs)
    assert adjusted[0] == pytest.approx(3 * raw[0])
    assert found.tiers[-1] == ("worse",)
    assert set(found.tiers[0]) == {"best", "like best"}


def test_teams_with_other_cases_cannot_be_compared():
    tables = tuple({"t": CaseTable([name], [{"dice": 0.5}])} for name in ("C1", "C2"))
    with pytest.raises(RankingError, match="b: task t: other cases than those of a"):
        compare("t.dice", DICE, {"a": 0.5, "b": 0.5}, TeamCases(("a", "b"), tables), None, CHOICE)


def test_one_team_has_nothing_to_be_compared_with():
    found = compared(DICE, {"a": {"dice": np.full(12, 0.5)}})
    assert (found.pairs, found.tiers) == ((), (("a",),))


def test_a_metric_of_one_case_gives_no_tiers():
    found = compared(DICE, {"a": {"dice": np.array([0.9])}, "b": {"dice": np.array([0.1])}})
    assert found.tiers is None
    assert found.pairs[0].note == "fewer than two cases enter both means"
