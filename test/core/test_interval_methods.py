"""Which interval a metric gets, by default and by choice; several tables give what each gives alone."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import (
    Agreement,
    AveragePrecision,
    Concordance,
    ConfusionFigure,
    PartialRocArea,
    PresenceF1,
    RocArea,
    SensitivityAtSpecificity,
)
from evaluation.core.estimator import Mean, Quantile, RatioOfSums, Share
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.confusion import (
    balanced_accuracy_of_confusion,
    cohen_kappa_of_confusion,
    expected_cost_of_confusion,
    f_beta_of_confusion,
    matthews_correlation_of_confusion,
    precision_of_confusion,
)
from evaluation.metrics.regression import (
    weighted_intraclass_correlation,
    weighted_pearson_correlation,
    weighted_spearman_correlation,
)
from evaluation.stats.areas import area_interval, area_with_unseen, components
from evaluation.stats.intervals import Evidence, bca_interval, effective_interval, wilson_interval

TARGET = Fraction(85, 100)
METRICS = {
    "t.auc": Metric("auc", "AUC", RocArea("score", "label"), 1, 0),
    "t.sensitivity": Metric("sensitivity", "", SensitivityAtSpecificity("score", "label", TARGET), 1, 0),
    "t.dice": Metric("dice", "Dice", Mean("dice"), 1, 0),
    "t.share": Metric("share", "Share", Share("right"), 1, 0),
    "t.f1": Metric("f1", "F1", PresenceF1("right", "label"), 1, 0),
}
CASES = 60
CLUSTERS = {f"V{case:03}": f"P{case // 2}" for case in range(CASES)}


def table(seed: int) -> CaseTable:
    rng = np.random.default_rng(seed)
    label = np.arange(CASES) % 3 == 0
    columns = {
        "label": label,
        "score": (rng.normal(size=CASES) + 1.2 * label).round(1),
        "dice": np.where(np.arange(CASES) % 5 == 4, np.nan, rng.uniform(0.6, 1, CASES)),
        "right": (rng.random(CASES) < 0.8).astype(float),
    }
    rows = [{name: float(column[case]) for name, column in columns.items()} for case in range(CASES)]
    return CaseTable(list(CLUSTERS), rows)


FIELD = {"t.auc": "logit-DeLong", "t.sensitivity": "Wilson-bootstrap", "t.dice": "BCa"}
FIELD |= {"t.share": "Wilson", "t.f1": "Wilson"}


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
def test_each_interval_is_that_of_its_method(clusters):
    cases = table(1)
    found = {
        name: one
        for name, (one,) in intervals(
            METRICS, [cases], Resampling(3, 200, 10, clusters=clusters)
        ).found.items()
    }
    units = np.arange(CASES) // (1 if clusters is None else 2)
    positive, entering = cases["label"] > 0, ~np.isnan(cases["dice"])
    assert {name: one.method for name, one in found.items()} == FIELD
    parts = components(cases["score"], positive, units)
    assert found["t.auc"].interval == area_interval(parts)
    assert found["t.auc"].with_unseen_failures.interval == area_with_unseen(parts)
    dice = cases["dice"][entering]
    of_persons = np.bincount(units[entering], (dice - dice.mean()) / dice.size)
    expected = bca_interval(dice.mean(), of_persons[np.unique(units[entering])])
    assert (found["t.dice"].lower, found["t.dice"].upper) == pytest.approx((expected.lower, expected.upper))
    right, share = cases["right"], found["t.share"]
    if clusters is None:
        assert share.interval == wilson_interval(right.sum(), CASES)
        by_scipy = binomtest(int(right.sum()), CASES).proportion_ci(method="exact")
        unseen = share.with_unseen_failures
        assert (unseen.lower, unseen.upper) == pytest.approx((by_scipy.low, by_scipy.high))
    else:
        of_persons = np.bincount(units, (right - right.mean()) / CASES)
        variance = of_persons @ of_persons * 30 / 29
        assert share.interval == effective_interval(
            right.mean(), variance, Evidence(right.mean(), (0, 1), 30)
        )
    assert {name: one.with_unseen_failures.method for name, one in found.items()} == {
        "t.auc": "logit-DeLong",
        "t.sensitivity": "Wilson-bootstrap",
        "t.dice": "Gaffke",
        "t.share": "Gaffke" if clusters else "Clopper-Pearson",
        "t.f1": "Gaffke",
    }
    for one in found.values():
        assert (
            one.with_unseen_failures.lower
            <= one.lower
            < one.value
            < one.upper
            <= one.with_unseen_failures.upper
        )


def test_a_phase_may_put_the_interval_with_unseen_failures_first():
    field = intervals(METRICS, [table(1)], Resampling(3, 200, 10)).found
    other = intervals(METRICS, [table(1)], Resampling(3, 200, 10, interval="any_distribution")).found
    for name, (one,) in other.items():
        assert (
            one.interval == field[name][0].with_unseen_failures.interval == one.with_unseen_failures.interval
        )


def test_a_higher_level_has_a_longer_interval():
    for (one,), (wide,) in zip(
        *(
            intervals(METRICS, [table(1)], Resampling(3, 200, 10, level=level)).found.values()
            for level in (0.8, 0.99)
        ),
        strict=True,
    ):
        assert wide.lower < one.lower < one.upper < wide.upper
        assert wide.with_unseen_failures.lower < one.with_unseen_failures.lower


def test_a_pooled_share_of_objects_is_as_wide_as_that_of_so_many_objects():
    """Four objects a case, each found with the same chance: the objects are as good as independent."""
    rng, widths = np.random.default_rng(1), []
    for _ in range(20):
        rows = [{"found": float(found), "of": 4.0} for found in rng.binomial(4, 0.7, 50)]
        cases = CaseTable([f"C{case:02}" for case in range(50)], rows)
        metric = Metric("p", "", RatioOfSums("found", "of"), 1, 0)
        ((one,),) = intervals({"t.p": metric}, [cases], Resampling(3, 20, 10)).found.values()
        widths.append((one.upper - one.lower) / (2 * wilson_interval(140, 200).half_width))
    assert np.mean(widths) == pytest.approx(1, abs=0.06)


def test_a_quantile_is_within_what_its_rank_can_be():
    values = np.sort(np.random.default_rng(2).uniform(size=40))
    rows = [{"value": one} for one in values.tolist()]
    cases = CaseTable([f"C{case:02}" for case in range(40)], rows)
    metric = Metric("q", "", Quantile("value", 0.5), 1, 0)
    ((one,),) = intervals({"t.q": metric}, [cases], Resampling(3, 20, 10)).found.values()
    low = int(binom.ppf(0.025, 40, 0.5))
    assert (one.lower, one.upper) == (values[low - 1], values[40 - low])


def concordance(risk, time, event, weights):
    """Harrell's index with weights of the cases, pair by pair."""
    known = (time[:, None] < time) & (event[:, None] > 0)
    pairs = np.where(known, weights[:, None] * weights, 0)
    won = (risk[:, None] > risk) + (risk[:, None] == risk) / 2
    return float((pairs * won).sum() / pairs.sum())


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
def test_a_concordance_has_the_variance_of_the_infinitesimal_jackknife(clusters):
    rng = np.random.default_rng(11)
    time, event = rng.exponential(size=CASES), (rng.random(CASES) < 0.7).astype(float)
    risk = np.round(-np.log(time) + rng.normal(size=CASES), 1)
    rows = [{"risk": a, "time": b, "event": c} for a, b, c in zip(risk, time, event, strict=True)]
    metric = Metric("c", "C", Concordance("risk", "time", "event", risk=True), 1, 0)
    choice = Resampling(3, 200, 5, clusters=clusters)
    ((found,),) = intervals({"t.c": metric}, [CaseTable(list(CLUSTERS), rows)], choice).found.values()
    assert found.method == "Wilson"
    ones, step = np.ones(CASES), 1e-6
    value = concordance(risk, time, event, ones)
    influences = np.array(
        [
            (concordance(risk, time, event, ones + step * (np.arange(CASES) == case)) - value) / step
            for case in range(CASES)
        ]
    )
    units = np.arange(CASES) // 2 if clusters else np.arange(CASES)
    of_units = np.bincount(units, influences)
    variance = (of_units**2).sum() * len(of_units) / (len(of_units) - 1)
    deaths = np.unique(units[event == 1]).size
    expected = effective_interval(value, variance, Evidence(value, (0, 1), deaths, is_share=False))
    assert (found.interval.lower, found.interval.upper) == pytest.approx(
        (expected.lower, expected.upper), abs=1e-5
    )


