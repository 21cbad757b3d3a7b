"""Tables that an organiser wrote: what is read, and every fault at once."""

import math

import pytest

from evaluation.core.fault import PhaseError
from evaluation.phase.cases import organiser_table
from test.faults import faulted


@pytest.fixture
def table(tmp_path):
    def write(content: str | bytes):
        path = tmp_path / "t.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


def problems_of(path, *arguments, **options) -> list[str]:
    with pytest.raises(PhaseError) as caught, organiser_table(path, *arguments, **options):
        pass
    return list(caught.value.problems)


def test_cells_are_stripped_and_blank_rows_left_out(table):
    with organiser_table(table('\ufeffa, b\n 1 ,"x, y"\n\n , \n,2\n'), ("b",)) as found:
        assert found.columns == ("a", "b")
        assert [(row.line, row.cells) for row in found.rows] == [
            (2, {"a": "1", "b": "x, y"}),
            (5, {"a": "", "b": "2"}),
        ]


def test_numbers(table):
    with organiser_table(table("a,b\n,5\n-1e-3,1\n"), ("a", "b")) as found:
        first, second = found.rows
        assert math.isnan(first.number("a"))
        assert second.number("a") == -0.001
        assert (first.whole("b", 1, 5), second.whole("b", 1, 5)) == (5, 1)


def test_a_file_that_is_no_table_and_one_without_rows(table, tmp_path):
    assert problems_of(tmp_path / "none.csv", ("a",)) == [f"none.csv: not found in {tmp_path}"]
    with organiser_table(table("a\n"), ("a",)) as found:
        assert found.rows == ()
    (problem,) = problems_of(table(b'a\n"1\n'), ("a",))
    assert "t.csv: cannot be read: " in problem
    assert problems_of(table("a\nu\nMünster\n".encode("latin-1")), ("a",)) == [
        "t.csv, line 3: expected text in UTF-8, found other bytes (in a spreadsheet, save it as CSV UTF-8)"
    ]


def test_decimal_commas_are_read_where_semicolons_delimit(table):
    """A comma in any other cell, or between other delimiters, stays."""
    cells = ["0,5", "-1,25 0 2", ",5", "1,2,3", "a,b", "1,"]
    with organiser_table(table("a;b\n" + "".join(f"{cell};x\n" for cell in cells)), ("a",)) as found:
        assert [row.cells["a"] for row in found.rows] == ["0.5", "-1.25 0 2", ".5", "1,2,3", "a,b", "1,"]
    with organiser_table(table("a\tb\n0,5\tx\n"), ("a",)) as found:
        assert found.rows[0].cells["a"] == "0,5"


def test_wanted_columns_are_told_in_one_fault_with_their_use(table):
    path = table("Agee,id\n1,2\n")
    with organiser_table(path, (), wanted={"age": "a subgroup", "size": ""}) as found:
        assert found.missing == "t.csv: columns 'age' (a subgroup; did you mean 'Agee'?), 'size' are missing"
    assert problems_of(path, ("name",), wanted={"age": ""}) == [
        "t.csv: columns 'name' (did you mean 'id'?), 'age' (did you mean 'Agee'?) are missing"
    ]


@pytest.mark.parametrize(
    ("cell", "method"),
    [("x", "number"), ("nan", "number"), *((cell, "whole") for cell in ("0", "1.0", "²", "9" * 5000))],
)
def test_faults_of_cells(table, cell, method):
    path = table(f"a\n{cell}\n")

    def read() -> None:
        with organiser_table(path, ("a",)) as found:
            (row,) = found.rows
            row.number("a") if method == "number" else row.whole("a", 1, 5)

    with faulted(PhaseError, "t.csv, line 2, a") as caught:
        read()
    assert len(caught.value.problems) == 1


def test_a_file_of_other_software(table):
    for delimiter in ",;\t":
        lines = (delimiter.join(cells) for cells in (("EYE ID", "grader", "Other"), "xyz"))
        with organiser_table(table("\ufeff" + "\n".join(lines) + "\n"), ("Eye ID",), ("Grader",)) as found:
            assert found.rows[0].cells == {"Eye ID": "x", "Grader": "y", "Other": "z"}
