"""The files of a paper: Markdown, LaTeX, tables, figures, data sheets, and the archive to publish."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evaluation import __version__
from evaluation.core.outcome import Progress
from evaluation.io.files import sha256_of
from evaluation.organiser.output import csv_bytes, escaped, of_extra
from evaluation.organiser.paper.exhibits import Exhibit, exhibits_of
from evaluation.organiser.paper.facts import Study, facts_in, facts_of
from evaluation.organiser.paper.questions import (
    AnsweredItem,
    Fact,
    answered,
    environment_of,
    items_of,
    packaged,
)
from evaluation.organiser.ranking.leaderboard import write_leaderboard
from evaluation.organiser.report.data import write_description
from evaluation.organiser.report.page import Table, vector_files

with of_extra("report"):
    from jinja2 import Environment
    from markupsafe import escape

PARTS = {
    "introduction": "Introduction",
    "design": "Design of the challenge",
    "data": "Data",
    "methods": "Evaluation methods",
    "results": "Results",
    "discussion": "Discussion",
    "statements": "Statements",
}
SUPPLEMENT = {"supplement": "Further tables and figures"}

# --- Texts in Markdown and LaTeX: every character of a name stands for itself ---

_CITATION = r"\[@[a-z]+[0-9]{4}(?:; @[a-z]+[0-9]{4})*\]"
_MARKUP = {False: re.compile(f"({_CITATION})"), True: re.compile(rf"({_CITATION}|\$[^$]+\$|\{{[a-z]+\}})")}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|~$&#]|^[-+=]|(?<=^[0-9])[.)])")
# What LaTeX knows in the T1 encoding and its companion, without further packages.
_KNOWN = "ĂăĄąĆćČčĎďĐđĘęĚěĞğİıĹĺĽľŁłŃńŇňŐőŒœŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽž‘’‚“”„…•€—"


def markdown(text: object) -> str:
    """Return a text as Markdown shows it as it is, on one line, also in the cell of a table."""
    plain = "".join(sign if sign.isprintable() else " " for sign in str(text))
    return _MARKDOWN.sub(r"\\\1", plain)


def latex(text: object) -> str:
    r"""Return a text as LaTeX shows it as it is; a sign that its fonts may lack as ``\unicodechar``."""
    signs = ((sign, escaped(sign)) for sign in str(text))
    return "".join(
        known if ord(sign) < 256 or known != sign or sign in _KNOWN else rf"\unicodechar{{{ord(sign):04X}}}"
        for sign, known in signs
    )


def keys_of(fact: Fact) -> list[str]:
    """Return the keys of the sources that a fact cites."""
    found = re.findall(_CITATION, fact.text)
    return [key for one in found for key in re.findall(r"@(\w+)", one) if key in references()]


def prose(fact: Fact, plain: Callable[[object], str], cite: Callable[[Sequence[str]], str]) -> str:
    """Return a fact in a language of documents: its names, mathematics and citations as that has them."""
    written = []
    for position, piece in enumerate(_MARKUP[fact.formatted].split(fact.text)):
        keys = keys_of(Fact(piece, "")) if position % 2 else []
        if keys:
            written.append(cite(keys))
        elif position % 2 and piece.startswith("{"):
            written.append(plain((fact.names or {})[piece[1:-1]]))
        else:
            written.append(piece if position % 2 and piece.startswith("$") else plain(piece))
    return "".join(written)


@cache
def references() -> dict[str, str]:
    """Return the entries of the packaged bibliography by key."""
    entries = re.findall(r"^(@\w+\{(\w+),.*?^\}\n)", packaged("references.bib"), flags=re.M | re.S)
    return {key: text for text, key in entries}


def reference_in_words(key: str) -> str:
    """Return a source in one line of text."""
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", references()[key], flags=re.M))
    fields = {name: re.sub("[{}]", "", text) for name, text in fields.items()}
    where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher", "")
    number = "".join(f" {fields[name]}" for name in ("volume", "pages") if name in fields)
    return f"{fields['author']}: {fields['title']}. {where}{number} ({fields['year']})"


def pieces_of(table: Table) -> list[list[int]]:
    """Return the columns of a table in groups that a line holds, each with the first columns of texts."""
    numeric = [alignment(column, table) == "r" for column in range(len(table.columns))]
    named = list(range(max(1, min([*(i for i, one in enumerate(numeric) if one), 3]))))
    pieces, room = [[*named]], _LINE - sum(_width(column, table) for column in named)
    left = room
    for column in range(len(named), len(table.columns)):
        width = _width(column, table)
        if width > left and len(pieces[-1]) > len(named):
            pieces.append([*named])
            left = room
        pieces[-1].append(column)
        left -= width
    return pieces


_LINE, _LONG, _GAP = 90, 20, 2.5
"""Letters of a line in the size of tables, of its longest cell in one line, and between two columns."""


def _width(column: int, table: Table) -> float:
    """Return the width of a column in letters."""
    longest = max(len(text) for text in [table.columns[column].title, *(row[column] for row in table.shown)])
    return min(longest, _LONG) + _GAP


def alignment(column: int, table: Table) -> str:
    """Return how LaTeX aligns a column: numbers right, long texts in lines."""
    if any(isinstance(row[column], int | float) for row in table.rows):
        return "r"
    return _LINES if max(len(row[column]) for row in table.shown) > _LONG else "l"


_LINES = f"p{{{_LONG / _LINE:.2f}\\linewidth}}"


def heading(title: str) -> str:
    """Return the title of a column for LaTeX; a long one is broken into lines."""
    return rf"\multicolumn{{1}}{{{_LINES}}}{{{latex(title)}}}" if len(title) > _LONG else latex(title)


@cache
def _environment() -> Environment:
    filters: dict[str, Callable[..., Any]] = {
        "md": markdown,
        "tex": latex,
        "xml": lambda text: str(escape("".join(s if s.isprintable() else " " for s in str(text)))),
        "line": lambda text: " ".join(str(text).replace("--", "–").split()),
        "prose_md": lambda fact: prose(fact, markdown, lambda keys: f"[{'; '.join(f'@{k}' for k in keys)}]"),
        "prose_tex": lambda fact: prose(fact, latex, lambda keys: rf"\citep{{{','.join(keys)}}}"),
        "pieces": pieces_of,
        "alignment": alignment,
        "heading": heading,
        "words": reference_in_words,
        "sha256": sha256_of,
    }
    return environment_of(filters)


def rendered(template: str, **values: Any) -> bytes:
    """Return a template with its values filled in."""
    return _environment().get_template(template).render(**values).encode("utf-8")


# --- The documents ---


@dataclass(frozen=True)
class Document:
    """A paper: answered items of BIAS, tables and figures."""

    study: Study

    @cached_property
    def items(self) -> tuple[AnsweredItem, ...]:
        """The items of BIAS, in their order."""
        return answered(items_of("bias.toml"), facts_of(self.study), self.study.answers.bias, "bias")

    @cached_property
    def exhibits(self) -> list[Exhibit]:
        """The tables and figures, in their order."""
        flow = rendered("flow.svg", study=self.study, flow=self.study.answers.flow).decode("utf-8")
        return exhibits_of(self.study, flow)

    @cached_property
    def datasheet(self) -> tuple[AnsweredItem, ...]:
        """The questions of a data sheet; those that BIAS asks too have its answers."""
        of_bias = {one.item.id: one.facts for one in self.items}
        facts = {item.id: of_bias[item.same] for item in items_of("datasheet.toml") if item.same}
        for name, found in facts_in("datasheet.txt", study=self.study).items():
            facts[name] = (*facts.get(name, ()), *found)
        return answered(items_of("datasheet.toml"), facts, self.study.answers.datasheet, "datasheet")

    def files(self, progress: Progress) -> Iterator[tuple[str, bytes]]:
        """Yield the names and contents of all files but the archive; ``progress`` counts exhibits."""
        keys = {key for one in self.items for fact in one.facts for key in keys_of(fact)}
        cited = sorted({*keys, "maierhein2020"})
        tables = {one.name: one for one in self.exhibits if isinstance(one.content, Table)}
        figures = {one.name: one for one in self.exhibits if one.name not in tables}
        of_item = {one.item.id: one for one in self.items}
        values: dict[str, Any] = {"parts": PARTS, "items": self.items, "of": of_item, "study": self.study}
        values |= {"tables": tables, "figures": figures, "cited": cited, "exhibits": self.exhibits}
        yield "paper.md", rendered("paper.md", **values)
        yield "paper.tex", rendered("paper.tex", **values)
        further = values | {"parts": SUPPLEMENT}
        yield "supplement.md", rendered("paper.md", **further)
        yield "supplement.tex", rendered("paper.tex", **further)
        for part in PARTS:
            yield f"parts/{part}.tex", rendered("part.tex", part=part, **values)
        yield "parts/supplement.tex", rendered("part.tex", part="supplement", **further)
        yield "references.bib", "\n".join(references()[key] for key in cited).encode("utf-8")
        yield "bias.md", rendered("bias.md", **values)
        sources = [
            {"document": name, "item": one.item.id, "text": fact.plain, "source": fact.source}
            for name, items in (("paper", self.items), ("data sheet", self.datasheet))
            for one in items
            for fact in one.facts
        ]
        yield "sources.csv", csv_bytes(sources)
        yield "datasheet.md", rendered("datasheet.md", sheet=self.datasheet, **values)
        for done, one in enumerate(self.exhibits, start=1):
            if isinstance(one.content, Table):
                yield f"tables/{one.name}.csv", table_csv(one.content)
            else:
                for extension, data in vector_files(one.content).items():
                    yield f"figures/{one.name}.{extension}", data
            progress(done)

    def questions(self) -> bytes:
        """Return the content of a first `paper.toml`: every open question, with an empty answer."""
        own = tuple(one for one in self.datasheet if not one.item.same)
        return rendered("paper.toml", items=self.items, sheet=own)


def table_csv(table: Table) -> bytes:
    """Return a table with all digits; a title that occurs twice gets the number of its column."""
    titles = [column.title for column in table.columns]
    names = [name if titles.count(name) == 1 else f"{name} ({i + 1})" for i, name in enumerate(titles)]
    return csv_bytes([dict(zip(names, row, strict=True)) for row in table.rows])


# --- The archive: results, tables, digests and metadata without labels ---

_LISTED, _RESULTS = "SHA256SUMS", "results/leaderboard.json"
_DESCRIBED = ("numbers.csv", "classes.csv", "tests.csv")
_PACKAGES = ("numpy", "scipy", "SimpleITK", "scikit-learn", "pandas", "pillow")
_DESCRIPTION = (
    "Results of the teams of a medical imaging challenge: leaderboards with intervals, tests and robustness, "
    "ranking scheme, versions, and digests of the reference. No labels."
)


def archive_of(document: Document) -> dict[str, bytes]:
    """Return the files of the archive by name: aggregated results alone, no case and no label."""
    study, files = document.study, dict[str, bytes]()
    with TemporaryDirectory() as temporary:
        for path in write_leaderboard(study.board, Path(temporary, "results")):
            # As `rank` wrote them, where it did.
            own = study.folders[0] / path.name
            name = _RESULTS if path.suffix == ".json" else f"tables/{path.name}"
            files[name] = (own if own.is_file() else path).read_bytes()
        for path in write_description(study.description, Path(temporary)):
            if path.name in _DESCRIBED:
                files[f"data/{path.name}"] = path.read_bytes()
    packages = {name: version(name) for name in _PACKAGES}
    files["versions.json"] = rendered("versions.json", study=study, version=__version__, packages=packages)
    files["README.md"] = rendered("archive.md", study=study)
    title = next((one.facts[0].text for one in document.items if one.item.id == "title" and one.facts), "")
    title = title or f"Results of {', '.join(phase.config.title for phase in study.phases)}"
    about = {"study": study, "title": title, "description": _DESCRIPTION}
    files[".zenodo.json"] = rendered("zenodo.json", **about)
    crate = rendered("ro-crate-metadata.json", files=dict(sorted(files.items())), **about)
    files["ro-crate-metadata.json"] = crate
    digests = "".join(f"{sha256_of(files[name])}  {name}\n" for name in sorted(files))
    return files | {_LISTED: digests.encode("ascii")}


def drafts(study: Study) -> list[str]:
    """Return the missing metadata of the archive, by key of `paper.toml`."""
    given = study.answers.archive
    return [f"archive.{name}" for name in ("authors", "licence", "date") if not getattr(given, name)]
