"""Every metric's figures are checked against the oracle that its card names."""

import numpy as np
import pytest
from pycocotools import mask
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import f1_score

from evaluation.challenges.declared.declarable import METRICS, name_of
from evaluation.challenges.declared.label_maps import Dice
from evaluation.challenges.declared.maps import LabelMapField
from test.oracles import Recorded, checked, registered, unchecked

TESTED = registered()


@pytest.mark.parametrize("metric", [*METRICS], ids=name_of)
def test_a_test_calls_every_oracle_of_the_card(metric):
    name = name_of(metric)
    assert unchecked(metric, TESTED.get(name, ())) == [], f"see test/oracles.py: @checked({name}=...)"


def test_only_metrics_are_checked():
    assert set(TESTED) == {name_of(metric) for metric in METRICS}


def scored(metric="dice"):
    Dice(metric="dice").measure(metric, "map", LabelMapField(kind="label_map", labels={"1": "organ"}))


RECORDED = Recorded("lifelines.utils.concordance_index", {0: 0.5})
BOX = np.array([[0.0, 0, 1, 1]])
CALLS = {
    "sklearn.metrics.f1_score": lambda: f1_score([0, 1], [0, 1]),
    "scipy.optimize.linear_sum_assignment": lambda: linear_sum_assignment(np.eye(2)),
    "pycocotools.mask.iou": lambda: mask.iou(BOX, BOX, [0]),
    "lifelines.utils.concordance_index": lambda: RECORDED[0],
}


@pytest.mark.parametrize("oracle", CALLS)
def test_a_test_calls_what_it_says(oracle):
    @checked(dice=oracle)
    def calls(oracle):
        scored()
        CALLS[oracle]()

    calls(oracle)
    for other in CALLS.keys() - {oracle}:
        with pytest.raises(AssertionError, match=f"does not call {oracle}"):
            calls(other)
