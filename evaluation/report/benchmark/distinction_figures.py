"""Figures of distinctions: two cysts, distributions, means and intervals (the paper's Figs. 5 to 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from evaluation.charts.chart import Chart
from evaluation.charts.encodings import category, names_down, quantity, tooltip
from evaluation.charts.theme import BLUE, VERMILION, colour_scale, marks_of, shape_scale
from evaluation.report.benchmark.reading import BenchmarkTables, Record, numeric

SUPERVISOR = "supervisor"
_REGIONS = {"domain": ["inside", "ring"], "range": [VERMILION, BLUE]}
_KEY = ("reader", "run", "volume", "b_scan", "cyst")


def by_reader(rows: Sequence[Record], shape: bool = True) -> dict[str, Any]:
    """Return the encodings of colour and shape that tell annotators apart, the same in every figure."""
    marks = marks_of(str(row["reader"]) for row in rows)
    of_reader = {"field": "reader", "type": "nominal", "title": None}
    colour = {"color": {**of_reader, "scale": colour_scale(marks)}}
    return {**colour, "shape": {**of_reader, "scale": shape_scale(marks)}} if shape else colour


def confidences() -> dict[str, Any]:
    """Return the encoding of the confidences 1 to 5 along an axis."""
    return {"field": "confidence", "type": "ordinal", "title": "confidence", "axis": {"labelAngle": 0}}


def distinction_charts(tables: BenchmarkTables) -> Iterator[Chart]:
    """Yield the figures that have rows."""
    yield from _two_cysts(tables)
    if tables["distributions"]:
        yield _distributions(tables["distributions"])
    means = [row for row in tables["transforms"] if row["mean"] is not None]
    if means:
        yield _means(means)
    intervals = [row for row in tables["intervals"] if row["interval"] is not None]
    if intervals:
        yield _intervals(intervals)
    if means:
        yield _scale(means)


def _two_cysts(tables: BenchmarkTables) -> Iterator[Chart]:
    """Yield histograms of the supervisor's most and least distinct cysts of at least median size."""
    cysts = [
        row
        for row in tables["distinctions"]
        if row["reader"] == SUPERVISOR and row["distinction"] is not None and row["pixels"] is not None
    ]
    if not cysts:
        return
    usual = median(numeric(row, "pixels") or 0.0 for row in cysts)
    large = sorted(
        (row for row in cysts if (numeric(row, "pixels") or 0.0) >= usual),
        key=lambda row: (numeric(row, "distinction") or 0.0, *(str(row[name]) for name in _KEY)),
    )
    for which, cyst in (("most", large[-1]), ("least", large[0])):
        found = [row for row in tables["histograms"] if all(row[name] == cyst[name] for name in _KEY)]
        if found:
            yield _histogram(which, cyst, found)


def _histogram(which: str, cyst: Record, regions: Sequence[Record]) -> Chart:
    bars = []
    for row in regions:
        lowest, highest = numeric(row, "lowest") or 0.0, numeric(row, "highest") or 0.0
        counts = [numeric(row, f"bin_{number}") or 0.0 for number in range(1, 26)]
        width, pixels = (highest - lowest) / len(counts), sum(counts)
        bars += [
            {
                "region": row["region"],
                "from": lowest + width * position,
                "to": lowest + width * (position + 1),
                "share": count / pixels,
            }
            for position, count in enumerate(counts)
            if count
        ]
    x, y, distinction = (numeric(cyst, name) or 0.0 for name in ("x", "y", "distinction"))
    return Chart(
        f"{which}-distinct-cyst",
        f"The {which} distinct cyst of the supervisor: D = {distinction:.2f}",
        f"Intensities inside the cyst and in the ring of 15 pixels around it, volume {cyst['volume']}, "
        f"B-scan {cyst['b_scan']:g}, at x = {x:.0f}, y = {y:.0f}, confidence {cyst['confidence']:g}. "
        "Where the two overlap, the cyst cannot be told from its surroundings (Eq. 1).",
        {"bars": bars},
        {
            "data": {"name": "bars"},
            "mark": {"type": "bar", "opacity": 0.6},
            "encoding": {
                "x": {"field": "from", "type": "quantitative", "bin": {"binned": True}, "title": "intensity"},
                "x2": {"field": "to"},
                "y": {"field": "share", "type": "quantitative", "title": "share of pixels", "stack": None},
                "color": {"field": "region", "type": "nominal", "title": None, "scale": _REGIONS},
                "tooltip": tooltip("region", numbers=("from", "to", "share")),
            },
            "height": 220,
        },
        "Fig. 5 of the cyst benchmark",
    )