def test_a_correlation_without_spread_has_a_bound_on_one_side():
    x = np.arange(20.0)
    cases = CaseTable([f"C{x:02.0f}" for x in x], [{"x": a, "y": 2 * a} for a in x])
    metric = Metric("m", "", Agreement("y", "x", weighted_pearson_correlation, False), 1, -1)
    ((found,),) = intervals({"t.m": metric}, [cases], Resampling(3, 40, 10)).found.values()
    assert 0.5 < found.interval.lower < found.interval.upper == 1


def test_unseen_persons_of_two_images_each_are_four_negatives_above_all():
    """Four positives above sixteen negatives: with four negatives before them, precisions k / (k + 4)."""
    cases = CaseTable(
        [f"C{case:02}" for case in range(20)],
        [{"score": -float(case), "label": float(case < 4)} for case in range(20)],
    )
    (persons,) = AveragePrecision("score", "label").with_unseen(cases, 2)
    assert persons == pytest.approx(np.mean([1 / 5, 2 / 6, 3 / 7, 4 / 8]))


def test_ranks_that_nearly_agree_have_an_interval_that_reaches_above_their_ties():
    """Drawn cases that are equal lower a rank correlation; the true one is 6 / π · asin(ρ / 2) (Pearson)."""
    rng, correlation = np.random.default_rng(5), 0.995
    true, inside = 6 / math.pi * math.asin(correlation / 2), 0
    metric = Metric("m", "", Agreement("x", "y", weighted_spearman_correlation), 1, -1)
    for _ in range(60):
        pairs = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], 40)
        cases = CaseTable([f"C{case:02}" for case in range(40)], [{"x": x, "y": y} for x, y in pairs])
        ((found,),) = intervals({"t.m": metric}, [cases], Resampling(3, 100, 10)).found.values()
        inside += found.interval.lower <= true <= found.interval.upper
    assert inside >= 53  # of 60, as many as 99 of 100 intervals of 95 % would; about the bootstrap alone: 49


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
def test_tables_together_have_the_intervals_that_each_has_alone(clusters):
    tables = [table(1), table(2), table(1)]
    resampling = Resampling(3, 100, 5, clusters=clusters)
    together = intervals(METRICS, tables, resampling)
    assert together.missing == {}
    for position, one in enumerate(tables):
        alone = intervals(METRICS, [one], resampling).found
        for name, (expected,) in alone.items():
            got = together.found[name][position]
            assert got.method == expected.method
            assert got.interval.lower == pytest.approx(expected.interval.lower, rel=1e-12)
            assert got.interval.upper == pytest.approx(expected.interval.upper, rel=1e-12)


