"""The section of stability: resampled places, Kendall's τ, superiority, and other ranking schemes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evaluation.charts.blob import Places, blob_chart
from evaluation.charts.chart import Chart
from evaluation.charts.heatmap import Axes, Cell, heatmap_chart
from evaluation.charts.place_lines import place_lines_chart
from evaluation.charts.violin import Sample, violin_chart
from evaluation.ranking.robustness import Variation
from evaluation.report.board.reported_phase import ReportedPhase, words_of
from evaluation.report.board.sources import wiesenfarth
from evaluation.report.page import Block, Column, Figure, Section, Table

IN_FORCE = "scheme in force"
_KINDS = {
    "method": "other methods",
    "without metric": "without a metric",
    "weight": "other weights",
    "subgroup": "subgroups of cases",
}


def stability_section(phase: ReportedPhase) -> Section | None:
    """Return the section of stability; None where nothing was resampled or varied."""
    blocks: list[Block] = [Figure(chart) for chart in _resampled(phase)]
    blocks += (Figure(chart, wide=True) for chart in _variations(phase))
    if phase.board.robustness:
        blocks.append(_table(phase))
    return phase.section("stability", "Stability", blocks)


def _resampled(phase: ReportedPhase) -> Iterator[Chart]:
    for name in phase.boards:
        places = [
            Places(team.team, given.probabilities, given.lower, given.median, given.upper)
            for team, board in phase.in_order_of(name)
            if (given := board.distribution)
        ]
        if places:
            yield blob_chart(
                phase.identifier(name, "blobs"),
                f"Places in resamples: {words_of(name)}",
                places,
                phase.marks,
                wiesenfarth("blob plot"),
            )
    samples = [
        Sample(words_of(name), np.array(found.taus))
        for name in phase.boards
        if (found := phase.board.agreement.get(name)) and found.taus
    ]
    if samples:
        yield violin_chart(
            phase.identifier("kendall-tau"),
            "Agreement of resampled rankings",
            "Kendall's τ-b between the ranking and that of each resample. The dot is the median, the bar the "
            "middle half.",
            samples,
            "Kendall's τ-b",
            wiesenfarth("violin plot"),
        )
    for name in phase.boards:
        if (superiority := phase.board.superiority.get(name)) is not None:
            chances = zip(superiority.teams, superiority.probabilities, strict=True)
            by_pair = {
                (row, column): value
                for row, values in chances
                for column, value in zip(superiority.teams, values, strict=True)
            }
            ordered = [team.team for team, _ in phase.in_order_of(name) if team.team in superiority.teams]
            yield heatmap_chart(
                phase.identifier(name, "superiority"),
                f"Who is ahead in resamples: {words_of(name)}",
                "The share of the resamples in which the team of the row is ahead of that of the column; "
                "ties count half.",
                [
                    Cell(row, column, by_pair[row, column], f"{by_pair[row, column]:.2f}")
                    for row in ordered
                    for column in ordered
                    if row != column
                ],
                Axes("behind", "share of the resamples", (0, 1)),
                columns=ordered,
            )


def _variations(phase: ReportedPhase) -> Iterator[Chart]:
    for name in phase.boards:
        inforce = {team.team: board.place for team, board in phase.in_order_of(name) if board.place}
        for kind, title in _KINDS.items():
            found = {
                _change(phase, one): one.places
                for one in phase.board.robustness
                if one.board == name and one.kind == kind and one.places
            }
            if found and inforce:
                yield place_lines_chart(
                    phase.identifier(name, kind, "places"),
                    f"Robustness, {title}: {words_of(name)}",
                    "The places of the teams by the scheme in force, on the left, and by others.",
                    {IN_FORCE: inforce, **found},
                    phase.marks,
                    wiesenfarth("line plot") if kind == "method" else "",
                )


def _table(phase: ReportedPhase) -> Table:
    rows = tuple(
        (words_of(one.board), _KINDS[one.kind], _change(phase, one), one.tau_b)
        for one in phase.board.robustness
    )
    columns = (Column("leaderboard"), Column("kind"), Column("change"), Column("Kendall's τ-b", 3))
    note = "Agreement of the places with those of the scheme in force."
    return Table(phase.identifier("robustness"), "Other schemes", columns, rows, note)


def _change(phase: ReportedPhase, variation: Variation) -> str:
    """Return the description of a change, with the titles of metrics in place of their names."""
    text = variation.change
    for name in sorted(phase.board.metrics, key=len, reverse=True):
        text = text.replace(name, phase.title_of(name))
    return text
