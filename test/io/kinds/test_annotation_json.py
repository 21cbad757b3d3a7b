"""The platform's JSON of points and boxes: what its schema allows, and nothing else."""

import json

import pytest

from evaluation.core.fault import FormFault
from evaluation.core.sources import JsonSource
from evaluation.io.json_files import parse_json
from evaluation.io.kinds.annotation_json import (
    POINTS,
    read_annotation,
    read_annotations,
    written,
    written_annotation,
)

POINT = '{"type": "Point", "point": [1, 2.5, -3], "version": {"major": 1, "minor": 0}}'
MANY = '{"type": "Multiple points", "points": [{"point": [1, 2.5, -3]}], "version": {"major": 1, "minor": 0}}'


def source(text, **where):
    return JsonSource(parse_json(text.encode(), finite=False), "p.json", **where)


def one(text):
    return read_annotation(source(text), POINTS)


def many(text, of=POINTS, most=9):
    found = list(read_annotations(source(text), of, most))
    faults = [str(fault) for entry in found if isinstance(entry, FormFault) for fault in entry.faults]
    return faults or [(entry.coordinates, entry.name, entry.probability) for entry in found]


def test_one_and_many():
    assert one(POINT).coordinates == ((1, 2.5, -3),)
    assert many(MANY) == [(((1, 2.5, -3),), None, None)]
    assert many(MANY.replace("[{", '[{"name": "a", "type": "Point", "probability": 1, ')) == [
        (((1, 2.5, -3),), "a", 1)
    ]
    assert one(POINT.replace('"major": 1, "minor": 0', f'"major": 1{"0" * 350}, "minor": 2.0')).name is None
    assert many(MANY.replace('{"type"', '{"name": "all of them", "type"')) == many(MANY)


def typed(text):
    """Return the point with something before its type."""
    return POINT.replace('"type"', f'{text}, "type"')


REFUSED = [
    ("[]", "", "a list of 0"),
    (POINT.replace('"type": "Point", ', ""), "", "none"),
    (POINT.replace('"Point"', '"point"'), "type", "the text 'point'"),
    (POINT.replace('"Point"', "7"), "type", "the number 7"),
    (typed('"label": 1'), "", "the key 'label'"),
    (POINT.replace("2.5, ", ""), "point", "a list of 2"),
    (POINT.replace("2.5", "true"), "point", "true"),
    (POINT.replace("2.5", "NaN"), "point", "a number that is not finite"),
    (POINT.replace("2.5", "1e999"), "point", "a number that is not finite"),
    (POINT.replace('"minor": 0', '"minor": -1'), "version", "an object"),
    (POINT.replace('"minor": 0', '"minor": 0.5'), "version", "an object"),
    (POINT.replace('"minor": 0', '"minor": true'), "version", "an object"),
    (POINT.replace(', "minor": 0', ""), "version", "an object"),
    (POINT.replace('{"major": 1, "minor": 0}', "1"), "version", "the number 1"),
    (typed('"name": 3'), "name", "the number 3"),
    (typed('"probability": 1.5'), "probability", "1.5"),
    (typed('"probability": null'), "probability", "null"),
]


@pytest.mark.parametrize(("text", "place", "found"), REFUSED)
def test_what_the_schema_does_not_allow(text, place, found):
    with pytest.raises(FormFault) as caught:
        one(text)
    assert [(fault.field or "", fault.found) for fault in caught.value.faults] == [(place, found)]


def test_entries_have_faults_of_their_own():
    text = MANY.replace("[{", '[null, {"point": {}}, {"point": [1, 2, 3], "corners": []}, {')
    assert many(text) == [
        "p.json, points[0]: expected an object with point, found null",
        "p.json, points[1], point: expected a list [x, y, z], found an object",
        "p.json, points[2]: expected only the keys point, name, type, probability, found the key 'corners'",
    ]


def test_what_is_written_is_of_the_schema():
    entry = written_annotation([(1, 2.5, -3)], POINTS, None, None)
    assert written([entry], POINTS) == json.loads(MANY)
    assert written([entry], POINTS, single=True) == json.loads(POINT)
    named = written_annotation([(1, 2, 3)], POINTS, "a", 0.5)
    assert named == {"name": "a", "point": [1, 2, 3], "probability": 0.5}
