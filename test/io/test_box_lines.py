"""Boxes in lines of text: files that are read, every fault of every line, and many plain files at once."""

import pytest

from evaluation.core.fault import FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.boxes import BoxList, read_plain_boxes
from evaluation.io.kinds.objects import Attributes
from evaluation.io.pixels import Size
from test.io.memory import InMemory

CLASSES = ("BE", "HGD")
PREDICTED, REFERENCE = BoxList(attributes=Attributes(CLASSES, True)), BoxList(attributes=Attributes(CLASSES))
CLIPPED = BoxList(attributes=Attributes(CLASSES, True), outside="clip")
SIZE, CASE = Size(100, 50), CaseForm("a", 100, 50)


def read(text, kind=PREDICTED):
    data = text if isinstance(text, bytes) else text.encode()
    return kind.read(FileSource("a.txt"), CASE, InMemory({"a.txt": data}))


def rows_of(text, kind=PREDICTED):
    return list(map(tuple, read(text, kind).rows.tolist()))


def faults_of(text, kind=PREDICTED):
    with pytest.raises(FormFault) as caught:
        read(text, kind)
    return [(fault.line, fault.expected, fault.found) for fault in caught.value.faults]


GOOD = {
    "integers": ("BE 0.5 1 2 3 4\n", [(0, 0.5, 1, 2, 3, 4)]),
    "decimals": ("HGD .25 1.5 2. 3e1 4.0\n", [(1, 0.25, 1.5, 2, 30, 4)]),
    "no final line end": ("BE 1 0 0 100 50", [(0, 1, 0, 0, 100, 50)]),
    "Windows line ends": ("BE 1 0 0 1 1\r\nBE 0 0 0 1 1\r\n", [(0, 1, 0, 0, 1, 1), (0, 0, 0, 0, 1, 1)]),
    "tabs and further spaces": ("\tBE  0.5\t1 2 3 4 \n", [(0, 0.5, 1, 2, 3, 4)]),
    "blank lines": ("\n \nBE 0.5 1 2 3 4\n\n", [(0, 0.5, 1, 2, 3, 4)]),
    "byte order mark": (b"\xef\xbb\xbfBE 0.5 1 2 3 4", [(0, 0.5, 1, 2, 3, 4)]),
    "a point": ("BE 0.5 7 7 7 7", [(0, 0.5, 7, 7, 7, 7)]),
    "empty": ("", []),
    "tiny confidence": ("BE 9.9e-05 1 2 3 4", [(0, 9.9e-05, 1, 2, 3, 4)]),
}


@pytest.mark.parametrize(("text", "rows"), GOOD.values(), ids=GOOD)
def test_good_files(text, rows):
    assert (rows_of(text), read(text).outside) == (rows, 0)


BAD = {
    "BE 0.5 1 2 3": "expected 6 fields (class confidence x1 y1 x2 y2), found 5",
    "BE,0.5,1,2,3,4": "expected 6 fields (class confidence x1 y1 x2 y2), found 1",
    "polyp 0.5 1 2 3 4": 'expected a class (BE, HGD), found "polyp"',
    "BE 1.5 1 2 3 4": "expected a number from 0 to 1, found 1.5",
    "BE nan 1 2 3 4": 'expected a number from 0 to 1, found "nan"',
    "BE 0.5 1_0 2 30 4": 'expected a finite number, found "1_0"',
    "BE 0.5 1 ٢ 3 4": 'expected a finite number, found "٢"',
    "BE 0.5 3 2 1 4": "expected x1 ≤ x2, found x1 = 3, x2 = 1",
    "BE 0.5 -1 2 3 4": "expected x1 from 0 to 100, found x1 = -1",
    "BE 0.5 1 2 100.5 4": "expected x2 from 0 to 100, found x2 = 100.5",
    "BE\x0b0.5 1 2 3 4": "expected 6 fields (class confidence x1 y1 x2 y2), found 5",
    "BE\xa00.5 1 2 3 4": "expected 6 fields (class confidence x1 y1 x2 y2), found 5",
}


@pytest.mark.parametrize(("line", "message"), BAD.items(), ids=map(repr, BAD))
def test_a_malformed_line(line, message):
    ((number, expected, found),) = faults_of(f"BE 0.5 1 2 3 4\n{line}\nHGD 0.5 1 2 3 4\n")
    assert (number, f"expected {expected}, found {found}") == (2, message)


def test_every_fault_of_every_line_is_listed():
    assert [fault[:2] for fault in faults_of("XX 2 -1 2 3 99\nBE 0.5 1 2\n\nBE x 5 2 1 4\n")] == [
        (1, "x1 from 0 to 100"),
        (1, "y2 from 0 to 50"),
        (1, "a class (BE, HGD)"),
        (1, "a number from 0 to 1"),
        (2, "6 fields (class confidence x1 y1 x2 y2)"),
        (4, "x1 ≤ x2"),
        (4, "a number from 0 to 1"),
    ]


def test_reference_lines_have_no_confidence():
    assert rows_of("BE 1 2 3 4", REFERENCE) == [(0, 1.0, 1, 2, 3, 4)]
    assert faults_of("BE 0.5 1 2 3 4", REFERENCE) == [(1, "5 fields (class x1 y1 x2 y2)", "6")]


