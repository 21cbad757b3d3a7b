"""The platform's JSON of annotated points, polygons and axis-parallel boxes: no keys beyond its schema's."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.core.fault import Fault, FaultKind, FormFault, in_digits
from evaluation.core.sources import JsonSource, fault_at
from evaluation.io.json_files import json_kind
from evaluation.io.kinds.number import faults_of_keys, number_of_json

MAX_FAULTS = 1000
"""The number of faults of a value after which its rest is not read."""

_VERSION = {"major": 1, "minor": 0}
_AXES = 3
_FEWEST = 3  # vertices of a polygon

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class AnnotationType:
    """A type of the platform: its names for one and for many, and the keys of coordinates and list.

    ``triples`` is how many times three coordinates one has, 0 for three times or more. ``beside``: keys that
    the platform adds, which are not looked at.
    """

    one: str
    many: str
    key: str
    list_key: str
    triples: int
    beside: tuple[str, ...] = ()


POINTS = AnnotationType("Point", "Multiple points", "point", "points", 1)
BOXES = AnnotationType("2D bounding box", "Multiple 2D bounding boxes", "corners", "boxes", 4)
POLYGONS = AnnotationType(
    "Polygon", "Multiple polygons", "path_points", "polygons", 0, ("seed_point", "sub_type", "groups")
)


@dataclass(frozen=True, slots=True)
class Annotation:
    """One point or box: its coordinates x, y, z, and name and probability where it has them."""

    coordinates: tuple[Triple, ...]
    name: str | None
    probability: float | None
    source: JsonSource


def read_annotation(source: JsonSource, of: AnnotationType) -> Annotation:
    """Return the value of a socket of one annotation. Raises `FormFault` with all its faults."""
    _require_keys(source, of.one, ("type", of.key, "version"), ("name", "probability"))
    return _annotation(source, source.value, of)


def read_annotations(source: JsonSource, of: AnnotationType, most: int) -> Iterator[Annotation | FormFault]:
    """Yield every annotation of a socket of many, or its faults.

    After `MAX_FAULTS` faulty ones the rest is not read. Raises `FormFault` if the whole is malformed, and
    for more than ``most`` annotations.
    """
    _require_keys(source, of.many, ("type", of.list_key, "version"), ("name",))
    entries = source.value[of.list_key]
    if not isinstance(entries, list):
        found = json_kind(entries)
        raise fault_at(source.within(of.list_key), "a list", found, FaultKind.MALFORMED)
    if len(entries) > most:
        expected = f"at most {most} {of.list_key}"
        raise fault_at(source.within(of.list_key), expected, str(len(entries)), FaultKind.TOO_LARGE)
    faulty = 0
    for position, entry in enumerate(entries):
        place = replace(source.within(f"{of.list_key}[{position}]"), value=entry)
        try:
            _require_keys(place, of.one, (of.key,), ("name", "type", "probability", *of.beside))
            yield _annotation(place, entry, of)
        except FormFault as fault:
            yield fault
            faulty += 1
            if faulty == MAX_FAULTS:
                return


def written_annotation(
    coordinates: Sequence[Sequence[float]], of: AnnotationType, name: str | None, probability: float | None
) -> dict[str, Any]:
    """Return one annotation of a list of many."""
    triples = [[float(number) for number in triple] for triple in coordinates]
    entry: dict[str, Any] = {of.key: triples[0] if of.triples == 1 else triples}
    if of.beside:
        entry |= {"seed_point": triples[0], "sub_type": "", "groups": []}
    if name is not None:
        entry = {"name": name, **entry}
    return entry if probability is None else {**entry, "probability": float(probability)}


def written(entries: Sequence[Mapping[str, Any]], of: AnnotationType, single: bool = False) -> dict[str, Any]:
    """Return the value of a socket of many annotations, or with ``single`` of the one."""
    content = {"type": of.one, **entries[0]} if single else {"type": of.many, of.list_key: list(entries)}
    return {**content, "version": dict(_VERSION)}


def _annotation(source: JsonSource, value: Mapping[str, Any], of: AnnotationType) -> Annotation:
    raw = value[of.key]
    faults: list[Fault] = []
    triples: list[Triple] = []
    fits = isinstance(raw, list) and (len(raw) == of.triples or (not of.triples and len(raw) >= _FEWEST))
    if of.triples != 1 and not fits:
        expected = f"a list of {of.triples or f'at least {_FEWEST}'} corners [x, y, z]"
        faults += fault_at(source.within(of.key), expected, json_kind(raw), FaultKind.MALFORMED).faults
    else:
        for triple in [raw] if of.triples == 1 else raw:
            try:
                triples.append(_triple(source.within(of.key), triple))
            except FormFault as fault:
                faults += fault.faults
    name, probability = value.get("name"), value.get("probability")
    if "name" in value and not isinstance(name, str):
        faults += fault_at(source.within("name"), "a text", json_kind(name), FaultKind.MALFORMED).faults
    if "probability" in value:
        place = source.within("probability")
        try:
            probability = number_of_json(place, probability, "a number from 0 to 1")
            if not 0 <= probability <= 1:
                raise fault_at(place, "a number from 0 to 1", in_digits(probability, 0, 1, digits=12))
        except FormFault as fault:
            faults += fault.faults
    FormFault.raise_all(faults)
    if of is BOXES and not _are_axis_parallel(triples):
        raise fault_at(source, "corners of an axis-parallel box in one plane", "others")
    return Annotation(tuple(triples), name, probability, source)


def mean_of_vertices(vertices: Sequence[Triple]) -> Triple:
    """Return the mean of the vertices of a polygon, or a single point as it is."""
    if len(vertices) == 1:
        return vertices[0]
    x, y, z = (math.fsum(of_axis) / len(vertices) for of_axis in zip(*vertices, strict=True))
    return x, y, z


def _triple(source: JsonSource, value: object) -> Triple:
    if not isinstance(value, list) or len(value) != _AXES:
        raise fault_at(source, "a list [x, y, z]", json_kind(value), FaultKind.MALFORMED)
    x, y, z = (number_of_json(source, number, "a finite number") for number in value)
    return x, y, z


def _require_keys(source: JsonSource, name: str, required: Sequence[str], optional: Sequence[str]) -> None:
    """Raise `FormFault` with all faults of an object's keys, its type and, where it has one, its version."""
    value = source.value
    if not isinstance(value, dict):
        expected = f"an object with {', '.join(required)}"
        raise fault_at(source, expected, json_kind(value), FaultKind.MALFORMED)
    faults = faults_of_keys(source, required, optional)
    if "version" in required and not _is_version(value.get("version", _VERSION)):
        expected, found = 'a version, for example {"major": 1, "minor": 0}', json_kind(value["version"])
        faults += fault_at(source.within("version"), expected, found, FaultKind.MALFORMED).faults
    if value.get("type", name) != name:
        place, found = source.within("type"), json_kind(value["type"])
        faults += fault_at(place, f'"{name}"', found, FaultKind.MALFORMED).faults
    FormFault.raise_all(faults)


def _is_version(value: object) -> bool:
    """Return whether a value holds the two whole numbers of a version; 1.0 is whole, true is no number."""
    if not isinstance(value, dict) or value.keys() != _VERSION.keys():
        return False
    return all(type(number) in (int, float) and number >= 0 and number % 1 == 0 for number in value.values())


_TOLERANCE = 1e-6
"""Largest rounding error of the corners of an axis-parallel box."""


def _are_axis_parallel(corners: Sequence[Triple]) -> bool:
    """Return whether four corners in any order form an axis-parallel box in one plane."""
    xs, ys, zs = zip(*corners, strict=True)
    x1, x2, y1, y2 = min(xs), max(xs), min(ys), max(ys)
    if max(zs) - min(zs) > _TOLERANCE:
        return False
    for x, y in ((x1, y1), (x1, y2), (x2, y1), (x2, y2)):
        if not any(abs(found[0] - x) <= _TOLERANCE and abs(found[1] - y) <= _TOLERANCE for found in corners):
            return False
    return True
