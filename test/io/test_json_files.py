import json

import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.json_files import parse_json
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


def test_more_values_than_a_reader_takes():
    with faulted(ReadError, "more", kind=FaultKind.TOO_LARGE):
        parse_json(b"[1, 2, 3]", max_values=2)
