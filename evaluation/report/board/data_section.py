"""The section on the data of the phases: counts, distributions by group, and the tests between groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evaluation.charts.chart import Chart
from evaluation.charts.distribution import Distribution, distribution_chart
from evaluation.organiser.describe_groups import PHASE, Grouping
from evaluation.organiser.describe_rows import Column as Values
from evaluation.organiser.describe_rows import Description
from evaluation.organiser.describe_tables import TextTable, tables_of
from evaluation.report.board.reported_phase import identifier
from evaluation.report.page import Block, Column, Figure, Section, Table, Text
from evaluation.report.papers import followed


def data_section(description: Description) -> Section:
    """Return the section: a figure of each quantity by its groups, then all tables.

    A quantity is shown by the first grouping, by each other one with significant differences, and without any
    grouping for all cases.
    """
    blocks: list[Block] = [Figure(chart) for chart in _charts(description)]
    blocks += [_table(table) for table in tables_of(description)]
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


def _table(table: TextTable) -> Table:
    columns = tuple(Column(title) for title in table.columns)
    return Table(identifier("data", table.name), table.title, columns, table.rows, table.note)
