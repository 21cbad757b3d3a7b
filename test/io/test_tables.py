import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.tables import is_number, parse_number, read_table, surplus_columns
from test.faults import faulted

COLUMNS = ("FileName", "Glaucoma Risk")
V1, V2 = ("V0001.jpg", "0.9"), ("V0002.jpg", "-1e-3")


def read(text, columns=COLUMNS, max_rows=100):
    return read_table(
        memoryview(text if isinstance(text, bytes) else text.encode()), columns, max_rows=max_rows
    )


def summary(table):
    return [(problem.kind, problem.line, problem.found) for problem in table.problems]


CONTROL = "a control character"
QUOTED = (FaultKind.MALFORMED, 4, "a quotation mark out of place or an overlong field")
PLAIN = "FileName,Glaucoma Risk\nV0001.jpg,0.9\nV0002.jpg,-1e-3\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (PLAIN, [2, 3]),
        (PLAIN.rstrip(), [2, 3]),
        (PLAIN.encode("utf-8-sig"), [2, 3]),
        (PLAIN.encode("utf-16"), [2, 3]),
        (b"\xfe\xff" + PLAIN.encode("utf-16-be"), [2, 3]),
        (PLAIN.replace("\n", "\r\n"), [2, 3]),
        (PLAIN.replace("\n", "\r"), [2, 3]),
        (PLAIN.replace(",", ";"), [2, 3]),
        (PLAIN.replace(",", "\t"), [2, 3]),
        (PLAIN.replace("\n", "\n\n"), [3, 5]),
        ("\n\n , \n" + PLAIN, [5, 6]),
        (PLAIN.replace("FileName,Glaucoma Risk", ' file_name , "GLAUCOMA_risk"'), [2, 3]),
        ("Glaucoma Risk,id,filename\n0.9,1,V0001.jpg\n-1e-3,2,V0002.jpg", [2, 3]),
        ("V0001.jpg,0.9\nV0002.jpg,-1e-3", [1, 2]),
        ('FileName,Comment,Glaucoma Risk\nV0001.jpg,"one, ""two""\nthree",0.9\nV0002.jpg,,-1e-3,,', [2, 4]),
    ],
    ids=range(15),
)
def test_reads_the_same_two_rows(text, lines):
    table = read(text)
    assert table.problems == ()
    assert [row.cells for row in table.rows] == [V1, V2]
    assert [row.line for row in table.rows] == lines


@pytest.mark.parametrize(
    ("text", "problems", "rows"),
    [
        ("", [(FaultKind.UNREADABLE, None, "no row")], []),
        ("\n \n", [(FaultKind.UNREADABLE, None, "no row")], []),
        ("FileName,Risk\na,1", [(FaultKind.MISSING, 1, '"FileName", "Risk"')], []),
        ("FileName,filename,Glaucoma Risk\na,a,1", [(FaultKind.DUPLICATE, 1, "2 times")], []),
        (
            PLAIN + "V3\nV4,1\nV5,1,2\n",
            [(FaultKind.MALFORMED, 4, "1"), (FaultKind.MALFORMED, 6, "3")],
            [2, 3, 5],
        ),
        ("a.jpg,0,5\nb.jpg,1\n", [(FaultKind.MALFORMED, 1, "3")], [2]),
        (PLAIN + "V\xff,1\nV4,1\n", [], [2, 3, 4, 5]),
        (PLAIN.encode() + b"V\xff,1\nV4,1\n", [(FaultKind.UNREADABLE, 4, "other bytes")], [2, 3, 5]),
        (PLAIN.encode() + b"V\xed\xa0\x80,1\n", [(FaultKind.UNREADABLE, 4, "other bytes")], [2, 3]),
        (PLAIN + "V\0,1\nV4,1\n", [(FaultKind.UNREADABLE, 4, "a NUL character")], [2, 3, 5]),
        (PLAIN + "V4,1\x1f\nV4,\x0b1\n", [(FaultKind.UNREADABLE, n, CONTROL) for n in (4, 5)], [2, 3]),
        (PLAIN.replace("Risk", "Risk\x1c"), [(FaultKind.UNREADABLE, 1, CONTROL)], []),
        (PLAIN.encode("utf-16") + b"\x00\xd8,\0", [(FaultKind.UNREADABLE, 4, "other bytes")], [2, 3]),
        (PLAIN + '"V3,1\nV4,1\n', [QUOTED], [2, 3]),
        (PLAIN + '"V"3,1\nV4,1\n', [QUOTED], [2, 3]),
        (PLAIN + "V" * 200_000 + ",1\n", [QUOTED], [2, 3]),
    ],
    ids=range(16),
)
def test_every_problem_is_named(text, problems, rows):
    table = read(text)
    assert summary(table) == problems
    assert [row.line for row in table.rows] == rows


