"""Net benefit: arithmetic by hand."""

import numpy as np
import pytest

from evaluation.organiser.charts.curves import decision_curve_chart, net_benefit


def test_net_benefit_weighs_false_positives_by_the_odds_of_the_threshold():
    probability = np.array([0.9, 0.6, 0.4, 0.2])
    positive = np.array([1.0, 0.0, 1.0, 0.0])
    # from 0.5 on: one true and one false positive of four: 1/4 − 1/4 · 1
    # from 0.2 on: two and two: 2/4 − 2/4 · 0.25
    found = net_benefit(probability, positive, np.array([0.5, 0.2, 0.95]))
    np.testing.assert_allclose(found, [0.0, 0.375, 0.0])


def test_harm_is_drawn_and_listed_and_never_cut_off():
    # All but one call is wrong: the line lies far below the axis, whose end hides it, but no point of it.
    probability, positive = np.array([0.9, 0.8, 0.7, 0.1]), np.array([0.0, 0.0, 0.0, 1.0])
    chart = decision_curve_chart("harm", "Harm", probability, positive)
    own = [row for row in chart.data["curves"] if row["strategy"] == "submission"]
    found = net_benefit(probability, positive, np.array([row["threshold"] for row in own]))
    assert [row["threshold"] for row in own] == pytest.approx([step / 100 for step in range(1, 100)])
    assert [row["net_benefit"] for row in own] == pytest.approx(found.tolist())
    # at 0.9 one of four is a false positive, with odds of 9
    assert own[89]["net_benefit"] == pytest.approx(-0.25 * 9)
    assert chart.specification["mark"]["clip"]
    assert "−2.25" in chart.description
