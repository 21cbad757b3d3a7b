"""Charts of curves: ROC, precision and recall, free-response ROC, calibration, survival."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri

from evaluation.charts import chart as vl
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.classification import RocTable, roc_points, weighted_counts
from evaluation.metrics.free_response import FrocTable
from evaluation.metrics.operating_points import weighted_sensitivity_at_specificity
from evaluation.stats.intervals import wilson_interval

_HEIGHT = 340
"""Of every chart of this module, in pixels."""


# --- Layers of one or several curves, and of bootstrap bands ---


@dataclass(frozen=True)
class NamedBand:
    """Limits of a curve's y at each x, all of shape (points,)."""

    name: str
    x: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, name: str, x: Floats, resampled: Floats) -> Self:
        """Return the 95 % percentiles of y, shape (resamples, points), NaN left out."""
        return cls(name, x, *np.nanquantile(resampled, (0.025, 0.975), axis=0))


Axes = tuple[vl.Record, vl.Record]
"""The encodings along x and y."""


def _band_layer(
    bands: Sequence[NamedBand], axes: Axes, marks: Mapping[str, vl.MarkStyle], **mark: Any
) -> vl.Layer:
    """Return the layer of bands; several are fainter, and none is in the legend of the curves."""
    x, y = axes
    rows = [
        row
        for one in bands
        for row in vl.rows_of(
            {x["field"]: one.x, "lower": one.lower, "upper": one.upper},
            name=one.name,
            colour=marks[one.name].colour,
        )
    ]
    area = {"type": "area", "opacity": 0.2 if len(bands) == 1 else 0.1, "tooltip": None, **mark}
    between = {"x": x, "y": {**y, "field": "lower"}, "y2": {"field": "upper"}, "detail": vl.nominal("name")}
    return vl.layer("band", rows, area, **between, fill=vl.nominal("colour", scale=None))


def _curve_layer(
    curves: Sequence[vl.NamedCurve],
    axes: Axes,
    marks: Mapping[str, vl.MarkStyle],
    interpolate: str,
    *,
    tapering: bool = False,
) -> vl.Layer:
    """Return the layer of curves; of few ``tapering`` ones the first is the widest: none is hidden."""
    x, y = axes
    drawn = vl.lines_by_name(marks, legend=len(curves) > 1)
    if tapering:
        drawn["strokeWidth"] = {"field": "width", "type": "quantitative", "scale": None, "legend": None}
    steps = len(curves) - 1 if len(curves) <= len(vl.PALETTE) else 0
    rows = []
    for number, one in enumerate(curves):
        width = {"width": 2 + 1.8 * max(0, steps - number)} if tapering else {}
        rows += vl.rows_of({x["field"]: one.x, y["field"]: one.y}, name=one.name, **width)
    return vl.layer("curves", rows, {"type": "line", "interpolate": interpolate}, x=x, y=y, **drawn)


# --- Receiver operating characteristic: one or several curves, a bootstrap band and operating points ---


_HEXAGON = "M-1,0L-0.5,-0.9L0.5,-0.9L1,0L0.5,0.9L-0.5,0.9Z"
_STAR = "M0,-1.2L0.3,-0.3L1.2,0L0.3,0.3L0,1.2L-0.3,0.3L-1.2,0L-0.3,-0.3Z"
_HOURGLASS = "M-0.9,-0.9L0.9,-0.9L-0.9,0.9L0.9,0.9Z"
_POINT_SHAPES = (*vl.SHAPES, "triangle-left", _HEXAGON, _STAR, _HOURGLASS)


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
    marks: Mapping[str, vl.MarkStyle] | None = None,
) -> vl.Chart:
    """Return the ROC chart of one or several curves; ``marks``: by name, by default `marks_of` the names."""
    marks = vl.marks_of(curve.name for curve in curves) if marks is None else marks
    x, y = vl.share("false_positive_rate", vl.FALSE_POSITIVE_RATE), vl.share("sensitivity", "sensitivity")
    ends = [{"false_positive_rate": end, "sensitivity": end} for end in (0, 1)]
    point = {"type": "point", "filled": True, "size": 90, "color": vl.GREY, "style": vl.DOT}
    # The legend of the curves is at the bottom.
    legend = {"orient": "top", "columns": 4} if len(points) <= len(_POINT_SHAPES) else None
    shape = vl.category("name", scale={"range": list(_POINT_SHAPES)}, legend=legend)
    told = vl.tooltip("name", numbers=("false_positive_rate", "sensitivity"))
    layers = [
        vl.layer("chance", ends, vl.DASHED, x=x, y=y),
        _band_layer([band] if band else [], (x, y), marks),
        _curve_layer(curves, (x, y), marks, "linear"),
        vl.layer("points", list(map(vars, points)), point, x=x, y=y, shape=shape, tooltip=told),
    ]
    described = "Sensitivity against 1 − specificity at every threshold; the dashed diagonal is chance."
    if band:
        described += " The band holds 95 % of the curves of the bootstrap at each specificity."
    if points:
        described += " Grey marks are operating points."
    return vl.Chart.of(name, title, described, layers, _HEIGHT)


