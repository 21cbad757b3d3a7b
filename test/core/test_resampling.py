"""What can be resampled, and why others cannot."""

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling, groups_of, units_of

METRICS = {
    "auc": Metric("auc", "AUC", RocArea("score", "label"), best=1, worst=0),
    "dice": Metric("dice", "Dice", Mean("dice"), best=1, worst=0),
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


def test_clusters_are_numbered_as_they_occur_whatever_they_are_called():
    names = ["a", "b", "c"]
    first = units_of({"a": "x", "b": "y", "c": "x"}, names)
    second = units_of({"a": "9", "b": "1", "c": "9"}, names)
    assert first.tolist() == second.tolist() == [0, 1, 0]


def test_metrics_of_equal_strata_share_their_draws():
    metrics = {**METRICS, "again": METRICS["dice"]}
    groups, missing = groups_of(metrics, table(1), Resampling(3, 50, 5))
    assert missing == {}
    assert [list(group.metrics) for group in groups] == [["auc"], ["dice", "again"]]
    dice = groups[1]
    assert dice.members.tolist() == [i for i in range(40) if i % 4]
    assert len(dice.entering(table(1))) == 30
    bootstrap = dice.bootstrap(Resampling(3, 50, 5))
    assert (bootstrap.units, bootstrap.resamples) == (30, 50)


@pytest.mark.parametrize(
    ("resampling", "reasons"),
    [
        # 8 positives and 32 negatives; of the 40 cases 30 have a Dice.
        (Resampling(0, 20, 9), {"auc": "fewer than 9 cases of class 1"}),
        (Resampling(0, 20, 31), {
            "auc": "fewer than 31 cases of class 1",
            "dice": "fewer than 31 cases",
        }),
        (Resampling(0, 20, 5, clusters={name: str(i // 8) for i, name in enumerate(NAMES)}), {
            "auc": "fewer than 5 clusters of class 0",
        }),
        (Resampling(0, 0, 1), dict.fromkeys(METRICS, "no resamples were asked for")),
        (Resampling(0, 20, 1), {}),
    ],
)  # fmt: skip
def test_why_a_metric_is_not_resampled(resampling, reasons):
    groups, missing = groups_of(METRICS, table(1), resampling)
    assert missing == reasons
    assert {name for group in groups for name in group.metrics} == set(METRICS) - set(reasons)
