"""PASCAL VOC's XML: as annotation tools write it, as somebody spoils it, and as somebody attacks with it."""

import time
import xml.etree.ElementTree as ElementTree

import pytest

from evaluation.io.box_files import BoxFormat, read_voc_boxes, write_voc_boxes
from evaluation.io.pixels import MAX_COORDINATE, Size

FORM = BoxFormat({"BE": 0, "polyp": 1}, with_confidence=False)
SIZE = Size(100, 50)
AS_WRITTEN_BY_A_TOOL = """<?xml version="1.0" encoding="UTF-8"?>
<annotation>
  <folder>images</folder><filename>E1.jpg</filename>
  <source><database>Unknown</database></source>
  <size><width>100</width><height>50</height><depth>3</depth></size>
  <segmented>0</segmented>
  <object>
    <name>polyp</name><pose>Unspecified</pose><truncated>0</truncated><difficult>1</difficult>
    <bndbox> <xmin>1</xmin><ymin>2</ymin> <xmax>30.5</xmax><ymax>4</ymax> </bndbox>
    <part><name>head</name>
      <bndbox><xmin>0</xmin><ymin>0</ymin><xmax>1</xmax><ymax>1</ymax></bndbox></part>
  </object>
  <object>
    <bndbox><ymax>50</ymax><xmax>100</xmax><ymin>0</ymin><xmin>0</xmin></bndbox><name> BE </name>
  </object>
</annotation>
"""


def read(text, form=FORM, size=SIZE, most=1000):
    data = text if isinstance(text, bytes) else text.encode()
    return read_voc_boxes(memoryview(data), form, size, most)


def of_objects(*objects, before=""):
    return f"<annotation>{before}{''.join(f'<object>{one}</object>' for one in objects)}</annotation>"


def box(*corners, name="BE"):
    values = zip(("xmin", "ymin", "xmax", "ymax"), corners, strict=True)
    inner = "".join(f"<{tag}>{value}</{tag}>" for tag, value in values)
    return f"<name>{name}</name><bndbox>{inner}</bndbox>"


