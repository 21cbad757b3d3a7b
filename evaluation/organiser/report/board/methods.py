"""The paragraph of methods with its citations, and the section on the data of the phases."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evaluation.charts.chart import Chart
from evaluation.organiser.describe import Description, Grouping
from evaluation.organiser.describe import QuantityValues as Values
from evaluation.organiser.describe_tables import TextTable, tables_of
from evaluation.organiser.ranking.methods import METHODS, SCALED
from evaluation.organiser.report.board.rankings import methods_of
from evaluation.organiser.report.board.reading import ReportedPhase
from evaluation.organiser.report.charts.values import Distribution, distribution_chart
from evaluation.organiser.report.page import Block, Section, Table, Text, identifier, listed, text_of
from evaluation.organiser.report.sentences import Names, names_in
from evaluation.organiser.report.sources import CITATIONS

# --- The methods paragraph: the analysis in sentences that a paper can use, with citations ---


def methods_paragraphs(phase: ReportedPhase) -> tuple[str, ...]:
    """Return the paragraphs on one phase: ranking, uncertainty, tests, robustness, references."""
    method, rule = phase.board.scheme["method"], None
    if (known := METHODS.get(method["name"])) is not None:
        adjust = "Holm's correction" if method["adjust"] == "holm" else "without correction"
        rule = known.sentence.format(quantile=method["quantile"], alpha=method["alpha"], adjust=adjust)
    compared = {
        name: metric.comparisons.pairs
        for name, metric in phase.board.metrics.items()
        if metric.comparisons and metric.comparisons.pairs
    }
    filters = {"words": phase.words, "listed": listed, "tests": methods_of}
    scaled = SCALED.get(method["name"], "")
    written = text_of("methods.txt", filters, phase=phase, rule=rule, compared=compared, scaled=scaled)
    cited = [source for key, source in CITATIONS.items() if any(f"({key})" in text for text in written)]
    return (*written, f"References: {'; '.join(cited)}.") if cited else written


# --- The section on the data of the phases: counts, distributions by group, and tests between groups ---


def data_section(description: Description, names: Names | None = None) -> Section:
    """Return the section: a figure of each quantity by its groups, then all tables.

    A quantity is shown by the first grouping, by each other one with significant differences, and without any
    grouping for all cases. ``names``: the words of the phases, by default those of their challenge.
    """
    names = names or names_in(description.challenge)
    blocks: list[Block] = [*_charts(description, names)]
    for table in tables_in_words(description, names):
        found = Table.of(identifier("data", table.name), table.title, table.columns, table.rows, table.note)
        blocks.append(found.without_empty() if found.rows else found)
    if description.notices:
        blocks.append(Text(description.notices))
    return Section("data", "Data", tuple(blocks), 0)


def tables_in_words(description: Description, names: Names) -> Iterator[TextTable]:
    """Yield the tables of a description with words for names of columns, groups and values."""
    for table in tables_of(description):
        by = table.name.removeprefix("by-")
        words = {title: names.words.get(f"{by}={title}", title) for title in table.columns}
        yield replace(
            table,
            title=table.title if by == table.name else f"By {names.of(by)}",
            columns=tuple(words.values()),
            left=tuple(words[title] for title in table.left if title in words),
            rows=tuple(tuple(_in_words(row, names)) for row in table.rows),
        )


def _in_words(row: Sequence[str], names: Names) -> Iterator[str]:
    """Yield the cells of a table of data; a value beside its column is one of its groups of cases."""
    of_column = "", *row[:-1]
    for column, cell in zip(of_column, row, strict=True):
        yield names.words.get(f"{column}={cell}") or names.words.get(cell, cell)


def _charts(description: Description, names: Names) -> Iterator[Chart]:
    for column in description.columns:
        if column.quantity.per == "object" or not column.values:
            continue
        differing = {
            row.grouping for row in description.tests if row.quantity == column.quantity and row.significant
        }
        shown: list[Grouping | None] = [
            grouping
            for position, grouping in enumerate(description.groupings)
            if grouping.name != column.quantity.name and (position == 0 or grouping.name in differing)
        ]
        for grouping in shown or [None]:
            name, by = column.quantity.name, grouping.name if grouping else ""
            title = names.of(name) + (f" by {names.of(by)}" if by else "")
            yield distribution_chart(
                identifier("data", name, by),
                f"{title[0].upper()}{title[1:]}",
                list(_distributions(description, column, grouping)),
                names.of(column.quantity.title),
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
