"""A report's page: its content, one HTML file without outside references, and its figures as files."""

import base64
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Self

from evaluation import __version__
from evaluation.charts.chart import SCHEMA, SELECTED_CASE, Chart, complete, layered, theme
from evaluation.core.fault import without_controls
from evaluation.io.files import write_atomically
from evaluation.organiser.output import csv_bytes, of_extra, table_row, tabular
from evaluation.organiser.report.case_views import MOST_IN_PAGE, Viewer
from evaluation.organiser.report.sources import words_in
from evaluation.phase.leaderboard import Digits, rounded_outwards

with of_extra("report"):
    import vl_convert
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

# --- The parts of a page: sections of figures, tables, pictures and paragraphs ---

Cell = str | int | float | None
"""An entry of a table; None is shown as a dash."""


@dataclass(frozen=True)
class Column:
    """A column of a table; ``digits``: number of decimals, None to show numbers unchanged.

    Of cases: ``is_main`` ones are shown at first, others with their ``group`` or all. ``right``: its texts
    are aligned right, as numbers always are, in LaTeX and on the terminal.
    """

    title: str
    digits: int | None = None
    group: str = ""
    is_main: bool = True
    right: bool = False


Title = str | tuple[str, int] | Column
"""A column of a table: its title, a pair of title and number of decimals, or all of it."""

_TABLES = words_in("tables.toml")


@dataclass(frozen=True)
class Table:
    """A table with sortable rows; ``name`` is its identifier, unique in the page.

    ``reasons``: by row, why its interval ("lower", "upper") is missing; the page shows them as footnotes.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    reasons: tuple[str | None, ...] = ()

    @classmethod
    def of(
        cls, name: str, title: str, columns: Iterable[Title], rows: Iterable[Iterable[Cell]], note: str = ""
    ) -> Self:
        """Return a table of any rows and columns."""
        given = (Column(one) if isinstance(one, str) else one for one in columns)
        filled = tuple(one if isinstance(one, Column) else Column(*one) for one in given)
        return cls(name, title, filled, tuple(map(tuple, rows)), note)

    @classmethod
    def declared(cls, table: str, rows: Iterable[Any], name: str = "", more: str = "") -> Self:
        """Return a table with title, columns and note of `templates/tables.toml`.

        A row is a tuple of cells, or a record with the declared fields. ``more`` is added to the note.
        """
        found = _TABLES[table]
        cells = (
            row if isinstance(row, tuple) else [table_row(row)[field] for field in found["fields"]]
            for row in rows
        )
        return cls.of(name or table, found["title"], found["columns"], cells, found.get("note", "") + more)

    def without_empty(self, *titles: str) -> Self:
        """Return the table without columns in which no row has a value: the titled ones, or all such."""
        kept = [
            position
            for position, column in enumerate(self.columns)
            if (titles and column.title not in titles)
            or any(row[position] not in (None, "") for row in self.rows)
        ]
        rows = tuple(tuple(row[position] for position in kept) for row in self.rows)
        return replace(self, columns=tuple(self.columns[position] for position in kept), rows=rows)

    @property
    def shown(self) -> list[list[str]]:
        """The cells as text."""
        return [
            [_shown_in(column, cell) for cell, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]

    @property
    def right(self) -> list[bool]:
        """Which columns are aligned right: those of numbers."""
        return [
            column.right or any(isinstance(row[place], int | float) for row in self.rows)
            for place, column in enumerate(self.columns)
        ]

    @property
    def latex(self) -> str:
        """The table for LaTeX (booktabs)."""
        return tabular([column.title for column in self.columns], self.shown, self.right)


@dataclass(frozen=True)
class SortableCaseTable(Table):
    """The table of cases: sortable, filterable, linked with the marks of cases in the figures.

    The first column holds the names of the cases.
    """


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


@dataclass(frozen=True)
class Text:
    """Paragraphs of plain text."""

    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class CopyableText:
    """Text to be copied, such as a table for LaTeX."""

    title: str
    text: str


Block = Chart | Table | Gallery | Viewer | Text | CopyableText
"""A part of a section; the template of its class draws it."""


@dataclass(frozen=True)
class Section:
    """A part of the page with an entry in the navigation; ``name`` is its identifier.

    The blocks after the ``first`` ones are folded until the reader asks for them; one block more is shown.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    first: int = 2

    @property
    def headline(self) -> tuple[Block, ...]:
        """The blocks that are shown at once."""
        return self.blocks[: len(self.blocks) - len(self.folded)]

    @property
    def folded(self) -> tuple[Block, ...]:
        """The other blocks."""
        several = len(self.blocks) > self.first + bool(self.first)
        return self.blocks[self.first :] if several else ()