def test_an_only_class_is_named_all_the_same():
    only = BoxList(attributes=Attributes(("BE",)))
    assert rows_of("BE 1 2 3 4", only) == [(0, 1.0, 1, 2, 3, 4)]
    assert faults_of("HGD 1 2 3 4", only) == [(1, "a class (BE)", '"HGD"')]


def test_clipping_moves_corners_to_the_border_and_counts_boxes():
    text = "BE 0.5 -5 -1 120 60\nBE 0.5 1 2 3 4\nBE 0.5 1 2 101 4\nBE 0.5 150 2 160 4"
    assert rows_of(text, CLIPPED) == [
        (0, 0.5, 0, 0, 100, 50),
        (0, 0.5, 1, 2, 3, 4),
        (0, 0.5, 1, 2, 100, 4),
        (0, 0.5, 100, 2, 100, 4),
    ]
    assert read(text, CLIPPED).outside == 3


def test_kept_corners_stay_where_they_are_and_boxes_are_counted():
    kept = BoxList(attributes=Attributes(CLASSES, True), outside="keep")
    text = "BE 0.5 -0.605 -1 120 60\nBE 0.5 1 2 3 4"
    assert rows_of(text, kept) == [(0, 0.5, -0.605, -1, 120, 60), (0, 0.5, 1, 2, 3, 4)]
    assert read(text, kept).outside == 1
    bounds = "x1 from -67108864 to 67108864"
    assert faults_of("BE 0.5 -1e9 2 3 4", kept) == [(1, bounds, "x1 = -1000000000")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("BE 0.5 9 2 -3 4", "x1 ≤ x2"),
        ("BE 1.5 -9 2 3 4", "a number from 0 to 1"),
        ("XX 0.5 -9 2 3 4", "a class (BE, HGD)"),
    ],
)
def test_clipping_makes_nothing_else_right(line, expected):
    assert [fault[1] for fault in faults_of(line, CLIPPED)] == [expected]


def test_reading_ends_after_the_most_boxes():
    few = BoxList(attributes=Attributes(CLASSES, True), most=3)
    assert len(rows_of("BE 0.5 1 2 3 4\n" * 3 + "\n\n", few)) == 3
    assert faults_of("BE 0.5 1 2 3 4\n" * 5, few) == [(4, "at most 3 lines", "more")]


PLAIN_LINES = ["BE 0.5 1 2 3 4", "HGD 1 0 0 100 50", "BE 1 0 0 9 9\r", "BE .5 1 2 3e1 4.", "", " "]
ODD_LINES = (
    "BE 2 1 2 3 4|BE 1 9 2 3 4|BE 0.5 1 2 3 101|no 1 1 2 3 4|BE 1 0 0 1e999 1|BE  1 0 0 1 1|BE 1 0 0 1|"
    "BE 1 0 0 1 1 BE|BE 1 0 0 1_0 1|BE nan 0 0 1 1|BE 1 0 0 1 \t1|BE 1 0 0 1 1\r\r|BE 1\x00 0 0 1 1|"
    "BE 1 0 0 1- 1|1 1 0 0 1 1|\x0b"
)


@pytest.mark.parametrize("line", [*PLAIN_LINES, *ODD_LINES.split("|")])
def test_several_files_are_read_as_each_is_or_not_at_all(line):
    for text in (line, f"{line}\n", f"HGD 1 0 0 100 50\r\n{line}"):
        texts = ["BE 0.5 1 2 3 4\n", text, ""]
        found = read_plain_boxes([one.encode() for one in texts], CLASSES, True, [SIZE] * 3, 2)
        if found is not None:
            assert [rows.tolist() for rows in found] == [list(map(list, rows_of(one))) for one in texts]


@pytest.mark.parametrize("confidence", [True, False])
def test_plain_files_are_read_together_each_in_its_own_size(confidence):
    lines = ("BE 0.5 1 2 3 4\nHGD 0.5 0 0 10 10", "", "BE 0.5 5 5 20 30\n")
    texts = [(line if confidence else line.replace(" 0.5", "")).encode() for line in lines]
    found = read_plain_boxes(texts, CLASSES, confidence, [Size(10, 10), Size(1, 1), Size(20, 30)], 2)
    value = 0.5 if confidence else 1.0
    assert found is not None
    assert [rows.tolist() for rows in found] == [
        [[0, value, 1, 2, 3, 4], [1, value, 0, 0, 10, 10]],
        [],
        [[0, value, 5, 5, 20, 30]],
    ]
    for sizes, most in (((9, 10), 2), ((10, 10), 1)):
        assert read_plain_boxes(texts, CLASSES, confidence, [Size(*sizes), *[Size(20, 30)] * 2], most) is None


def test_lines_with_the_class_at_their_end():
    last = BoxList(attributes=Attributes(CLASSES), class_last=True)
    value = read("1 2 3 4 HGD\n\n\t0 0 100  50 BE\r\n", last)
    assert value.rows.tolist() == [[1, 1, 1, 2, 3, 4], [0, 1, 0, 0, 100, 50]]
    assert last.write_file(value, ".txt") == b"1 2 3 4 HGD\n0 0 100 50 BE\n"