@pytest.mark.parametrize("row", [b"V,1\n", b"V\n", b"\xff,1\n", b"V,1,2,3\n"])
def test_a_million_rows_end_at_the_limit(row):
    table = read(b"FileName,Glaucoma Risk\n" + row * 1_000_000, max_rows=3)
    assert (table.problems[-1].kind, table.problems[-1].line) == (FaultKind.TOO_LARGE, 5)
    assert len(table.rows) + len(table.problems) <= 5


def test_cells_are_text_and_nothing_else():
    cells = ("=cmd|' /C calc'!A0", "{0.__class__}%s")
    assert read(f"FileName,Glaucoma Risk\n{cells[0]},{cells[1]}\n").rows[0].cells == cells


def test_one_column_alone():
    assert [row.cells for row in read("0.5\n1\n", ("Risk",)).rows] == [("0.5",), ("1",)]
    assert summary(read("Score\n1\n", ("Risk",))) == [(FaultKind.MISSING, 1, '"Score"')]


@pytest.mark.parametrize("header", ["Name,Score", "image,p_normal,p_amd", "Name;Y;X", "Name", "x,,y"])
def test_a_header_without_any_known_name_is_never_read_by_position(header):
    table = read(f"{header}\nV0001.jpg,0.9,0.8\n")
    assert table.rows == ()
    assert {problem.kind for problem in table.problems} == {FaultKind.MISSING}
    assert [problem.expected for problem in table.problems] == [f'column "{column}"' for column in COLUMNS]


def test_a_first_row_is_data_by_its_key_or_its_number():
    text = "V1,late\nV2,early\n"
    assert read(text).rows == ()
    known = read_table(memoryview(text.encode()), COLUMNS, max_rows=9, is_key=lambda cell: cell == "V1")
    assert [row.cells for row in known.rows] == [("V1", "late"), ("V2", "early")]
    assert known.header == ()


@pytest.mark.parametrize(
    ("row", "hinted"),
    [("V1,0,5", True), ("V1,-1,25", True), ("V1,0.5,1", False), ("V1,0,5,7", False), ("V1", False)],
)
def test_decimal_commas_that_split_a_number_are_hinted_at(row, hinted):
    (problem,) = read(f"FileName,Glaucoma Risk\n{row}\n").problems
    assert problem.hint == ("use a decimal point" if hinted else None)


def test_columns_of_a_header_that_nobody_reads():
    table = read("id,Glaucoma_risk,FILENAME,,n\n1,0.9,V1,,2\n")
    assert table.header == ("id", "Glaucoma_risk", "FILENAME", "", "n")
    assert surplus_columns(table.header, COLUMNS) == ["id", "n"]


@pytest.mark.parametrize("mark", ["sep=,", "SEP=;", "sep=\t"])
def test_a_line_for_spreadsheets_is_named(mark):
    table = read(f"{mark}\n{PLAIN}")
    (problem,) = table.problems
    assert (problem.kind, problem.line) == (FaultKind.MALFORMED, 1)
    assert problem.hint == "only spreadsheets understand this line: remove it"
    assert table.rows == ()


NUMBERS = {"1": 1, "+1": 1, "-.5": -0.5, "3.": 3, " 2e-3 ": 0.002, "1E+2": 100, "007": 7, "1e-999": 0}


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_reads_decimal_numbers(text, value):
    assert parse_number(text) == value
    assert is_number(text)


NO_NUMBERS = "nan|inf|-Infinity|1e999|1_000|１|٣|0x1p3|1,5|.|e5|--1|{0}|=1|1 2|1\n|1\0"


@pytest.mark.parametrize("text", [*NO_NUMBERS.split("|"), "9" * 101])
def test_refuses_everything_else(text):
    with pytest.raises(ReadError) as caught:
        parse_number(text)
    error = caught.value
    assert (error.kind, error.expected, error.found) == (FaultKind.MALFORMED, "a finite number", f'"{text}"')
    assert not is_number(text)


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_cell_is_nothing(text):
    with faulted(ReadError, "nothing", kind=FaultKind.MALFORMED):
        parse_number(text)
