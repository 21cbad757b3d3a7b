"""Tables and lines on the terminal or in a log."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape, render
from rich.table import Column, Table

from evaluation.core.fault import printable

_MOST_CHARACTERS = 1000


class TableConsole(Console):
    """A console for stdout that is wide enough for tables in a log, which has no width.

    Raises `BrokenPipeError` if stdout is closed, like all other output.
    """

    def __init__(self, log_width: int, *, highlight: bool = False) -> None:
        width = None if sys.stdout.isatty() else log_width
        super().__init__(width=width, highlight=highlight)

    def print(self, *objects: Any, **more: Any) -> None:
        """Print objects; of a table that is wider than the console no number is cut, see `fitted`."""
        for one in objects:
            for part in fitted(one, self.width) if isinstance(one, Table) else (one,):
                super().print(part, **more)

    def on_broken_pipe(self) -> NoReturn:
        """Raise `BrokenPipeError`; `evaluation.cli.common` ends the command."""
        raise BrokenPipeError


def one_line(text: str) -> str:
    """Return text with names of strangers for a console: one line, no control characters, no markup."""
    return escape(printable(text, _MOST_CHARACTERS))


def text_table(
    title: str | None,
    texts: Iterable[str],
    numbers: Iterable[str],
    rows: Iterable[Iterable[str]],
    notes: Iterable[str] = (),
) -> Table:
    """Return a table of plain text with columns of texts, then of numbers on the right, then of notes.

    Numbers get a true minus sign.
    """
    table = Table(*map(one_line, texts), title=title and one_line(title), title_justify="left")
    for heading in numbers:
        table.add_column(one_line(heading), justify="right")
    for heading in notes:
        table.add_column(one_line(heading))
    for row in rows:
        both = zip(map(one_line, row), table.columns, strict=True)
        table.add_row(*(c.replace("-", "−") if of.justify == "right" else c for c, of in both))
    return table


# --- The figures of a metrics.json ---

_FURTHER = ("confidence_interval", "with_unseen_failures", "standard_deviation", "interval")


def figures_in(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the figures and composites in the content of a metrics.json, a dictionary each."""
    return [
        {"task": task, "metric": name, "value": one["value"], **{key: one.get(key) for key in _FURTHER}}
        for tasks in (content["aggregates"], {"composite": content["ranking"].get("composites", {})})
        for task, metrics in tasks.items()
        for name, one in metrics.items()
    ]


def title_of(content: Mapping[str, Any]) -> str:
    """Return the phase, and how many of its cases were scored."""
    cases = content["cases"]
    return f"{content['phase']['name']}: {cases['scored']} of {cases['expected']} cases scored"


def print_figures(content: Mapping[str, Any]) -> None:
    """Print the figures in the content of a metrics.json as a table."""
    rows, reasons = [], list[str]()
    for one in figures_in(content):
        deviation = one["standard_deviation"]
        bounds, unseen = (_between(one[name]) for name in ("confidence_interval", "with_unseen_failures"))
        if not bounds:
            reason = one["interval"] or _UNPUBLISHED
            reasons += [] if reason in reasons else [reason]
            bounds = f"none ({reasons.index(reason) + 1})"
        spread = "" if deviation is None else _shown(deviation)
        name = one["metric"].replace("_", " ")
        rows.append((one["task"], name, _shown(one["value"]), bounds, unseen, spread))
    headings = ("value", "95 % interval", "unseen failures", "standard deviation")
    table = text_table(title_of(content), ("task", "metric"), headings, rows)
    # A log has no width, and a folded table is unreadable.
    console = TableConsole(120, highlight=True)
    console.print(table)
    for number, reason in enumerate(reasons, start=1):
        console.print(f"({number}) no interval: {reason}")


_UNPUBLISHED = "this file publishes none; `report submission` shows all to organisers"


def _between(interval: Mapping[str, float] | None) -> str:
    return f"{_shown(interval['lower'])} to {_shown(interval['upper'])}" if interval else ""


def _shown(number: float) -> str:
    """Return a number with the digits that the file has."""
    return f"{number:.12g}"


# --- Tables on narrow terminals: columns of numbers are never cut, texts are folded ---

_FRAME = 3
"""The frame and the space beside a cell."""
_FOLDED = 24
"""Most letters of a word that a folded text keeps together, beside other texts."""


def fitted(table: Table, width: int) -> Iterator[Table | str]:
    """Yield a table as it fits a width: whole, in parts with some of the columns each, or row by row.

    The texts before the first number are in every part.
    """
    columns = table.columns
    numeric = [position for position, column in enumerate(columns) if column.justify == "right"]
    named = list(range(max(1, min(numeric, default=len(columns)))))
    # One text alone, such as the name of a metric, may take half of the line.
    folded = _FOLDED if len(named) > 1 else max(_FOLDED, width // 2)
    room = width - 1 - sum(_least(columns[position], folded) + _FRAME for position in named)
    others = [_least(column, folded) + _FRAME for column in columns[len(named) :]]
    if room < max(others, default=0):
        yield from _records(table)
        return
    parts, left = [list(named)], room
    for position, needed in enumerate(others, start=len(named)):
        if needed > left and len(parts[-1]) > len(named):
            parts.append(list(named))
            left = room
        parts[-1].append(position)
        left -= needed
    for part in parts:
        shown = Table(title_justify="left", caption_justify=table.caption_justify)
        shown.title = table.title if part is parts[0] else None
        shown.caption = table.caption if part is parts[-1] else None
        widths = _widths([columns[position] for position in part], width - 1 - _FRAME * len(part), folded)
        for position, wide in zip(part, widths, strict=True):
            column = columns[position]
            shown.add_column(column.header, justify=column.justify, width=wide, overflow="fold")
        for row in zip(*(columns[position].cells for position in part), strict=True):
            shown.add_row(*row)
        yield shown


def _long(markup: object) -> int:
    return cell_len(render(str(markup)).plain)


def _least(column: Column, folded: int) -> int:
    """Return the least width of a column: no number is cut, and no word of up to ``folded`` letters."""
    words = [_long(word) for word in str(column.header).split()]
    if column.justify == "right":
        return max([*map(_long, column.cells), *words, 1])
    words += [min(_long(word), folded) for cell in column.cells for word in str(cell).split()]
    return max([*words, 1])


def _widths(columns: Sequence[Column], room: int, folded: int) -> list[int]:
    """Return the widths of columns: as their texts need where there is room, else as evenly as possible."""
    least = [_least(column, folded) for column in columns]
    whole = [max(_long(column.header), *map(_long, column.cells), 1) for column in columns]
    widths = list(whole)
    while sum(widths) > room and widths != least:
        widest = max((i for i in range(len(widths)) if widths[i] > least[i]), key=lambda i: widths[i])
        widths[widest] -= 1
    return widths


def _records(table: Table) -> Iterator[str]:
    """Yield the rows of a table one after the other, each cell on a line of its own."""
    if table.title:
        yield str(table.title)
    for row in zip(*(column.cells for column in table.columns), strict=True):
        lines = [f"{column.header}: {cell}" for column, cell in zip(table.columns, row, strict=True) if cell]
        yield "\n  ".join(lines)
    if table.caption:
        yield str(table.caption)
