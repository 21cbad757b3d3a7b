"""Every chart: its specification is the checked-in one, Vega draws it, and its data are right.

After an intended change, `python -m test.charts.test_specifications` writes the specifications anew.
"""

import json
import math
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import vl_convert

from evaluation.charts.chart import NamedCurve, complete, count, layered
from evaluation.charts.intervals import MetricInterval, metric_intervals_chart
from evaluation.organiser.charts.curves import froc_chart
from evaluation.organiser.charts.values import cumulative_chart
from test.charts.board_examples import board_examples
from test.charts.drawing import drawn
from test.charts.examples import examples
from test.charts.vega_lite import invalid
from test.repository import REPOSITORY

FOLDER = REPOSITORY / "test" / "charts" / "specifications"
EXAMPLES = examples() | board_examples()


def rounded(value):
    """Return a specification with floats that are the same on every machine."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_specification_is_the_one_that_is_checked_in(name):
    expected = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert rounded(json.loads(json.dumps(layered(EXAMPLES[name])))) == expected


def test_no_specification_is_left_over():
    assert {path.stem for path in FOLDER.iterdir()} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_chart_is_drawn_with_marks_for_its_data(name):
    svg = drawn(EXAMPLES[name])
    assert svg.count("<path") + svg.count("<text") > 10
    assert "NaN" not in svg
    assert "undefined" not in svg


def test_vega_warns_of_nothing(capfd):
    for chart in EXAMPLES.values():
        vl_convert.vegalite_to_vega(complete(chart, width=420), vl_version="5.21", show_warnings=True)
    assert "WARN" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_that_carries_data_is_fainter_than_its_colour(name):
    # The colours are chosen for both backgrounds; only what the reader need not see may be fainter.
    specification = layered(EXAMPLES[name])
    marks = [one["mark"] for one in specification.get("layer", [specification])]
    of_data = [mark for mark in marks if isinstance(mark, dict) and mark.get("tooltip", True) is not None]
    assert [mark for mark in of_data if mark.get("opacity", 1) < 1] == []


@pytest.mark.parametrize("last", [0, 1, 2, 3, 6, 7, 30, 31, 1234])
def test_an_axis_of_counts_has_different_whole_numbers_up_to_the_last(last):
    ticks = count("cases", "cases", last)["axis"]["values"]
    assert ticks == sorted(set(ticks))
    assert all(isinstance(tick, int) for tick in ticks)
    assert ticks[0] == 0
    assert last / 2 <= ticks[-1] <= last
    assert len(ticks) <= 7


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_chart_is_valid_by_the_schema(name):
    assert invalid([EXAMPLES[name]]) == []
    misspelt = replace(EXAMPLES[name], specification={**EXAMPLES[name].specification, "heigth": 1})
    assert invalid([misspelt]) == [name]


def test_every_function_that_makes_a_chart_has_an_example():
    rooms = ("evaluation/charts", "evaluation/organiser/charts")
    sources = [path for room in rooms for path in (REPOSITORY / room).glob("*.py")]
    functions = {
        name for path in sources for name in re.findall(r"^def (\w+_chart)\(", path.read_text(), re.MULTILINE)
    }
    folder = Path(__file__).parent
    examples = "".join((folder / name).read_text() for name in ("examples.py", "board_examples.py"))
    assert len(functions) > 20
    assert {name for name in functions if f"{name}(" not in examples} == set()


def rows(name, table):
    return EXAMPLES[name].data[table]


def test_a_metric_stands_between_its_worst_and_its_best():
    positions = [(row["metric"], row["position"]) for row in rows("metric-intervals", "metrics")]
    assert positions == [("AUC", 0.75), ("Error", 0.75)]  # an error of 1 between 4 (worst) and 0


def test_the_lines_of_a_long_name_are_in_the_middle_of_its_row():
    titles = (
        "AUC",
        "Error rate: appearance neuroretinal",
        "Absolute error of the vertical cup-to-disc ratio",
    )
    metrics = [MetricInterval(title, 0.5, 0.4, 0.6, best=1, worst=0) for title in titles]
    svg = drawn(metric_intervals_chart("three", "Three", metrics))
    labels = re.findall(r'translate\(-7,([\d.]+)\)"[^>]*>((?:<tspan.*?</tspan>)+|AUC)', svg)
    middles = []
    for y, text in labels:
        further = [float(step) for step in re.findall(r'dy="(\d+)"', text)]
        middles.append(float(y) + sum(further) / 2)
        assert len(further) == len(middles) - 1  # one line, two lines, three lines
    assert middles == [
        middles[0],
        middles[0] + 46,
        middles[0] + 92,
    ]  # rows for three lines are 46 pixels high


def test_counts_of_a_confusion_matrix_are_shares_of_the_true_class():
    assert [row["label"] for row in rows("confusion", "cells")] == [
        "3 (75 %)",
        "1 (25 %)",
        "0 (0 %)",
        "2 (100 %)",
    ]


def test_whiskers_end_at_the_last_case_within_one_and_a_half_boxes():
    # Of 1, 2, 3, 4, 100 the quartiles are 2 and 4, so the upper fence is 4 + 1.5 · 2 = 7.
    (box,) = rows("distribution", "boxes")
    assert (box["low"], box["first_quartile"], box["median"], box["third_quartile"], box["high"]) == (
        1,
        2,
        3,
        4,
        4,
    )
    assert (box["cases"], box["mean"]) == (5, 22)
    assert [row["case"] for row in rows("distribution", "points")] == list("abcde")


def test_limits_of_agreement_are_1_96_deviations_around_the_bias():
    # Differences 2 and 0: mean 1, standard deviation √2.
    values = [row["y"] for row in rows("bland-altman", "lines")]
    assert values == pytest.approx([1, 1 - 1.96 * math.sqrt(2), 1 + 1.96 * math.sqrt(2)])
    assert [(row["x"], row["y"]) for row in rows("bland-altman", "points")] == [(2, 2), (2, 0)]


def test_the_cumulative_share_rises_by_one_case_at_each_error():
    steps = [(row["error"], row["share"]) for row in rows("cumulative", "curve")]
    assert steps == [(0, 0), (1, pytest.approx(1 / 3)), (2, pytest.approx(2 / 3)), (3, 1)]


def test_of_many_errors_four_hundred_are_drawn_at_their_shares():
    errors = np.random.default_rng(1).permutation(np.arange(1.0, 1001.0))
    start, *steps = cumulative_chart("cumulative", "Errors", errors, "px").data["curve"]
    assert (start["error"], start["share"], len(steps)) == (0, 0, 400)
    assert [step["share"] for step in steps] == pytest.approx([step["error"] / 1000 for step in steps])
    assert (steps[0]["error"], steps[-1]["error"]) == (1, 1000)


@pytest.mark.parametrize(("most", "rates"), [(1.5, None), (8, [0, 0.125, 0.25, 0.5, 1, 2, 4, 8])])
def test_many_false_positives_have_the_usual_rates_on_a_logarithmic_axis(most, rates):
    curve = NamedCurve("polyp", np.array([0.0, most]), np.array([0.0, 0.9]))
    chart = froc_chart("froc", "FROC", [curve], "A hit overlaps.")
    axes = [layer["encoding"]["x"] for layer in chart.specification["layer"]]
    assert {axis.get("scale", {}).get("type") for axis in axes} == {rates and "symlog"}
    assert all(axis.get("axis", {}).get("values") == rates for axis in axes)


def test_rings_hold_half_and_nine_tenths_of_the_errors():
    radius = {row["ring"]: math.hypot(row["x"], row["y"]) for row in rows("error-cloud", "rings")}
    assert radius == {"50 %": pytest.approx(2.5), "90 %": pytest.approx(4.5)}  # of distances 5 and 0


def test_a_histogram_counts_each_case_once():
    assert [row["cases"] for row in rows("histogram", "bins")] == [1, 2, 0, 0, 1]


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for example, example_chart in EXAMPLES.items():
        text = json.dumps(
            rounded(json.loads(json.dumps(layered(example_chart)))), indent=1, ensure_ascii=False
        )
        (FOLDER / f"{example}.json").write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{FOLDER}: {len(EXAMPLES)} specifications\n")
