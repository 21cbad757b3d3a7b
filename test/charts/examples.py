"""One example of every chart, with data that can be checked by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import get_annotations
from typing import Any

import numpy as np

from evaluation.charts.chart import Chart, Estimated, NamedCurve
from evaluation.charts.intervals import MetricInterval, forest_chart, metric_intervals_chart
from evaluation.charts.published import coarse_roc_chart
from evaluation.metrics.arrays import Floats
from evaluation.organiser.report.charts.curves import (
    CalibrationBin,
    MarkedPoint,
    NamedBand,
    froc_chart,
    kaplan_meier,
    precision_recall_chart,
    roc_chart,
    survival_chart,
)
from evaluation.organiser.report.charts.matrices import confusion_chart
from evaluation.organiser.report.charts.values import (
    CasePoint,
    Distribution,
    Pair,
    distribution_chart,
)

ENDS = np.array([0.0, 1.0])


def examples() -> dict[str, Chart]:
    """Return the example charts by name."""
    intervals = metric_intervals_chart(
        "metric-intervals",
        "Metrics",
        [
            MetricInterval("AUC", 0.75, 0.5, 1.0, best=1, worst=0),
            MetricInterval("Error", 1.0, None, None, best=0, worst=4),
        ],
    )
    assert intervals is not None
    charts = (
        intervals,
        roc_chart(
            "roc",
            "ROC",
            [NamedCurve("one", ENDS, ENDS), NamedCurve("two", ENDS, np.array([0.5, 1.0]))],
            NamedBand("one", ENDS, np.array([0.0, 0.9]), np.array([0.2, 1.0])),
            [MarkedPoint("reader", 0.1, 0.6)],
        ),
        coarse_roc_chart(
            "roc-coarse", "ROC", [NamedCurve("one", np.array([0.0, 0.1, 1.0]), np.array([0, 0.8, 1]))]
        ),
        precision_recall_chart(
            "precision-recall",
            "Precision and recall",
            [NamedCurve("one", ENDS, np.array([1.0, 0.5]))],
            [NamedBand("one", ENDS, np.array([0.8, 0.4]), np.array([1.0, 0.6]))],
            prevalence=0.3,
        ),
        confusion_chart("confusion", "Confusion", np.array([[3, 1], [0, 2]]), ("no", "yes"), "Decisions."),
        distribution_chart(
            "distribution",
            "Distribution",
            [Distribution("Dice", np.array([1.0, 2.0, 3.0, 4.0, 100.0, np.nan]), list("abcdef"))],
            "share",
        ),
        froc_chart(
            "froc",
            "FROC",
            [NamedCurve(name, ENDS, np.array([0.5, 1.0])) for name in ("polyp", "cancer")],
            "A hit overlaps.",
            bands=[NamedBand("polyp", ENDS, np.array([0.3, 0.8]), np.array([0.7, 1.0]))],
        ),
        forest_chart(
            "forest",
            "Subgroups",
            "AUC",
            Estimated("all cases", 0.8),
            [Estimated("below 50", 0.7, 0.6, 0.9)],
        ),
        survival_chart(
            "survival",
            "Survival",
            "One group.",
            {"observed": kaplan_meier(np.array([1.0, 2.0, 4.0]), np.array([True, False, True]))},
            "years",
            NamedCurve("predicted", ENDS, np.array([1.0, 0.5])),
        ),
    )
    return {chart.name: chart for chart in charts}


SAMPLES: dict[Any, Any] = {
    Floats: np.array([1.0, 2.0, 2.0, 6.0]),
    Sequence[CalibrationBin]: [CalibrationBin(5, 0.1, 0.2, 0.0, 0.6)],
    Sequence[CasePoint]: [CasePoint("a", 3, 4), CasePoint("b", 0, 0)],
    Sequence[Estimated]: [Estimated("one", 0.9, 0.8, 0.95), Estimated("two", 0.5)],
    Sequence[NamedCurve]: [NamedCurve("one", ENDS, ENDS)],
    Sequence[Pair]: [Pair("a", 3, 1), Pair("b", 2, 2)],
}


def example_of(function: Callable[..., Chart], name: str) -> Chart:
    """Return a chart from the types of the arguments of its function; a text is the argument's own name."""
    given = get_annotations(function, eval_str=True)
    known = {one: one if kind is str else SAMPLES.get(kind) for one, kind in given.items() if one != "return"}
    known |= {"name": name} if "name" in given else {}
    return function(**{one: value for one, value in known.items() if value is not None})
