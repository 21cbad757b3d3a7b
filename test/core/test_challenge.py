"""Worst values by the rules of the house: for every kind of column what a missing result gets."""

import math

import pytest

from evaluation.core.challenge import worst_row
from evaluation.core.class_estimators import PresenceF1, RocArea
from evaluation.core.estimator import Share, Sum
from evaluation.core.metric import Metric, mean_metric

DICE = mean_metric("dice", "Dice", best=1, worst=0)
ERROR = mean_metric("error", "Error", best=0, worst=1)
SHARE = Metric("wrong", "Wrong", Share("wrong"), best=0, worst=1)
DISTANCE = mean_metric("distance", "Distance", best=0, worst=math.inf)
AUC = Metric("auc", "AUC", RocArea("score", "ill"), best=1, worst=0)
F1 = Metric("f1", "F1", PresenceF1("said", "there"), best=1, worst=0)
SUM = Metric("sum", "Sum", Sum("count"), best=0, worst=math.inf)


@pytest.mark.parametrize(
    ("metrics", "known", "row"),
    [
        ((DICE, ERROR, SHARE), {}, {"dice": 0.0, "error": 1.0, "wrong": 1.0}),
        ((DICE, ERROR), {"ratio": 0.4}, {"dice": 0.0, "error": 1.0, "ratio": 0.4}),
        ((DISTANCE,), {"distance": 50.0}, {"distance": 50.0}),
        ((AUC,), {"ill": 1}, {"score": -math.inf, "ill": 1}),
        ((AUC,), {"ill": 0}, {"score": math.inf, "ill": 0}),
        ((F1,), {"there": 1}, {"said": 0, "there": 1}),
        ((F1,), {"there": 0}, {"said": 1, "there": 0}),
        ((SUM, DICE), {"count": 3.0}, {"dice": 0.0, "count": 3.0}),
        ((), {"seconds": 7.0}, {"seconds": 7.0}),
    ],
)
def test_worst_columns(metrics, known, row):
    # The order as well: it is that of the organiser's file.
    assert list(worst_row(metrics, known).items()) == list(row.items())


def test_a_case_that_does_not_enter_stays_out():
    assert math.isnan(worst_row((DICE,), {"dice": math.nan})["dice"])
    assert math.isnan(worst_row((AUC,), {"ill": math.nan})["score"])


def test_a_distance_needs_a_bound():
    with pytest.raises(ValueError, match=r"^distance\b"):
        worst_row((DISTANCE,), {})


def test_a_row_that_is_known_as_a_whole_stays_the_same_object():
    known = {"dice": 0.5, "further": 1}
    assert worst_row((DICE,), known) is known
