"""JSON of a whole stack of images whose entries name their image, in place of a list in the stack's order."""

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
        "index": "a JSON list of objects with `index`, the image's place in the stack from 0, and `value`",
        "third_coordinate": "JSON of all images; the third coordinate of each entry is its image's place in "
        "the stack, from 0",
    }[by]


def divided(source: JsonSource, by: EntriesBy, names: Sequence[str]) -> list[Any]:
    """Return the value of each image of a stack, None for one without any.

    Lists of points or boxes have entries of any number for each image, others an object by name or a list of
    objects. Raises `FormFault` with every entry that names no image of the stack, or one that has its value.
    """
    content, known = source.value, {name_key(name): number for number, name in enumerate(names)}
    faults: list[Fault] = []

    def place_of(found: object, place: str) -> int | None:
        number: object = found
        if by == "name" and isinstance(found, str):
            match = _NUMBERED.fullmatch(found)
            number = known.get(name_key(found), int(match[1]) if match else None)
        elif by == "name" or isinstance(found, bool):
            number = None
        if isinstance(number, int | float) and number == number // 1 and 0 <= number < len(names):
            return int(number)
        if len(faults) < _MOST_FAULTS:
            expected = "the name of an image" if by == "name" else f"a number from 0 to {len(names) - 1}"
            shown = json_kind(found) if not isinstance(found, str) else "the name of none"
            faults.extend(fault_at(source.within(place), expected, shown, FaultKind.UNKNOWN).faults)
        return None

    key = next(
        (key for key in _LISTS if isinstance(content, dict) and isinstance(content.get(key), list)), None
    )
    if key is None and isinstance(content, dict) and known.keys().isdisjoint(map(name_key, content)):
        listed = [name for name, value in content.items() if isinstance(value, list)]
        if listed and not any(map(_NUMBERED.fullmatch, content)):
            expected = f"a list under one of the keys {', '.join(_LISTS)}"
            raise fault_at(source, expected, f"one under {shorten(listed[0])}", FaultKind.MALFORMED)
    values: list[Any] = [None] * len(names)
    if key is not None:
        lists: list[list[Any]] = [[] for _ in names]
        for position, entry in enumerate(content[key]):
            found = place_of(_mark(entry, by), f"{key}[{position}]")
            if found is not None:
                lists[found].append(entry)
        values = [{**content, key: entries} for entries in lists]
    else:
        for place, mark, value in _single_values(source, by):
            found = place_of(mark, place)
            if found is not None and values[found] is not None:
                faults += fault_at(source.within(place), "one value of an image", "a second one").faults
            elif found is not None:
                values[found] = value
    FormFault.raise_all(faults)
    return values


def joined(values: Sequence[Any], by: EntriesBy, names: Sequence[str]) -> Any:
    """Return the JSON of a stack, which `divided` divides; a missing value is None."""
    if by == "order":
        return list(values)
    present = [(number, value) for number, value in enumerate(values) if value is not None]
    if not any(isinstance(value, dict) and set(_LISTS) & set(value) for _, value in present):
        if by == "name":
            return {names[number]: value for number, value in present}
        return [{"index": number, "value": value} for number, value in present]
    whole = dict(present[0][1])
    key = next(key for key in _LISTS if key in whole)
    whole[key] = [_marked(entry, by, number, names) for number, value in present for entry in value[key]]
    return whole


def _single_values(source: JsonSource, by: EntriesBy) -> list[tuple[str, object, Any]]:
    """Return the place, the name or number of the image, and the value of each entry. Raises `FormFault`."""
    content = source.value
    if by == "name" and isinstance(content, dict):
        return [("", name, value) for name, value in content.items()]
    if isinstance(content, list) and all(
        isinstance(entry, dict) and entry.keys() == {by, "value"} for entry in content
    ):
        return [(f"[{number}]", entry[by], entry["value"]) for number, entry in enumerate(content)]
    raise fault_at(source, in_words(by), json_kind(content), FaultKind.MALFORMED)


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
