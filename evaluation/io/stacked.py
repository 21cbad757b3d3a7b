"""JSON of the points or boxes of a whole stack of images, whose entries name their image."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.core.fault import Fault, FaultKind, FormFault, shorten
from evaluation.core.form import name_key
from evaluation.core.sources import EntriesBy, JsonSource, fault_at
from evaluation.io.json_files import json_kind

_LISTS = ("points", "boxes", "polygons")
_MOST_FAULTS = 100
_NUMBERED = re.compile(r"image_([0-9]{1,9})")


def in_words(by: EntriesBy) -> str:
    """Return how an entry of the JSON of a stack tells its image, for descriptions."""
    return {
        "order": "a JSON list with one value for each image, in their order",
        "name": "JSON of all images; each entry has as `name` the name of its image, or `image_<i>`",
        "third_coordinate": "JSON of all images; the third coordinate of each entry is its image's place in "
        "the stack, from 0",
    }[by]


def divided(source: JsonSource, by: EntriesBy, names: Sequence[str]) -> list[Any]:
    """Return the points or boxes of each image of a stack.

    Raises `FormFault` for content without a list of them, and with every entry that names no image.
    """
    content, known = source.value, {name_key(name): number for number, name in enumerate(names)}
    items = content.items() if isinstance(content, dict) else ()
    lists = [key for key, value in items if isinstance(value, list)]
    key = next((key for key in _LISTS if key in lists), None)
    if key is None:
        expected = f"a list under one of the keys {', '.join(_LISTS)}"
        found = f"one under {shorten(lists[0])}" if lists else json_kind(content)
        raise fault_at(source, expected, found, FaultKind.MALFORMED)
    faults: list[Fault] = []
    entries: list[list[Any]] = [[] for _ in names]
    for position, entry in enumerate(content[key]):
        mark = number = _mark(entry, by)
        if isinstance(mark, str) and by == "name":
            match = _NUMBERED.fullmatch(mark)
            number = known.get(name_key(mark), int(match[1]) if match else None)
        elif by == "name" or isinstance(mark, bool):
            number = None
        if isinstance(number, int | float) and number == number // 1 and 0 <= number < len(names):
            entries[int(number)].append(entry)
        elif len(faults) < _MOST_FAULTS:
            expected = "the name of an image" if by == "name" else f"a number from 0 to {len(names) - 1}"
            shown = json_kind(mark) if not isinstance(mark, str) else "the name of none"
            place = source.within(f"{key}[{position}]")
            faults += fault_at(place, expected, shown, FaultKind.UNKNOWN).faults
    FormFault.raise_all(faults)
    return [{**content, key: of_image} for of_image in entries]


def joined(values: Sequence[Any], by: EntriesBy, names: Sequence[str]) -> Any:
    """Return the JSON of a stack, which `divided` divides; a missing value is None."""
    if by == "order":
        return list(values)
    present = [(number, value) for number, value in enumerate(values) if value is not None]
    if not present:
        return None
    whole = dict(present[0][1])
    key = next(key for key in _LISTS if key in whole)
    whole[key] = [_marked(entry, by, number, names) for number, value in present for entry in value[key]]
    return whole


def _mark(entry: object, by: EntriesBy) -> object:
    """Return what names the image of a point or a box, None where nothing does."""
    if not isinstance(entry, dict):
        return None
    if by != "third_coordinate":
        return entry.get(by)
    corners = entry.get("corners", [entry.get("point")])
    triples = (
        [one for one in corners if isinstance(one, list) and len(one) == 3]
        if isinstance(corners, list)
        else []
    )
    marks = [triple[2] for triple in triples]
    return marks[0] if marks and all(mark == marks[0] for mark in marks) else None


def _marked(entry: Mapping[str, Any], by: EntriesBy, number: int, names: Sequence[str]) -> dict[str, Any]:
    if by == "name":
        return {**entry, "name": names[number]}
    if "point" in entry:
        return {**entry, "point": [*entry["point"][:2], number]}
    return {**entry, "corners": [[*corner[:2], number] for corner in entry["corners"]]}
