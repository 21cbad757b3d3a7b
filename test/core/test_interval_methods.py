"""Which interval a metric gets, by default and by choice; several tables give what each gives alone."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.stats import binomtest, t

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
from evaluation.core.estimator import Mean, Share
from evaluation.core.intervals import default_method, intervals, possible_methods
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.bootstrap import bootstrap_weights
from evaluation.metrics.classification import roc_table
from evaluation.metrics.confusion import (
    balanced_accuracy_of_confusion,
    cohen_kappa_of_confusion,
    expected_cost_of_confusion,
    f_beta_of_confusion,
    matthews_correlation_of_confusion,
    precision_of_confusion,
)
from evaluation.metrics.intervals import (
    Evidence,
    area_interval,
    components,
    effective_interval,
    wilson_bootstrap_interval,
)
from evaluation.metrics.operating_points import weighted_sensitivity_at_specificity
from evaluation.metrics.regression import (
    weighted_intraclass_correlation,
    weighted_pearson_correlation,
    weighted_spearman_correlation,
)
from test.failing_calls import Calls, counted

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


def test_a_phase_may_always_choose_percentiles():
    found = {name: possible_methods(metric, False) for name, metric in METRICS.items()}
    assert found["t.share"] == ("Clopper-Pearson", "Wilson-bootstrap", "percentile")
    assert found["t.f1"] == ("Gaffke", "Wilson-bootstrap", "percentile")
    assert all(methods[-1] == "percentile" for methods in found.values())
    for best, worst in ((math.inf, 0), (0, math.inf), (math.inf, -math.inf)):
        without = replace(METRICS["t.sensitivity"], best=best, worst=worst)
        assert possible_methods(without, False) == (default_method(without, False),) == ("percentile",)
    chosen = Resampling(3, 200, 10, methods=dict.fromkeys(METRICS, "percentile"))
    assert {one.method for (one,) in intervals(METRICS, [table(1)], chosen).found.values()} == {"percentile"}


@pytest.mark.parametrize("clusters", [None, CLUSTERS])
def test_each_interval_is_that_of_its_method(clusters):
    cases = table(1)
    found = intervals(METRICS, [cases], Resampling(3, 200, 10, clusters=clusters)).found
    units = None if clusters is None else np.arange(CASES) // 2
    positive = cases["label"] > 0
    assert {name: one.method for name, (one,) in found.items()} == {
        name: default_method(metric, clusters is not None) for name, metric in METRICS.items()
    }
    assert found["t.auc"][0].interval == area_interval(components(cases["score"], positive, units))
    weights = np.concatenate(list(bootstrap_weights(positive.astype(int), units, 3, 200)))
    roc = roc_table(cases["score"], positive)
    expected = wilson_bootstrap_interval(
        weighted_sensitivity_at_specificity(roc, weights, TARGET),
        Evidence(
            weighted_sensitivity_at_specificity(roc, np.ones((1, CASES)), TARGET)[0],
            (0, 1),
            20 if clusters is None else np.unique(units[positive]).size,
            is_share=True,
        ),
    )
    assert found["t.sensitivity"][0].interval == expected
    if clusters is None:
        by_scipy = binomtest(int(cases["right"].sum()), CASES).proportion_ci(method="exact")
        share = found["t.share"][0].interval
        assert (share.lower, share.upper) == pytest.approx((by_scipy.low, by_scipy.high))
    # Weights of cases or persons, and of one more person with as many cases, of whom each is wrong or right.
    persons = units_or_cases(units)
    draws = np.random.Generator(np.random.PCG64(3)).exponential(size=(200, persons[-1] + 2))
    weights, one_more = draws[:, persons], draws[:, -1] * CASES / (persons[-1] + 1)
    hits, both = weights @ (cases["right"] * positive), weights @ (cases["right"] + positive)
    lower = np.quantile(2 * hits / (both + one_more), 0.025)
    upper = np.quantile((2 * hits + 2 * one_more) / (both + 2 * one_more), 0.975)
    interval = found["t.f1"][0].interval
    assert (interval.lower, interval.upper) == pytest.approx((lower, upper))


def weighted_pearson(x, y, weights):
    covariance = np.cov(x, y, aweights=weights, ddof=0)
    return covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])


def weighted_agreement(x, y, weights):
    covariance, means = np.cov(x, y, aweights=weights, ddof=0), np.average([x, y], axis=1, weights=weights)
    return 2 * covariance[0, 1] / (np.trace(covariance) + (means[0] - means[1]) ** 2)


# In these populations each of the three multiples of the spread is the widest on either side once.
@pytest.mark.parametrize(("population", "clusters"), [(0, None), (4, CLUSTERS), (5, None), (8, CLUSTERS)])
@pytest.mark.parametrize(
    ("figure", "absolute", "oracle"),
    [
        (weighted_pearson_correlation, False, weighted_pearson),
        (weighted_intraclass_correlation, True, weighted_agreement),
    ],
)
def test_correlations_have_standard_errors_of_the_infinitesimal_jackknife(
    figure, absolute, oracle, clusters, population
):
    """The derivative by each unit's weight is taken by differences; a studentised loop gives the interval."""
    rng = np.random.default_rng(population)
    x = rng.normal(size=CASES)
    y = x + rng.standard_t(4, CASES)
    cases = CaseTable(list(CLUSTERS), [{"x": a, "y": b} for a, b in zip(x, y, strict=True)])
    metric = Metric("m", "", Agreement("x", "y", figure, absolute), 1, -1)
    choice = Resampling(3, 40, 10, clusters=clusters)
    ((found,),) = intervals({"t.m": metric}, [cases], choice).found.values()
    unit = np.arange(CASES) // (1 if clusters is None else 2)
    units, step = unit[-1] + 1, 1e-4

    def z_and_error(weights):
        moved = [
            [oracle(x, y, np.abs(weights + side * step * (unit == one))) for side in (1, -1)]
            for one in range(units)  # those of weight 0 do not count
        ]
        slopes = np.diff(moved, axis=1)[:, 0] / (-2 * step)
        value = figure(x, y, weights[np.newaxis])[0]
        of_units = weights[np.unique(unit, return_index=True)[1]]
        return np.arctanh(value), np.sqrt(of_units @ slopes**2 * units / (units - 1)) / (1 - value**2)

    z, error = z_and_error(np.ones(CASES))
    rows = np.concatenate(
        list(bootstrap_weights(np.zeros(CASES, int), None if clusters is None else unit, 3, 40))
    )
    resampled = np.array([z_and_error(row) for row in rows])
    ratios = (resampled[:, 0] - z) / np.maximum(resampled[:, 1], error / 3)
    least = max(np.quantile(np.abs(ratios), 0.95), t.ppf(0.975, units - 1))
    spread = max(error, resampled[:, 0].std(ddof=1))
    below, above = (max(least, np.quantile(side * ratios, 0.975)) * spread for side in (1, -1))
    assert (found.interval.lower, found.interval.upper) == pytest.approx(
        np.tanh([z - below, z + above]), abs=1e-6
    )
    assert found.method == "Fisher-studentised"


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
    assert found.method == "Wilson-jackknife"
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


