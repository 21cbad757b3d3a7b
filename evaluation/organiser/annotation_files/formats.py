"""Reads COCO JSON, YOLO text, Pascal VOC, LabelMe and CVAT into one list of annotations.

All coordinates are in pixels, from the upper left corner of the image, as the files give them.
Sources: the format pages of COCO (cocodataset.org), Ultralytics (YOLO), LabelMe and CVAT for images 1.1.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeVar
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import PhaseError
from evaluation.io.pixels import Size

Shape = Literal["box", "point", "polygon", "run lengths", "tag"]
Floats = NDArray[np.float64]
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class ImageAnnotation:
    """One thing that is annotated in an image; ``place`` says where it stands, for messages.

    parts: of a box x1, y1, x2, y2, of a point x, y, of polygons the corners (n, 2) of each. runs: the lengths
    of background and foreground in turn, column by column, as in COCO; a text is their compressed form. A tag
    is of the whole image.
    """

    image: str
    label: str
    shape: Shape
    place: str
    parts: tuple[Floats, ...] = ()
    runs: str | tuple[int, ...] = ()
    confidence: float | None = None
    is_crowd: bool = False


@dataclass
class Annotations:
    """The annotations of a file or a folder; ``images`` are all that it names, with sizes if it has them.

    names_empty: whether the format names images without any annotation, too.
    """

    format: str
    images: dict[str, Size | None] = field(default_factory=dict)
    found: list[ImageAnnotation] = field(default_factory=list)
    names_empty: bool = True


def read_annotations(
    path: Path, names: Path | None = None, sizes: Mapping[str, Size] | None = None
) -> Annotations:
    """Return the annotations of a file, or of the files of one format in a folder.

    ``names``: the COCO file that results of COCO refer to. ``sizes``: of the images by the name of their file
    without extension, which YOLO needs. Raises `PhaseError` with every fault.
    """
    faults: list[str] = []
    try:
        read = (
            _read_folder(path, names, sizes or {}, faults)
            if path.is_dir()
            else _read_file(path, names, faults)
        )
    except (OSError, UnicodeDecodeError) as error:
        raise PhaseError(f"{path}: cannot be read: {error}") from None
    PhaseError.raise_all(faults)
    return read


def _read_file(path: Path, names: Path | None, faults: list[str]) -> Annotations:
    if path.suffix.lower() == ".xml":
        return _of_xml([path], faults)
    content = _json(path)
    if isinstance(content, list):
        if names is None:
            raise PhaseError(
                f"{path.name}: results of COCO: --coco FILE names the file of their images and classes"
            )
        return _of_coco(path.name, {**_json(names), "annotations": content}, faults, "COCO results")
    if isinstance(content, dict) and "annotations" in content:
        return _of_coco(path.name, content, faults, "COCO")
    if isinstance(content, dict) and "shapes" in content:
        return _of_labelme([path], faults)
    raise PhaseError(f"{path.name}: {_EXPECTED}, found JSON of another kind")


_EXPECTED = "expected COCO, LabelMe, Pascal VOC, CVAT, or a folder of YOLO"


def _read_folder(
    folder: Path, names: Path | None, sizes: Mapping[str, Size], faults: list[str]
) -> Annotations:
    by_extension = {
        extension: sorted(folder.rglob(f"*{extension}")) for extension in (".json", ".xml", ".txt")
    }
    lists = [path for path in by_extension[".txt"] if path.name in _LISTS_OF_CLASSES]
    by_extension[".txt"] = [path for path in by_extension[".txt"] if path not in lists]
    present = [extension for extension, paths in by_extension.items() if paths]
    if len(present) != 1:
        places = [
            f"{one} in {', '.join(sorted({f'{path.parent}/' for path in by_extension[one]})[:_MOST_FOLDERS])}"
            for one in present
        ]
        found = " and ".join(places) or "none of .json, .xml and .txt"
        raise PhaseError(f"{folder}: expected files of one format, found {found}; {_WHICH_FOLDER}")
    paths = by_extension[present[0]]
    if present == [".json"] and len(paths) == 1:
        return _read_file(paths[0], names, faults)
    if present == [".json"]:
        return _of_labelme(paths, faults)
    return _of_xml(paths, faults) if present == [".xml"] else _of_yolo(folder, paths, sizes, faults)


_MOST_FOLDERS = 3
_WHICH_FOLDER = "name the folder of the annotations alone, which exports call Annotations or labels"


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        raise PhaseError(f"{path.name}: {_EXPECTED}, found no JSON") from None


def _collect(
    read: Annotations,
    faults: list[str],
    items: Iterable[tuple[str, _Item]],
    parse: Callable[[_Item, str], Iterator[ImageAnnotation]],
) -> None:
    """Add the annotations of items by their places; a fault of one is noted, and the others are read."""
    for place, item in items:
        try:
            read.found += parse(item, place)
        except PhaseError as error:
            faults.append(f"{place}: {error}")
        except (KeyError, TypeError, ValueError, IndexError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else "a malformed one"
            faults.append(f"{place}: expected an annotation, found {what}")


def _numbers(values: Any, count: int | None = None) -> Floats:
    found = np.array(values, dtype=np.float64)
    if found.ndim != 1 or not np.isfinite(found).all() or (count is not None and len(found) != count):
        raise ValueError(values)
    return found


def _corners(values: Any) -> Floats:
    found = _numbers(np.ravel(values))
    if len(found) < 6 or len(found) % 2:
        raise PhaseError(f"expected a polygon of at least three corners, found {len(found)} numbers")
    return found.reshape(-1, 2)


# --- COCO: one JSON for all images, and the list of results of a detector ---


def _of_coco(file: str, content: Mapping[str, Any], faults: list[str], name: str) -> Annotations:
    images: dict[Any, str] = {}
    labels: dict[Any, str] = {}
    read = Annotations(name)
    try:
        for image in content["images"]:
            images[image["id"]] = str(image["file_name"])
            told = Size(int(image["width"]), int(image["height"])) if "width" in image else None
            read.images[str(image["file_name"])] = told
        for category in content["categories"]:
            labels[category["id"]] = str(category["name"])
    except (KeyError, TypeError, ValueError) as error:
        raise PhaseError(f"{file}: expected images and categories of COCO, found none: {error}") from None

    def of_one(item: Any, place: str) -> Iterator[ImageAnnotation]:
        for key, names in (("image_id", images), ("category_id", labels)):
            if item[key] not in names:
                raise PhaseError(f"{key}: expected one of the file's, found {item[key]}")
        score = item.get("score")
        confidence = None if score is None else float(_numbers([score])[0])
        image, label = images[item["image_id"]], labels[item["category_id"]]
        one = ImageAnnotation(image, label, "box", place, (), (), confidence, bool(item.get("iscrowd")))
        segmentation = item.get("segmentation")
        if isinstance(segmentation, dict):
            height, width = map(int, segmentation["size"])
            if (known := read.images[image]) is not None and known != Size(width, height):
                raise PhaseError(f"segmentation: expected {known}, found {Size(width, height)}")
            counts = segmentation["counts"]
            runs = counts if isinstance(counts, str) else tuple(map(int, counts))
            read.images[image] = Size(width, height)
            yield replace(one, shape="run lengths", runs=runs)
        elif segmentation:
            yield replace(one, shape="polygon", parts=tuple(map(_corners, segmentation)))
        if "bbox" in item:
            x, y, width, height = _numbers(item["bbox"], 4).tolist()
            if width < 0 or height < 0:
                raise PhaseError(f"bbox: expected a width and a height, found {width:g} and {height:g}")
            yield replace(one, parts=(np.array([x, y, x + width, y + height]),))
        elif not segmentation and "keypoints" in item:
            raise PhaseError("expected a bbox or a segmentation, found keypoints alone")

    items = ((f"{file}, annotations[{number}]", item) for number, item in enumerate(content["annotations"]))
    _collect(read, faults, items, of_one)
    return read


# --- YOLO: a text for each image, in shares of its size ---

_LISTS_OF_CLASSES = ("classes.txt", "obj.names", "labels.txt")


def _of_yolo(
    folder: Path, paths: Sequence[Path], sizes: Mapping[str, Size], faults: list[str]
) -> Annotations:
    classes, read = _classes_of(folder), Annotations("YOLO", names_empty=False)
    for path in paths:
        if (size := sizes.get(path.stem)) is None:
            place = path.relative_to(folder)
            hint = f"; {_WHICH_FOLDER}" if len({one.parent for one in paths}) > 1 else ""
            expected = "a case with width and height in cases.csv, or its image"
            faults.append(f"{place}: expected {expected}, found none{hint}")
            continue
        read.images[path.stem] = size
        lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        items = ((f"{path.name}, line {number}", line) for number, line in lines if line.strip())
        _collect(read, faults, items, partial(_of_yolo_line, image=path.stem, size=size, classes=classes))
    return read


def _of_yolo_line(
    line: str, place: str, *, image: str, size: Size, classes: Sequence[str]
) -> Iterator[ImageAnnotation]:
    number, *cells = line.split()
    values = _numbers([float(cell) for cell in cells])
    if not number.isdigit() or int(number) >= len(classes):
        raise PhaseError(f"expected a class from 0 to {len(classes) - 1}, found {number}")
    scale = np.array([size.width, size.height])
    label = classes[int(number)]
    if len(values) in (4, 5):
        centre, half = values[:2] * scale, values[2:4] * scale / 2
        confidence = float(values[4]) if len(values) == 5 else None
        corners = np.concatenate([centre - half, centre + half])
        yield ImageAnnotation(image, label, "box", place, (corners,), confidence=confidence)
    else:
        yield ImageAnnotation(image, label, "polygon", place, (_corners(values) * scale,))


def _classes_of(folder: Path) -> list[str]:
    """Return the names of the classes from `classes.txt`, or from the list in `data.yaml`."""
    for name in _LISTS_OF_CLASSES:
        for path in (folder / name, folder.parent / name):
            if path.is_file():
                return [
                    line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
                ]
    for path in (*folder.glob("*.y*ml"), *folder.parent.glob("*.y*ml")):
        _, *found = re.split(r"^names:(?: *#.*)?", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        text = found[0] if found else ""
        flow = re.match(r"\s*\[(.*?)\]", text, re.DOTALL)
        block = re.match(r"(?:\s*\n[ ]*(?:-|\d+:)[^\n]*)*", text)
        lines = flow[1].split(",") if flow else block[0].splitlines() if block else []
        names = [re.sub(r"^(-|\d+:)", "", line.strip()).strip().strip("'\"") for line in lines]
        if any(names):
            return [name for name in names if name]
    raise PhaseError(
        f"{folder}: expected the names of the classes in classes.txt or data.yaml, found neither"
    )


# --- LabelMe: a JSON for each image ---


def _of_labelme(paths: Sequence[Path], faults: list[str]) -> Annotations:
    read = Annotations("LabelMe")
    for path in paths:
        content = _json(path)
        try:
            shapes = content["shapes"]
            name = PurePosixPath(str(content.get("imagePath") or path.stem).replace("\\", "/")).name
            width, height = content.get("imageWidth"), content.get("imageHeight")
            read.images[name] = Size(int(width), int(height)) if width and height else None
        except (KeyError, TypeError, ValueError, AttributeError):
            is_coco = isinstance(content, list | dict) and "annotations" in content
            found = "COCO: name this file in place of its folder" if is_coco else "other JSON"
            faults.append(f"{path.name}: expected the shapes of LabelMe, found {found}")
            continue

        items = ((f"{path.name}, shapes[{number}]", item) for number, item in enumerate(shapes))
        _collect(read, faults, items, partial(_of_labelme_shape, image=name))
    return read


def _of_labelme_shape(item: Any, place: str, *, image: str) -> Iterator[ImageAnnotation]:
    corners = np.array(item["points"], dtype=np.float64).reshape(-1, 2)
    _numbers(corners.ravel())
    label, kind = str(item["label"]), item.get("shape_type") or "polygon"
    if kind == "polygon":
        yield ImageAnnotation(image, label, "polygon", place, (_corners(corners),))
    elif kind == "rectangle":
        box = np.concatenate([corners.min(axis=0), corners.max(axis=0)])
        yield ImageAnnotation(image, label, "box", place, (box,))
    elif kind == "circle":
        (centre, edge) = corners
        turn = np.linspace(0, 2 * math.pi, 64, endpoint=False)
        around = centre + np.hypot(*(edge - centre)) * np.column_stack([np.cos(turn), np.sin(turn)])
        yield ImageAnnotation(image, label, "polygon", place, (around,))
    elif kind in ("point", "points"):
        for corner in corners:
            yield ImageAnnotation(image, label, "point", place, (corner,))
    else:
        raise PhaseError(f"expected a polygon, rectangle, circle or point, found {kind}")


# --- Pascal VOC, an XML for each image, and CVAT for images, one for all ---


def _of_xml(paths: Sequence[Path], faults: list[str]) -> Annotations:
    read = Annotations("Pascal VOC")
    for path in paths:
        data = path.read_bytes()
        try:
            if b"<!" in data.replace(b"<!--", b"") or b"\0" in data:
                raise ElementTree.ParseError("a document type, which these formats have not")
            root = ElementTree.fromstring(data)  # noqa: S314  # without entities, as checked
        except ElementTree.ParseError as error:
            faults.append(f"{path.name}: {_EXPECTED}, found damaged XML: {error}")
            continue
        if root.tag == "annotations":
            read.format = "CVAT"
            if tracks := len(root.findall("track")):
                faults.append(f"{path.name}: expected CVAT for images, found {tracks} tracks of a video")
            for image in root.findall("image"):
                name = PurePosixPath(image.get("name", "")).name
                read.images[name] = Size(int(image.get("width", 0)), int(image.get("height", 0)))
                place = f"{path.name}, image {name}"
                items = (
                    (f"{place}, {item.tag} {number}", item) for number, item in enumerate(image, start=1)
                )
                _collect(read, faults, items, partial(_of_cvat, image=name, size=read.images[name]))
        elif root.tag == "annotation":
            name = PurePosixPath((root.findtext("filename") or path.stem).replace("\\", "/")).name
            width, height = (root.findtext(f"size/{side}") for side in ("width", "height"))
            read.images[name] = Size(int(width), int(height)) if width and height and int(width) else None
            objects = enumerate(root.findall("object"))
            items = ((f"{path.name}, objects[{number}]", item) for number, item in objects)
            _collect(read, faults, items, partial(_of_voc, image=name))
        else:
            faults.append(f"{path.name}: {_EXPECTED}, found XML of {root.tag}")
    return read


def _of_voc(item: ElementTree.Element, place: str, *, image: str) -> Iterator[ImageAnnotation]:
    sides = [float(item.findtext(f"bndbox/{side}") or "nan") for side in ("xmin", "ymin", "xmax", "ymax")]
    if not (label := item.findtext("name")):
        raise KeyError("name")
    yield ImageAnnotation(image, label, "box", place, (_numbers(sides, 4),))


def _of_cvat(
    item: ElementTree.Element, place: str, *, image: str, size: Size | None
) -> Iterator[ImageAnnotation]:
    label = item.get("label", "")
    if item.tag == "box":
        if float(item.get("rotation", 0)):
            raise PhaseError("expected a box parallel to the axes, found a rotated one")
        sides = [float(item.attrib[side]) for side in ("xtl", "ytl", "xbr", "ybr")]
        yield ImageAnnotation(image, label, "box", place, (_numbers(sides, 4),))
    elif item.tag in ("polygon", "points"):
        corners = np.array([pair.split(",") for pair in item.attrib["points"].split(";")], dtype=np.float64)
        if item.tag == "polygon":
            yield ImageAnnotation(image, label, "polygon", place, (_corners(corners),))
        else:
            for corner in corners:
                yield ImageAnnotation(image, label, "point", place, (_numbers(corner, 2),))
    elif item.tag == "mask" and size is not None:
        lengths = [int(length) for length in item.attrib["rle"].split(",")]
        left, top, width, height = (int(item.attrib[key]) for key in ("left", "top", "width", "height"))
        values = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths).reshape(height, width)
        whole = np.zeros((size.height, size.width), np.bool_)
        whole[top : top + height, left : left + width] = values
        # Column by column, and from the background on, as COCO has them.
        flat = whole.ravel(order="F")
        changes = np.flatnonzero(np.diff(flat, prepend=False))
        runs = np.diff(np.concatenate([[0], changes, [flat.size]])).tolist()
        yield ImageAnnotation(image, label, "run lengths", place, runs=tuple(runs))
    elif item.tag == "tag":
        yield ImageAnnotation(image, label, "tag", place)
    else:
        raise PhaseError(f"expected a box, polygon, mask or points, found {item.tag}")
