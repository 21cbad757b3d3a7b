"""The items that a paper and a data sheet answer, and people's answers to them in `paper.toml`."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationInfo, field_validator

from evaluation.core.fault import PhaseError
from evaluation.core.keys import Key, KeyTable, Listed
from evaluation.organiser.output import of_extra
from evaluation.phase.validation import InvalidTableError, read_table, suggestion

with of_extra("report"):
    from jinja2 import Environment, PackageLoader, StrictUndefined

ANSWERS = "paper.toml"


@dataclass(frozen=True)
class Fact:
    """A sentence and its source: a file, and the key or column in it.

    ``formatted`` texts are the package's own and hold mathematics between dollars; in all others, and in
    ``names`` that are put into a formatted text, every character stands for itself.
    """

    text: str
    source: str
    formatted: bool = False
    names: Mapping[str, str] | None = None

    @property
    def plain(self) -> str:
        """The text with its names."""
        return self.text.format_map(self.names or {}) if self.formatted else self.text


@dataclass(frozen=True)
class Item:
    """A question that a document answers; ``same``: the item of BIAS with the same answer.

    ``partly``: facts answer it only in part, so that it is asked in any case.
    """

    id: str
    part: str
    question: str
    name: str = ""
    same: str = ""
    partly: bool = False


Status = Literal["by the files", "by people", "by both", "in part", "open"]


@dataclass(frozen=True)
class AnsweredItem:
    """An item with its facts, those of the files before those of people; ``people``: how many are theirs."""

    item: Item
    facts: tuple[Fact, ...]
    people: int = 0

    @property
    def status(self) -> Status:
        """Who has answered it."""
        if not self.facts:
            return "open"
        if self.people:
            return "by people" if self.people == len(self.facts) else "by both"
        return "in part" if self.item.partly else "by the files"

    @property
    def is_open(self) -> bool:
        """Whether people have something to add."""
        return self.status in ("open", "in part")


def packaged(name: str) -> str:
    """Return the text of a template or table of this room."""
    return files("evaluation.organiser.paper").joinpath("templates", name).read_text(encoding="utf-8")


def environment_of(
    filters: Mapping[str, Callable[..., Any]], finalize: Callable[[object], object] | None = None
) -> Environment:
    """Return what fills in the templates of this room; ``finalize`` is applied to every value."""
    environment = Environment(  # noqa: S701 - Markdown, LaTeX and sentences; every value passes a filter of them
        loader=PackageLoader("evaluation.organiser.paper", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        comment_start_string="((*",  # LaTeX has {# for arguments
        comment_end_string="*))",
        finalize=finalize,
    )
    environment.filters |= filters
    return environment


@cache
def items_of(name: str) -> tuple[Item, ...]:
    """Return the items of a packaged list, such as `bias.toml`, in their order."""
    return tuple(Item(**item) for item in tomllib.loads(packaged(name))["items"])


# --- The answers of people ---


class Author(KeyTable):
    """An author of the archive."""

    name: str = Key(min_length=1, description='Family name, a comma, and given names: "Doe, Jane".')
    affiliation: str = Key(default="", description="Institute, town, country.")
    orcid: str = Key(
        default="", pattern=r"^(\d{4}-\d{4}-\d{4}-\d{3}[\dX])?$", description="0000-0000-0000-0000."
    )

    def address(self, number: int) -> str:
        """Return the identifier of the author of that number."""
        return f"https://orcid.org/{self.orcid}" if self.orcid else f"#author-{number}"


class Archive(KeyTable):
    """The metadata of the archive that no file holds."""

    authors: Listed[Author] = Key(default=(), description="The authors, in their order.")
    licence: str = Key(default="", pattern=r"^[A-Za-z0-9.+-]*$", description="SPDX identifier: CC-BY-4.0.")
    date: str = Key(default="", description="Day of publication: 2024-05-31.")

    @field_validator("date")
    @classmethod
    def _is_day(cls, text: str) -> str:
        if text and date.fromisoformat(text).isoformat() != text:
            raise ValueError("expected a day such as 2024-05-31")
        return text


class Flow(KeyTable):
    """Numbers of cases before the phase was made."""

    collected: int | None = Key(default=None, ge=0, description="Cases that were collected.")
    excluded: int | None = Key(default=None, ge=0, description="Cases of them that were left out.")


class Answers(KeyTable):
    """The content of `paper.toml`."""

    archive: Archive = Archive()
    flow: Flow = Flow()
    bias: dict[str, str] = Key(default={}, description="Answers by the items of BIAS.")
    datasheet: dict[str, str] = Key(default={}, description="Answers by the questions of a data sheet.")

    @field_validator("bias", "datasheet")
    @classmethod
    def _known(cls, answers: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        known = [item.id for item in items_of(f"{info.field_name}.toml")]
        if unknown := [name for name in answers if name not in known]:
            raise ValueError(f"unknown item {unknown[0]}{suggestion(unknown[0], known)}")
        return answers


def read_answers(path: Path) -> Answers:
    """Return the answers in a file, none where it does not exist. Raises `PhaseError` listing every fault."""
    try:
        content: Any = tomllib.loads(path.read_text(encoding="utf-8"))
        return read_table(Answers, content)
    except FileNotFoundError:
        return Answers()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PhaseError(f"{path.name}: cannot be read: {error}") from None
    except InvalidTableError as error:
        raise PhaseError(*error.problems(path.name)) from None


def answered(
    items: Iterable[Item], facts: Mapping[str, Sequence[Fact]], answers: Mapping[str, str], table: str
) -> tuple[AnsweredItem, ...]:
    """Return the items with the facts of the files, then people's answers from a table of `paper.toml`."""
    found = []
    for item in items:
        text = answers.get(item.id, "").strip()
        people = tuple(
            Fact(" ".join(part.split()), f"{ANSWERS}: {table}.{item.id}")
            for part in text.split("\n\n")
            if part.strip()
        )
        found.append(AnsweredItem(item, (*facts.get(item.id, ()), *people), len(people)))
    return tuple(found)
