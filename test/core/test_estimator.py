"""Estimators over cases: quantiles and figures by group under weights, against NumPy and pandas."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.class_estimators import RocArea
from evaluation.core.estimator import ByGroup, Mean, MeanOfFigures, Quantile, RatioOfSums
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling, joined
from evaluation.metrics.classification import auc

NUMBERS = st.one_of(st.just(np.nan), st.floats(-9, 9).map(lambda number: round(number, 2)))


def table_of(**columns):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return CaseTable([f"C{case:03}" for case in range(len(rows))], rows)


def values(estimator, table, weights):
    return estimator.values(WeightedCases(table, np.atleast_2d(weights)))


@given(
    arrays(np.float64, 7, elements=NUMBERS),
    arrays(np.int64, (3, 7), elements=st.integers(0, 3)),
    st.floats(0, 1),
)
def test_a_quantile_is_that_of_the_repeated_cases(column, weights, level):
    found = values(Quantile("value", level), table_of(value=column.tolist()), weights)
    for row, value in zip(weights, found, strict=True):
        repeated = np.repeat(column, row)
        repeated = repeated[~np.isnan(repeated)]
        assert value == pytest.approx(np.quantile(repeated, level) if repeated.size else np.nan, nan_ok=True)


GROUPS = [*"ababbca", ""]
VALUES = [1.0, 5.0, 2.0, np.nan, 7.0, np.nan, 6.0, 100.0]


def test_the_mean_over_groups_leaves_out_groups_without_a_figure_and_cases_without_a_group():
    table = table_of(value=VALUES, group=GROUPS)
    frame = pd.DataFrame({"value": VALUES, "group": GROUPS}).query("group != ''")
    by_group = frame.groupby("group")["value"]
    assert values(ByGroup(Mean("value"), "group"), table, np.ones(8)) == by_group.mean().mean()
    assert values(ByGroup(Quantile("value", 0.5), "group"), table, np.ones(8)) == by_group.median().mean()
    assert ByGroup(Mean("value"), "group").strata(table).tolist() == [0, 0, 0, -1, 0, -1, 0, -1]


def test_a_group_counts_as_often_as_it_is_drawn_and_a_part_of_it_once():
    table = table_of(value=VALUES, group=GROUPS)
    twice_a = np.array([2, 1, 2, 1, 1, 0, 2, 0])
    part_of_a = np.array([1, 1, 0, 1, 1, 0, 0, 0])
    assert values(ByGroup(Mean("value"), "group"), table, [twice_a, part_of_a]).tolist() == [
        (3 + 3 + 6) / 3,
        3.5,
    ]


def test_any_figure_has_groups():
    rng = np.random.default_rng(0)
    label, score, group = rng.integers(0, 2, 60), rng.random(60).round(1), rng.integers(0, 4, 60)
    label[group == 3] = 1  # no area in this group
    table = table_of(
        score=score.tolist(), label=label.astype(float).tolist(), group=group.astype(str).tolist()
    )
    expected = np.mean([auc(score[group == one], label[group == one]) for one in range(3)])
    assert values(ByGroup(RocArea("score", "label"), "group"), table, np.ones(60)) == pytest.approx(expected)


def test_the_mean_of_figures_leaves_out_those_that_do_not_exist():
    table = table_of(a_number=[1.0, 0.0], a_of=[4.0, 0.0], b_number=[2.0, 1.0], b_of=[2.0, 2.0])
    mean = MeanOfFigures((RatioOfSums("a_number", "a_of"), RatioOfSums("b_number", "b_of")))
    assert values(mean, table, [[1, 1], [0, 1]]).tolist() == [(1 / 4 + 3 / 4) / 2, 1 / 2]


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
