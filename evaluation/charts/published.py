"""The charts that a phase writes beside `metrics.json` for the platform to draw.

They are visible to everyone who may see the evaluation. They hold no single case and no more digits than
`metrics.json`: "metrics" and "subgroups" draw its numbers, and "roc" nine more for each curve, which `audit`
counts. An empty chart is written too, since the platform fails an evaluation that lacks one.
"""

import csv
import dataclasses
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from io import BytesIO, StringIO
from textwrap import wrap
from time import gmtime

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from evaluation.charts import chart as vl
from evaluation.charts.chart import Chart, Estimated, NamedCurve
from evaluation.charts.intervals import MetricInterval, ends_of, forest_chart, metric_intervals_chart
from evaluation.core.aggregation import Estimate
from evaluation.core.challenge import Task, metrics_of
from evaluation.core.metric import Metric
from evaluation.metrics.classification import roc_table
from evaluation.metrics.operating_points import weighted_sensitivity_at_specificity
from evaluation.phase.config import OutputContent, PhaseConfig
from evaluation.phase.leaderboard import Digits, digits_of
from evaluation.phase.scores import Scores
from evaluation.platform.result_file import MetricsFile, render

_LETTERS = 70
"""Of a line of a caption."""
_STEPS = 10
CURVE_NUMBERS = _STEPS - 1
"""How many numbers a curve adds to `metrics.json`; its ends are known."""
_LARGEST = 1e308


def documents(
    scores: Scores, metrics: MetricsFile, contents: Mapping[str, OutputContent]
) -> dict[str, bytes]:
    """Return files beside `metrics.json` by their paths, from the content of each.

    Charts are Vega-Lite v5 objects; "metrics" repeats `metrics.json`, "pdf", "csv" and "text" are its figures
    as a page, as a table and as one text in JSON, and "score" is the number that the leaderboard ranks by.
    """
    makers: dict[OutputContent, Callable[[], bytes]] = {
        "chart-metrics": lambda: _document(_metrics(scores, metrics)),
        "chart-subgroups": lambda: _document(_subgroups(scores, metrics)),
        "chart-roc": lambda: _document(_roc(scores, metrics)),
        "metrics": lambda: render(dataclasses.asdict(metrics)),
        "pdf": lambda: _page(scores, metrics),
        "csv": lambda: _csv([_COLUMNS, *_rows(metrics)]),
        "text": lambda: _json("; ".join(f"{row[0]}.{row[1]} {row[2]}" for row in _rows(metrics))),
        "score": lambda: _json(_score(scores, metrics)),
    }
    return {path: makers[content]() for path, content in contents.items()}


_COLUMNS = ("task", "metric", "value", "lower", "upper")


def _rows(metrics: MetricsFile) -> list[tuple[str, ...]]:
    """Return the published figures as cells."""
    rows: list[tuple[str, ...]] = []
    for task, estimates in metrics.aggregates.items():
        for name, estimate in estimates.items():
            interval = estimate.confidence_interval
            ends = (f"{interval.lower}", f"{interval.upper}") if interval else ("", "")
            rows.append((task, name, f"{estimate.value}", *ends))
    return rows


def _score(scores: Scores, metrics: MetricsFile) -> float:
    """Return the published score, its worst value where a submission left out the task."""
    phase = scores.phase
    name = phase.board.ranked[0]
    if (estimate := metrics.figure(name)) is not None:
        return estimate.value
    worst = phase.challenge.figures_of(phase.tasks)[name].worst
    return worst if math.isfinite(worst) else math.copysign(_LARGEST, worst)


def _csv(rows: list[tuple[str, ...]]) -> bytes:
    text = StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _json(value: object) -> bytes:
    return f"{json.dumps(value, allow_nan=False)}\n".encode("ascii")


@dataclass(frozen=True)
class MetricRow:
    """A metric of a task with its published value and their decimals.

    ``title``: of the metric, with its task where another has the same.
    """

    task: Task
    metric: Metric
    title: str
    estimate: Estimate
    digits: Digits

    @property
    def interval(self) -> MetricInterval:
        """The metric as the chart of all metrics draws it."""
        ends = ends_of(self.estimate.confidence_interval)
        return MetricInterval(self.title, self.estimate.value, *ends, self.metric.best, self.metric.worst)


def metric_rows(config: PhaseConfig, tasks: Iterable[Task], metrics: MetricsFile) -> list[MetricRow]:
    """Return the published metrics of tasks in the order of `metrics.json`."""
    published = [
        (task, metric, estimate)
        for task in tasks
        for metric in task.metrics
        if (estimate := metrics.aggregates.get(task.name, {}).get(metric.name))
    ]
    titles = Counter(metric.title for _, metric, _ in published)
    return [
        MetricRow(
            task,
            metric,
            metric.title if titles[metric.title] == 1 else f"{metric.title} ({task.title})",
            estimate,
            digits_of(config, f"{task.name}.{metric.name}"),
        )
        for task, metric, estimate in published
    ]


def has_curve(metric: Metric) -> bool:
    """Return whether `chart-roc` has a curve for a metric: an area under it."""
    return metric.estimator.curve is not None and metric.estimator.curve.is_area


def _document(chart: Chart) -> bytes:
    # The platform shows nothing but the drawing, so that title and caption are in it.
    title = {"text": chart.title, "subtitle": wrap(chart.description, _LETTERS), "anchor": "start"}
    # Null has a meaning in a specification, such as an axis that is not drawn.
    return f"{json.dumps(vl.complete(chart) | {'title': title}, allow_nan=False)}\n".encode("ascii")


