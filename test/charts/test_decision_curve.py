"""Net benefit: arithmetic by hand."""

import numpy as np

from evaluation.organiser.charts.curves import net_benefit


def test_net_benefit_weighs_false_positives_by_the_odds_of_the_threshold():
    probability = np.array([0.9, 0.6, 0.4, 0.2])
    positive = np.array([1.0, 0.0, 1.0, 0.0])
    # from 0.5 on: one true and one false positive of four: 1/4 − 1/4 · 1
    # from 0.2 on: two and two: 2/4 − 2/4 · 0.25
    found = net_benefit(probability, positive, np.array([0.5, 0.2, 0.95]))
    np.testing.assert_allclose(found, [0.0, 0.375, 0.0])
