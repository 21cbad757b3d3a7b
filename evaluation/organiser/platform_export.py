"""Rows that people download of grand-challenge.org: evaluations, archive items, answers of readers, images.

A file holds JSON, as a list of rows, a page of them or a list of pages, or csv with nested values as JSON in
a cell. Source of the formats: serialisers and renderers of comic/grand-challenge.org, models of `gcapi`.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from evaluation.core.fault import PhaseError
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.json_files import json_kind, read_json

Row = Mapping[str, Any]
_PAGE = "results"
_MAX_CELL = 1 << 27


def read_rows(path: Path, needed: Sequence[str]) -> list[Row]:
    """Return the rows of a file, each of which has the needed keys. Raises `PhaseError` with every fault."""
    try:
        rows = list(_rows_of(read_json(path))) if path.suffix.casefold() != ".csv" else _rows_of_csv(path)
    except FileNotFoundError:
        raise PhaseError(f"{path}: no such file") from None
    problems = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            problems.append(f"{path.name}, row {number}: expected an object, found {json_kind(row)}")
        elif missing := [key for key in needed if key not in row]:
            problems.append(f"{path.name}, row {number}: expected {', '.join(needed)}; no {missing[0]}")
    if not rows:
        problems.append(f"{path.name}: expected rows, found none")
    PhaseError.raise_all(problems)
    return rows


def _rows_of(content: Any) -> Iterator[Any]:
    if isinstance(content, dict) and isinstance(content.get(_PAGE), list):
        yield from content[_PAGE]
    elif isinstance(content, list):
        for item in content:
            yield from _rows_of(item) if isinstance(item, dict) and _PAGE in item else [item]
    else:
        yield content


def _rows_of_csv(path: Path) -> list[Row]:
    earlier = csv.field_size_limit(_MAX_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return [{key: _of_cell(cell) for key, cell in row.items()} for row in csv.DictReader(file)]
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
