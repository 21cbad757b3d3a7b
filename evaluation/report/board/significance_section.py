"""The section of significance: maps of the tests between all pairs of teams."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.charts.chart import Chart
from evaluation.charts.significance import TestedPair, Verdict, significance_chart
from evaluation.ranking.comparisons import Comparison
from evaluation.report.board.reported_phase import ReportedPhase, listed
from evaluation.report.board.sources import wiesenfarth
from evaluation.report.page import Block, Column, Figure, Section, Table


def significance_section(phase: ReportedPhase) -> Section | None:
    """Return the section of the tests; None without any."""
    blocks: list[Block] = [Figure(chart) for chart in _charts(phase)]
    return phase.section("significance", "Significance", [*blocks, *_unranked(phase)])


def methods_of(pairs: tuple[Comparison, ...]) -> str:
    """Return the names of the tests of pairs as text."""
    return listed(sorted({pair.method for pair in pairs}))


def _charts(phase: ReportedPhase) -> Iterator[Chart]:
    for name, metric in phase.ranked_metrics.items():
        if not metric.comparisons or not metric.comparisons.pairs:
            continue
        pairs = metric.comparisons.pairs
        named = {team for pair in pairs for team in (pair.first, pair.second)}
        yield significance_chart(
            phase.identifier(name, "significance"),
            f"Significance: {phase.title_of(name)}",
            f"Test: {methods_of(pairs)}, two-sided, 5 % after Holm's correction for all pairs of the metric.",
            [_tested(pair) for pair in pairs],
            [team.team for team in phase.by_value(name) if team.team in named],
            wiesenfarth("significance map"),
        )


def _unranked(phase: ReportedPhase) -> Iterator[Table]:
    """Yield the table of the tests of teams without a place, if there are any."""
    rows = tuple(
        (
            phase.title_of(name),
            pair.first,
            pair.second,
            pair.difference,
            pair.method,
            pair.p_value,
            pair.p_holm,
        )
        for name, metric in phase.board.metrics.items()
        for pair in metric.unranked
    )
    if rows:
        titles = (*map(Column, ("metric", "better", "worse")), Column("difference", 4), Column("test"))
        columns = (*titles, Column("p", 4), Column("p after Holm", 4))
        note = "Corrected for the tests of the same team without a place; other tests are not affected."
        yield Table(phase.identifier("unranked"), "Tests of teams without a place", columns, rows, note)


def _tested(pair: Comparison) -> TestedPair:
    return TestedPair(pair.first, pair.second, _verdict(pair), pair.difference, pair.p_holm)


def _verdict(pair: Comparison) -> Verdict:
    if pair.significant is None:
        return "not tested"
    if not pair.significant or pair.favours is None:
        return "no significant difference"
    return "row is better" if pair.favours == pair.first else "column is better"
