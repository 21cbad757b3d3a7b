"""The section of significance: maps of the tests between all pairs of teams."""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.charts.chart import Chart
from evaluation.charts.significance import TestedPair, Verdict, significance_chart
from evaluation.ranking.comparisons import Comparison
from evaluation.report.board.reported_phase import ReportedPhase, listed
from evaluation.report.board.sources import wiesenfarth
from evaluation.report.page import Figure, Section


def significance_section(phase: ReportedPhase) -> Section | None:
    """Return the section of the tests; None without any."""
    return phase.section("significance", "Significance", map(Figure, _charts(phase)))


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


def _tested(pair: Comparison) -> TestedPair:
    return TestedPair(pair.first, pair.second, _verdict(pair), pair.difference, pair.p_holm)


def _verdict(pair: Comparison) -> Verdict:
    if pair.significant is None:
        return "not tested"
    if not pair.significant or pair.favours is None:
        return "no significant difference"
    return "row is better" if pair.favours == pair.first else "column is better"