def _distributions(rows: Sequence[Record]) -> Chart:
    bins = [name for name in rows[0] if name.startswith(("below_", "from_", "above_"))]
    bars = [
        {
            "annotator": f"{row['reader']}, {row['stage']}",
            "confidence": f"confidence {row['confidence']:g}",
            "from": (position - 1) / 20,
            "to": position / 20,
            "cysts": numeric(row, name),
        }
        for row in rows
        for position, name in enumerate(bins)
    ]
    in_order = list(dict.fromkeys(bar["annotator"] for bar in bars))
    return Chart(
        "distributions",
        "Distinctions before and after the transform",
        "Number of cysts by distinction, of every annotator and confidence. After the transform (Eq. 2) "
        "every distribution has the supervisor's mean and variance. The outermost bars hold what lies below "
        "0 and above 1.",
        {"bars": bars},
        {
            "data": {"name": "bars"},
            "mark": {"type": "bar"},
            "encoding": {
                "x": {
                    "field": "from",
                    "type": "quantitative",
                    "bin": {"binned": True},
                    "title": "distinction",
                },
                "x2": {"field": "to"},
                "y": {"field": "cysts", "type": "quantitative", "title": None},
                "row": {"field": "annotator", "type": "nominal", "title": None, "sort": in_order},
                "column": {"field": "confidence", "type": "nominal", "title": None},
                "tooltip": tooltip("annotator", "confidence", numbers=("from", "to", "cysts")),
            },
            "resolve": {"scale": {"y": "independent"}},
            # The width of one panel: a figure of panels cannot fit itself to the page.
            "autosize": "pad",
            "width": 110,
            "height": 60,
        },
        "Fig. 6 of the cyst benchmark",
    )


def _means(rows: Sequence[Record]) -> Chart:
    return Chart(
        "means",
        "Mean distinction of every confidence",
        "Of both runs, before the transform. Cysts of higher confidence should stand out more.",
        {"means": rows},
        {
            "data": {"name": "means"},
            "mark": {"type": "line", "point": {"filled": True, "size": 70}},
            "encoding": {
                "x": confidences(),
                "y": quantity("mean", "mean distinction"),
                **by_reader(rows),
                "tooltip": tooltip("reader", "confidence", numbers=("mean", "variance", "cysts")),
            },
            "height": 260,
        },
        "Fig. 7a of the cyst benchmark",
    )


def _intervals(rows: Sequence[Record]) -> Chart:
    bars = [
        {**row, "pair": f"{row['from_confidence']:g} – {row['to_confidence']:g}"}
        for row in sorted(rows, key=lambda row: numeric(row, "from_confidence") or 0.0)
    ]
    return Chart(
        "intervals",
        "Intervals between neighbouring confidences",
        "The difference of the mean distinctions of two confidences. Unequal bars of one annotator mean that "
        "the confidences are no equal steps; unequal annotators use them differently.",
        {"intervals": bars},
        {
            "data": {"name": "intervals"},
            "mark": {"type": "bar"},
            "encoding": {
                "x": category("pair", "confidences", axis={"labelAngle": 0}),
                "xOffset": {"field": "reader", "type": "nominal"},
                "y": {"field": "interval", "type": "quantitative", "title": "difference of means"},
                **by_reader(rows, shape=False),
                "tooltip": tooltip("reader", "pair", numbers=("from_mean", "to_mean", "interval")),
            },
            "height": 260,
        },
        "Fig. 7b of the cyst benchmark",
    )


def _scale(rows: Sequence[Record]) -> Chart:
    labels = [{**row, "label": f"{row['confidence']:g}"} for row in rows]
    encoding = {"x": quantity("mean", "mean distinction"), "y": names_down("reader")}
    colour = by_reader(rows, shape=False)
    colour["color"]["legend"] = None
    return Chart(
        "scale",
        "Confidences on the scale of distinctions",
        "Every number is a confidence at the mean distinction of an annotator's cysts.",
        {"labels": labels},
        {
            "data": {"name": "labels"},
            "encoding": encoding,
            "layer": [
                {"mark": {"type": "line", "opacity": 0.4}, "encoding": colour},
                {
                    "mark": {"type": "text", "fontSize": 14, "fontWeight": "bold", "dy": -8},
                    "encoding": {
                        "text": {"field": "label", "type": "nominal"},
                        **colour,
                        "tooltip": tooltip("reader", "label", numbers=("mean", "cysts")),
                    },
                },
            ],
            "height": 46 * len({str(row["reader"]) for row in rows}),
        },
        "Fig. 7c of the cyst benchmark",
    )