@dataclass(frozen=True)
class Page:
    """A page: title, what it shows in sentences, a warning on top, and sections.

    Sections without blocks are left out; names of figures, tables and sections that would repeat get a
    number.

    ``tables``: csv files of further analyses by name.
    """

    title: str
    sections: tuple[Section, ...]
    subtitle: str = ""
    banner: str = ""
    answer: tuple[str, ...] = ()
    tables: Mapping[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shown = (section for section in self.sections if section.blocks)
        object.__setattr__(self, "sections", tuple(_with_unique_names(shown)))

    @property
    def folded(self) -> bool:
        """Whether a section has folded blocks."""
        return any(section.folded for section in self.sections)

    def files(self) -> dict[str, bytes]:
        """Return the files of its viewer; with more than `MOST_IN_PAGE` bytes they belong beside the page."""
        blocks = (block for section in self.sections for block in section.blocks)
        return next((block.files for block in blocks if isinstance(block, Viewer)), {})

    @property
    def is_large(self) -> bool:
        """Whether its files belong into a folder beside it."""
        return sum(map(len, self.files().values())) > MOST_IN_PAGE

    def charts(self) -> Iterator[Chart]:
        """Yield the charts of all sections in their order."""
        for section in self.sections:
            yield from (block for block in section.blocks if isinstance(block, Chart))


def _with_unique_names(sections: Iterable[Section]) -> Iterator[Section]:
    """Yield sections with unique names of figures, tables and sections; repeated names get a number."""
    used = set[tuple[type, str]]()

    def free(kind: type, name: str) -> str:
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        found = next(one for one in names if (kind, one) not in used)
        used.add((kind, found))
        return found

    for section in sections:
        blocks = [
            replace(block, name=free(Chart if isinstance(block, Chart) else Table, block.name))
            if isinstance(block, Chart | Table)
            else block
            for block in section.blocks
        ]
        yield replace(section, name=free(Section, section.name), blocks=tuple(blocks))


def shown(cell: Cell, digits: int | None = None) -> str:
    """Return a cell as text: numbers with a true minus sign, None as a dash."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    text = str(cell)
    if isinstance(cell, float):
        text = f"{cell:.{digits}f}" if digits is not None else f"{cell:g}"
        if digits and 0 < cell < 0.5 * 10**-digits:
            return f"< {10**-digits:.{digits}f}"
    return text.replace("-", "−")


Ends = tuple[float | None, float | None]
"""The ends of a 95 % interval, None without one."""


def shown_ends(lower: float, upper: float, digits: int) -> tuple[str, str]:
    """Return the ends of an interval as text, rounded outwards as in the columns "lower" and "upper"."""
    first, last = rounded_outwards(lower, upper, digits)
    return f"{first:.{digits}f}".replace("-", "−"), f"{last:.{digits}f}".replace("-", "−")


_OF_TABLES = Digits(4, 4)


def figure_in_words(value: float, ends: Ends = (None, None), digits: Digits = _OF_TABLES) -> str:
    """Return a figure with its interval in brackets, with the digits of a table that shows both."""
    lower, upper = ends
    if lower is None or upper is None:
        return shown(value, digits.value)
    first, last = shown_ends(lower, upper, digits.spread)
    return f"{shown(value, digits.value)} ({first} to {last})"


def _shown_in(column: Column, cell: Cell) -> str:
    """Return a cell of a column as text; ends of intervals are rounded outwards."""
    if isinstance(cell, float) and column.digits is not None and column.title in _ENDS:
        return shown_ends(cell, cell, column.digits)[_ENDS.index(column.title)]
    return shown(cell, column.digits)


_ENDS = ("lower", "upper")


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def identifier(*words: str) -> str:
    """Return words as the name of a figure or table: lower-case letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(words).casefold()).strip("-") or "unnamed"