def test_whatever_the_method_there_must_be_enough_cases():
    found = intervals(METRICS, [table(1)], Resampling(3, 100, 21))
    assert set(found.found) == {"t.dice", "t.share"}
    assert found.missing["t.auc"] == "fewer than 21 cases of class 1"
    assert found.missing["t.f1"] == "fewer than 21 cases of the positive class"
    nothing = intervals(METRICS, [table(1)], Resampling(3, 0, 2))
    assert nothing.missing == dict.fromkeys(METRICS, "no resamples were asked for")


def classes(predicted, true):
    return CaseTable(
        [f"C{case}" for case in range(len(true))],
        [{"predicted": made, "true": wanted} for made, wanted in zip(predicted, true, strict=True)],
    )


@pytest.mark.parametrize(
    ("aggregate", "worst"),
    [
        (ConfusionFigure("predicted", "true", 2, precision_of_confusion, of=1), 0),
        (ConfusionFigure("predicted", "true", 2, f_beta_of_confusion, of=1), 0),
        (ConfusionFigure("predicted", "true", 2, balanced_accuracy_of_confusion, by_class=True), 0),
        (ConfusionFigure("predicted", "true", 2, matthews_correlation_of_confusion), -1),
        (ConfusionFigure("predicted", "true", 2, cohen_kappa_of_confusion), -1),
        (AveragePrecision("predicted", "true"), 0),
        (PartialRocArea("predicted", "true", Fraction(9, 10), Fraction(1), True), 0),
        (SensitivityAtSpecificity("predicted", "true", TARGET), 0),
        (PresenceF1("predicted", "true"), 0),
    ],
)
def test_a_perfect_submission_has_a_bound_below_the_best_value(aggregate, worst):
    true = [1.0] * 15 + [0.0] * 25
    metric = Metric("m", "", aggregate, 1, worst)
    ((one,),) = intervals({"t.m": metric}, [classes(true, true)], Resampling(3, 100, 10)).found.values()
    assert one.interval.upper == 1
    assert worst < one.interval.lower < 0.97


