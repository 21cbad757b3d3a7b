"""The tests of a ranking on the terminal: between teams, and between subgroups within each team."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.markup import escape
from rich.table import Table

from evaluation.ranking.comparisons import Comparison
from evaluation.ranking.leaderboard_file import PhaseLeaderboard

_MOST_PAIRS = 15
_MOST_ROWS = 60
_SMALLEST_P = 1e-4


def pair_tables(phase: PhaseLeaderboard) -> Iterator[Table]:
    """Yield a table of tests between teams for each metric, or only between neighbours if there are many."""
    for metric in phase.metrics.values():
        comparisons = metric.comparisons
        if comparisons and comparisons.pairs:
            title, shown = f"Tests of {metric.title}", list(comparisons.pairs)
            if len(shown) > _MOST_PAIRS:
                title += f", of neighbours (all {len(shown)} pairs are in comparisons.csv)"
                shown = _neighbours(shown)
            yield _pairs(title, shown)
        if metric.unranked:
            yield _pairs(f"Tests of {metric.title}, of teams without a place", metric.unranked)


def _pairs(title: str, shown: Sequence[Comparison]) -> Table:
    table = Table("better", "worse", title=escape(title), title_justify="left")
    for heading in ("difference", "p", "p after Holm"):
        table.add_column(heading, justify="right")
    table.add_column("test")
    for pair in shown:
        table.add_row(
            escape(pair.first),
            escape(pair.second),
            f"{pair.difference:.4g}",
            p_text(pair.p_value),
            p_text(pair.p_holm) + (" *" if pair.significant else ""),
            escape(pair.method),
        )
    table.caption, table.caption_justify = "* significant", "left"
    return table


def _neighbours(pairs: Sequence[Comparison]) -> list[Comparison]:
    """Return the pairs of teams that follow each other; all pairs come in the order of their first team."""
    order = list(dict.fromkeys(team for pair in pairs for team in (pair.first, pair.second)))
    following = set(pairwise(order))
    return [pair for pair in pairs if (pair.first, pair.second) in following]


def subgroup_table(phase: PhaseLeaderboard) -> Table:
    """Return the tests between subgroups within teams; if there are many, only of ranked metrics."""
    tests = phase.subgroup_tests
    title = "Tests between subgroups within each team (rank-sum, not corrected for their number)"
    if len(tests) > _MOST_ROWS:
        ranked = {name for name, metric in phase.metrics.items() if metric.in_ranking}
        tests = tuple(test for test in tests if test.metric in ranked)[:_MOST_ROWS]
        title += f", {len(tests)} of {len(phase.subgroup_tests)} (all are in subgroup-tests.csv)"
    table = Table("team", "metric", "column", "subgroups", title=escape(title), title_justify="left")
    for heading in ("mean of the first", "of the second", "p"):
        table.add_column(heading, justify="right")
    for test in tests:
        table.add_row(
            escape(test.team),
            escape(phase.metrics[test.metric].title),
            escape(test.column),
            escape(f"{test.first}, {test.second}"),
            f"{test.first_mean:.4f}",
            f"{test.second_mean:.4f}",
            p_text(test.p_value),
        )
    return table


def p_text(p_value: float | None) -> str:
    """Return a p value with two significant digits; a dash where there was no test."""
    if p_value is None:
        return "–"
    return f"< {_SMALLEST_P:.4f}" if p_value < _SMALLEST_P else f"{p_value:.2g}"
