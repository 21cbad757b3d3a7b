"""Rows that people download of grand-challenge.org: evaluations, archive items, answers of readers, images.

A file holds JSON, as a list of rows, a page of them or a list of pages, or csv with nested values as JSON in
a cell. The platform answers in pages, with the number of all rows in ``count`` and the addresses of the pages
around in ``next`` and ``previous``; csv has nothing of these. Source of the formats: serialisers, renderers
and pagination of comic/grand-challenge.org, models of `gcapi`.
"""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from evaluation.cli.common import tell
from evaluation.core.fault import PhaseError, printable
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.json_files import json_kind, read_json
from evaluation.platform.facts import LARGEST_PAGE, PAGE

Row = Mapping[str, Any]
_MAX_CELL = 1 << 27


@dataclass(frozen=True)
class ExportedRow:
    """A row, the name of its file, and its number there, from 1."""

    file: str
    number: int
    values: Row

    @property
    def place(self) -> str:
        """Where the row is, for messages."""
        return f"{self.file}, row {self.number}"


@dataclass(frozen=True)
class _Page:
    """Rows of one list: ``start`` of ``count``; without a count nothing tells whether these are all rows.

    ``address``: of the list, without the part that tells pages apart; None for a list of one page.
    """

    file: str
    rows: Sequence[Any]
    count: int | None = None
    start: int = 0
    address: tuple[str, ...] | None = None


def read_rows(paths: Sequence[Path], needed: Sequence[str]) -> list[ExportedRow]:
    """Return the rows of all files, each of which has the needed keys; several files may be pages of a list.

    A note on standard error names files of full pages that do not tell how many rows there are. Raises
    `PhaseError` with every fault: of a list whose pages are not all there, the rows that are missing.
    """
    problems: list[str] = []
    pages: list[_Page] = []
    rows: list[ExportedRow] = []
    for path in paths:
        try:
            found = (
                [_table(path)] if path.suffix.casefold() == ".csv" else list(_pages(path, read_json(path)))
            )
        except FileNotFoundError:
            problems.append(f"{path}: no such file")
            continue
        except PhaseError as error:
            problems += error.problems
            continue
        pages += found
        of_file = [row for page in found for row in page.rows]
        rows += [ExportedRow(path.name, number, row) for number, row in enumerate(of_file, start=1)]
        if not of_file:
            problems.append(f"{path.name}: expected rows, found none")
    lists: dict[Any, list[_Page]] = defaultdict(list)
    for position, page in enumerate(pages):
        lists[page.address or position].append(page)
    for of_list in lists.values():
        problems += _lacking(of_list)
    seen: dict[Any, str] = {}
    for one in rows:
        if not isinstance(one.values, dict):
            problems.append(f"{one.place}: expected an object, found {json_kind(one.values)}")
        elif missing := [key for key in needed if key not in one.values]:
            problems.append(f"{one.place}: expected {', '.join(needed)}; no {missing[0]}")
        elif (key := one.values.get("pk")) is not None:
            first = seen.setdefault((frozenset(one.values), str(key)), one.place)
            if first != one.place:
                problems.append(f"{one.place}: expected every row once, found {key} also in {first}")
    PhaseError.raise_all(problems)
    tell(f"Note: {note}" for note in _notes(pages))
    return rows


def _pages(path: Path, content: Any) -> Iterator[_Page]:
    """Yield the pages of a file; rows that are in none are one list."""
    items = content if isinstance(content, list) else [content]
    bare = [item for item in items if not (isinstance(item, dict) and isinstance(item.get("results"), list))]
    if bare or not items:
        yield _Page(path.name, bare)
    for item in items:
        if not isinstance(item, dict) or not isinstance(rows := item.get("results"), list):
            continue
        count = item.get("count")
        following, earlier = _address(item.get("next")), _address(item.get("previous"))
        start = 0
        if following is not None:
            start = following.offset - len(rows)
        elif earlier is not None and isinstance(count, int):
            start = count - len(rows)
        around = following or earlier
        if not isinstance(count, int):
            count = None if following is None else following.offset + 1  # at least one more row
        yield _Page(path.name, rows, count, start, None if around is None else around.of_list)


@dataclass(frozen=True)
class _Address:
    """The address of a page: of its list, and the number of rows before it."""

    of_list: tuple[str, ...]
    offset: int


def _address(text: Any) -> _Address | None:
    if not isinstance(text, str) or not text:
        return None
    parts = urlsplit(text)
    query = dict(parse_qsl(parts.query))
    offset = query.pop("offset", "")
    query.pop("limit", None)
    of_list = (parts.path, *(f"{key}={value}" for key, value in sorted(query.items())))
    return _Address(of_list, int(offset) if offset.isdecimal() else 0)