def test_whether_a_metric_has_an_interval_depends_on_the_reference_alone():
    # Kappa does not exist where a resample and its answers hold the same class alone.
    rng = np.random.default_rng(4)
    metric = Metric("m", "", ConfusionFigure("predicted", "true", 3, cohen_kappa_of_confusion), 1, -1)
    true = np.repeat([0.0, 1.0, 2.0], 12)
    for predicted in (true, np.zeros(36), np.full(36, np.nan), rng.integers(0, 3, 36) * 1.0):
        assert "t.m" in intervals({"t.m": metric}, [classes(predicted, true)], Resampling(3, 100, 10)).found
    true[0] = 1.0
    for predicted in (true, np.zeros(36)):
        missing = intervals({"t.m": metric}, [classes(predicted, true)], Resampling(3, 100, 12)).missing
        assert missing == {"t.m": "fewer than 12 cases of class 0"}


def test_a_constant_answer_has_an_interval():
    """All classes or numbers are answered alike: the figure is 0 in every resample, up to rounding."""
    for positives, others in ((11, 45), (11, 35), (12, 44)):
        true = np.repeat([1.0, 0.0], [positives, others])
        for figure in (cohen_kappa_of_confusion, matthews_correlation_of_confusion):
            metric = Metric("m", "", ConfusionFigure("predicted", "true", 2, figure), 1, -1)
            ((found,),) = intervals(
                {"t.m": metric}, [classes(0 * true, true)], Resampling(3, 100, 10)
            ).found.values()
            assert found.interval.lower < 0 < found.interval.upper
    true = np.random.default_rng(5).normal(8, 1.5, 41)
    for answer in (0.1, 3.3, 8.0):
        for figure, absolute in (
            (weighted_pearson_correlation, False),
            (weighted_intraclass_correlation, True),
        ):
            metric = Metric("m", "", Agreement("predicted", "true", figure, absolute), 1, -1)
            cases = classes(np.full(41, answer), true)
            ((found,),) = intervals({"t.m": metric}, [cases], Resampling(3, 100, 10)).found.values()
            assert found.interval.lower < -0.1
            assert found.interval.upper > 0.1


def test_a_dear_error_counts_that_the_sample_does_not_hold():
    """Of 40 right answers, one more may be wrong at the cost 20: a share of 1 − 0.025^(1 / 40) at most."""
    costs = np.array([[0.0, 1.0], [20.0, 0.0]])
    figure = partial(expected_cost_of_confusion, costs=costs, normalised=False)
    metric = Metric("m", "", ConfusionFigure("predicted", "true", 2, figure), 0, 20)
    true = np.repeat([1.0, 0.0], [15, 25])
    ((found,),) = intervals({"t.m": metric}, [classes(true, true)], Resampling(3, 200, 10)).found.values()
    unseen = found.with_unseen_failures
    assert unseen.upper == pytest.approx(20 * (1 - 0.025 ** (1 / 40)), rel=0.08)
    assert unseen.lower == 0
