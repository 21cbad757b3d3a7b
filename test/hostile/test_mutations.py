"""Tables and JSON of every kind, spoilt at random: each is refused with a fault, or read to a sound value.

Boxes and XML are spoilt by `test.io`, images and volumes by `differential`.
"""

import json
import os
import random

import numpy as np
import pytest

from evaluation.core.fault import FormFault, ReadError
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.sources import JsonSource
from evaluation.io.handover import decode, encode
from evaluation.io.json_files import parse_json
from evaluation.io.tables import is_number, read_table
from test.workers.kinds.situations import KINDS

EXAMPLES = int(os.environ.get("EVALUATION_FUZZ_EXAMPLES", "2000"))
CASE = CaseForm("case", 60, 40)
COLUMNS = ("Name", "Value")
TABLES = (
    *(b"Name,Value\na,0.5\nb,1e-3\n", b'\xef\xbb\xbf"Name";"Value"\r\n"a";"1"\r\n'),
    "Name\tValue\na\t1".encode("utf-16"),
)
JSON = {
    name: kind
    for name, kind in KINDS.items()
    if type(kind).write_json is not Kind.write_json and kind.socket_kind is not None
}
# What breaks parsers of text: numbers at the ends of their ranges, brackets, signs, marks and white space.
TOKENS = [
    *(b"", b"0", b"-1", b"1e999", b"-1e3081", b"nan", b"inf", b"0x1", b"1_0", b"9" * 401, b"4294967296"),
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\r", b"\n\n", b"\t", b" " * 300, b",", b";", b'"'),
    *(b"[" * 200, b"{", b"]", b"<", b"</object>", b"<!DOCTYPE a>", b"&amp;", b"null", b"true", b"= ", b"%s"),
]


def read_json(data: bytes, kind: Kind) -> None:
    source = JsonSource(parse_json(data, finite=False, max_values=kind.max_json_values), "x.json")
    value = kind.read(source, CASE, None)
    # What is read can be handed over, and is sound there.
    packed = kind.pack(value)
    kind.unpack(decode(b"".join(encode(packed))), CASE)


def read_csv(data: bytes) -> None:
    table = read_table(memoryview(data), COLUMNS, max_rows=50)
    assert len(table.rows) <= 50
    for row in table.rows:
        assert len(row.cells) == len(COLUMNS)
        is_number(row.cells[1])


def spoilt(data: bytes, draw: random.Random) -> bytes:
    """Return data with one to four random changes."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(changed) + 1)
        stop = min(len(changed), start + draw.choice((1, 1, 2, 4, 8, 40)))
        change = draw.randrange(6)
        if change == 0 and start < len(changed):
            changed[start] ^= 1 << draw.randrange(8)
        elif change == 1:
            changed[start:stop] = b""
        elif change == 2:
            changed[start:stop] = draw.choice(TOKENS)
        elif change == 3:
            changed[start:start] = draw.choice(TOKENS)
        elif change == 4:
            changed[start:start] = changed[start:stop] * draw.choice((1, 2, 100))
        else:
            changed[start:stop] = draw.randbytes(stop - start)
    return bytes(changed)


def of_number(number):
    return pytest.mark.parametrize("number", [number, pytest.param(EXAMPLES, marks=pytest.mark.weekly)])


def assert_refused_or_read(read, seeds, number):
    for data in seeds:
        read(data)
    draw = random.Random(0)
    for _ in range(number):
        data = spoilt(draw.choice(seeds), draw)
        try:
            read(data)
        except (FormFault, ReadError):
            continue
        except Exception as error:
            raise AssertionError(data) from error


@of_number(20)
@pytest.mark.parametrize("name", JSON)
def test_spoilt_json_of_a_kind_is_refused_or_read(name, number):
    kind = JSON[name]
    seed = json.dumps(kind.write_json(kind.example(CASE, np.random.default_rng(0)))).encode()
    assert_refused_or_read(lambda data: read_json(data, kind), [seed], number)


@of_number(200)
def test_a_spoilt_table_is_refused_or_read(number):
    assert_refused_or_read(read_csv, TABLES, number)
