"""Figures of predicted numbers, times and risks, of declared phases."""

import numpy as np
import pytest

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.organiser.charts.curves import kaplan_meier, logrank_p
from evaluation.organiser.report.case_images import Request, read_cases
from evaluation.organiser.report.results import results_of
from evaluation.organiser.report.submission import organiser_page
from evaluation.organiser.report.survival import survival_blocks
from evaluation.organiser.report.value_figures import size_charts
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import write_table
from test.challenges.declared.scalars import sealed
from test.faults import faulted

NAMES = [f"case{number:02d}" for number in range(30)]
TIMES = np.arange(1.0, 31)
EVENTS = np.arange(30) % 3 > 0
SURVIVAL = """\
[fields.survival]
kind = "survival"
unit = "months"
{more}
[tasks.survival]
metrics = ["concordance_index"]
"""
RISK = "risk = true\nminimum = 0\nmaximum = 1\nhorizon = 12\n"
NUMBER = """\
[fields.age]
kind = "number"
minimum = 0
maximum = 100
unit = "years"

[tasks.age]
metrics = ["mean_absolute_error", "bias"]
"""


def results(folder, tables, cases, column, values):
    """Return the results and the read values of a submission."""
    phase = sealed(folder / "phase", tables, {"name": NAMES, **cases})
    submission = folder / "submission"
    write_table(submission / "predictions.csv", {"case": NAMES, column: values})
    scored = evaluation.evaluate(phase, submission, workers=0)
    read = read_cases(Request(phase, submission, {}, None, workers=0), lambda _: None)
    return results_of(load_phase(phase), scored.to_dict(), scored.records), read


def survival_charts(folder, more, values):
    cases = {"time": TIMES, "event": EVENTS.astype(int)}
    found, _ = results(folder, SURVIVAL.format(more=more), cases, "survival", values)
    *charts, table = survival_blocks(found)
    return charts, table


def test_times_give_groups_by_risk_and_the_share_predicted_to_live(tmp_path):
    (groups, calibration), table = survival_charts(tmp_path, "", TIMES * 2)
    curves = {row["name"] for row in groups.data["curves"]}
    assert curves == {"low risk", "middle risk", "high risk"}
    # the ten shortest predicted times are those of the ten shortest observed times
    high = kaplan_meier(TIMES[:10], EVENTS[:10])
    shares = [row["share"] for row in groups.data["curves"] if row["name"] == "high risk"]
    assert shares == pytest.approx(high.alive.tolist())
    p_value = logrank_p(TIMES, EVENTS, [number // 10 for number in range(30)])
    assert f"p = {p_value:.2g}" in groups.description
    predicted = [
        (row["time"], row["share"]) for row in calibration.data["curves"] if row["name"] == "predicted"
    ]
    assert predicted[:3] == [(0, 1), (2, pytest.approx(29 / 30)), (4, pytest.approx(28 / 30))]
    assert [row[:3] for row in table.rows] == [
        ("low risk", 10, 7),
        ("middle risk", 10, 7),
        ("high risk", 10, 6),
    ]
    assert table.rows[0][4:] == (10, 10, 10, 10, 7)  # at 0, 6, 12, 18 and 24 months


def test_risks_with_a_horizon_are_calibrated_at_it(tmp_path):
    risks = np.linspace(0.9, 0.1, 30)
    (_, calibration), _ = survival_charts(tmp_path, RISK, risks)
    bins = calibration.data["bins"]
    assert [one["cases"] for one in bins] == [6] * 5
    assert bins[-1]["predicted"] == pytest.approx(risks[:6].mean())
    # The lowest risks are those of the last six cases. Of the cases 7 to 12, the last one has the event.
    assert [bins[0]["observed"], bins[-2]["observed"]] == [0, 1]
    assert "12 months" in calibration.title


def test_a_horizon_needs_a_probability(tmp_path):
    with faulted(PhaseError, "fields.survival: horizon", "12"):
        sealed(tmp_path, SURVIVAL.format(more="horizon = 12\n"), {"name": NAMES})


def test_numbers_are_drawn_against_their_references(tmp_path):
    ages = np.linspace(20, 80, 30)
    found, values = results(tmp_path, NUMBER, {"age": ages}, "age", ages + 2)
    identity, agreement = size_charts(found, values)
    assert [row["y"] - row["x"] for row in identity.data["points"]] == pytest.approx([2] * 30)
    assert agreement.data["lines"][0]["label"] == "bias 2"
    # A bias is no better for being lower: it has no arrow and no place between worst and best.
    metrics = organiser_page(found, values).sections[0].blocks
    assert [row["metric"] for row in metrics[0].data["metrics"]] == ["Mean absolute error"]
    assert {row[0]: row[-2] for row in metrics[1].rows}["Bias"] is None
