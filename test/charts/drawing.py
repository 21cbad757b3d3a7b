"""Charts drawn by Vega itself, as an independent reading of the specifications."""

from __future__ import annotations

import json

import vl_convert

from evaluation.charts.chart import Chart, complete


def drawn(chart: Chart) -> str:
    """Return the SVG of a chart; fails for a specification that Vega-Lite cannot compile."""
    specification = complete(chart, width=420)
    json.dumps(specification, allow_nan=False)
    svg: str = vl_convert.vegalite_to_svg(specification, vl_version="5.21")
    return svg
