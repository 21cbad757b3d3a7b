"""Kaplan–Meier curves and the log-rank test, against published values of the leukaemia trial."""

import numpy as np
import pytest

from evaluation.organiser.report.charts.curves import kaplan_meier, logrank_p, survival_chart

# Weeks of remission with 6-mercaptopurine and with placebo (Gehan 1965, Biometrika 52:203).
TREATED = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
ENDED = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]


def test_the_curve_of_the_leukaemia_trial():
    curve = kaplan_meier(np.array(TREATED, float), np.array(ENDED) > 0)
    # Kleinbaum and Klein, Survival Analysis, chapter 2, table 2.1
    published = {5: 1, 6: 0.8571, 7: 0.8067, 10: 0.7529, 13: 0.6902, 16: 0.6275, 22: 0.5378, 35: 0.4482}
    assert [curve.at(week)[0] for week in published] == pytest.approx(list(published.values()), abs=5e-5)
    # Stata 17 manual, sts list: log–log limits at week 10
    assert curve.at(10)[1:] == pytest.approx((0.5032, 0.8894), abs=5e-5)
    assert (curve.median, curve.censored.sum()) == (23, 12)
    both = np.array(TREATED + PLACEBO, float)
    event = np.array(ENDED + [1] * 21) > 0
    # Cox 1972, J. R. Stat. Soc. B 34:187: χ² = 16.79 with one degree of freedom
    assert logrank_p(both, event, [0] * 21 + [1] * 21) == pytest.approx(4.17e-5, rel=0.01)
    assert logrank_p(both, event, [0] * 42) is None


def test_ends_without_a_limit_and_after_the_last_time():
    curve = kaplan_meier(np.array([0.0, 2.0]), np.array([True, True]))
    assert curve.time.tolist() == [0, 2]
    assert curve.at(9) == (0, 0, 0)
    chart = survival_chart("one", "One", "One case.", {"all": curve}, "")
    assert "censored" not in chart.data
    assert [row["share"] for row in chart.data["curves"]] == [0.5, 0]
