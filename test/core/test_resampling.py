"""What can be resampled, and why others cannot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea
from evaluation.core.estimator import Mean
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling, groups_of, joint_weights, units_of

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


def test_clusters_are_numbered_as_they_occur_whatever_they_are_called():
    names = ["a", "b", "c"]
    first = units_of({"a": "x", "b": "y", "c": "x"}, names)
    second = units_of({"a": "9", "b": "1", "c": "9"}, names)
    assert first.tolist() == second.tolist() == [0, 1, 0]
    # A case without one is alone.
    assert units_of({"a": "P1", "b": "", "c": "P1", "d": ""}, "abcd").tolist() == [0, 1, 0, 2]
    assert units_of(None, names) is None


def test_metrics_of_equal_strata_share_their_draws():
    metrics = {**METRICS, "again": METRICS["dice"]}
    groups, missing = groups_of(metrics, table(1), Resampling(3, 50, 5))
    assert missing == {}
    assert [list(group.metrics) for group in groups] == [["auc"], ["dice", "again"]]
    dice = groups[1]
    assert dice.members.tolist() == [i for i in range(40) if i % 4]
    assert (dice.strata.tolist(), dice.units) == ([0] * 30, None)


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


def drawn(strata, units=None, resamples=300, minimum=2, seed=1) -> np.ndarray:
    given_units = None if units is None else np.array(units)
    resampling = Resampling(seed, resamples, minimum)
    return np.concatenate(list(joint_weights(np.array(strata), given_units, resampling)))


def test_small_combinations_are_drawn_together_and_no_stratum_is_empty():
    label = (np.arange(40) < 20).astype(int)
    # Four combinations: 18 and 18 large ones, and 2 and 2 with a structure, drawn together.
    structure = np.where(np.isin(np.arange(40), (0, 1, 20, 21)), 0, -1)
    weights = drawn([label, structure], minimum=10)
    rare = structure == 0
    assert (weights[:, rare].sum(axis=1) == 4).all()
    assert len(set(weights[:, :2].sum(axis=1).tolist())) > 2
    assert (weights[:, ~rare & (label == 1)].sum(axis=1) == 18).all()


def test_draws_are_repeated_until_there_are_as_many_as_wanted():
    """A stratum of two cases among others is empty in many draws, which several blocks hold."""
    rare = np.where(np.arange(3000) < 2, 0, -1)
    blocks = list(
        joint_weights(np.array([rare, np.zeros(3000, int)]), None, Resampling(1, 700, interval_minimum=5))
    )
    assert len(blocks) > 1
    assert sum(map(len, blocks)) == 700
    assert all((block[:, :2].sum(axis=1) > 0).all() for block in blocks)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 0)), min_size=8, max_size=20),
    st.integers(0, 99),
    st.booleans(),
)
def test_every_stratum_has_weight_in_every_row(cases, seed, clustered):
    strata = np.array(cases).T
    units = np.arange(strata.shape[1]) // 2 if clustered else None
    weights = drawn(strata, units, 60, 2, seed)
    for row in strata:
        for stratum in set(row[row >= 0].tolist()):
            assert (weights[:, row == stratum].sum(axis=1) > 0).all()
    assert (weights[:, (strata < 0).all(axis=0) & ~_in_a_drawn_unit(strata, units)] == 0).all()
    if clustered:
        pairs = weights[:, : 2 * (weights.shape[1] // 2)].reshape(len(weights), -1, 2)
        assert (pairs[..., 0] == pairs[..., 1])[:, : pairs.shape[1]].all()


def _in_a_drawn_unit(strata: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    entering = (strata >= 0).any(axis=0)
    if units is None:
        return entering
    return np.isin(units, units[entering])


def test_the_order_of_metrics_and_the_numbers_of_clusters_do_not_matter():
    strata = np.array([np.arange(30) % 2, np.arange(30) % 3 - 1])
    units = np.arange(30) // 2
    expected = drawn(strata, units)
    np.testing.assert_array_equal(drawn(strata[::-1], units), expected)
    np.testing.assert_array_equal(drawn(strata, 7 * units + 5), expected)
