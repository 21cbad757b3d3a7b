"""Boxes of an image in the format of PASCAL VOC: an XML file with an element for each object.

Reading ends at a DTD, so that no entity is fetched or expanded.
"""

from __future__ import annotations

from xml.parsers import expat

from evaluation.core.fault import FaultKind, ReadError, shorten
from evaluation.io.box_lines import MAX_COORDINATE, BoxFormat, BoxLines, BoxRows, shortest
from evaluation.io.pixels import Size

_ROOT = "annotation"
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_OF_OBJECT: dict[tuple[str, ...], str] = {("name",): "name", **{("bndbox", name): name for name in _CORNERS}}
_OF_SIZE = (("width",), ("height",))
_MAX_DEPTH = 16


def read_voc_boxes(data: memoryview, form: BoxFormat, size: Size, max_boxes: int) -> BoxLines:
    """Return the boxes of a file: ``name`` and ``bndbox`` of every ``object`` of an ``annotation``.

    Coordinates are not changed, and every object counts, difficult ones too. Other elements are skipped;
    parts of an object are no objects. A size in the file must be the size of the image, unless that is
    unknown (`MAX_COORDINATE`). All problems of all objects are collected, none is raised; reading ends at
    malformed XML, at a DTD, and after ``max_boxes`` objects.
    """
    reader = _Reader(form, size, max_boxes)
    try:
        reader.read(bytes(data))
    except ReadError as error:
        reader.found.problems.append(error)
    return reader.found.lines


def write_voc_boxes(rows: list[list[float]], form: BoxFormat) -> bytes:
    """Return rows of class index, confidence, x1, y1, x2, y2 as a file that `read_voc_boxes` reads back.

    It has no place for the confidence.
    """
    names = {index: name for name, index in form.classes.items()}
    lines = [f"<{_ROOT}>"]
    for label, _, *corners in rows:
        values = zip(_CORNERS, map(shortest, corners), strict=True)
        box = "".join(f"<{name}>{value}</{name}>" for name, value in values)
        name = names[int(label)].replace("&", "&amp;").replace("<", "&lt;")
        lines.append(f"  <object><name>{name}</name><bndbox>{box}</bndbox></object>")
    return "\n".join([*lines, f"</{_ROOT}>", ""]).encode("ascii", "xmlcharrefreplace")


class _Reader:
    """Follows the elements of a document with a path that is never deep."""

    def __init__(self, form: BoxFormat, size: Size, max_boxes: int) -> None:
        self.found = BoxRows(form, size)
        self._size, self._max_boxes = size, max_boxes
        self._path: list[str] = []
        self._text: list[str] = []
        self._object: dict[str, str] = {}
        self._line = 1
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartDoctypeDeclHandler = self._refuse_dtd
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append

    def read(self, data: bytes) -> None:
        """Read a whole document. Raises `ReadError` where it cannot be read on."""
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            found = f"another file ({shorten(expat.ErrorString(error.code))})"
            raise ReadError(FaultKind.MALFORMED, "an XML document", found, error.lineno) from None
        except (LookupError, ValueError) as error:  # an encoding that does not exist, or is none of bytes
            found = f"another file ({shorten(str(error))})"
            raise ReadError(FaultKind.MALFORMED, "an XML document", found, self._here) from None

    @property
    def _here(self) -> int:
        return self._parser.CurrentLineNumber

    def _refuse_dtd(self, *_: object) -> None:
        raise ReadError(FaultKind.MALFORMED, "XML without a document type", "a DOCTYPE", self._here)

    def _start(self, name: str, _: object) -> None:
        if not self._path and name != _ROOT:
            expected, found = f"the element {_ROOT}", f"<{shorten(name)}>"
            raise ReadError(FaultKind.MALFORMED, expected, found, self._here)
        if len(self._path) >= _MAX_DEPTH:
            expected = f"at most {_MAX_DEPTH} elements in each other"
            raise ReadError(FaultKind.TOO_LARGE, expected, "more", self._here)
        self._path.append(name)
        self._text.clear()
        if self._path == [_ROOT, "object"]:
            excess = self.found.excess(self._here, self._max_boxes, "objects")
            if excess is not None:
                raise excess
            self._object, self._line = {}, self._here

    def _end(self, _: str) -> None:
        path, text = tuple(self._path[1:]), "".join(self._text).strip()
        self._text.clear()
        self._path.pop()
        if path[:1] == ("object",) and (name := _OF_OBJECT.get(path[1:])) is not None:
            if name in self._object:
                raise ReadError(FaultKind.MALFORMED, f"one {name} in an object", "several", self._here)
            self._object[name] = text
        elif path == ("object",):
            self._add()
        elif path[:1] == ("size",) and path[1:] in _OF_SIZE:
            self._check_size(path[1], text)

    def _add(self) -> None:
        missing = [name for name in _OF_OBJECT.values() if not self._object.get(name)]
        blanks = [name for name, text in self._object.items() if len(text.split()) > 1]
        if missing or blanks:
            for name in (*missing, *blanks):
                expected = f"{name} of an object, {'a class' if name == 'name' else 'a number'}"
                found = f'"{shorten(self._object[name])}"' if name in blanks else "none"
                self.found.problems.append(ReadError(FaultKind.MALFORMED, expected, found, self._line))
            return
        self.found.add(" ".join(self._object[name] for name in ("name", *_CORNERS)), self._line)

    def _check_size(self, name: str, text: str) -> None:
        true = self._size.width if name == "width" else self._size.height
        # A phase need not know the size, and some tools write 0 where they did not look at the image.
        if true != MAX_COORDINATE and text not in ("", "0", str(true)):
            expected, found = f"{name} {true}", f'"{shorten(text)}"'
            self.found.problems.append(ReadError(FaultKind.WRONG_SIZE, expected, found, self._here))
