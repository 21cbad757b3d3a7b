"""Tables on terminals of any width: no number is cut, and no line is longer than the terminal."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from evaluation.cli.console import fitted, text_table

WORDS = st.text("abcdefgh_.", min_size=1, max_size=30)
NUMBERS = st.floats(-1e9, 1e9).map(lambda value: f"{value:,.4f}")


def printed(table, width):
    file = io.StringIO()
    console = Console(file=file, width=width)
    for part in fitted(table, width):
        console.print(part)
    return file.getvalue()


@st.composite
def tables(draw):
    texts, numbers, notes = (draw(st.lists(WORDS, min_size=low, max_size=4)) for low in (1, 0, 0))
    row = st.tuples(*[WORDS] * len(texts), *[NUMBERS] * len(numbers), *[WORDS] * len(notes))
    return texts, numbers, draw(st.lists(row, min_size=1, max_size=3)), notes


@given(tables(), st.integers(40, 160))
def test_every_number_is_whole_and_no_line_too_long(given, width):
    texts, numbers, rows, notes = given
    shown = printed(text_table(None, texts, numbers, rows, notes), width)
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    for row in rows:
        for number in row[len(texts) : len(texts) + len(numbers)]:
            assert number.replace("-", "−") in shown


@pytest.mark.parametrize("width", [50, 80, 200])
def test_texts_are_folded_and_stand_beside_every_number(width):
    rows = [("a name of some words", *(f"{number}.25" for number in range(100, 112)))]
    shown = printed(text_table("Title", ["name"], [f"column {i}" for i in range(12)], rows), width)
    assert shown.count("Title") == 1
    parts = shown.count("┏")
    assert parts > 1 or width == 200
    assert "".join(shown.split()).count("words") == parts


def test_one_text_is_whole_up_to_half_of_the_line():
    name, numbers = "tumour.lesion_wise_hausdorff_95_enhancing"[:40], [f"column {i}" for i in range(6)]
    table = text_table(None, ["metric"], numbers, [(name, *["1234.25"] * 6)])
    assert printed(table, 80).count(name) == 2
    assert name not in printed(table, 60)


def test_where_not_even_one_number_fits_rows_follow_each_other():
    texts = [f"text{position}" for position in range(6)]
    rows = [(*[f"word{position}-and-more" for position in range(6)], "1234567.25")]
    shown = printed(text_table(None, texts, ["figure"], rows), 60)
    assert "figure: 1234567.25" in shown
    assert all(f"text{position}: word{position}-and-more" in shown for position in range(6))
