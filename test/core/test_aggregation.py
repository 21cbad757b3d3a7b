from dataclasses import replace
from math import nan

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from evaluation.core.aggregation import Subset, estimates, metric_values, subgroup_values
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.class_estimators import RocArea
from evaluation.core.estimator import ByGroup, FunctionOfCases, Mean
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.stats import figure
from evaluation.stats.bootstrap import bootstrap_of
from evaluation.stats.columns import weighted_mean
from evaluation.stats.intervals import steady

AUC = Metric("auc", "AUC", RocArea("score", "label"), best=1, worst=0)
DICE = Metric("dice", "Dice", Mean("dice"), best=1, worst=0)
TASK = Task("task", "Task", (), lambda p, r: {}, (AUC, DICE))
COUNT = 60


def table(count=COUNT, **changed):
    rng = np.random.default_rng(5)
    label = np.arange(count) % 3 == 0
    columns = {
        "label": label.astype(float),
        "score": np.round(rng.normal(size=count) + label, 1),
        "dice": rng.uniform(size=count),
        **changed,
    }
    columns = {name: np.asarray(values, dtype=float) for name, values in columns.items()}
    rows = [{name: float(values[i]) for name, values in columns.items()} for i in range(count)]
    return CaseTable([f"V{i:03}" for i in range(count)], rows)


def resampling(min_cases=10, resamples=200, clusters=None, seed=3):
    of_case = None if clusters is None else {f"V{i:03}": f"P{one:02}" for i, one in enumerate(clusters)}
    return Resampling(seed, resamples, min_cases, clusters=of_case)


def estimate(task, cases, resampling, full_detail):
    return estimates([task], {task.name: cases}, resampling, full_detail)[task.name]


def test_values_and_spread():
    cases = table()
    found = estimate(TASK, cases, resampling(), full_detail=True)
    assert found["auc"].value == pytest.approx(roc_auc_score(cases["label"], cases["score"]), abs=1e-12)
    dice = found["dice"]
    assert dice.value == pytest.approx(cases["dice"].mean())
    assert dice.standard_deviation == pytest.approx(stats.tstd(cases["dice"]))
    quartiles = (dice.first_quartile, dice.median, dice.third_quartile)
    assert quartiles == pytest.approx(stats.scoreatpercentile(cases["dice"], [25, 50, 75]))
    assert found["auc"].standard_deviation is None
    assert found["auc"].median is None


def test_quartiles_are_published_only_in_full_detail():
    dice = estimate(TASK, table(), resampling(), full_detail=False)["dice"]
    assert dice.standard_deviation is not None
    assert (dice.first_quartile, dice.median, dice.third_quartile) == (None, None, None)


PLAIN = Metric(
    "plain",
    "",
    FunctionOfCases(lambda cases: weighted_mean(cases.table["dice"], cases.weights)),
    np.inf,
    -np.inf,
)
ONLY_PLAIN = replace(TASK, metrics=(PLAIN,))


def loop(cases, strata, statistic, resamples=200, clusters=None, seed=3):
    """Return the interval by repeating the cases of each resample and calling the oracle on them."""
    values = []
    for weights in bootstrap_of(strata, clusters, seed, resamples).case_weights():
        for row in weights.astype(int):
            drawn = np.repeat(np.arange(len(cases)), row)
            values.append(statistic(drawn))
    return np.percentile(values, [2.5, 97.5])


def interval_of(found):
    interval = found.confidence_interval
    assert interval.half_width == pytest.approx((interval.upper - interval.lower) / 2)
    return interval.lower, interval.upper


