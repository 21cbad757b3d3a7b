import json

import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.json_files import parse_entries, parse_json
from test.faults import faulted

DEEP = 64


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        (b"", FaultKind.MALFORMED, 1),
        (b'{"a": 1,\n}', FaultKind.MALFORMED, 2),
        (b"[1] [2]", FaultKind.MALFORMED, 1),
        (b'{"a": 1, "b": {"c": 1, "c": 1}}', FaultKind.DUPLICATE, None),
        (b"[NaN]", FaultKind.MALFORMED, None),
        (b"[-Infinity]", FaultKind.MALFORMED, None),
        (b"[1e999]", FaultKind.MALFORMED, None),
        (b"[" + b"9" * 401 + b"]", FaultKind.TOO_LARGE, None),
        (b"[" + b"9" * 100_000 + b"]", FaultKind.TOO_LARGE, None),
        (b"\n" + b"[" * (DEEP + 1) + b"]" * (DEEP + 1), FaultKind.TOO_LARGE, 2),
        (b"[" * 1_000_000, FaultKind.TOO_LARGE, 1),
        (b'{"a":' * 1_000_000, FaultKind.TOO_LARGE, 1),
        (b'["' + b'\\"[' * 200_000, FaultKind.MALFORMED, 1),
        (b'["\\ud800"]', FaultKind.MALFORMED, None),
        (b'{"\\uDFFF": 1}', FaultKind.MALFORMED, None),
        (b'["\xed\xa0\x80"]', FaultKind.UNREADABLE, 1),
        (b'[1,\n"\xff"]', FaultKind.UNREADABLE, 2),
        ("[1]".encode("utf-16"), FaultKind.UNREADABLE, 1),
        (b'["\0"]', FaultKind.MALFORMED, 1),
    ],
    ids=range(19),
)
def test_refuses(text, kind, line):
    with pytest.raises(ReadError) as caught:
        parse_json(memoryview(text))
    assert (caught.value.kind, caught.value.line) == (kind, line)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"\xef\xbb\xbf[1]", [1]),
        (b"[" * DEEP + b"]" * DEEP, json.loads("[" * DEEP + "]" * DEEP)),
        (json.dumps(["[" * 1000, '"' + "{" * 1000]).encode(), ["[" * 1000, '"' + "{" * 1000]),
        (json.dumps([[]] * 1000).encode(), [[]] * 1000),
        (b'["\\ud83d\\ude00"]', ["😀"]),
        (b"[" + b"9" * 400 + b"]", [10**400 - 1]),
    ],
    ids=range(6),
)
def test_accepts(text, value):
    assert parse_json(memoryview(text)) == value


# Entries of a list, one by one: what is refused is refused in the same words as the whole document is.


def entries_of(text):
    try:
        return list(parse_entries(memoryview(text), "a list"))
    except ReadError as error:
        return str(error), error.kind, error.line


def list_of(text):
    try:
        value = parse_json(memoryview(text))
    except ReadError as error:
        return str(error), error.kind, error.line
    return value


@pytest.mark.parametrize(
    "text",
    [
        b"[]", b" [ ] ", b"\xef\xbb\xbf[1, 2]\n", b"[1,]", b"[1 2]", b"[1] 2", b"[1]]", b"[1", b"[", b"[,1]",
        b"", b'[{"a": 1}, {"b": 1, "b": 2}]', b'["\\ud83d\\ude00", "\\ud83d"]', b'[1, "\xff"]',
        b'["\\u00e9"]', b"[NaN, [}", b"[null,\n true, 1.5e-3, []]", b'[[{"a": [1, {"b": "]}"}]}, "\\""], {}]',
        b'["a\\', b"[1e999]", b'["\\ud800"]', b'["\0"]', b"[tru", b'[{"a": 1,\n}]', b"[[1], [2]", b"[1]x",
    ],
)  # fmt: skip
def test_entries_of_every_form_of_list(text):
    assert entries_of(text) == list_of(text)


def test_entries_come_before_the_fault_behind_them():
    entries = parse_entries(b'[1, {"a": 2}, 3 4]', "a list")
    assert [next(entries), next(entries)] == [1, {"a": 2}]
    with faulted(ReadError, "an error at column 17", kind=FaultKind.MALFORMED):
        next(entries)


@pytest.mark.parametrize(
    ("text", "found"), [(b"{}", "an object"), (b"null", "null"), (b'"[1]"', "the text '[1]'")]
)
def test_entries_of_what_is_no_list(text, found):
    with faulted(ReadError, found, kind=FaultKind.MALFORMED):
        list(parse_entries(text, "a list of jobs"))
    with faulted(ReadError, "more", kind=FaultKind.TOO_LARGE):
        list(parse_entries(b"[1, 2, 3]", "a list", max_values=2))