def test_a_file_of_a_tool():
    found = read(AS_WRITTEN_BY_A_TOOL)
    assert (found.problems, found.outside) == ([], 0)
    assert found.rows == [(1, 1.0, 1, 2, 30.5, 4), (0, 1.0, 0, 0, 100, 50)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><!-- é -->{of_objects(box(1, 2, 3, 4))}'
    assert read(text.encode(encoding)).rows == [(0, 1.0, 1, 2, 3, 4)]


def test_a_size_that_is_not_known_or_not_looked_at():
    anything = Size(MAX_COORDINATE, MAX_COORDINATE)
    assert not read(AS_WRITTEN_BY_A_TOOL, size=anything).problems
    empty = "<size><width>0</width><height></height></size>"
    assert not read(of_objects(before=empty)).problems


NO_XML = "expected an XML document, found another file"
NO_CODEC = "expected XML in UTF-8, UTF-16, ISO-8859-1, US-ASCII, found encoding"
BAD = {
    of_objects(box(1, 2, 3, 4, name="cyst")): 'expected a class (BE, polyp), found "cyst"',
    of_objects(box(1, 2, 101, 4)): "expected x2 from 0 to 100, found 101",
    of_objects(box(3, 2, 1, 4)): "expected x1 ≤ x2, found x1 = 3, x2 = 1",
    of_objects(box(1, 2, "nan", 4)): 'expected x2 a finite number, found "nan"',
    of_objects(box(1, 2, "", 4)): "expected xmax of an object, a number, found none",
    of_objects(box(1, 2, "3 3", 4)): 'expected xmax of an object, a number, found "3 3"',
    of_objects("<name>BE</name>"): "expected xmin of an object, a number, found none",
    of_objects(box(1, 2, 3, 4, name="a b")): 'expected name of an object, a class, found "a b"',
    of_objects(box(1, 2, 3, 4) + "<name>BE</name>"): "expected one name in an object, found several",
    of_objects(before="<size><width>99</width></size>"): 'expected width 100, found "99"',
    "<annotations/>": "expected the element annotation, found <annotations>",
    "": f"{NO_XML} (no element found)",
    "BE 1 2 3 4": f"{NO_XML} (syntax error)",
    "<annotation>": f"{NO_XML} (no element found)",
    "<annotation>&foo;</annotation>": f"{NO_XML} (undefined entity)",
    "<annotation/><annotation/>": f"{NO_XML} (junk after document element)",
    '<?xml version="1.0" encoding="rot13"?><annotation/>': f'{NO_CODEC} "rot13"',
    '<?xml version="1.0" encoding="nonsense"?><annotation/>': f'{NO_CODEC} "nonsense"',
    '<?xml version="1.0" encoding="utf-7"?><annotation/>': f'{NO_CODEC} "utf-7"',
    b"<annotation>\xff</annotation>": f"{NO_XML} (not well-formed (invalid token))",
}


@pytest.mark.parametrize(("text", "message"), BAD.items(), ids=map(str, range(len(BAD))))
def test_bad_files(text, message):
    found = read(text)
    assert not found.rows
    assert found.problems
    assert str(found.problems[0]) == message


def test_faults_of_several_objects_with_their_lines():
    found = read(
        "<annotation>\n"
        + "\n".join(of_objects(box(1, 2, 3, 4, name="x"))[12:-13] for _ in "ab")
        + "\n</annotation>"
    )
    assert [problem.line for problem in found.problems] == [2, 3]


LAUGHS = (
    "<!DOCTYPE annotation ["
    + '<!ENTITY l0 "ha">'
    + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
)
DOCTYPES = {
    "billion laughs": LAUGHS + "]>" + of_objects(box(1, 2, 3, 4, name="&l9;")),
    "a file": '<!DOCTYPE annotation [<!ENTITY f SYSTEM "file:///etc/passwd">]><annotation>&f;</annotation>',
    "a DTD elsewhere": '<!DOCTYPE annotation SYSTEM "http://localhost:1/x.dtd">'
    + of_objects(box(1, 2, 3, 4)),
    "a parameter": '<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><annotation/>',
    "nothing else": "<!DOCTYPE annotation><annotation/>",
}


@pytest.mark.parametrize("text", DOCTYPES.values(), ids=DOCTYPES)
def test_a_document_type_is_refused_before_anything_in_it_is_read(text):
    before = time.process_time()
    found = read(text)
    assert time.process_time() - before < 1
    assert not found.rows
    assert str(found.problems[0]) == "expected XML without a document type, found a DOCTYPE"


def test_files_that_are_made_to_be_expensive():
    deep = "<annotation>" + "<a>" * 200_000
    assert str(read(deep).problems[0]) == "expected at most 16 elements in each other, found more"
    many = of_objects(*[box(1, 2, 3, 4)] * 11)
    found = read(many, most=10)
    assert len(found.rows) == 10
    assert [str(problem) for problem in found.problems] == ["expected at most 10 objects, found more"]
    spoilt = of_objects(*["<name>x</name>"] * 5000)
    assert len(read(spoilt, most=10_000).problems) < 1010
    long = of_objects(box(1, 2, 3, 4, name="x" * 1_000_000))
    assert len(str(read(long).problems[0])) < 500


def test_what_is_written_is_read_back_here_and_elsewhere():
    rows = [(0, 1.0, 1, 2, 30.5, 4), (1, 1.0, 0, 1e-7, 50, 49.9)]
    text = write_voc_boxes([list(one) for one in rows], FORM)
    assert read(text).rows == rows
    objects = ElementTree.fromstring(text).findall("object")
    assert [one.findtext("name") for one in objects] == ["BE", "polyp"]
    corners = [[float(value.text) for value in one.find("bndbox")] for one in objects]
    assert corners == [list(row[2:]) for row in rows]


def test_names_are_escaped():
    form = BoxFormat({"a<b&c": 0}, with_confidence=False)
    text = write_voc_boxes([[0, 1, 1, 2, 3, 4]], form)
    assert read(text, form).rows == [(0, 1, 1, 2, 3, 4)]