# --- From a page to one HTML file without any outside reference ---

# It draws specifications of version 5; Vega-Lite 5 itself warns of the newer Vega bundled with it.
_VEGA_VERSION = "6.4"
_TEMPLATES = "templates"
# The ends of script elements and comments, and the ends of lines in some parsers.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def render_page(page: Page, folder: str | None = None) -> str:
    """Return the HTML of a page: figures, styles and programs included, every text escaped.

    ``folder``: the name of the folder beside it that holds the files of its viewer; None to include them.
    The page's own policy (Content-Security-Policy) forbids any connection and any other program.
    """
    environment = _environment()
    scripts = [*([_bundle()] if any(page.charts()) else []), _source("page.js")]
    return environment.get_template("page.html").render(
        page=page,
        policy=_policy(scripts, folder),
        folder=folder,
        style=Markup(_source("page.css")),  # noqa: S704 - ours
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - ours
        settings={
            "themes": {name: theme(name) for name in ("light", "dark")},
            "schema": SCHEMA,
            "selectedCase": SELECTED_CASE,
        },
        version=__version__,
    )


def text_of(template: str, filters: Mapping[str, Any], **content: Any) -> tuple[str, ...]:
    """Return the paragraphs of a text made from a template; a line of it is a sentence."""
    text = rendered(template, filters, **content)
    paragraphs = (" ".join(filter(None, part.split("\n"))) for part in text.strip().split("\n\n"))
    return tuple(paragraph for paragraph in paragraphs if paragraph)


def rendered(template: str, filters: Mapping[str, Any], **content: Any) -> str:
    """Return a template without markup, filled."""
    environment = _environment().overlay(autoescape=False)
    environment.filters = {**environment.filters, **filters}
    return environment.get_template(template).render(version=__version__, **content)


_SIGNIFICANT = 6
"""Digits of the numbers in a page, more than a figure shows."""


def as_script(content: Any) -> Markup:
    """Return a value as JSON that can be put into a script element: it cannot end that element."""
    fit = shown_in(content, _SIGNIFICANT)
    text = json.dumps(fit, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.translate(_UNSAFE))  # noqa: S704 - nothing of markup is left in it