@pytest.mark.parametrize("clusters", [None, np.arange(COUNT) // 3])
def test_percentiles_agree_with_a_loop_over_resamples(clusters):
    cases = table()
    found = estimate(ONLY_PLAIN, cases, resampling(clusters=clusters), full_detail=False)["plain"]
    dice = cases["dice"]
    expected = loop(cases, np.zeros(COUNT, int), lambda drawn: dice[drawn].mean(), clusters=clusters)
    ends = steady(figure.Interval(*expected), found.value)
    assert interval_of(found) == pytest.approx((ends.lower, ends.upper), abs=1e-12)
    assert found.confidence_interval.method == "percentile"


def test_undefined_cases_do_not_count_for_an_interval():
    dice = np.where(np.arange(COUNT) < 9, 0.5, nan)
    found = estimate(TASK, table(dice=dice), resampling(10), full_detail=True)["dice"]
    assert (found.value, found.confidence_interval, found.standard_deviation) == (0.5, None, 0)


def test_a_metric_that_does_not_exist_is_left_out():
    cases = table(label=np.zeros(COUNT))
    assert list(estimate(TASK, cases, resampling(), full_detail=True)) == ["dice"]
    values = metric_values(TASK.metrics, cases)
    assert np.isnan(values["auc"])
    assert values["dice"] == pytest.approx(cases["dice"].mean())
    empty = CaseTable([], [])
    assert estimate(TASK, empty, resampling(), full_detail=True) == {}


def test_one_case_has_no_standard_deviation():
    found = estimate(TASK, table(1), resampling(), full_detail=True)["dice"]
    assert found.standard_deviation is None
    assert found.median == found.value


def test_further_intervals():
    given = []

    def fixed(cases, seed, units):
        given.append((cases["dice"].size, seed, None if units is None else units.tolist()))
        return {"wilson": figure.Figure(0.5, 0.2, 0.8, "Wilson")}

    metric = Metric("dice", "Dice", Mean("dice"), 1, 0, fixed_intervals=fixed)
    task = Task("task", "Task", (), TASK.score, (metric,))
    found = estimate(task, table(4), resampling(), full_detail=False)["dice"]
    assert found.confidence_interval is None
    assert found.interval == "fewer than 10 cases"
    assert found.further_intervals["wilson"].half_width == pytest.approx(0.3)
    estimate(task, table(4), resampling(seed=9, clusters=[1, 0, 1, 0]), full_detail=False)
    assert given == [(4, 3, None), (4, 9, [0, 1, 0, 1])]


@pytest.mark.parametrize("clusters", [None, np.arange(COUNT) % 30])
def test_intervals_are_the_same_beside_other_metrics_and_tasks_as_alone(clusters):
    """Metrics of equal strata are drawn together, but not those whose groups of cases are drawn whole."""
    names = [f"V{i:03}" for i in range(COUNT)]
    groups = [{"centre": f"centre {i % 10}", "reader": f"reader {i % 15}"} for i in range(COUNT)]
    rows = [{**row, **of} for row, of in zip(table().rows, groups, strict=True)]
    cases = CaseTable(names, rows)
    by_group = [replace(DICE, name=of, estimator=ByGroup(Mean("dice"), of)) for of in ("centre", "reader")]
    of_dice = replace(AUC, name="auc_of_dice", estimator=RocArea("dice", "label"))
    metrics = (DICE, AUC, of_dice, *by_group)
    tasks = [replace(TASK, name=name, metrics=of) for name, of in (("one", metrics), ("two", metrics[::-1]))]
    asked = resampling(clusters=clusters)
    together = estimates(tasks, {"one": cases, "two": cases}, asked, False)
    lengths = set()
    for metric in metrics:
        alone = estimate(replace(TASK, metrics=(metric,)), CaseTable(names, rows), asked, False)[metric.name]
        assert alone.confidence_interval is not None, alone
        lengths.add(alone.confidence_interval.half_width)
        for name in ("one", "two"):
            assert together[name][metric.name] == alone
    assert len(lengths) == len(metrics)


def test_a_subgroup_has_the_values_of_its_cases_alone():
    cases = table()
    members = np.arange(COUNT) < 45
    found = subgroup_values(TASK.metrics, cases, Subset(members), 10)
    assert found == pytest.approx(
        {
            "auc": roc_auc_score(cases["label"][members], cases["score"][members]),
            "dice": cases["dice"][members].mean(),
        }
    )


def test_positives_of_a_subgroup_against_all_negatives():
    cases = table()
    members = np.arange(COUNT) < 45
    entering = (members & (cases["label"] == 1)) | (cases["label"] == 0)
    assert entering.sum() == 15 + 40
    expected = {"auc": roc_auc_score(cases["label"][entering], cases["score"][entering])}
    for metrics in ((AUC, DICE), (DICE, AUC)):
        found = subgroup_values(metrics, cases, Subset(members, against_all_negatives=True), 10)
        assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("size", "against_all", "expected"),
    [
        (29, False, {"auc", "dice"}),  # 10 positives, 19 negatives
        (27, False, {"dice"}),  # 9 positives
        (27, True, set()),
        (28, True, {"auc"}),
        (9, False, set()),
        (10, False, {"dice"}),
    ],
)
def test_a_subgroup_needs_enough_cases_of_each_class(size, against_all, expected):
    subset = Subset(np.arange(COUNT) < size, against_all)
    assert set(subgroup_values(TASK.metrics, table(), subset, 10)) == expected


def test_undefined_cases_do_not_count_in_a_subgroup():
    cases = table(dice=np.where(np.arange(COUNT) < 9, 0.5, nan))
    everyone = np.ones(COUNT, dtype=bool)
    assert "dice" not in subgroup_values(TASK.metrics, cases, Subset(everyone), 10)
    assert subgroup_values(TASK.metrics, cases, Subset(everyone), 9)["dice"] == 0.5


def one_stratum(cases):
    return np.zeros(len(cases), dtype=np.int64)


def in_the_first_case(cases):
    return np.where(cases.weights[:, 0] > 0, 1.0, nan)


def task_of(aggregate):
    return Task("task", "", (), lambda p, r: {}, (Metric("m", "", aggregate, 1, 0),))


def test_resamples_without_a_value_are_left_out():
    task = task_of(FunctionOfCases(in_the_first_case, one_stratum))
    found = estimate(task, table(), resampling(), full_detail=False)["m"]
    assert found.value == 1
    assert found.confidence_interval.upper == 1


@pytest.mark.parametrize(
    ("max_cases", "asked_for", "exists"),
    [(None, None, True), (COUNT - 1, None, False), (COUNT, None, True), (COUNT - 1, COUNT, True)],
)
def test_slow_intervals_are_left_out_above_a_number_of_cases(max_cases, asked_for, exists):
    task = task_of(FunctionOfCases(Mean("dice").values, one_stratum, max_cases=max_cases))
    found = estimate(task, table(), Resampling(0, 60, 2, interval_maximum=asked_for), full_detail=False)["m"]
    assert (found.confidence_interval is not None) == exists


def test_a_subgroup_without_a_value_is_left_out():
    metrics = task_of(FunctionOfCases(in_the_first_case, one_stratum)).metrics
    for member, expected in ((0, {"m": 1.0}), (1, {})):
        subset = Subset(np.arange(COUNT) == member)
        assert subgroup_values(metrics, table(), subset, min_cases=1) == expected
