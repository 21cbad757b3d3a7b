"""Figures of accuracy by confidence (Table 4) and of combined annotators (Figs. 9 to 12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaluation.charts.chart import Chart
from evaluation.charts.encodings import names_down, quantity, tooltip
from evaluation.charts.theme import BLUE, GREY, ORANGE
from evaluation.report.benchmark.distinction_figures import by_reader, confidences
from evaluation.report.benchmark.reading import BenchmarkTables, Record

_METHODS = {"alone": (GREY, "circle"), "average": (ORANGE, "diamond"), "weighted": (BLUE, "square")}


def agreement_charts(tables: BenchmarkTables) -> Iterator[Chart]:
    """Yield the figures that have rows."""
    for measure in ("accuracy", "reproducibility"):
        rows = [row for row in tables["accuracy"] if row["measure"] == measure]
        if rows:
            yield _by_confidence(measure, rows)
    combined = [row for row in tables["combinations"] if row["column"] == "all"]
    if combined:
        yield _combinations(combined)


def _by_confidence(measure: str, rows: Sequence[Record]) -> Chart:
    against = {
        "accuracy": "Similarity to the supervisor (Eq. 3), over the voxels that either marked so in any run.",
        "reproducibility": "Similarity of an annotator's two runs (Eq. 3), over the voxels marked so in one.",
    }
    points = [
        {"reader": row["reader"], "confidence": confidence, "similarity": row[f"confidence_{confidence}"]}
        for row in rows
        for confidence in range(1, 6)
        if row[f"confidence_{confidence}"] is not None
    ]
    return Chart(
        measure,
        f"{measure.capitalize()} by confidence",
        against[measure],
        {"points": points},
        {
            "data": {"name": "points"},
            "mark": {"type": "line", "point": {"filled": True, "size": 70}},
            "encoding": {
                "x": confidences(),
                "y": quantity("similarity", measure),
                **by_reader(rows),
                "tooltip": tooltip("reader", "confidence", numbers=("similarity",)),
            },
            "height": 260,
        },
        "Table 4 of the cyst benchmark" if measure == "accuracy" else "",
    )


def _combinations(rows: Sequence[Record]) -> Chart:
    of_method = {"field": "method", "type": "nominal", "title": None}
    colours, shapes = zip(*_METHODS.values(), strict=True)
    return Chart(
        "combinations",
        "Combined annotators against the supervisor",
        "Similarity to the supervisor on the evaluation set (Eq. 3): annotators alone, pairs and all "
        "together, combined by Eq. 4 (weighted) and by the plain average. The weights come from the same "
        "B-scans.",
        {"combinations": rows},
        {
            "data": {"name": "combinations"},
            "mark": {"type": "point", "filled": True, "size": 100, "opacity": 0.9},
            "encoding": {
                "x": quantity("overall", "similarity"),
                "y": names_down("readers"),
                "color": {**of_method, "scale": {"domain": list(_METHODS), "range": list(colours)}},
                "shape": {**of_method, "scale": {"domain": list(_METHODS), "range": list(shapes)}},
                "tooltip": tooltip("readers", "method", numbers=("overall", "cysts", "found", "false")),
            },
            "height": 34 * len({str(row["readers"]) for row in rows}),
        },
        "Figs. 9 to 12 of the cyst benchmark",
    )