# --- Precision against recall, and free-response ROC: one or several curves, and bootstrap bands ---


def precision_recall_chart(
    name: str,
    title: str,
    curves: Sequence[vl.NamedCurve],
    bands: Sequence[NamedBand] = (),
    prevalence: float | None = None,
    hit: str = "",
) -> vl.Chart:
    """Return the chart of curves with recall along x and precision along y, both 0 … 1.

    ``prevalence``: precision of chance, a horizontal line; ``hit``: for detections, a sentence that defines a
    hit.
    """
    # The first precision holds from recall 0 on.
    begun = [
        vl.NamedCurve(one.name, np.insert(one.x, 0, 0.0), one.y[[0, *range(one.y.size)]]) for one in curves
    ]
    x, y = vl.share("recall", "recall (sensitivity)"), vl.share("precision", "precision")
    told = ["Precision against recall at every threshold, in the steps whose area is the average precision."]
    if prevalence is not None:
        told.append("The dashed line is the share of positives, the precision of chance.")
    told += ["A band holds 95 % of the bootstrap's precisions at each recall."] if bands else []
    told += [hit] if hit else []
    marks = vl.marks_of(one.name for one in begun)
    chance = [] if prevalence is None else [{"precision": prevalence}]
    layers = [
        vl.layer("chance", chance, {"type": "rule", "color": vl.GREY, "strokeDash": [3, 3]}, y=y),
        _band_layer(bands, (x, y), marks),
        _curve_layer(begun, (x, y), marks, "step-before", tapering=True),
    ]
    return vl.Chart.of(name, title, " ".join(told), layers, _HEIGHT)


_RATES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
_WIDE_RANGE = 2.0
"""From so many false positives per case on, the axis is logarithmic beyond an eighth."""


def froc_chart(
    name: str,
    title: str,
    curves: Sequence[vl.NamedCurve],
    hit: str,
    bands: Sequence[NamedBand] = (),
    marks: Mapping[str, vl.MarkStyle] | None = None,
) -> vl.Chart:
    """Return the chart of curves with false positives per case along x and sensitivity along y.

    ``hit``: a sentence that defines a hit; ``marks``: colour and dashes of each curve by name.
    """
    x = vl.quantity("false_positives_per_case", "false positives per case")
    last = max((float(curve.x[-1]) for curve in curves), default=0.0)
    if last >= _WIDE_RANGE:
        # The usual rates are far apart on this scale, and zero is on it.
        x["scale"] = {"type": "symlog", "constant": _RATES[0], "nice": False, "domain": [0, last]}
        x["axis"] = {"values": [0, *(rate for rate in _RATES if rate <= last)], "format": "~g"}
    described = "Share of the objects found against false positives per case as the confidence falls."
    described += " A band holds 95 % of the curves of the bootstrap." if bands else ""
    axes, marks = (
        (x, vl.share("sensitivity", "sensitivity")),
        marks or vl.marks_of(one.name for one in curves),
    )
    lines = _curve_layer(curves, axes, marks, "step-after", tapering=True)
    layers = [_band_layer(bands, axes, marks), lines]
    return vl.Chart.of(name, title, f"{described} {hit}", layers, _HEIGHT)


# --- Calibration: observed shares of positives against predicted probabilities ---