def units_or_cases(units):
    return np.arange(CASES) if units is None else units


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


def test_two_processes_have_the_intervals_of_one(may_fork, tmp_path):
    """So many resamples are worth a second process, which a machine without memory does not get."""
    resampling = Resampling(3, 60_001, 5, clusters=CLUSTERS)
    with counted(Calls(tmp_path, "fork", 1, "ENOMEM")):
        alone = intervals(METRICS, [table(1), table(2)], resampling)
    with counted(Calls(tmp_path)) as calls:
        together = intervals(METRICS, [table(1), table(2)], resampling)
    assert calls.counts["fork"] == 1
    assert together.found.keys() == alone.found.keys()
    for name, expected in alone.found.items():
        for one, other in zip(together.found[name], expected, strict=True):
            ends = (other.interval.lower, other.interval.upper)
            assert (one.interval.lower, one.interval.upper) == pytest.approx(ends, rel=1e-12)


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


@pytest.mark.parametrize(
    ("entering", "persons", "chosen", "exists"),
    [
        (199, 0, {}, False),
        (199, 0, {"t.m": "Gaffke"}, True),
        (200, 0, {}, True),
        (300, 100, {}, False),
        (300, 200, {}, True),
    ],
)
def test_a_mean_without_a_largest_value_needs_enough_units_to_show_failures(
    entering, persons, chosen, exists
):
    """Units are those that enter, not the rows of the table: of 400 cases only some have the structure."""
    names = [f"C{case}" for case in range(400)]
    rows = [{"value": 1.0 + case % 7 if case < entering else math.nan} for case in range(400)]
    clusters = {name: f"P{case % persons}" for case, name in enumerate(names)} if persons else None
    metric = Metric("m", "", Mean("value"), 0, float("inf"))
    resampling = Resampling(3, 50, 10, methods=chosen, clusters=clusters)
    found = intervals({"t.m": metric}, [CaseTable(names, rows)], resampling)
    assert ("t.m" in found.found) == exists
    assert exists or found.missing["t.m"].startswith(f"fewer than 200 {'clusters' if persons else 'cases'}")


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
    ((found,),) = intervals({"t.m": metric}, [classes(true, true)], Resampling(3, 20_000, 10)).found.values()
    assert found.interval.upper == pytest.approx(20 * (1 - 0.025 ** (1 / 40)), rel=0.03)
    assert found.interval.lower == 0
