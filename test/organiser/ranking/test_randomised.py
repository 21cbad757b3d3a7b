"""Randomisation tests of any metric: the way by thresholds gives what the way by weights gives."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import SensitivityAtSpecificity
from evaluation.core.metric import Metric
from evaluation.organiser.ranking.pair_tests import randomised

ESTIMATOR = SensitivityAtSpecificity("score", "label", Fraction(85, 100))


def tables(teams=3, cases=60):
    rng = np.random.default_rng(1)
    label = (rng.random(cases) < 0.4).astype(float)
    label[:3] = np.nan
    found = {}
    for team in range(teams):
        score = (label + rng.normal(size=cases) * (team + 1)).round(1)
        score[5 + team] = -np.inf if label[5 + team] == 1 else np.inf
        score[:3] = 0
        rows = [{"score": s, "label": y} for s, y in zip(score.tolist(), label.tolist(), strict=True)]
        found[2 * team] = CaseTable([f"C{case:02}" for case in range(cases)], rows)
    return found


def all_pairs(estimator, units=None):
    metric = Metric("sensitivity", "Sensitivity", estimator, best=1, worst=0)
    pairs = [(0, 2), (2, 4), (0, 4)]
    errors = {(0, 2): 0.1, (2, 4): None, (0, 4): None}
    return randomised(metric, tables(), pairs, units, errors, seed=3, permutations=299)


@pytest.mark.parametrize("units", [None, np.arange(60) // 2])
def test_thresholds_and_weights_agree(units):
    class WithoutThreshold(SensitivityAtSpecificity):
        @property
        def curve(self):
            return replace(super().curve, specificity=None)

    found = all_pairs(ESTIMATOR, units)
    assert found == all_pairs(WithoutThreshold("score", "label", ESTIMATOR.target), units)
    assert found[0, 2].standard_error == 0.1
    assert len({test.p_value for test in found.values()}) > 1
