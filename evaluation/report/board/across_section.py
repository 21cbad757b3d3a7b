"""The section across tasks or phases: consensus, agreement of the rankings, and a dendrogram."""

from __future__ import annotations

from evaluation.charts.dendrogram import Join, dendrogram_chart
from evaluation.charts.heatmap import Axes, Cell, heatmap_chart
from evaluation.ranking.across import AcrossRankings
from evaluation.report.board.reported_phase import identifier, words_of
from evaluation.report.board.sources import wiesenfarth
from evaluation.report.page import Column, Figure, Section, Table


def across_section(across: AcrossRankings | None, what: str, role: str | None = None) -> Section | None:
    """Return the section that compares rankings; ``what`` names their subject: tasks or phases."""
    if across is None:
        return None
    names = [words_of(name) for name in across.rankings]
    columns = (Column("place"), Column("team"), Column("best place"), Column("worst place"))
    rows = tuple((team.place, team.team, team.best, team.worst) for team in across.teams)
    table = Table(
        identifier(role or "", "consensus", what),
        f"Consensus of the {what} ({across.method})",
        columns,
        rows,
        f"Number of equally good orders: {across.orders}; best and worst are the places over all of them. "
        f"Pairs of teams in which the order contradicts a ranking, summed over the rankings: "
        f"{across.disagreements}.",
    )
    dendrogram = dendrogram_chart(
        identifier(role or "", "dendrogram", what),
        f"Similarity of the {what}",
        "Average linkage of the rankings by the distance 1 − Kendall's τ-b.",
        [
            Join(tuple(map(words_of, step.first)), tuple(map(words_of, step.second)), step.distance)
            for step in across.dendrogram
        ],
        "1 − τ-b",
        wiesenfarth("dendrogram"),
    )
    agreement = heatmap_chart(
        identifier(role or "", "agreement", what),
        f"Agreement of the {what}",
        "Kendall's τ-b of every two rankings, over the teams that have a place in all.",
        [
            Cell(row, column, tau, f"{tau:.2f}")
            for row, taus in zip(names, across.tau_b, strict=True)
            for column, tau in zip(names, taus, strict=True)
            if tau is not None
        ],
        Axes("", "Kendall's τ-b", (-1, 1)),
    )
    title = f"Across {what}"
    return Section(
        identifier(role or "", "across", what),
        f"{title} ({role})" if role else title,
        (table, Figure(dendrogram), Figure(agreement)),
    )