def _metrics(scores: Scores, metrics: MetricsFile) -> Chart:
    rows = metric_rows(scores.phase.config, scores.tasks, metrics)
    chart = metric_intervals_chart("metrics", "Metrics", [row.interval for row in rows])
    return chart or _nothing("metrics", "Metrics")


def _subgroups(scores: Scores, metrics: MetricsFile) -> Chart:
    """Return the chart of the first metric with public subgroups, those of the leaderboard first."""
    phase = scores.phase
    wanted = phase.board.needed
    for name, metric in sorted(metrics_of(scores.tasks).items(), key=lambda one: one[0] not in wanted):
        task, _, short = name.partition(".")
        whole = metrics.aggregates.get(task, {}).get(short)
        found = [
            Estimated(f"{column}: {group}", tasks[task][short])
            for column, groups in metrics.subgroups.items()
            for group, tasks in groups.items()
            if short in tasks.get(task, {})
        ]
        if whole and found:
            overall = Estimated("all cases", whole.value)
            return forest_chart("subgroups", f"{metric.title} by subgroup", metric.title, overall, found)
    return _nothing("subgroups", "Subgroups")


def _roc(scores: Scores, metrics: MetricsFile) -> Chart:
    title, curves = "Receiver operating characteristic", list(_curves(scores, metrics))
    return coarse_roc_chart("roc", title, curves) if curves else _nothing("roc", title)


def _curves(scores: Scores, metrics: MetricsFile) -> Iterator[NamedCurve]:
    """Yield each curve at ten steps of the specificity, with the published digits of spreads."""
    rates = [Fraction(step, _STEPS) for step in range(1, _STEPS)]
    for row in metric_rows(scores.phase.config, scores.tasks, metrics):
        if (curve := row.metric.estimator.curve) is None or not curve.is_area:
            continue
        table = scores.tables[row.task.name]
        entering = ~np.isnan(table[curve.label])
        roc = roc_table(table[curve.score][entering], table[curve.label][entering] > 0)
        weights = np.ones((1, roc.score.size))
        found = [weighted_sensitivity_at_specificity(roc, weights, 1 - rate)[0] for rate in rates]
        sensitivities = [round(float(one), row.digits.spread) for one in found]
        ends = (np.array([0.0, *map(float, inner), 1.0]) for inner in (rates, sensitivities))
        yield NamedCurve(f"{row.task.title}: {row.metric.title} {row.estimate.value:g}", *ends)


def coarse_roc_chart(name: str, title: str, curves: Sequence[NamedCurve]) -> Chart:
    """Return the chart of curves of which only some points are known; ``name`` of a curve with its area.

    A curve never falls, so between two points it lies in the box that they span.
    """
    points, boxes = list[vl.Record](), list[vl.Record]()
    for curve in curves:
        rates, found = curve.x, curve.y
        points += vl.rows_of({"false_positive_rate": rates, "sensitivity": found}, name=curve.name)
        spanned = {"from": rates[:-1], "to": rates[1:], "lower": found[:-1], "upper": found[1:]}
        boxes += vl.rows_of(spanned, name=curve.name)
    colour = {"color": vl.lines_by_name(vl.marks_of(curve.name for curve in curves), legend=True)["color"]}
    x, y = vl.share("false_positive_rate", vl.FALSE_POSITIVE_RATE), vl.share("sensitivity", "sensitivity")
    box = {"x": vl.share("from", vl.FALSE_POSITIVE_RATE), "y": vl.share("lower", "sensitivity")}
    ends = {"x2": {"field": "to"}, "y2": {"field": "upper"}}
    told = vl.tooltip("name", numbers=("false_positive_rate", "sensitivity"))
    area = {"type": "rect", "opacity": 0.2, "tooltip": None}
    layers = [
        vl.layer("between", boxes, area, **box, **ends, **colour),
        vl.layer("curves", points, {"type": "point", "filled": True}, x=x, y=y, **colour, tooltip=told),
    ]
    described = (
        "The phase publishes the sensitivity at nine false-positive rates alone, since every further point "
        "would reveal more of the labels. The curve lies within the boxes; its area in the legend is exact."
    )
    return Chart.of(name, title, described, layers, 340)


def _page(scores: Scores, metrics: MetricsFile) -> bytes:
    """Return a PDF of one page, with a line for each published metric."""
    lines = [scores.phase.config.title]
    for task in scores.tasks:
        lines += ["", task.title]
        for metric in task.metrics:
            if estimate := metrics.aggregates.get(task.name, {}).get(metric.name):
                interval = estimate.confidence_interval
                between = f"  ({interval.lower:g} to {interval.upper:g})" if interval else ""
                lines.append(f"    {metric.title}: {estimate.value:g}{between}")
    page = Image.new("1", (1240, max(1754, 120 + 36 * len(lines))), 1)  # A4 at 150 dpi, or higher
    draw = ImageDraw.Draw(page)
    for number, line in enumerate(lines):
        draw.text((60, 60 + 36 * number), line, fill=0, font=ImageFont.load_default(24))
    file, never = BytesIO(), gmtime(0)
    page.save(file, "PDF", resolution=150, creationDate=never, modDate=never)
    return file.getvalue()


def _nothing(name: str, title: str) -> Chart:
    """Return a chart with the note that there is nothing to show."""
    rows = [{"text": "no such figures in this evaluation"}]
    text = vl.layer("text", rows, {"type": "text", "fontSize": 14}, text=vl.nominal("text"))
    return Chart.of(name, title, "This evaluation has no such figures.", [text], 60)
