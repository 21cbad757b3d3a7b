"""What every chart gets: schema, theme, width, data, and the chosen case."""

import pytest
import vl_convert

from evaluation.charts.chart import SCHEMA, SELECTED_CASE, Chart, complete, layered, point_of_case
from test.charts.drawing import drawn

ROWS = [{"case": "a", "x": 1.0}, {"case": "b", "x": 2.0}]
X = {"field": "x", "type": "quantitative"}


def chart(single_cases: bool) -> Chart:
    specification = {
        "data": {"name": "cases"},
        "mark": "point",
        "encoding": {"x": X, **point_of_case({"value": "red"})},
    }
    return Chart("points", "Points", "Two points.", {"cases": ROWS}, specification, single_cases=single_cases)


def test_a_complete_chart_can_be_drawn_anywhere():
    found = complete(chart(single_cases=True), "dark", width=300)
    assert found["$schema"] == SCHEMA
    assert found["width"] == 300
    assert found["datasets"] == {"cases": ROWS}
    assert found["config"]["background"] == "#16181b"
    assert found["description"] == "Points. Two points."


def test_a_width_of_its_own_is_kept():
    wide = Chart("n", "t", "d", {}, {"mark": "point", "width": {"step": 12}})
    assert complete(wide)["width"] == {"step": 12}


@pytest.mark.parametrize("single_cases", [True, False])
def test_only_charts_of_single_cases_have_a_chosen_case(single_cases):
    params = layered(chart(single_cases)).get("params", [])
    assert [param["name"] for param in params] == ([SELECTED_CASE] if single_cases else [])


def test_the_chosen_case_is_drawn_differently():
    usual = chart(single_cases=True)
    assert drawn(usual).count("#D55E00") == 0
    specification = complete(usual, width=300)
    specification["params"][0]["value"] = "b"
    assert vl_convert.vegalite_to_svg(specification, vl_version="5.21").count("#D55E00") == 1
