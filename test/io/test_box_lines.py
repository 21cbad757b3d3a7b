import pytest

from evaluation.io.box_files import BoxFormat, read_box_lines, read_plain_boxes, write_box_lines
from evaluation.io.pixels import Size

CLASSES = {"BE": 0, "HGD": 1}
PREDICTED, REFERENCE = BoxFormat(CLASSES, True), BoxFormat(CLASSES, False)
CLIPPED = BoxFormat(CLASSES, True, outside="clip")
SIZE = Size(100, 50)


def read(text, form=PREDICTED, most=1000):
    data = text if isinstance(text, bytes) else text.encode()
    return read_box_lines(memoryview(data), form, SIZE, most)


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
    lines = read(text)
    assert (lines.rows, lines.problems, lines.outside) == (rows, [], 0)


BAD = {
    "BE 0.5 1 2 3": "expected 6 fields (class confidence x1 y1 x2 y2), found 5",
    "BE 0.5 1 2 3 4 5": "expected 6 fields (class confidence x1 y1 x2 y2), found 7",
    "BE,0.5,1,2,3,4": "expected 6 fields (class confidence x1 y1 x2 y2), found 1",
    "polyp 0.5 1 2 3 4": 'expected a class (BE, HGD), found "polyp"',
    "hdg 0.5 1 2 3 4": 'expected a class (BE, HGD), found "hdg"',
    "BE 1.5 1 2 3 4": "expected confidence from 0 to 1, found 1.5",
    "BE -1e-9 1 2 3 4": "expected confidence from 0 to 1, found -1e-09",
    "BE nan 1 2 3 4": 'expected confidence a finite number, found "nan"',
    "BE inf 1 2 3 4": 'expected confidence a finite number, found "inf"',
    "BE 1e999 1 2 3 4": 'expected confidence a finite number, found "1e999"',
    "BE 0.5 1_0 2 30 4": 'expected x1 a finite number, found "1_0"',
    "BE 0.5 1 ٢ 3 4": 'expected y1 a finite number, found "٢"',
    "BE 0.5 1 2 0x3 4": 'expected x2 a finite number, found "0x3"',
    "BE 0.5 3 2 1 4": "expected x1 ≤ x2, found x1 = 3, x2 = 1",
    "BE 0.5 1 4 3 2": "expected y1 ≤ y2, found y1 = 4, y2 = 2",
    "BE 0.5 -1 2 3 4": "expected x1 from 0 to 100, found -1",
    "BE 0.5 1 2 100.5 4": "expected x2 from 0 to 100, found 100.5",
    "BE 0.5 1 2 3 51": "expected y2 from 0 to 50, found 51",
    "BE 0.5 1 2 3 1e400": 'expected y2 a finite number, found "1e400"',
    "BE\x0b0.5 1 2 3 4": "expected 6 fields (class confidence x1 y1 x2 y2), found 5",
    "BE\r0.5 1 2 3 4": "expected 6 fields (class confidence x1 y1 x2 y2), found 5",
    "BE\xa00.5 1 2 3 4": "expected 6 fields (class confidence x1 y1 x2 y2), found 5",
}


@pytest.mark.parametrize(("line", "message"), BAD.items(), ids=map(repr, BAD))
def test_a_malformed_line(line, message):
    lines = read(f"BE 0.5 1 2 3 4\n{line}\nHGD 0.5 1 2 3 4\n")
    assert [(problem.line, str(problem)) for problem in lines.problems] == [(2, message)]
    assert [row[0] for row in lines.rows] == [0, 1]


def test_every_fault_of_every_line_is_listed():
    lines = read("XX 2 -1 2 3 99\nBE 0.5 1 2\n\nBE x 5 y 1 4\n")
    assert [(problem.line, problem.expected) for problem in lines.problems] == [
        (1, "a class (BE, HGD)"),
        (1, "confidence from 0 to 1"),
        (1, "x1 from 0 to 100"),
        (1, "y2 from 0 to 50"),
        (2, "6 fields (class confidence x1 y1 x2 y2)"),
        (4, "confidence a finite number"),
        (4, "y1 a finite number"),
        (4, "x1 ≤ x2"),
    ]


def test_reference_lines_have_no_confidence():
    assert read("BE 1 2 3 4", REFERENCE).rows == [(0, 1.0, 1, 2, 3, 4)]
    assert [str(p) for p in read("BE 0.5 1 2 3 4", REFERENCE).problems] == [
        "expected 5 fields (class x1 y1 x2 y2), found 6"
    ]


def test_clipping_moves_corners_to_the_border_and_counts_boxes():
    lines = read("BE 0.5 -5 -1 120 60\nBE 0.5 1 2 3 4\nBE 0.5 1 2 101 4\nBE 0.5 150 2 160 4", CLIPPED)
    assert lines.rows == [
        (0, 0.5, 0, 0, 100, 50),
        (0, 0.5, 1, 2, 3, 4),
        (0, 0.5, 1, 2, 100, 4),
        (0, 0.5, 100, 2, 100, 4),
    ]
    assert (lines.outside, lines.problems) == (3, [])


