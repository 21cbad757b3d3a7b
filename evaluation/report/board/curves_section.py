"""The section of curves: ROC and free-response curves of all teams in one figure, with annotators."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.charts.chart import Chart
from evaluation.charts.curve_points import thinned
from evaluation.charts.froc import FrocLine, froc_chart
from evaluation.charts.roc import Curve, OperatingPoint, roc_chart
from evaluation.ranking.leaderboard_file import CurvePoints, FrocPoints
from evaluation.report.board.reported_phase import ReportedPhase
from evaluation.report.page import Block, Column, Figure, Section, Table
from evaluation.report.papers import followed

_STEPS = 150
"""Positions along each axis of a curve that is drawn among many others."""


def curves_section(phase: ReportedPhase) -> Section | None:
    """Return the section of curves and annotators; None without any."""
    blocks: list[Block] = [Figure(chart) for chart in (*_charts(phase), *_free_response(phase))]
    if phase.board.annotators is not None:
        blocks += _annotators(phase)
    return phase.section("curves", "Curves", blocks)


def _charts(phase: ReportedPhase) -> Iterator[Chart]:
    annotators = phase.board.annotators
    points = [
        OperatingPoint(name, 1 - point.specificity, point.sensitivity)
        for name, point in (annotators.points if annotators else {}).items()
        if point.specificity is not None and point.sensitivity is not None
    ]
    for name, of_teams in phase.organiser.curves.items():
        curves = [_curve(team, of_teams[team]) for team in phase.teams if team in of_teams]
        if curves:
            yield roc_chart(
                phase.identifier(name, "roc"),
                f"ROC of all teams: {phase.title_of(name)}",
                curves,
                points=points,
                follows=followed(phase.board.challenge, "ROC"),
                marks={team: mark for team, mark in phase.marks.items() if team in of_teams},
            )


def _free_response(phase: ReportedPhase) -> Iterator[Chart]:
    for name, of_teams in phase.organiser.free_response.items():
        lines = [_line(team, of_teams[team]) for team in phase.teams if team in of_teams]
        if lines:
            yield froc_chart(
                phase.identifier(name, "froc"),
                f"FROC of all teams: {phase.title_of(name)}",
                lines,
                "Hits are those of the metric, of all classes together.",
                marks={team: mark for team, mark in phase.marks.items() if team in of_teams},
            )


def _line(team: str, given: FrocPoints) -> FrocLine:
    x, y = np.array(given.false_positives_per_case), np.array(given.sensitivity)
    # The grid on which a curve is thinned has as many steps over the whole axis.
    kept = thinned(x / max(1.0, float(x[-1])), y, _STEPS)
    return FrocLine(team, x[kept], y[kept])


def _curve(team: str, given: CurvePoints) -> Curve:
    x, y = np.array(given.false_positive_rate), np.array(given.sensitivity)
    kept = thinned(x, y, _STEPS)
    return Curve(team, x[kept], y[kept])


def _annotators(phase: ReportedPhase) -> Iterator[Table]:
    section = phase.board.annotators
    assert section is not None
    rows = tuple(
        (name, point.sensitivity, point.specificity, point.accuracy) for name, point in section.points.items()
    )
    if rows:
        columns = (
            Column("annotator"),
            *(Column(title, 3) for title in ("sensitivity", "specificity", "accuracy")),
        )
        yield Table(phase.identifier("annotators"), "Annotators", columns, rows)
    pairs = tuple((one.first, one.second, one.agreed, one.cases) for one in section.agreement)
    if pairs:
        titles = ("first", "second", "cases on which they agree", "cases of both")
        yield Table(
            phase.identifier("agreement"), "Agreement of annotators", tuple(map(Column, titles)), pairs
        )