def shown_in(content: Any, significant: int | None = None) -> Any:
    """Return a value in which every text is fit to be shown (see `without_controls`), floats rounded."""
    if isinstance(content, str):
        return without_controls(content)
    if isinstance(content, float) and significant:
        rounded = float(f"{content:.{significant}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded
    if isinstance(content, Mapping):
        return {shown_in(key): shown_in(value, significant) for key, value in content.items()}
    if isinstance(content, Sequence):
        return [shown_in(value, significant) for value in content]
    return content


def _keys_once(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return a specification whose tables have keys and texts of rows once, as `page.js` reads them."""
    tables: dict[str, Any] = {}
    for name, rows in specification["datasets"].items():
        columns = list(rows[0]) if rows else []
        if not columns or any(list(row) != columns for row in rows):
            tables[name] = rows
            continue
        numbered = {}
        for column in columns:
            if all(isinstance(row[column], str) for row in rows):
                numbered[column] = {
                    text: number for number, text in enumerate(dict.fromkeys(row[column] for row in rows))
                }
        tables[name] = {
            "columns": columns,
            "texts": {column: list(numbers) for column, numbers in numbered.items()},
            "rows": [
                [numbered[key][cell] if key in numbered else cell for key, cell in row.items()]
                for row in rows
            ],
        }
    return {**specification, "datasets": tables}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("evaluation.organiser.report", _TEMPLATES),
        autoescape=True,
        finalize=lambda value: without_controls(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["as_script"] = as_script
    environment.filters["template"] = lambda block: f"{type(block).__name__.lower()}.html"
    environment.filters["specification"] = lambda chart: as_script(_keys_once(layered(chart)))
    environment.filters["viewed"] = lambda viewer, folder: as_script(viewer.content(folder))
    environment.filters["case_rows"] = lambda table: as_script(
        {
            "columns": [(one.title, one.digits, one.group, one.is_main) for one in table.columns],
            "rows": table.rows,
        }
    )
    return environment


@cache
def _bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one program, which defines ``vegaEmbed``."""
    return vl_convert.javascript_bundle("Object.assign(window, { vegaEmbed });", _VEGA_VERSION)


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


def _policy(scripts: Sequence[str], folder: str | None) -> str:
    """Return the content security policy: these scripts alone, pictures of the page and its folder."""
    beside = "" if folder is None else " 'self' file:"
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        # Vega compiles its expressions, which come from this package alone.
        f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; "
        f"img-src data: blob:{beside}; base-uri 'none'; form-action 'none'"
    )


# --- The figures of a page as files: SVG, PDF, PNG, CSV, and Vega-Lite ---

WIDTH = 480
"""Width of a figure without a width of its own, in pixels."""
_VEGA_LITE_VERSION = "5.21"
_PIXELS_PER_POINT = 3.0


def drawable(specification: Any) -> Any:
    """Return a specification as it can be drawn: signs beyond the first 65,536, such as emoji, are squares.

    Vega cuts long labels between the halves of such a sign, on which vl-convert fails.
    """
    text = json.dumps(shown_in(specification), ensure_ascii=False)
    return json.loads(re.sub("[\U00010000-\U0010ffff]", "□", text))


def vector_files(drawing: Chart | str) -> dict[str, bytes]:
    """Return a chart, or a drawing that is SVG already, as SVG and PDF by extension."""
    if isinstance(drawing, str):
        svg = drawing
    else:
        specification = drawable(complete(drawing, width=WIDTH))
        svg = vl_convert.vegalite_to_svg(specification, vl_version=_VEGA_LITE_VERSION)
    return {"svg": svg.encode(), "pdf": _repeatable(vl_convert.svg_to_pdf(svg))}


def _repeatable(pdf: bytes) -> bytes:
    """Return a PDF with its parts by name; vl-convert orders and numbers them anew in every run.

    Its colours are plain ones of the device: readers refuse the colour profile that vl-convert embeds.
    """
    from pypdf import PdfReader, PdfWriter  # 0.1 s that pages alone do not need
    from pypdf.generic import ArrayObject, DictionaryObject, NameObject

    seen = set[int]()

    def tidy(part: Any) -> None:
        places = sorted(part.items()) if isinstance(part, DictionaryObject) else enumerate(part)
        for key, value in list(places):
            found = value.get_object()
            if isinstance(found, ArrayObject) and found[:1] == ["/ICCBased"]:
                number = found[1].get_object()["/N"]
                part[key] = NameObject({1: "/DeviceGray", 3: "/DeviceRGB"}[number])
            elif isinstance(found, DictionaryObject | ArrayObject) and id(found) not in seen:
                seen.add(id(found))
                tidy(found)
        if isinstance(part, DictionaryObject):
            named = sorted(part.items())
            part.clear()
            part.update(named)

    (page,) = PdfReader(io.BytesIO(pdf)).pages
    tidy(page)
    writer, written = PdfWriter(), io.BytesIO()
    writer.add_page(page)
    writer.write(written)
    return written.getvalue()


def write_figures(charts: Iterable[Chart], folder: Path) -> list[Path]:
    """Write each chart in five formats, named after it, and return the paths. Raises `OSError`."""
    paths = []
    for chart in charts:
        specification = complete(chart, width=WIDTH)
        files = {
            "vl.json": f"{json.dumps(specification, indent=1, ensure_ascii=False)}\n".encode(),
            "csv": csv_of(chart),
            **vector_files(chart),
            "png": vl_convert.vegalite_to_png(
                drawable(specification), vl_version=_VEGA_LITE_VERSION, scale=_PIXELS_PER_POINT
            ),
        }
        for extension, data in files.items():
            path = folder / f"{chart.name}.{extension}"
            write_atomically(path, data)
            paths.append(path)
    return paths


def csv_of(chart: Chart) -> bytes:
    """Return the data of a chart as one table; its first column names the part of the figure."""
    return csv_bytes([{"table": name, **row} for name, rows in chart.data.items() for row in rows])
