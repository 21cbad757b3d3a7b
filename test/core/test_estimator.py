"""Estimators over cases: quantiles and figures by group under weights, against NumPy and pandas."""

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.class_estimators import PresenceF1
from evaluation.core.estimator import ByGroup, FunctionOfCases, Mean, RatioOfSums
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling, joined


def table_of(**columns):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return CaseTable([f"C{case:03}" for case in range(len(rows))], rows)


def values(estimator, table, weights):
    return estimator.values(WeightedCases(table, np.atleast_2d(weights)))


VALUES = [1.0, 5.0, 2.0, np.nan, 7.0, np.nan, 6.0, 100.0]


def test_groups_of_two_columns_are_kept_apart():
    table = table_of(value=VALUES[:4], first=[*"aabb"], second=[*"abab"])
    by_first, by_second = (ByGroup(RatioOfSums("value", "value"), name) for name in ("first", "second"))
    assert values(by_first, table, np.ones(4)) == 1
    means = [values(ByGroup(Mean("value"), name), table, np.ones(4)).item() for name in ("first", "second")]
    assert means == [(3.0 + 2.0) / 2, (1.5 + 5.0) / 2]
    assert by_second.groups(table).tolist() == [0, 1, 0, 1]


def test_a_ratio_is_0_where_the_denominators_sum_to_nothing_and_there_is_something_at_all():
    table = table_of(number=[1.0, 0.0, 0.0], of=[4.0, 0.0, 0.0], total=[9.0, 5.0, 0.0])
    ratio = RatioOfSums("number", "of", of_nothing=1.0, total="total")
    drawn = np.array([[1, 1, 1], [0, 1, 0], [0, 1, 1], [0, 0, 2]])
    assert values(ratio, table, drawn).tolist() == [0.25, 0, 0, 1]
    sums = ratio.of_sums(table, worst=0, best=1)
    assert sums.figure(drawn @ sums.columns.T).tolist() == [0.25, 0, 0, 1]
    # A case that nobody has seen is of the mean size.
    assert (sums.lowest.tolist(), sums.highest.tolist()) == ([[0, 4 / 3, 14 / 3]], [[4 / 3, 4 / 3, 14 / 3]])


@pytest.mark.parametrize(
    ("worst", "best", "low", "high"),
    [(0.0, 1.0, 0.0, 1.0), (0.0, np.inf, 0.0, 0.5), (-np.inf, np.inf, 0.2, 0.5), (1.0, 0.0, 0.0, 1.0)],
)
def test_an_unseen_case_reaches_to_the_ends_or_as_far_as_the_cases(worst, best, low, high):
    sums = Mean("value").of_sums(table_of(value=[0.2, 0.5, np.nan]), worst, best)
    assert (sums.lowest[0].tolist(), sums.highest[0].tolist()) == ([low, 1.0], [high, 1.0])
    assert sums.value == pytest.approx(0.35)


def test_groups_are_drawn_as_a_whole():
    """With equal values within groups, the interval is that of as many cases as there are groups."""
    rng = np.random.default_rng(1)
    of_groups = rng.random(20)
    table = table_of(
        value=np.repeat(of_groups, 5).tolist(), group=np.repeat(np.arange(20), 5).astype(str).tolist()
    )
    alone = table_of(value=of_groups.tolist(), group=np.arange(20).astype(str).tolist())
    metrics = {"t.m": Metric("m", "M", ByGroup(Mean("value"), "group"), 1, 0)}
    (found,), (expected,) = (
        intervals(metrics, [one], Resampling(3, 500, 10)).found["t.m"] for one in (table, alone)
    )
    assert found.interval.lower == pytest.approx(expected.interval.lower)
    assert found.interval.upper == pytest.approx(expected.interval.upper)
    few = intervals(metrics, [table], Resampling(3, 500, 21))
    assert few.missing == {"t.m": "fewer than 21 groups"}


def test_clusters_that_share_a_group_are_one_unit():
    clusters, groups = np.array([0, 1, 1, 2, 3, 4]), np.array([0, 0, 1, 2, 1, -1])
    units = joined(clusters, groups)
    assert len({*units[[0, 1, 2, 4]]}) == 1
    assert len({*units}) == 3
    assert joined(clusters, None) is clusters
    assert joined(None, groups).tolist()[:5] == [0, 0, 1, 2, 1]


def test_an_envelope_is_compared_with_halves_and_what_they_leave():
    seen = []

    def values_of(cases):
        seen.append(cases.weights)
        return np.zeros(len(cases.weights))

    FunctionOfCases(values_of, of_envelope=True).corrected(table_of(value=[0.0] * 9))
    (weights,) = seen
    halves, others = np.split(weights[1:], 2)
    assert (weights[0] == 1).all()
    assert (halves + others == 1).all()
    assert set(halves.sum(axis=1).tolist()) == {4}
    assert len(np.unique(halves, axis=0)) > 30


# ADAM, on-site counts of Table 1 (positives of 400) and the row of a team that marked every image.
@pytest.mark.parametrize(
    ("positives", "published"), [(44, 0.1982), (39, 0.1777), (23, 0.1087), (21, 0.0998), (2, 0.0100)]
)
def test_every_image_marked(positives, published):
    table = table_of(made=np.ones(400).tolist(), true=(np.arange(400.0) < positives).tolist())
    found = values(PresenceF1("made", "true"), table, np.ones(400))
    assert round(float(found[0]), 4) == published