@dataclass(frozen=True)
class CalibrationBin:
    """Cases of similar probabilities: number, mean probability, share of positives with its interval."""

    cases: int
    predicted: float
    observed: float
    lower: float
    upper: float


CALIBRATION_BINS = 10
"""The usual number of bins."""


def calibration_bins(probability: Floats, positive: Floats, bins: int) -> Iterator[CalibrationBin]:
    """Yield the bins of equal width that hold a case, with Wilson's 95 % intervals.

    probability: in [0, 1]; positive: 0 or 1; both of shape (cases,).
    """
    of_bin = np.minimum((probability * bins).astype(np.int64), bins - 1)
    for position in range(bins):
        members = of_bin == position
        count = int(members.sum())
        if count:
            interval = wilson_interval(float(positive[members].sum()), count)
            predicted, observed = float(probability[members].mean()), float(positive[members].mean())
            yield CalibrationBin(count, predicted, observed, interval.lower, interval.upper)


def calibration_chart(
    name: str,
    title: str,
    bins: Sequence[CalibrationBin],
    described: str,
    observed: str = "share of positives",
) -> vl.Chart:
    """Return the reliability diagram; ``observed``: title of the axis of observed shares."""
    x, y = vl.share("predicted", "predicted probability"), vl.share("observed", observed)
    interval = {"y": vl.share("lower", observed), "y2": {"field": "upper"}}
    counts = sorted({one.cases for one in bins})
    shown = sorted({counts[0], counts[len(counts) // 2], counts[-1]}) if counts else []
    legend = {"values": shown, "format": "d"}
    area = vl.quantitative("cases", title="cases", scale={"range": [30, 350]}, legend=legend)
    told = [vl.quantitative("cases"), *vl.tooltip(numbers=("predicted", "observed", "lower", "upper"))]
    rows, ends = list(map(vars, bins)), [{"predicted": end, "observed": end} for end in (0, 1)]
    point = {"type": "point", "filled": True, "opacity": 1}
    layers = [
        vl.layer("perfect", ends, vl.DASHED, x=x, y=y),
        vl.layer("bins", rows, {"type": "rule", "color": vl.BLUE}, x=x, **interval),
        vl.layer("bins", rows, {"type": "line", "tooltip": None}, x=x, y=y),
        vl.layer("bins", rows, point, x=x, y=y, size=area, tooltip=told),
    ]
    return vl.Chart.of(name, title, described, layers, _HEIGHT)


# --- Points and bootstrap bands of ROC and precision–recall curves, few enough for a figure ---

_STEPS = 250
"""Most distinct positions of a curve along each axis, approximately."""
_GRID = 50


def roc_curve(name: str, table: RocTable) -> vl.NamedCurve:
    """Return the curve of all cases, thinned to the resolution of a figure."""
    points = roc_points(table, np.ones(table.score.size))
    return thinned_curve(name, points.false_positive_rate, points.sensitivity)


def roc_band(name: str, table: RocTable, weights: Iterable[Floats]) -> NamedBand:
    """Return the 95 % percentiles of the sensitivity at 51 false-positive rates.

    ``weights`` are blocks of case weights, shape (rows, cases).
    """
    rates = [Fraction(step, _GRID) for step in range(_GRID + 1)]
    blocks = (weighted_counts(table, block) for block in weights)
    rows = [
        np.column_stack([weighted_sensitivity_at_specificity(table, counts, 1 - rate) for rate in rates])
        for counts in blocks
    ]
    return NamedBand.of(name, np.array([float(rate) for rate in rates]), np.vstack(rows))


def point_on_curve(name: str, table: RocTable, sensitivity: float) -> MarkedPoint:
    """Return the point of the curve that reaches a sensitivity with the fewest false positives."""
    points = roc_points(table, np.ones(table.score.size))
    reaching = np.flatnonzero(points.sensitivity >= sensitivity - 1e-9)
    at = int(reaching[0]) if reaching.size else len(points.sensitivity) - 1
    return MarkedPoint(name, float(points.false_positive_rate[at]), float(points.sensitivity[at]))


def point_at_threshold(name: str, table: RocTable, threshold: float) -> MarkedPoint:
    """Return the point with scores of at least a threshold called positive."""
    called = table.score >= threshold
    negative = ~table.positive
    return MarkedPoint(name, float(called[negative].mean()), float(called[table.positive].mean()))


def recall_and_precision(
    table: FrocTable, weights: Floats, *, is_best: bool = False
) -> tuple[Floats, Floats]:
    """Return recall, ascending, and precision under case weights; both of shape (rows, thresholds).

    ``is_best``: the precision is the best at that recall or above. It is unknown where no object has weight.
    """
    precision, recall = table.precision_recall(weights)
    if is_best:
        precision = np.fmax.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    return recall, np.where(np.isnan(recall), np.nan, precision)


def precision_band(name: str, curves: Iterable[tuple[Floats, Floats]], reached: float = 1.0) -> NamedBand:
    """Return the 95 % percentiles of the precision at up to 50 recalls, where each is first reached.

    ``curves`` are blocks of recall and precision under case weights, both of shape (rows, thresholds), recall
    ascending. The band ends where the curve of all cases does, at the recall ``reached``, and before that
    where fewer than half of the resamples go on: the precision of the others is unknown there.
    """
    recalls = np.arange(1, _GRID + 1) / _GRID
    rows = []
    for recall, precision in curves:
        for found, made in zip(recall, precision, strict=True):
            # A recall that is never reached has no precision.
            rows.append(np.append(made, np.nan)[np.searchsorted(found, recalls - 1e-9)])
    values = np.vstack(rows)
    known = (np.isnan(values).mean(axis=0) <= 0.5) & (recalls <= reached + 1e-9)
    return NamedBand.of(name, recalls[known], values[:, known])


def froc_band(name: str, table: FrocTable, weights: Sequence[Floats]) -> NamedBand:
    """Return the 95 % percentiles of the sensitivity at 51 numbers of false positives per case.

    ``weights`` are blocks of case weights, shape (rows, cases).
    """
    last = float(table.curve(np.ones(weights[0].shape[1])).false_positives_per_case[-1])
    rates = np.linspace(0, last, _GRID + 1)
    values = np.vstack([table.sensitivity_at(block, rates.tolist()) for block in weights])
    return NamedBand.of(name, rates, values)


def thinned_curve(name: str, x: Floats, y: Floats, steps: int = _STEPS) -> vl.NamedCurve:
    """Return a curve with the points that a figure can show; the axis of x ends at 1 or its largest value."""
    kept = thinned(x / x.max(initial=1.0), y, steps)
    return vl.NamedCurve(name, x[kept], y[kept])


def thinned(x: Floats, y: Floats, steps: int = _STEPS) -> NDArray[np.intp]:
    """Return the positions of the points to draw: the ends, and where the curve turns."""
    if x.size < 3:
        return np.arange(x.size)
    cell = np.column_stack((np.round(x * steps), np.round(y * steps)))
    moved = np.ones(x.size, dtype=np.bool_)
    moved[1:] = (np.diff(cell, axis=0) != 0).any(axis=1)
    moved[-1] = True
    kept = np.flatnonzero(moved)
    # inner points on a line along an axis are dropped; on any other one they are ends of steps
    turns = np.ones(kept.size, dtype=np.bool_)
    for along in (x, y):
        same = np.diff(along[kept]) == 0
        turns[1:-1] &= ~(same[:-1] & same[1:])
    return kept[turns]


# --- Kaplan–Meier curves of groups of cases, with a band and the censored cases ---


@dataclass(frozen=True)
class KaplanMeier:
    """The share of cases without the event after each distinct observed time, begun with time 0 and share 1.

    All arrays have shape (times,). ``lower``, ``upper``: pointwise 95 % limits; ``at_risk``: the cases that
    are observed up to each time; ``censored``: those observed no longer without the event.
    """

    time: Floats
    alive: Floats
    lower: Floats
    upper: Floats
    at_risk: Floats
    censored: Floats

    def at(self, time: float) -> tuple[float, float, float]:
        """Return the share and its limits at a time; after the last time, those at the last."""
        row = int(np.searchsorted(self.time, time, side="right")) - 1
        return float(self.alive[row]), float(self.lower[row]), float(self.upper[row])

    @property
    def median(self) -> float | None:
        """The first time at which at most half of the cases are without the event, None if there is none."""
        reached = np.flatnonzero(self.alive <= 0.5 + 1e-12)
        return float(self.time[reached[0]]) if reached.size else None


def kaplan_meier(time: Floats, event: Bools) -> KaplanMeier:
    """Return the product-limit estimate of at least one case; times at least 0, both of shape (cases,).

    Greenwood's variance gives the limits on the scale of log(−log); they are the share itself where that is 0
    or 1. Source: Kaplan and Meier 1958, JASA 53:457; Kalbfleisch and Prentice 1980, section 1.3.
    """
    times = np.unique(np.append(time, 0.0))
    at_risk = (time >= times[:, None]).sum(axis=1).astype(np.float64)
    ended = ((time == times[:, None]) & event).sum(axis=1)
    censored = ((time == times[:, None]) & ~event).sum(axis=1).astype(np.float64)
    alive = np.cumprod(1 - ended / at_risk)
    with np.errstate(divide="ignore", invalid="ignore"):
        greenwood = np.cumsum(ended / (at_risk * (at_risk - ended)))
        width = float(ndtri(0.975)) * np.sqrt(greenwood) / np.abs(np.log(alive))
        lower, upper = (alive ** np.exp(sign * width) for sign in (1, -1))
    inner = (alive > 0) & (alive < 1)
    lower, upper = (np.where(inner, end, alive) for end in (lower, upper))
    return KaplanMeier(times, alive, lower, upper, at_risk, censored)


def logrank_p(time: Floats, event: Bools, group: Sequence[int]) -> float | None:
    """Return the p of the log-rank test that all groups have one curve; None for fewer than two groups.

    All arguments have shape (cases,). Source: Mantel 1966, Cancer Chemother. Rep. 50:163, with the χ² law.
    """
    of_group = np.array([np.equal(group, one) for one in sorted(set(group))])
    if len(of_group) < 2 or not event.any():
        return None
    excess, covariance = np.zeros(len(of_group)), np.zeros((len(of_group), len(of_group)))
    for now in np.unique(time[event]):
        at_risk, ending = of_group[:, time >= now].sum(axis=1), of_group[:, (time == now) & event].sum(axis=1)
        everyone, ends = at_risk.sum(), ending.sum()
        expected = at_risk * ends / everyone
        excess += ending - expected
        if everyone > 1:
            factor = (everyone - ends) / (everyone - 1)
            covariance += factor * (np.diag(expected) - np.outer(expected, at_risk) / everyone)
    statistic = float(excess @ np.linalg.pinv(covariance) @ excess)
    return float(chdtrc(len(of_group) - 1, statistic))


def survival_chart(
    name: str,
    title: str,
    described: str,
    curves: Mapping[str, KaplanMeier],
    unit: str,
    predicted: vl.NamedCurve | None = None,
) -> vl.Chart:
    """Return the chart of Kaplan–Meier curves by name, and of shares that are ``predicted``, without a band.

    unit: of the times, empty if unknown.
    """
    lines = [vl.NamedCurve(group, one.time, one.alive) for group, one in curves.items()]
    lines += [] if predicted is None else [predicted]
    by_alphabet = vl.marks_of(one.name for one in lines)
    marks = {one.name: by_alphabet[one.name] for one in lines}
    x = vl.quantity("time", f"time in {unit}" if unit else "time")
    y = vl.share("share", "share without the event")
    bands = [NamedBand(group, one.time, one.lower, one.upper) for group, one in curves.items()]
    censored = [
        row
        for group, one in curves.items()
        for row in vl.rows_of({"time": one.time, "share": one.alive, "cases": one.censored}, name=group)
        if row["cases"]
    ]
    tick = {"type": "point", "shape": "stroke", "angle": 90, "size": 60}
    colour = vl.lines_by_name(marks, legend=len(lines) > 1)["color"]
    layers = [
        _band_layer(bands, (x, y), marks, interpolate="step-after"),
        _curve_layer(lines, (x, y), marks, "step-after"),
        vl.layer("censored", censored, tick, x=x, y=y, color=colour),
    ]
    described += " Bands are pointwise 95 % limits (Greenwood, log–log); ticks are censored cases."
    return vl.Chart.of(name, title, described, layers, _HEIGHT)
