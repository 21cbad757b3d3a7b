"""Strict JSON: refuses every text that two parsers could read differently."""

import json
import math
import re
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.core.fault import FaultKind, PhaseError, ReadError, shorten
from evaluation.core.formats import HEAD_BYTES, format_of_content, other_content
from evaluation.core.trouble import raise_trouble_of

_MAX_NESTING = 64
_MAX_DIGITS = 400
# Possessive quantifiers and an optional closing quote keep the search linear on any input.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_BEGINNINGS = frozenset(bytes([one]) for one in b'[{"-0123456789 \n')
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(
    data: bytes | bytearray | memoryview, *, finite: bool = True, max_values: int | None = None
) -> object:
    """Return the value of a JSON document in UTF-8, with or without a byte order mark.

    Refused are duplicate keys, NaN and Infinity, numbers beyond the range of a float or of more than 400
    digits, lone surrogates and nesting deeper than 64 levels. Without ``finite``, NaN and numbers beyond the
    range of a float are accepted, so that the reader of the values can report where they are.
    More than ``max_values`` commas and brackets are refused before anything is parsed.

    Raises `ReadError` (unreadable, malformed or too large), with the line where one is known.
    """
    text, may_escape = _text_of(data, max_values)
    return _value_of(text, may_escape, _FINITE if finite else _ANY_NUMBERS)


def read_json(path: Path) -> Any:
    """Return the content of an organiser's JSON file; all of its numbers are in the range of a float.

    Raises `PhaseError` as `parse_json` raises `ReadError`, `FileNotFoundError` and `MachineTrouble`.
    """
    try:
        return _value_of(*_text_of(path.read_bytes(), None), _FLOATS)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise_trouble_of(error, "read", path)
        raise PhaseError(f"{path}: cannot be read: {error.strerror}") from None
    except ReadError as error:
        line = "" if error.line is None else f", line {error.line}"
        raise PhaseError(f"{path}{line}: {error}") from None


def _text_of(data: bytes | bytearray | memoryview, max_values: int | None) -> tuple[str, bool]:
    """Return a document as text that can be parsed, and whether it may have escapes. Raises `ReadError`."""
    if bytes(data[:1]) not in _BEGINNINGS:
        head = bytes(data[:HEAD_BYTES])
        if format_of_content(head):
            raise other_content(head, "a JSON file")
    raw = bytes(data)
    brackets = raw.count(b"[") + raw.count(b"{")
    if max_values is not None and brackets + raw.count(b",") > max_values:
        raise ReadError(FaultKind.TOO_LARGE, f"JSON of at most {max_values} values", "more")
    try:
        text = str(data, "utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = bytes(data[: error.start]).count(b"\n") + 1
        raise ReadError(FaultKind.UNREADABLE, "JSON in UTF-8", "other bytes", line) from None
    if brackets > _MAX_NESTING:
        _check_nesting(text)
    return text, b"\\" in raw


def _value_of(text: str, may_escape: bool, decoder: json.JSONDecoder) -> object:
    try:
        value: object = decoder.decode(text)
    except json.JSONDecodeError as error:
        found = f"an error at column {error.colno}"
        raise ReadError(FaultKind.MALFORMED, "JSON", found, error.lineno) from None
    if may_escape and _SURROGATE_ESCAPE.search(text):
        _refuse_lone_surrogates(value)
    return value


def _check_nesting(text: str) -> None:
    """Raise `ReadError` where a document is nested in more than 64 levels."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        mark = match.group()
        if mark in "[{":
            depth += 1
            if depth > _MAX_NESTING:
                line = text.count("\n", 0, match.start()) + 1
                expected = f"JSON of at most {_MAX_NESTING} levels"
                raise ReadError(FaultKind.TOO_LARGE, expected, "deeper nesting", line)
        elif mark in "]}":
            depth -= 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ReadError(FaultKind.DUPLICATE, "every key once", f'"{shorten(key)}" twice')
            seen.add(key)
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ReadError(FaultKind.MALFORMED, "finite numbers", text)
    return value


def _bounded(text: str) -> int:
    digits = len(text.lstrip("-"))
    if digits > _MAX_DIGITS:
        raise ReadError(FaultKind.TOO_LARGE, f"integers of at most {_MAX_DIGITS} digits", f"{digits} digits")
    return int(text)


def _in_range(text: str) -> int:
    """Return an integer in the range of a float. Raises `ReadError`."""
    number = _bounded(text)
    if not math.isfinite(float(text)):
        digits = len(text.lstrip("-"))
        expected = "numbers in the range of a float"
        raise ReadError(FaultKind.TOO_LARGE, expected, f"an integer of {digits} digits")
    return number


_ANY_NUMBERS = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_bounded)
_strict = partial(json.JSONDecoder, object_pairs_hook=_unique, parse_constant=_finite, parse_float=_finite)
_FINITE, _FLOATS = _strict(parse_int=_bounded), _strict(parse_int=_in_range)


def _refuse_lone_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ReadError(FaultKind.MALFORMED, "Unicode text", "a lone surrogate") from None


def json_kind(value: object) -> str:
    """Return a description of a JSON value in JSON's terms."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {shorten(value)!r}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    return f"the number {value!r}"
