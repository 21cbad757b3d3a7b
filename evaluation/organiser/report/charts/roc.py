"""Receiver operating characteristic: one or several curves, a bootstrap band and operating points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.charts import chart as vl
from evaluation.organiser.report.charts.encodings import NamedBand, band_layer, band_rows


@dataclass(frozen=True)
class MarkedPoint:
    """A decision without a score, such as an annotator's, or a point of a curve that has a name."""

    name: str
    false_positive_rate: float
    sensitivity: float


def roc_chart(
    name: str,
    title: str,
    curves: Sequence[vl.NamedCurve],
    band: NamedBand | None = None,
    points: Sequence[MarkedPoint] = (),
    follows: str = "",
    marks: Mapping[str, vl.MarkStyle] | None = None,
) -> vl.Chart:
    """Return the ROC chart of one or several curves; ``marks``: by name, by default `marks_of` the names."""
    marks = vl.marks_of(curve.name for curve in curves) if marks is None else marks
    data: dict[str, Sequence[vl.Record]] = {
        "curves": [
            row
            for curve in curves
            for row in vl.rows_of({"false_positive_rate": curve.x, "sensitivity": curve.y}, name=curve.name)
        ],
        "chance": [{"false_positive_rate": end, "sensitivity": end} for end in (0, 1)],
    }
    x = vl.share("false_positive_rate", vl.FALSE_POSITIVE_RATE)
    y = vl.share("sensitivity", "sensitivity")
    layers: list[vl.Record] = [vl.layer("chance", vl.DASHED, x=x, y=y)]
    if band:
        data["band"] = band_rows([band], "false_positive_rate", marks)
        layers.append(band_layer(x, vl.share("lower", "sensitivity"), 1))
    drawn = vl.lines_by_name(marks, legend=len(curves) > 1)
    layers.append(vl.layer("curves", {"type": "line", "interpolate": "linear"}, x=x, y=y, **drawn))
    if points:
        data["points"] = [vars(point) for point in points]
        data["labels"] = _labels(points, curves)
        diamond = {"type": "point", "filled": True, "size": 80, "color": vl.GREY, "shape": "diamond"}
        label = {"type": "text", "align": "left", "dx": 3, "fontSize": 11, "limit": 200}
        at = {
            "x": vl.share("label_x", vl.FALSE_POSITIVE_RATE),
            "y": vl.share("label_y", "sensitivity"),
        }
        ends = {"x2": {"field": "label_x"}, "y2": {"field": "label_y"}}
        told = vl.tooltip("name", numbers=("false_positive_rate", "sensitivity"))
        layers += [
            vl.layer("labels", {"type": "rule", "strokeWidth": 0.7, "tooltip": None}, x=x, y=y, **ends),
            vl.layer("points", diamond, x=x, y=y, tooltip=told),
            vl.layer("labels", label, **at, text=vl.nominal("name")),
        ]
    described = "Sensitivity against 1 − specificity at every threshold; the dashed diagonal is chance."
    if band:
        described += " The band holds 95 % of the curves of the bootstrap at each specificity."
    if points:
        described += " Diamonds are operating points."
    return vl.Chart(name, title, described, data, {"layer": layers, "height": 340}, follows)


_LABEL_DISTANCE, _LABEL_GAP, _LAST_COLUMN = 0.05, 0.06, 0.5
"""Height of a label, its distance from the points, and its largest place along x, in units of the axes."""
_MOST_LABELS = 12


def _labels(points: Sequence[MarkedPoint], curves: Sequence[vl.NamedCurve]) -> list[vl.Record]:
    """Return the labels of points, one below the other at ``label_x``, ``label_y``.

    They are right of the points and, since a curve never falls, below all curves. None of many points, which
    a tooltip names.
    """
    if len(points) > _MOST_LABELS:
        return []
    rates = [point.false_positive_rate for point in points]
    column = min(_LAST_COLUMN, max(rates) + _LABEL_GAP)
    lowest = min(float(np.interp(column, one.x, one.y)) for one in curves)
    free, rows = lowest - _LABEL_DISTANCE / 2, []
    for point in sorted(points, key=lambda one: (-one.sensitivity, -one.false_positive_rate)):
        free = min(free, point.sensitivity) - _LABEL_DISTANCE / 2
        rows.append((point, free))
        free -= _LABEL_DISTANCE / 2
    lifted = max(0.0, 0.02 - rows[-1][1])
    return [{**vars(one), "label_x": column, "label_y": round(at + lifted, 4)} for one, at in rows]
