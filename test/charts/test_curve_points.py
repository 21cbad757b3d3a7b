"""Points of curves, against scikit-learn; bands, against a plain bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from evaluation.metrics.classification import roc_table
from evaluation.metrics.free_response import Candidates, FrocTable
from evaluation.organiser.report.charts.curves import (
    point_at_threshold,
    point_on_curve,
    precision_band,
    recall_and_precision,
    roc_band,
    roc_curve,
    thinned,
    thinned_curve,
)
from evaluation.stats.bootstrap import bootstrap_of

GENERATOR = np.random.default_rng(7)
LABELS = np.repeat([True, False], [20, 40])
SCORES = np.round(GENERATOR.normal(LABELS * 1.0, 1.0), 1)
TABLE = roc_table(SCORES, LABELS)
FOUND = FrocTable(Candidates(np.arange(len(SCORES)), SCORES, LABELS, LABELS.astype(int)))


def test_the_roc_curve_is_that_of_scikit_learn():
    curve = roc_curve("s", TABLE)
    x, y, _ = metrics.roc_curve(LABELS, SCORES)
    assert metrics.auc(curve.x, curve.y) == pytest.approx(metrics.auc(x, y), abs=1e-12)
    points = set(zip(x.tolist(), y.tolist(), strict=True))
    assert set(zip(curve.x.tolist(), curve.y.tolist(), strict=True)) <= points


def test_the_precision_recall_curve_is_that_of_scikit_learn():
    recall, precision = recall_and_precision(FOUND, np.ones((1, len(LABELS))))
    curve = thinned_curve("s", recall[0], precision[0])
    precision, recall, _ = metrics.precision_recall_curve(LABELS, SCORES)
    points = {(round(x, 12), round(y, 12)) for x, y in zip(recall.tolist(), precision.tolist(), strict=True)}
    found = {(round(x, 12), round(y, 12)) for x, y in zip(curve.x, curve.y, strict=True)}
    assert found <= points
    assert len(found) > 15


def test_the_roc_band_holds_95_percent_of_resampled_curves():
    weights = np.vstack(list(bootstrap_of(LABELS.astype(int), None, 3, 200).case_weights()))
    band = roc_band("s", TABLE, [weights[:50], weights[50:]])
    at = 15  # a false-positive rate of 0.3
    sensitivities = []
    for row in weights.astype(int):
        x, y, _ = metrics.roc_curve(np.repeat(LABELS, row), np.repeat(SCORES, row), drop_intermediate=False)
        sensitivities.append(y[x <= 0.3 + 1e-12].max())
    assert band.x[at] == pytest.approx(0.3)
    assert (band.lower[at], band.upper[at]) == pytest.approx(
        tuple(np.quantile(sensitivities, (0.025, 0.975)))
    )


@pytest.mark.parametrize("is_best", [False, True])
def test_resamples_without_an_object_tell_no_precision(is_best):
    """One of three cases holds the object, and another the surest detection, which is false."""
    found = Candidates(np.array([1, 0]), np.array([0.9, 0.8]), np.array([False, True]), np.array([1, 0, 0]))
    weights = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.0], [0.0, 2.0, 1.0]])
    band = precision_band("s", [recall_and_precision(FrocTable(found), weights, is_best=is_best)])
    # One true of two, and two of three; the third knows none.
    assert band.lower == pytest.approx(1 / 2 + 0.025 / 6)
    assert band.upper == pytest.approx(2 / 3 - 0.025 / 6)


def test_the_precision_band_is_taken_where_a_recall_is_first_reached():
    weights = np.ones((3, len(LABELS)))
    band = precision_band("s", [recall_and_precision(FOUND, weights)])
    precision, recall, _ = metrics.precision_recall_curve(LABELS, SCORES)
    half = int(np.flatnonzero(recall >= 0.5 - 1e-12)[-1])  # scikit-learn's recall falls
    assert band.lower[24] == band.upper[24] == pytest.approx(precision[half])
    assert band.x[24] == 0.5


def test_operating_points():
    table = roc_table([0.1, 0.4, 0.6, 0.9], [False, True, False, True])
    assert vars(point_at_threshold("t", table, 0.5)) == {
        "name": "t",
        "false_positive_rate": 0.5,
        "sensitivity": 0.5,
    }
    assert point_on_curve("s", table, 1.0).false_positive_rate == 0.5
    assert point_on_curve("s", table, 0.5).false_positive_rate == 0.0


def test_a_missing_likelihood_is_never_called_right():
    table = roc_table([-np.inf, 0.9, np.inf, 0.1], [True, True, False, False])
    at = point_at_threshold("t", table, 0.5)
    assert (at.false_positive_rate, at.sensitivity) == (0.5, 0.5)
    assert roc_curve("s", table).y.max() == 0.5


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=60))
def test_a_thinned_curve_keeps_its_ends_and_its_area(points):
    x, y = (np.sort(np.array(column)) for column in zip(*points, strict=True))
    kept = thinned(x, y)
    assert kept[0] == 0
    assert kept[-1] == x.size - 1
    assert np.trapezoid(y[kept], x[kept]) == pytest.approx(np.trapezoid(y, x), abs=0.005)
    # and that of steps: none of their corners lies on a straight line that is left out
    assert (np.diff(x[kept]) * y[kept][:-1]).sum() == pytest.approx((np.diff(x) * y[:-1]).sum(), abs=0.01)


def test_a_long_curve_becomes_short():
    x = np.linspace(0, 1, 9741)
    assert len(thinned(x, np.sqrt(x))) < 600


def test_the_precision_band_ends_where_the_curve_or_most_resamples_end():
    # Nine curves end at a recall of 0.6, one goes on to 1.
    recall = np.array([[0.2, 0.6, 0.6]] * 9 + [[0.2, 0.6, 1.0]])
    precision = np.full((10, 3), 0.5)
    assert precision_band("s", [(recall, precision)]).x[-1] == pytest.approx(0.6)
    assert precision_band("s", [(recall, precision)], reached=0.41).x[-1] == pytest.approx(0.4)
    # A curve that reaches everything has a band over all of it.
    whole = precision_band("s", [(np.array([[0.5, 1.0]]), np.array([[1.0, 0.5]]))])
    assert whole.x[-1] == 1
