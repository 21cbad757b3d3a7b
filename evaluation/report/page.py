"""The parts of a page: sections of figures, tables, pictures and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from evaluation.charts.chart import Chart

Cell = str | int | float | None
"""An entry of a table; None is shown as a dash."""


@dataclass(frozen=True)
class Figure:
    """A chart in a page; ``wide`` takes the whole width of a large screen instead of half."""

    chart: Chart
    wide: bool = False
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True)
class Column:
    """A column of a table; ``digits``: number of decimals, None to show numbers unchanged."""

    title: str
    digits: int | None = None


@dataclass(frozen=True)
class Table:
    """A table with sortable rows; ``name`` is its identifier, unique in the page."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    kind: ClassVar[str] = "table"

    @property
    def shown(self) -> list[list[str]]:
        """The cells as text."""
        return [
            [shown(cell, column.digits) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]


@dataclass(frozen=True)
class CaseTable:
    """The table of cases: sortable, filterable, linked with the marks of cases in the figures.

    The first column holds the names of the cases.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[tuple[Cell, ...]]
    note: str = ""
    kind: ClassVar[str] = "cases"


@dataclass(frozen=True)
class Picture:
    """A picture of a case: a data URI, a caption and a text for those who cannot see it."""

    case: str
    source: str
    caption: str
    alternative: str


@dataclass(frozen=True)
class Gallery:
    """Pictures side by side, with the legend of their colours: pairs of colour and meaning."""

    title: str
    pictures: tuple[Picture, ...]
    legend: tuple[tuple[str, str], ...] = ()
    note: str = ""
    kind: ClassVar[str] = "gallery"


@dataclass(frozen=True)
class Text:
    """Paragraphs of plain text."""

    paragraphs: tuple[str, ...]
    kind: ClassVar[str] = "text"


@dataclass(frozen=True)
class Listing:
    """Text to be copied, such as a table for LaTeX."""

    title: str
    text: str
    kind: ClassVar[str] = "listing"


Block = Figure | Table | CaseTable | Gallery | Text | Listing


@dataclass(frozen=True)
class Section:
    """A part of the page with an entry in the navigation; ``name`` is its identifier."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Page:
    """A page: title, facts below it (label and value), a warning on top, and sections."""

    title: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    subtitle: str = ""
    banner: str = ""
    footer: tuple[str, ...] = field(default=())

    def charts(self) -> Iterator[Chart]:
        """Yield the charts of all sections in their order."""
        for section in self.sections:
            for block in section.blocks:
                if isinstance(block, Figure):
                    yield block.chart


def shown(cell: Cell, digits: int | None = None) -> str:
    """Return a cell as text: numbers with a true minus sign, None as a dash."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        text = f"{cell:.{digits}f}" if digits is not None else f"{cell:g}"
        return text.replace("-", "−")
    return str(cell)


def identifier(text: str) -> str:
    """Return a text as the name of a figure: lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")
