"""Tables that we write: no cell does anything in a spreadsheet, and no name in LaTeX."""

import csv

import pytest

from evaluation.organiser.output import csv_bytes, escaped, plain_cell, text_of_cell, write_rows

FORMULAS = ["=cmd|' /C calc'!A0", "+1", "-2+3", "@SUM(1)", "\tcell", "\n=1", "'=1", "''+1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_like_a_formula_is_text_in_every_table(text, tmp_path):
    write_rows(tmp_path / "rows.csv", ["team", text], [[text, -1.5]])
    (tmp_path / "records.csv").write_bytes(csv_bytes([{"team": text, text: -1.5}]))
    for name in ("rows.csv", "records.csv"):
        with (tmp_path / name).open(newline="", encoding="utf-8") as file:
            assert list(csv.reader(file)) == [["team", f"'{text}"], [f"'{text}", "-1.5"]]


@pytest.mark.parametrize("text", [*FORMULAS, "a team", "", "'s-Hertogenbosch", "'", "it's =1"])
def test_a_report_reads_the_names_that_were_written(text):
    assert text_of_cell(plain_cell(text)) == text
    assert (plain_cell(text) == text) == (text not in FORMULAS)


def test_no_name_begins_another_row():
    assert csv_bytes([{"team": "a\r=1", "value": 1}]) == b"team,value\na =1,1\n"


def test_numbers_stay_numbers():
    assert [plain_cell(value) for value in (-1.5, -2, None, True)] == [-1.5, -2, None, True]


@pytest.mark.parametrize(
    ("text", "shown"), [("[2cm] x", "{[}2cm] x"), ("*", "{*}"), ("a\x1b\tb\0\n", "a  b  "), ("=1+1", "=1+1")]
)
def test_a_name_is_no_option_of_the_line_before_it(text, shown):
    assert escaped(text) == shown
