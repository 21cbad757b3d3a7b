"""The paragraph of methods with its citations, and the section on the data of the phases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evaluation import __version__
from evaluation.charts.chart import Chart
from evaluation.organiser.charts.distributions import Distribution, distribution_chart
from evaluation.organiser.describe import PHASE, Description, Grouping
from evaluation.organiser.describe import QuantityValues as Values
from evaluation.organiser.describe_tables import tables_of
from evaluation.organiser.ranking.methods import METHODS
from evaluation.organiser.report.board.rankings import methods_of
from evaluation.organiser.report.board.reading import ReportedPhase, identifier, words_of
from evaluation.organiser.report.page import Block, Figure, Section, Table, Text, columns_of, listed
from evaluation.organiser.report.sources import CITATIONS, followed

# --- The methods paragraph: the analysis in sentences that a paper can use, with citations ---

_TIES = {
    "min": "Teams with equal values share the best of their ranks.",
    "max": "Teams with equal values share the worst of their ranks.",
    "average": "Teams with equal values share the mean of their ranks.",
    "dense": "Teams with equal values share a rank, and no rank is skipped after them.",
}
_OWN_VALUES = "Teams were ranked by the value of each metric over all cases"
_TESTS = {"DeLong": "DeLong 1988"}


def methods_paragraphs(phase: ReportedPhase) -> tuple[str, ...]:
    """Return the paragraphs on one phase: ranking, uncertainty, tests, robustness, references."""
    written = [" ".join(sentences) for sentences in methods_sentences(phase).values() if sentences]
    cited = [source for key, source in CITATIONS.items() if any(f"({key})" in text for text in written)]
    return (*written, f"References: {'; '.join(cited)}.") if cited else tuple(written)


def methods_sentences(phase: ReportedPhase) -> dict[str, tuple[str, ...]]:
    """Return the sentences of the paragraphs by subject; sources are cited by their keys in `CITATIONS`."""
    parts = {"ranking": _ranking, "uncertainty": _uncertainty, "tests": _tests, "robustness": _robustness}
    return {name: tuple(sentences(phase)) for name, sentences in parts.items()}


def _ranking(phase: ReportedPhase) -> Iterator[str]:
    board = phase.board
    scheme = board.scheme
    eligible = sum(team.eligible for team in board.teams)
    cases = "" if board.cases is None else f" on {board.cases} cases"
    unranked = len(board.teams) - eligible
    others = f", and {unranked} more were scored outside of the ranking" if unranked else ""
    yield (
        f"{eligible} teams were ranked in the phase {board.phase} of the challenge {board.challenge}{cases}"
        f"{others}."
    )
    method = scheme["method"]
    adjust = "Holm's correction" if method["adjust"] == "holm" else "without correction"
    text = _OWN_VALUES
    if (rule := METHODS.get(method["name"])) is not None:
        text = rule.sentence.format(quantile=method["quantile"], alpha=method["alpha"], adjust=adjust)
        text += " where a metric has one value for each case, else by the metric's value"
    yield f"{text} (Maier-Hein 2018)."
    yield _TIES[scheme["ties"]]
    for one in scheme["boards"]:
        yield _board(phase, one)
    if scheme.get("overall"):
        yield f"The {words_of(scheme['overall'])} leaderboard decides."
    if scheme["complete_only"]:
        yield "A team that lacks a metric of the scheme has no place."


def _board(phase: ReportedPhase, board: dict[str, Any]) -> str:
    terms = listed([_term(phase, term) for term in board["terms"]])
    how = {"sum": "sum", "mean": "weighted mean", "median": "median"}[board["combination"]]
    score = terms if len(board["terms"]) == 1 else f"the {how} of {terms}"
    text = f"The score of the {words_of(board['name'])} leaderboard is {score}; the lowest is best"
    if board["ties"]:
        text += f", and ties are broken by {listed([_term(phase, term) for term in board['ties']])}"
    return f"{text}."


def _term(phase: ReportedPhase, term: dict[str, str]) -> str:
    ((kind, name),) = ((key, value) for key, value in term.items() if key != "weight")
    what = {
        "rank": f"the rank in {phase.title_of(name)}",
        "place": f"the place in {words_of(name)}",
        "score": f"the score in {words_of(name)}",
    }[kind]
    return what if term["weight"] == "1" else f"{term['weight']} × {what}"


def _uncertainty(phase: ReportedPhase) -> Iterator[str]:
    board = phase.board
    if any(value.lower is not None for team in board.teams for value in team.metrics.values()):
        yield (
            "Metrics have 95 % confidence intervals over the cases; the results of each submission name the "
            "method of each metric."
        )
    without = [
        f"{phase.title_of(name)} ({one.no_intervals})"
        for name, one in board.metrics.items()
        if one.no_intervals
    ]
    if without:
        yield f"Without intervals: {'; '.join(without)}."
    numbers = {name: len(found.taus) for name, found in board.agreement.items()}
    if numbers:
        resamples = listed(
            [f"{number} resamples ({words_of(name)})" for name, number in numbers.items()]
            if len(set(numbers.values())) > 1
            else [f"{next(iter(numbers.values()))} resamples"]
        )
        yield (
            "The stability of the ranking was examined by a bootstrap of the cases, the same draws for all "
            "teams and tasks (Wiesenfarth 2021): places have 95 % percentile intervals, and Kendall's τ-b "
            f"(Kendall 1945) was computed between the ranking and those of {resamples}."
        )
    for name, found in board.agreement.items():
        yield (
            f"For the {words_of(name)} leaderboard, the median of τ-b is {found.median:.3f} (95 % interval "
            f"{found.lower:.3f} to {found.upper:.3f})."
        )
    if board.superiority:
        yield (
            "The probability that a team is ahead of another is the share of the resamples in which it is, "
            "ties counting half (Efron 1998)."
        )
    if any(value.rank_set for team in board.teams for value in team.metrics.values()):
        yield (
            "Simultaneous 95 % confidence sets of the ranks by a metric follow from the same resamples "
            "(Mogstad 2024)."
        )


def _tests(phase: ReportedPhase) -> Iterator[str]:
    compared = {
        name: metric.comparisons.pairs
        for name, metric in phase.board.metrics.items()
        if metric.comparisons and metric.comparisons.pairs
    }
    for name, pairs in compared.items():
        tested = sum(pair.significant is not None for pair in pairs)
        significant = sum(pair.significant is True for pair in pairs)
        source = next((f" ({key})" for test, key in _TESTS.items() if test in methods_of(pairs)), "")
        yield (
            f"{phase.title_of(name)}: {tested} of {len(pairs)} pairs of teams were tested "
            f"({methods_of(pairs)}){source}, and {significant} differ significantly."
        )
    if compared:
        yield (
            "Tests are two-sided at a level of 5 %, with Holm's correction for the pairs of a metric "
            "(Holm 1979). A tier ends before a team that is significantly worse than its first team."
        )
    if phase.board.subgroup_tests:
        columns = sorted({words_of(test.column) for test in phase.board.subgroup_tests})
        yield (
            f"Subgroups by {listed(columns)} were compared within each team by rank-sum tests, without "
            "correction for their number."
        )


def _robustness(phase: ReportedPhase) -> Iterator[str]:
    board = phase.board
    kinds = {
        "method": "{} other ranking methods",
        "without metric": "{} rankings that leave out one metric",
        "weight": "{} other weightings",
        "subgroup": "{} subgroups of the cases",
    }
    found = [
        text.format(number)
        for kind, text in kinds.items()
        if (number := len({one.change for one in board.robustness if one.kind == kind}))
    ]
    if found:
        yield f"Robustness was examined with {listed(found)}; each gives places of its own."
    if phase.organiser.influences:
        yield "Each case was left out once, and the teams were ranked again."
    if across := board.across:
        method = {"Kemeny": "Kemeny's exact method (Kemeny 1959)", "Borda": "Borda's method (Borda 1784)"}
        yield (
            f"The consensus over the {len(across.rankings)} leaderboards was found by "
            f"{method[across.method]}; they were clustered by average linkage of "
            "the distance 1 − τ-b (Wiesenfarth 2021)."
        )
    yield f"All figures were computed with challenge-evaluation {__version__}."


# --- The section on the data of the phases: counts, distributions by group, and tests between groups ---


def data_section(description: Description) -> Section:
    """Return the section: a figure of each quantity by its groups, then all tables.

    A quantity is shown by the first grouping, by each other one with significant differences, and without any
    grouping for all cases.
    """
    blocks: list[Block] = [Figure(chart) for chart in _charts(description)]
    for table in tables_of(description):
        columns, name = columns_of(*table.columns), identifier("data", table.name)
        blocks.append(Table(name, table.title, columns, table.rows, table.note))
    if description.notices:
        blocks.append(Text(description.notices))
    return Section("data", "Data", tuple(blocks))


def _charts(description: Description) -> Iterator[Chart]:
    for column in description.columns:
        if column.quantity.per == "object" or not column.values:
            continue
        differing = {
            row.grouping for row in description.tests if row.quantity == column.quantity and row.significant
        }
        shown = [
            grouping
            for position, grouping in enumerate(description.groupings)
            if position == 0 or grouping.name in differing
        ]
        for grouping in shown:
            yield _chart(description, column, grouping)
        if not shown:
            yield _chart(description, column, None)


def _chart(description: Description, column: Values, grouping: Grouping | None) -> Chart:
    name = column.quantity.name
    by = f" by {grouping.name}" if grouping else ""
    return distribution_chart(
        identifier("data", name, grouping.name if grouping else ""),
        f"{name[0].upper()}{name[1:]}{by}",
        list(_distributions(description, column, grouping)),
        column.quantity.title,
        follows=followed(description.challenge, "data") if grouping and grouping.name == PHASE else "",
    )


def _distributions(
    description: Description, column: Values, grouping: Grouping | None
) -> Iterator[Distribution]:
    cases = np.array(column.cases, dtype=np.int64)
    values = np.array(column.values, dtype=np.float64)
    names: Sequence[str] = [description.cases[case] for case in column.cases]
    if grouping is None:
        yield Distribution("all cases", values, names)
        return
    of_value = np.array(grouping.of_case, dtype=np.str_)[cases]
    for group in grouping.groups:
        chosen = np.flatnonzero(of_value == group)
        if len(chosen):
            yield Distribution(group, values[chosen], [names[position] for position in chosen.tolist()])
