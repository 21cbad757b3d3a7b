"""Charts of survival: Kaplan–Meier curves of groups of cases, with a band and the censored cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, ndtri

from evaluation.charts import chart as vl
from evaluation.metrics.arrays import Bools, Floats


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
    lines = [*(vl.NamedCurve(group, one.time, one.alive) for group, one in curves.items())]
    lines += [] if predicted is None else [predicted]
    marks: dict[str, vl.MarkStyle] = vl.marks_of(line.name for line in lines)
    # Marks are by the alphabet; the legend has the order of the curves.
    marks = {line.name: marks[line.name] for line in lines}
    x, y = (
        vl.quantity("time", f"time in {unit}" if unit else "time"),
        vl.share("share", "share without the event"),
    )
    bands = [vl.NamedBand(group, one.time, one.lower, one.upper) for group, one in curves.items()]
    data = {
        "band": vl.band_rows(bands, "time", marks),
        "curves": [
            row for line in lines for row in vl.rows_of({"time": line.x, "share": line.y}, name=line.name)
        ],
        "censored": [
            row
            for group, one in curves.items()
            for row in vl.rows_of({"time": one.time, "share": one.alive, "cases": one.censored}, name=group)
            if row["cases"]
        ],
    }
    band = vl.band_layer(x, vl.share("lower", "share without the event"), len(bands))
    drawn = vl.lines_by_name(marks, legend=len(lines) > 1)
    tick = {"type": "point", "shape": "stroke", "angle": 90, "size": 60}
    layers = [
        {**band, "mark": {**band["mark"], "interpolate": "step-after"}},
        vl.layer("curves", {"type": "line", "interpolate": "step-after"}, x=x, y=y, **drawn),
        vl.layer("censored", tick, x=x, y=y, color=drawn["color"]),
    ]
    described += " Bands are pointwise 95 % limits (Greenwood, log–log); ticks are censored cases."
    return vl.Chart(name, title, described, data, {"layer": layers, "height": 340})
