"""Files of another format than a table, JSON, several channels or a zip are named, once each."""

import gzip
import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from evaluation.core.fault import FaultKind, FormFault, ReadError
from evaluation.core.sources import JsonSource
from evaluation.io.json_files import parse_json
from evaluation.io.pixels import Size
from evaluation.io.stacked import divided
from evaluation.io.tables import read_table
from evaluation.io.tiff import read_channels
from test.faults import faulted


def zip_of(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "a")
    return file.getvalue()


def saved(save) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


OTHERS = {
    "a spreadsheet": zip_of("[Content_Types].xml", "xl/workbook.xml"),
    "a zip archive": zip_of("a.csv"),
    "a gzip archive": gzip.compress(b"name,value\n"),
    "an array of NumPy": saved(lambda file: np.save(file, np.zeros(3))),
    "a JPEG image (lossy: its values are not exact)": saved(
        lambda file: Image.new("L", (8, 6)).save(file, "JPEG")
    ),
    "a BMP image": saved(lambda file: Image.new("L", (8, 6)).save(file, "BMP")),
    "a web page": b"<!DOCTYPE html><html></html>",
    "a PDF document": b"%PDF-1.7\n" + bytes(range(256)) * 50,
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_format_is_named_once(name):
    data = memoryview(OTHERS[name])
    (problem,) = read_table(data, ("name", "value"), max_rows=9).problems
    assert (problem.kind, problem.found) == (FaultKind.UNREADABLE, name)
    with faulted(ReadError, name, kind=FaultKind.UNREADABLE):
        parse_json(data, max_values=9)
    with faulted(ReadError, name, kind=FaultKind.UNREADABLE):
        read_channels(data, 5, Size(8, 6))


def test_json_is_no_table_and_a_table_may_begin_like_a_bitmap():
    (problem,) = read_table(memoryview(b'[{"name": "a"}]'), ("name",), max_rows=9).problems
    assert problem.found == "a JSON file"
    table = read_table(memoryview(b"BMI,name\n" + b"21.5,a\n" * 9), ("name", "BMI"), max_rows=9)
    assert (len(table.rows), table.problems) == (9, ())


def test_a_header_that_is_no_text_is_the_only_fault():
    data = "name,größe\na,1\nb,2\n".encode("latin-1")
    table = read_table(memoryview(data), ("name", "value"), max_rows=9)
    assert [(problem.line, problem.found) for problem in table.problems] == [(1, "other bytes")]
    assert table.rows == ()


def test_a_list_of_a_stack_under_another_key():
    source = JsonSource({"version": {}, "dots": [{"name": "a", "point": [1, 2, 0]}]}, "x.json")
    with faulted(FormFault, "x.json", "one under dots", kind=FaultKind.MALFORMED):
        divided(source, "name", ("a", "b"))
