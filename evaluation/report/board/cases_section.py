"""The section of single cases: the hardest ones by team, those that move places, and a table of all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage

from evaluation.charts.chart import Chart
from evaluation.charts.heatmap import Axes, Cell, heatmap_chart
from evaluation.charts.influence import CaseInfluence, influence_chart
from evaluation.report.board.metrics_section import complete_values
from evaluation.report.board.reported_phase import ReportedPhase, words_of
from evaluation.report.page import Block, CaseTable, Column, Figure, Section
from evaluation.report.page import Cell as TableCell

_HARDEST = 40
_MOST_INFLUENTIAL = 25


def cases_section(phase: ReportedPhase) -> Section | None:
    """Return the section of single cases; None where none are known."""
    blocks: list[Block] = [Figure(chart, wide=True) for chart in _hardest(phase)]
    blocks += (Figure(chart) for chart in _influential(phase))
    if table := _table(phase):
        blocks.append(table)
    return phase.section("cases", "Cases", blocks)


def clustered(values: NDArray[np.float64]) -> list[int]:
    """Return an order of columns in which similar ones stand together.

    values: shape (teams, cases). Average linkage by the Euclidean distance.
    """
    if values.shape[1] < 3:
        return list(range(values.shape[1]))
    order: list[int] = leaves_list(linkage(values.T, "average")).tolist()
    return order


def _hardest(phase: ReportedPhase) -> Iterator[Chart]:
    for name in phase.ranked_metrics:
        teams, cases, values = complete_values(phase, name)
        if not teams or not cases:
            continue
        sign = 1 if phase.board.metrics[name].better == "higher" else -1
        hardest = np.argsort(sign * values.mean(axis=0), kind="stable")[:_HARDEST]
        chosen = values[:, hardest]
        order = clustered(chosen)
        low, high = float(chosen.min()), float(chosen.max())
        high = high if high > low else low + 1
        yield heatmap_chart(
            phase.identifier(name, "hardest-cases"),
            f"Hardest cases: {phase.title_of(name)}",
            f"The {len(hardest)} cases with the worst mean over the teams; similar cases stand together. The "
            "darker, the worse.",
            [
                Cell(team, cases[hardest[column]], float(chosen[row, column]))
                for row, team in enumerate(teams)
                for column in order
            ],
            Axes("case", phase.axis_of(name), (high, low) if sign > 0 else (low, high), digits=4),
            columns_are_cases=True,
        )


def _influential(phase: ReportedPhase) -> Iterator[Chart]:
    for name in phase.boards:
        found = [one for one in phase.organiser.influences if one.board == name][:_MOST_INFLUENTIAL]
        if found:
            yield influence_chart(
                phase.identifier(name, "influence"),
                f"Cases that move places: {words_of(name)}",
                [
                    CaseInfluence(one.case, one.teams_moved, one.max_move, ", ".join(one.winners))
                    for one in found
                ],
            )


def _table(phase: ReportedPhase) -> CaseTable | None:
    difficulties: dict[str, dict[str, float]] = {}
    for one in phase.organiser.difficulties:
        title = f"{phase.title_of(one.metric)}: {one.measure}"
        difficulties.setdefault(title, {})[one.case] = one.value
    board = phase.boards[0]
    moved = {one.case: one.teams_moved for one in phase.organiser.influences if one.board == board}
    cases = sorted({case for of_cases in difficulties.values() for case in of_cases} | set(moved))
    if not cases:
        return None
    rows: list[tuple[TableCell, ...]] = [
        (case, *(of_cases.get(case) for of_cases in difficulties.values()), moved.get(case, 0))
        for case in cases
    ]
    columns = (
        Column("case"),
        *(Column(title, 4) for title in difficulties),
        Column(f"teams moved without it: {words_of(board)}"),
    )
    note = "Difficulty is the mean over the ranked teams."
    return CaseTable(phase.identifier("cases"), "All cases", columns, rows, note)