def test_kept_corners_stay_where_they_are_and_boxes_are_counted():
    kept = BoxFormat(CLASSES, True, outside="keep")
    lines = read("BE 0.5 -0.605 -1 120 60\nBE 0.5 1 2 3 4", kept)
    assert lines.rows == [(0, 0.5, -0.605, -1, 120, 60), (0, 0.5, 1, 2, 3, 4)]
    assert (lines.outside, lines.problems) == (1, [])
    assert [str(problem) for problem in read("BE 0.5 -1e9 2 3 4", kept).problems] == [
        "expected x1 from -67108864 to 67108864, found -1000000000"
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("BE 0.5 9 2 -3 4", "x1 ≤ x2"),
        ("BE 1.5 -9 2 3 4", "confidence from 0 to 1"),
        ("XX 0.5 -9 2 3 4", "a class (BE, HGD)"),
    ],
)
def test_clipping_makes_nothing_else_right(line, expected):
    lines = read(line, CLIPPED)
    assert [problem.expected for problem in lines.problems] == [expected]
    assert lines.rows == []


def test_reading_ends_after_the_most_boxes():
    assert len(read("BE 0.5 1 2 3 4\n" * 3 + "\n\n", most=3).rows) == 3
    lines = read("BE 0.5 1 2 3 4\n" * 5, most=3)
    assert [(problem.line, str(problem)) for problem in lines.problems] == [
        (4, "expected at most 3 lines, found more")
    ]


PLAIN_LINES = ["BE 0.5 1 2 3 4", "HGD 1 0 0 100 50", "BE 1 0 0 9 9\r", "BE .5 1 2 3e1 4.", "", " "]
ODD_LINES = (
    "BE 2 1 2 3 4|BE 1 9 2 3 4|BE 0.5 1 2 3 101|no 1 1 2 3 4|BE 1 0 0 1e999 1|BE  1 0 0 1 1|BE 1 0 0 1|"
    "BE 1 0 0 1 1 BE|BE 1 0 0 1_0 1|BE nan 0 0 1 1|BE 1 0 0 1 \t1|BE 1 0 0 1 1\r\r|BE 1\x00 0 0 1 1|"
    "BE 1 0 0 1- 1|1 1 0 0 1 1|\x0b"
)


@pytest.mark.parametrize("outside", ["error", "clip", "keep"])
@pytest.mark.parametrize("line", [*PLAIN_LINES, *ODD_LINES.split("|")])
def test_several_files_are_read_as_each_is_or_not_at_all(line, outside):
    form = BoxFormat(CLASSES, True, outside=outside)
    for text in (line, f"{line}\n", f"HGD 1 0 0 100 50\r\n{line}"):
        texts = ["BE 0.5 1 2 3 4\n", text, ""]
        found = read_plain_boxes([one.encode() for one in texts], form, [SIZE] * 3, 2)
        if found is not None:
            one_by_one = [read(one, form, 2) for one in texts]
            assert [rows.tolist() for rows in found] == [list(map(list, lines.rows)) for lines in one_by_one]
            assert not any(lines.problems or lines.outside for lines in one_by_one)


@pytest.mark.parametrize("form", [PREDICTED, REFERENCE], ids=["predicted", "reference"])
def test_plain_files_are_read_together_each_in_its_own_size(form):
    confidence = " 0.5" if form.with_confidence else ""
    texts = [
        f"BE{confidence} 1 2 3 4\nHGD{confidence} 0 0 10 10".encode(),
        b"",
        f"BE{confidence} 5 5 20 30\n".encode(),
    ]
    found = read_plain_boxes(texts, form, [Size(10, 10), Size(1, 1), Size(20, 30)], 2)
    value = 0.5 if form.with_confidence else 1.0
    assert found is not None
    assert [rows.tolist() for rows in found] == [
        [[0, value, 1, 2, 3, 4], [1, value, 0, 0, 10, 10]],
        [],
        [[0, value, 5, 5, 20, 30]],
    ]
    assert read_plain_boxes(texts, form, [Size(9, 10), Size(1, 1), Size(20, 30)], 2) is None
    assert read_plain_boxes(texts, form, [Size(10, 10), Size(1, 1), Size(20, 30)], 1) is None


LAST = BoxFormat(CLASSES, with_confidence=False, class_last=True)


def test_lines_with_the_class_at_their_end():
    lines = read("1 2 3 4 HGD\n\n\t0 0 100  50 BE\r\n", LAST)
    assert (lines.rows, lines.problems) == ([(1, 1, 1, 2, 3, 4), (0, 1, 0, 0, 100, 50)], [])
    assert write_box_lines([list(row) for row in lines.rows], LAST) == b"1 2 3 4 HGD\n0 0 100 50 BE\n"
    # The way of many plain files at once is for the class at the start.
    assert read_plain_boxes([b"1 2 3 4 HGD\n"], LAST, [SIZE], 10) is None
