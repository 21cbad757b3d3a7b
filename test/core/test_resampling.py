"""What can be resampled, why others cannot, and that one table alone gets what it gets among several."""

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.core.metric import Aggregate, Metric, auc_of, mean_of
from evaluation.core.resampling import Resampling, resample, units_of
from evaluation.metrics.intervals import bootstrap_weights

METRICS = {
    "auc": Metric("auc", "AUC", auc_of("score", "label"), best=1, worst=0),
    "dice": Metric("dice", "Dice", mean_of("dice"), best=1, worst=0),
}
NAMES = [f"V{i:02}" for i in range(40)]
LABEL = (np.arange(40) < 8).astype(float)


def table(seed: int) -> CaseTable:
    rng = np.random.default_rng(seed)
    rows = [
        {"label": label, "score": label + rng.normal(), "dice": rng.uniform() if i % 4 else np.nan}
        for i, label in enumerate(LABEL.tolist())
    ]
    return CaseTable(NAMES, rows)


def test_clusters_are_numbers_and_a_case_without_one_is_alone():
    clusters = {"a": "P1", "b": "", "c": "P1", "d": ""}
    first, second, third, fourth = units_of(clusters, "abcd").tolist()
    assert first == third
    assert len({first, second, fourth}) == 3
    assert units_of(None, "abcd") is None


def test_tables_together_have_the_values_that_each_has_alone():
    tables = [table(1), table(2)]
    resampling = Resampling(3, 50, 5)
    together = resample(METRICS, tables, resampling)
    assert together.missing == {}
    for position, one in enumerate(tables):
        alone = resample(METRICS, [one], resampling)
        for name in METRICS:
            np.testing.assert_array_equal(together.values[name][:, [position]], alone.values[name])


def test_a_mean_is_of_the_drawn_cases_that_enter():
    cases = table(1)
    (found,) = resample({"dice": METRICS["dice"]}, [cases], Resampling(3, 50, 5)).values.values()
    dice = cases["dice"]
    strata = np.where(np.isnan(dice), -1, 0)
    (weights,) = bootstrap_weights(strata, None, 3, 50)
    expected = [np.average(dice[row > 0], weights=row[row > 0]) for row in weights]
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("resampling", "reasons"),
    [
        # 8 positives and 32 negatives; of the 40 cases 30 have a Dice.
        (Resampling(0, 20, 9), {"auc": "8 cases in a stratum, fewer than 9"}),
        (Resampling(0, 20, 31), {
            "auc": "8 cases in a stratum, fewer than 31",
            "dice": "30 cases in a stratum, fewer than 31",
        }),
        (Resampling(0, 20, 5, clusters={name: str(i // 8) for i, name in enumerate(NAMES)}), {
            "auc": "1 clusters in a stratum, fewer than 5",
        }),
        (Resampling(0, 0, 1), dict.fromkeys(METRICS, "no resamples were asked for")),
        (Resampling(0, 20, 1), {}),
    ],
)  # fmt: skip
def test_why_a_metric_is_not_resampled(resampling, reasons):
    found = resample(METRICS, [table(1)], resampling)
    assert found.missing == reasons
    assert set(found.values) == set(METRICS) - set(reasons)


def test_a_metric_that_some_resamples_lack():
    def exists_with_the_first_case(cases):
        return np.where(cases.weights[:, 0] > 0, 1.0, np.nan)

    aggregate = Aggregate(exists_with_the_first_case, METRICS["dice"].aggregate.strata)
    metrics = {"m": Metric("m", "M", aggregate, best=1, worst=0)}
    # A resample of 30 cases lacks a certain one with probability (29/30)^30, about a third.
    found = resample(metrics, [table(1)], Resampling(0, 50, 1))
    assert found.missing == {"m": "it does not exist in every resample"}
