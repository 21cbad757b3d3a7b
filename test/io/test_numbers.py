import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.numbers import is_number, parse_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1.0),
        ("+1", 1.0),
        ("-.5", -0.5),
        ("3.", 3.0),
        (" 2e-3 ", 0.002),
        ("1E+2", 100.0),
        ("007", 7.0),
        ("1e-999", 0.0),
    ],
)
def test_reads_decimal_numbers(text, value):
    assert parse_number(text) == value
    assert is_number(text)


@pytest.mark.parametrize(
    "text",
    [
        "nan",
        "inf",
        "-Infinity",
        "1e999",
        "1_000",
        "１",
        "٣",
        "0x1p3",
        "1,5",
        "1 2",
        ".",
        "e5",
        "--1",
        "1\n",
        "1\0",
        "{0}",
        "=1",
        "9" * 101,
    ],
)
def test_refuses_everything_else(text):
    with pytest.raises(ReadError) as caught:
        parse_number(text)
    error = caught.value
    assert (error.kind, error.expected, error.found) == (FaultKind.MALFORMED, "a finite number", f'"{text}"')
    assert not is_number(text)


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_cell_is_nothing(text):
    with pytest.raises(ReadError, match="found nothing"):
        parse_number(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_reads_what_python_writes(value):
    assert parse_number(repr(value)) == value
    assert math.copysign(1, parse_number(repr(value))) == math.copysign(1, value)
