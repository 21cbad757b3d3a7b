"""Every chart: it looks as its checked-in specification says, Vega-Lite takes it, and Vega draws it.

The specifications hold the columns of the data and no values; where marks are is computed by hand in other
tests of this folder. After an intended change, `python -m test.charts.test_specifications` writes them anew.
"""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import vl_convert

from evaluation.charts.chart import NamedCurve, complete, layered
from evaluation.charts.intervals import MetricInterval, metric_intervals_chart
from evaluation.organiser.report.charts.curves import roc_chart
from test.charts.board_examples import board_examples
from test.charts.drawing import drawn
from test.charts.examples import example_of, examples
from test.charts.test_every_chart import chart_functions
from test.charts.vega_lite import invalid
from test.repository import REPOSITORY

FOLDER = REPOSITORY / "test" / "charts" / "specifications"
GIVEN = "".join((Path(__file__).parent / name).read_text() for name in ("examples.py", "board_examples.py"))
EXAMPLES = examples() | board_examples()
for function_name, function in chart_functions().items():
    if f"{function_name}(" not in GIVEN:
        short = function_name.removesuffix("_chart").replace("_", "-")
        EXAMPLES[short] = example_of(function, short)


def looks(chart):
    """Return a specification with the columns of its data, and floats that are the same on every machine."""
    whole = layered(chart)
    whole["datasets"] = {name: list(rows[0]) if rows else [] for name, rows in whole["datasets"].items()}
    return json.loads(json.dumps(whole), parse_float=lambda text: float(f"{float(text):.9g}"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_specification_is_the_one_that_is_checked_in(name):
    expected = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert looks(EXAMPLES[name]) == expected


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


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_chart_is_valid_by_the_schema(name):
    assert invalid([EXAMPLES[name]]) == []


def test_the_schema_refuses_a_misspelt_key():
    roc = EXAMPLES["roc"]
    assert invalid([replace(roc, specification={**roc.specification, "heigth": 1})]) == ["roc"]


def test_the_lines_of_a_long_name_are_in_the_middle_of_its_row():
    titles = (
        "AUC",
        "Error rate: appearance neuroretinal",
        "Absolute error of the vertical cup-to-disc ratio",
    )
    metrics = [MetricInterval(title, 0.5, 0.4, 0.6, best=1, worst=0) for title in titles]
    svg = drawn(metric_intervals_chart("three", "Three", metrics))
    labels = re.findall(r'translate\(-7,([\d.]+)\)"[^>]*>((?:<tspan.*?</tspan>)+|AUC ↑)', svg)
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


def test_several_curves_are_told_apart_by_a_legend_that_one_does_not_need():
    curves = [NamedCurve(name, np.array([0.0, 1.0]), np.array([0.0, 1.0])) for name in ("one", "other")]
    several, alone = (drawn(roc_chart("r", "R", given)) for given in (curves, curves[:1]))
    assert (">one<" in several, ">other<" in several, ">one<" in alone) == (True, True, False)


def test_the_rings_of_an_error_cloud_are_circles():
    # As wide as they are high in the drawing, whose axes have equal lengths.
    svg = drawn(EXAMPLES["error-cloud"])
    paths = [
        np.array(re.findall(r"-?[\d.]+", path), dtype=float) for path in re.findall(r' d="(M[^"]+)"', svg)
    ]
    rings = [path.reshape(-1, 2) for path in paths if path.size == 2 * 61]
    for ring in rings:
        width, height = np.ptp(ring, axis=0)
        assert abs(width - height) < 0.01 * height
    assert len(rings) == 2


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for example, example_chart in EXAMPLES.items():
        text = json.dumps(looks(example_chart), indent=1, ensure_ascii=False)
        (FOLDER / f"{example}.json").write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{FOLDER}: {len(EXAMPLES)} specifications\n")
