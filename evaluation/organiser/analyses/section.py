"""The section of further analyses: their figures in tables and charts, and the cases left out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evaluation.charts.chart import Chart, Estimated, marks_of
from evaluation.core.resampling import Resampling
from evaluation.organiser.analyses.analysis import (
    AnalysisFigure,
    AnalysisResult,
    FurtherAnalysis,
    Measured,
    analyses_of,
    results_of,
)
from evaluation.organiser.output import csv_bytes
from evaluation.organiser.report.board.reading import read_rows, validated
from evaluation.organiser.report.charts.teams import team_values_chart
from evaluation.organiser.report.page import Block, Cell, Table, Text, figure_in_words, identifier, listed
from evaluation.phase.leaderboard import Digits
from evaluation.phase.phase import Phase

FIGURES = "analyses.csv"
_MOST_NAMED = 10


def blocks_and_files(
    phase: Phase, rows: Sequence[Measured], resampling: Resampling
) -> tuple[tuple[Block, ...], dict[str, bytes]]:
    """Return the blocks of a submission's report on its further analyses, and their csv files by name.

    rows, resampling: see `results_of`.
    """
    results = tuple(results_of(phase, rows, resampling))
    return tuple(analysis_blocks(results)), result_files(results)


def analysis_blocks(results: Sequence[AnalysisResult]) -> Iterator[Block]:
    """Yield the table and the figures of each analysis, and the cases that it leaves out."""
    for result in results:
        yield figures_table(result.analysis, {"": result.figures})
        yield from _charts(result)
        if lost := list(_left_out(result)):
            yield Text((f"Left out: {'; '.join(lost)}.",))


def _left_out(result: AnalysisResult) -> Iterator[str]:
    for reason in dict.fromkeys(row.left_out for row in result.rows if row.left_out):
        names = [row.case for row in result.rows if row.left_out == reason]
        more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
        yield f"{listed([*names[:_MOST_NAMED], *more])} ({reason})"


def figures_table(analysis: FurtherAnalysis, figures: Mapping[str, Sequence[AnalysisFigure]]) -> Table:
    """Return the figures of an analysis by team: a row for each part, and a column for each metric.

    The team is left out where it has no name. A figure of fewer cases than its row states their number.
    """
    metrics = dict.fromkeys(one.metric for found in figures.values() for one in found)
    rows: list[list[Cell]] = []
    for team, found in figures.items():
        for part in dict.fromkeys(one.part for one in found):
            own = {one.metric: one for one in found if one.part == part}
            cases = max(one.cases for one in own.values())
            cells = (_text(own[name], cases) if name in own else None for name in metrics)
            rows.append([*([team] if team else []), part, cases, *cells])
    titles = (*(["team"] if any(figures) else []), "measure", "cases", *metrics)
    shown = [one for found in figures.values() for one in found]
    note = f"{analysis.texts['note']} {_intervals_in_words(shown, 'In brackets:')}"
    return Table.of(identifier("analysis", analysis.name), analysis.texts["title"], titles, rows, note)


def _intervals_in_words(figures: Sequence[AnalysisFigure], start: str) -> str:
    absent = [one.interval for one in figures if one.lower is None]
    told = [f"{start} 95 % intervals."] if len(absent) < len(figures) else []
    if absent:
        told.append(f"Figures without an interval: {len(absent)} ({'; '.join(dict.fromkeys(absent))}).")
    return " ".join(told)


def _text(figure: AnalysisFigure, cases: int) -> str:
    digits = 3 if abs(figure.value) < 10 else 1
    number = "" if figure.cases == cases else f", n = {figure.cases}"
    return figure_in_words(figure.value, (figure.lower, figure.upper), Digits(digits, digits)) + number


def _charts(result: AnalysisResult) -> Iterator[Chart]:
    analysis = result.analysis
    titles = {metric.name: metric.title for metric in analysis.metrics}
    for axis_title, words in analysis.charted.items():
        series = {titles[name]: word for name, word in words.items()}
        styles = marks_of(series)
        shown = {
            f"{one.part} ({series[one.metric]})" if series[one.metric] else one.part: one
            for one in result.figures
            if one.metric in series
        }
        if shown:
            yield team_values_chart(
                identifier("analysis", analysis.name, *words),
                f"{analysis.texts['title']}. {axis_title}",
                _intervals_in_words([*shown.values()], "Lines are"),
                [Estimated(label, one.value, one.lower, one.upper) for label, one in shown.items()],
                {label: styles[one.metric] for label, one in shown.items()},
                axis_title,
            )


def result_files(results: Sequence[AnalysisResult]) -> dict[str, bytes]:
    """Return the csv files of analyses by name: their figures, and their rows with the cases left out."""
    figures = [
        {"phase": one.phase, "analysis": one.analysis.name, **vars(figure)}
        for one in results
        for figure in one.figures
    ]
    named = ("analysis", "part", "case", "left_out")
    rows = [
        {**{name: getattr(row, name) for name in named}, **(row.values or {})}
        for one in results
        for row in one.rows
    ]
    return {FIGURES: csv_bytes(figures), "analyses-cases.csv": csv_bytes(rows)} if results else {}


def tables_of_teams(phase: Phase, folders: Sequence[Path]) -> Iterator[tuple[str, Table]]:
    """Yield the tables of a phase's analyses over teams, with their titles, from files that reports wrote.

    Raises `PhaseError`.
    """
    analysed = _read_figures(folders, phase.config.name)
    for analysis in analyses_of(phase):
        metrics = [metric.title for metric in analysis.metrics]
        # A page has room for two metrics with their intervals.
        for number, pair in enumerate((metrics[i : i + 2] for i in range(0, len(metrics), 2)), start=1):
            teams = analysed.get(analysis.name, {}).items()
            shown = {team: [one for one in figures if one.metric in pair] for team, figures in teams}
            if any(shown.values()):
                table = figures_table(analysis, shown)
                title = f"{table.title}: {' and '.join(pair)}"
                yield title, replace(table, name=f"{table.name}-{number}")


def _read_figures(folders: Sequence[Path], phase: str) -> dict[str, dict[str, list[AnalysisFigure]]]:
    """Return the figures of further analyses of a phase by analysis and team, the name of the folder.

    They lie in the folders or in folders in them. Raises `PhaseError`.
    """
    found: dict[str, dict[str, list[AnalysisFigure]]] = {}
    places = (folder.glob(at + FIGURES) for folder in folders for at in ("", "*/"))
    for path in sorted({path for found_there in places for path in found_there}):
        for row in read_rows(path):
            if row.pop("phase", None) == phase:
                of_team = found.setdefault(row.pop("analysis", ""), {}).setdefault(path.parent.name, [])
                of_team.append(
                    validated(path, AnalysisFigure, {name: cell or None for name, cell in row.items()})
                )
    return found
