"""Hostile and odd lists of points: a table of candidates (LUNA16), and an algorithm's JSON (MIDOG 2021)."""

from collections.abc import Callable
from typing import Any

from .algorithm import converted, data, linked, output
from .submissions import AS_BEFORE, Row

TABLE = "predictions.csv"
POINTS = "job-001/output/mitotic-figures.json"
SCAN = b"1.3.6.1.4.1.14519.5.2.1.6279.6001.000001"


def more(line: bytes, times: int = 1) -> Row:
    """Return a change that adds rows to the candidates of the first scan."""
    return Row(converted(lambda content: content + (SCAN + line + b"\n") * times, TABLE))


def table(change: Callable[[bytes], bytes], expected: object | None = None) -> Row:
    return Row(converted(change, TABLE), expected)


def value(change: Callable[[dict[str, Any]], object], expected: object | None = None) -> Row:
    """Return a change of the points of the first image, in place or into the result of ``change``."""
    return Row(output(change, POINTS), expected)


def entry(text: str) -> Row:
    """Return a change that replaces the first point by a text."""
    version = '{"major": 1, "minor": 0}'
    content = f'{{"type": "Multiple points", "points": [{text}], "version": {version}}}'
    return Row(data(content.encode(), POINTS))


LUNA16 = {
    "candidates: no table": Row(lambda folder: (folder / TABLE).unlink()),
    "candidates: a link": Row(linked("/etc/passwd", TABLE)),
    "candidates: too many for a scan": more(b",1,2,3,0.5", 10_001),
    "candidates: a million": more(b",1,2,3,0.5", 1_000_000),
    "candidates: a million of no scan": table(lambda content: content + b"x,1,2,3,0.5\n" * 1_000_000),
    "candidates: another scan": table(lambda content: content + b"1.2.3,1,2,3,0.5\n"),
    "candidates: a probability of 1.5": more(b",1,2,3,1.5"),
    "candidates: another galaxy": more(b",1,1e300,3,0.5"),
    "candidates: a hundred thousand digits": more(b"," + b"1" * 100_000 + b",2,3,0.5"),
    "odd candidates: rows of all scans mixed": table(
        lambda content: b"\n".join([content.split(b"\n")[0], *sorted(content.split(b"\n")[1:-1]), b""]),
        AS_BEFORE,
    ),
}

MIDOG = {
    "points: another type": value(lambda content: content.update(type="Multiple polygons")),
    "points: no version": value(lambda content: content.pop("version") and None),
    "points: another key": value(lambda content: content.update(labels=[])),
    "points: a thousand other keys": value(
        lambda content: content.update({f"key {number}": 0 for number in range(1000)})
    ),
    "points: ten thousand and one": value(
        lambda content: content.update(points=[{"point": [1, 1, 0]}] * 10_001)
    ),
    "points: a million brackets": entry("[" + "[]," * 500_000 + "[]]"),
    "point: an integer beyond floats": entry('{"point": [1' + "0" * 350 + ", 2, 0]}"),
    "point: another galaxy": entry('{"point": [1e300, 2, 0]}'),
    "odd points: names, types and probabilities": value(
        lambda content: content.update(
            name="figures",
            points=[
                {**point, "name": "\x1b[2J", "type": "Point", "probability": 0} for point in content["points"]
            ],
        ),
        AS_BEFORE,
    ),
    "odd points: a third coordinate": value(
        lambda content: content.update(
            points=[{"point": [*point["point"][:2], 7.5]} for point in content["points"]]
        ),
        AS_BEFORE,
    ),
}
