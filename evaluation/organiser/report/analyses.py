"""The section of further analyses: their figures in tables and charts, and the cases left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from evaluation.charts.chart import Chart
from evaluation.organiser.analyses.analysis import Analysis, Figure, Measured, Result, results_of
from evaluation.organiser.charts.values import SeriesValue, series_chart
from evaluation.organiser.report.case_images import CaseReading
from evaluation.organiser.report.page import Block, Cell, Section, Table, Text, identifier, listed
from evaluation.organiser.report.results import SubmissionResults

_MOST_NAMED = 10


def analyses_section(results: SubmissionResults, values: Sequence[CaseReading]) -> Section | None:
    """Return the section, None where no case was measured."""
    rows = [row for value in values for row in value.measured]
    found = results_of(results.phase, rows, results.resampling)
    blocks = [block for result in found for block in _blocks(result)]
    return Section("analyses", "Further analyses", tuple(blocks)) if blocks else None


def _blocks(result: Result) -> Iterator[Block]:
    analysis = result.analysis
    yield figures_table(analysis, {"": result.figures})
    yield from figure_charts(analysis, result.figures)
    if result.left_out:
        yield Text(("Left out: " + "; ".join(_reasons(result.left_out)) + ".",))


def _reasons(rows: Sequence[Measured]) -> Iterator[str]:
    for reason, count in Counter(row.left_out for row in rows).items():
        names = [row.case for row in rows if row.left_out == reason][:_MOST_NAMED]
        more = [f"{count - len(names)} more"] if count > len(names) else []
        yield f"{listed([*names, *more])} ({reason})"


def figures_table(analysis: Analysis, figures: Mapping[str, Sequence[Figure]]) -> Table:
    """Return the figures of an analysis by team: a row for each part, and a column for each metric.

    The team is left out where it has no name. A figure of fewer cases than its row states its own number.
    """
    metrics = dict.fromkeys(one.metric for found in figures.values() for one in found)
    rows: list[list[Cell]] = []
    for team, found in figures.items():
        for part in dict.fromkeys(one.part for one in found):
            own = {one.metric: one for one in found if one.part == part}
            cases = max(one.cases for one in own.values())
            cells = [_text(own[name], cases) if name in own else None for name in metrics]
            rows.append([*([team] if team else []), part, cases, *cells])
    titles = (*(["team"] if any(figures) else []), "measure", "cases", *metrics)
    name = identifier("analysis", analysis.name)
    return Table.of(name, analysis.title, titles, rows, f"{analysis.note} In brackets: 95 % intervals.")


def _text(figure: Figure, cases: int) -> str:
    text = f"{figure.value:.3f}"
    if figure.lower is not None and figure.upper is not None:
        text += f" ({figure.lower:.3f} to {figure.upper:.3f})"
    text += "" if figure.cases == cases else f", n = {figure.cases}"
    return text.replace("-", "−")


def figure_charts(analysis: Analysis, figures: Sequence[Figure]) -> Iterator[Chart]:
    """Yield the charts of an analysis."""
    titles = {metric.name: metric.title for metric in analysis.metrics}
    for axis_title, names in analysis.charted.items():
        shown = [titles[name] for name in names]
        values = [
            SeriesValue(one.part, one.metric, one.cases, one.value, one.lower, one.upper)
            for one in figures
            if one.metric in shown
        ]
        if values:
            yield series_chart(
                identifier("analysis", analysis.name, *names),
                f"{analysis.title}. {axis_title}",
                "Lines are 95 % intervals.",
                values,
                axis_title,
            )
