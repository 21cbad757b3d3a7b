"""The section of survival: observed curves by predicted risk, and the calibration of predictions."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.chart import Chart, NamedCurve
from evaluation.core.challenge import Task
from evaluation.core.field import Field
from evaluation.io.kinds.survival import SurvivalPrediction, TimeToEvent
from evaluation.metrics.arrays import Bools, Floats
from evaluation.organiser.report.charts import curves as curve_charts
from evaluation.organiser.report.page import Block, Table, identifier
from evaluation.organiser.report.results import SubmissionResults
from evaluation.organiser.report.sources import NOTES

_GROUPS = {"thirds": ("low risk", "middle risk", "high risk"), "halves": ("low risk", "high risk")}
_FEWEST_IN_GROUP = 5
_BINS = 5
_TIMES = 5
"""How many times the table of cases at risk shows."""


def survival_blocks(results: SubmissionResults) -> Iterator[Block]:
    """Yield the figures and tables of all tasks that predict survival."""
    for task in results.tasks:
        for field in task.fields:
            # This room is about this one kind: whether it predicts times or risks, and until when.
            if isinstance(field.kind, SurvivalPrediction):
                yield from _blocks(results, task, field, field.kind)


@dataclass(frozen=True)
class _Observed:
    """Predictions, times and events of the cases with a prediction, shape (cases,)."""

    predicted: Floats
    time: Floats
    event: Bools
    left_out: int

    def curve(self, members: Bools) -> curve_charts.KaplanMeier:
        return curve_charts.kaplan_meier(self.time[members], self.event[members])


def _blocks(
    results: SubmissionResults, task: Task, field: Field, kind: SurvivalPrediction
) -> Iterator[Block]:
    table = results.tables[task.name]
    columns = [f"{field.name}_{part}" for part in ("predicted", "time", "event")]
    if not {*columns} <= set(table.column_names):
        return
    predicted, time, event = (table[column] for column in columns)
    given = ~np.isnan(predicted)
    if given.sum() < 2 * _FEWEST_IN_GROUP:
        return
    found = _Observed(predicted[given], time[given], event[given] > 0, int((~given).sum()))
    reference = field.reference.kind
    # The view of numbers has no unit for an event and its time.
    unit = reference.unit if isinstance(reference, TimeToEvent) else ""
    start = identifier(f"{task.name}-{field.name}")
    parts = "thirds" if found.time.size >= 3 * _FEWEST_IN_GROUP else "halves"
    order = found.predicted if kind.risk else -found.predicted
    numbers = _equal_parts(order, len(_GROUPS[parts]))
    named = ((name, numbers == number) for number, name in enumerate(_GROUPS[parts]))
    groups = {name: members for name, members in named if members.any()}
    curves = {group: found.curve(members) for group, members in groups.items()}
    p_value = curve_charts.logrank_p(found.time, found.event, numbers.tolist())
    tested = "" if p_value is None else f" Log-rank test of one curve for all: p = {p_value:.2g}."
    absent = f" {found.left_out} cases without a prediction are left out." if found.left_out else ""
    described = NOTES["survival"].format(parts=parts) + tested + absent
    title = f"Survival by predicted risk. {field.title}"
    drawn = curve_charts.survival_chart(f"{start}-survival", title, described, curves, unit)
    yield drawn.measured_in("", f"time in {unit}") if unit else drawn
    yield from _calibrations(start, field.title, kind, found, unit)
    yield _table(start, curves, {group: found.event[members] for group, members in groups.items()}, unit)


def _equal_parts(values: Floats, number: int) -> NDArray[np.int64]:
    """Return the part of each value, of so many of nearly equal size; equal values stay together."""
    cuts = np.quantile(values, np.arange(1, number) / number, method="inverted_cdf")
    return np.searchsorted(cuts, values, side="left")


def _calibrations(
    start: str, title: str, kind: SurvivalPrediction, found: _Observed, unit: str
) -> Iterator[Chart]:
    """Yield the calibration: of times, at every time for all cases; of probabilities, at their time."""
    if not kind.risk:
        times = np.unique(np.concatenate(([0.0], found.predicted[found.predicted <= found.time.max()])))
        later = (found.predicted > times[:, None]).mean(axis=1)
        yield curve_charts.survival_chart(
            f"{start}-predicted-survival",
            f"Predicted and observed survival. {title}",
            "Share of cases without the event up to each time: observed (Kaplan–Meier), and the share with a "
            "later predicted time. Calibrated times follow the observed curve.",
            {"observed": curve_charts.kaplan_meier(found.time, found.event)},
            unit,
            NamedCurve("predicted", times, later),
        )
    elif kind.horizon is not None:
        bins = list(_calibration_bins(found, kind.horizon))
        cases = np.array([one.cases for one in bins])
        gaps = np.array([abs(one.observed - one.predicted) for one in bins])
        within = f"within {kind.horizon:g} {unit}".rstrip()
        yield curve_charts.calibration_chart(
            f"{start}-calibration",
            f"Calibration {within}. {title}",
            bins,
            f"Share of cases with the event {within} (Kaplan–Meier, 95 % limits) in groups of equal size by "
            f"predicted probability. Expected calibration error {(cases * gaps).sum() / cases.sum():.3f}; "
            "perfect predictions follow the diagonal.",
            f"share with the event {within}",
        )


def _calibration_bins(found: _Observed, horizon: float) -> Iterator[curve_charts.CalibrationBin]:
    number = min(_BINS, found.time.size // _FEWEST_IN_GROUP)
    of_bin = _equal_parts(found.predicted, number)
    for members in (of_bin == one for one in range(number)):
        if members.any():
            alive, lower, upper = found.curve(members).at(horizon)
            mean = float(found.predicted[members].mean())
            yield curve_charts.CalibrationBin(int(members.sum()), mean, 1 - alive, 1 - upper, 1 - lower)


def _table(
    start: str, curves: dict[str, curve_charts.KaplanMeier], events: dict[str, Bools], unit: str
) -> Table:
    """Return the numbers of cases, events and cases at risk of each group."""
    longest = max(float(one.time[-1]) for one in curves.values())
    times = [float(f"{longest * step / _TIMES:.2g}") for step in range(_TIMES)]
    rows = []
    for group, one in curves.items():
        at = np.searchsorted(one.time, times)
        at_risk = (int(one.at_risk[row]) if row < one.time.size else 0 for row in at)
        rows.append((group, events[group].size, int(events[group].sum()), one.median, *at_risk))
    titles = ("group", "cases", "events", "median time", *(f"at risk at {time:g}" for time in times))
    note = f"Times in {unit}. " if unit else ""
    note += "A group has no median time while more than half of it are without the event."
    return Table.of(f"{start}-at-risk", "Cases at risk", titles, rows, note)