def _lacking(pages: Sequence[_Page]) -> list[str]:
    """Return what is missing of a list, in words."""
    counts = sorted({page.count for page in pages if page.count is not None})
    files = ", ".join(dict.fromkeys(page.file for page in pages))
    if not counts:
        return []
    if len(counts) > 1:
        totals = " and ".join(map(str, counts))
        return [f"{files}: expected pages of one list, found totals of {totals} rows: download all again"]
    (total,) = counts
    known = {number for page in pages for number in range(page.start, page.start + len(page.rows))}
    missing = [number for number in range(total) if number not in known]
    if not missing:
        return []
    remedy = (
        f"give all pages together, or download with limit={LARGEST_PAGE} "
        f"(and offset={LARGEST_PAGE} for more than {LARGEST_PAGE} rows)"
    )
    given = f"{files}: expected all {total} rows, found {total - len(missing)}"
    return [f"{given}, without {_ranges(missing)}: {remedy}"]


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending positions in words, counted from 1."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    told = (f"{first + 1}" if first == last else f"{first + 1} to {last + 1}" for first, last in ranges)
    return ", ".join(told)


def _notes(pages: Iterable[_Page]) -> Iterator[str]:
    """Yield a note for each kind of rows that fill pages of the platform and do not tell their number."""
    kinds: dict[frozenset[str], list[_Page]] = defaultdict(list)
    for page in pages:
        if page.count is None and page.rows:
            kinds[frozenset(page.rows[0])].append(page)
    for of_kind in kinds.values():
        total = sum(len(page.rows) for page in of_kind)
        if total % PAGE == 0:
            files = ", ".join(dict.fromkeys(page.file for page in of_kind))
            yield (
                f"{files}: exactly {total} rows, and the platform answers in pages of {PAGE}: if there are "
                f"more, download with limit={LARGEST_PAGE}"
            )


def _table(path: Path) -> _Page:
    earlier = csv.field_size_limit(_MAX_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [{key: _of_cell(cell) for key, cell in row.items()} for row in csv.DictReader(file)]
            return _Page(path.name, rows)
    except (OSError, ValueError, csv.Error) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise_trouble_of(error, "read", path)
        raise PhaseError(f"{path}: cannot be read: {error}") from None
    finally:
        csv.field_size_limit(earlier)


def _of_cell(cell: Any) -> Any:
    """Return a nested value, None for an empty cell, and any other text as it is."""
    if isinstance(cell, str) and cell[:1] in ("{", "["):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return cell or None


def has_rows(path: Path, *columns: str) -> bool:
    """Return whether a file is such an export and not a table of results: JSON, or a csv with columns."""
    if path.suffix.casefold() == ".json":
        return path.is_file()
    if path.suffix.casefold() != ".csv" or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return set(columns) <= set(next(csv.reader(file), ()))


# --- Submissions ---


@dataclass(frozen=True)
class ExportedSubmission:
    """The submission that a row names: its key, its creator, and its time."""

    key: str
    team: str
    created: datetime

    def name(self, number: int) -> str:
        """Return the name of a team's submission, ``number`` from 1.

        With its key: of one name over phases is what belongs together, of one number is not.
        """
        return f"{number}-{re.sub(r'[^0-9A-Za-z]', '', self.key)[:8]}"


def submission_of(exported: ExportedRow) -> ExportedSubmission:
    """Return the submission of a row. Raises `PhaseError` with every fault of it."""
    submission, place = exported.values["submission"], exported.place
    try:
        team, key = submission["creator"]["username"], submission["pk"]
    except (KeyError, TypeError) as error:
        raise PhaseError(f"{place}: {_NEEDED}: {error!r}") from None
    problems: list[str] = []
    if not isinstance(team, str) or not team.strip() or team[0] == "." or set(team) & set("/\\\0"):
        problems.append(f"{place}: creator.username: expected a name, found {printable(str(team))!r}")
    try:
        created = time_of(submission, place)
    except PhaseError as error:
        raise PhaseError(*error.problems, *problems) from None
    PhaseError.raise_all(problems)
    return ExportedSubmission(str(key), team, created)


_NEEDED = "expected a submission with pk, created and creator.username"


def time_of(values: Row, place: str) -> datetime:
    """Return when a row, or a submission in it, was created. Raises `PhaseError`."""
    try:
        created = datetime.fromisoformat(values["created"])
    except (KeyError, TypeError, ValueError) as error:
        raise PhaseError(f"{place}: {_NEEDED}: {error!r}") from None
    if created.tzinfo is None:
        expected = "expected a time with its offset"
        raise PhaseError(f"{place}: created: {expected}, found {values['created']!r}")
    return created


# --- Values of sockets ---


def slug_of(value: Row) -> str:
    """Return the slug of the socket of a value; ``interface`` is the older name of a socket."""
    socket = value.get("socket") or value.get("interface")
    return str(socket.get("slug", "")) if isinstance(socket, dict) else ""


def key_of(address: object) -> str:
    """Return the key that an address of the platform ends with, or a key as it is."""
    found = re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", str(address).lower())
    return str(found[-1]) if found else str(address).rstrip("/").rpartition("/")[2]


def names_of_images(rows: Sequence[Row]) -> dict[str, str]:
    """Return the names of exported images by key."""
    return {key_of(row["pk"]): str(row["name"]) for row in rows}


def name_of(value: Row, images: Mapping[str, str]) -> str | None:
    """Return the name of the image or file of a value, None where it has none or only an unknown address."""
    image, file = value.get("image"), value.get("file")
    if isinstance(image, dict):
        return str(image["name"]) if image.get("name") else images.get(key_of(image.get("pk")))
    if image is not None:
        return images.get(key_of(image))
    return PurePosixPath(unquote(urlsplit(str(file)).path)).name if file is not None else None
