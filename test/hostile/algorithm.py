"""Hostile and odd submissions to an algorithm phase: what its predictions.json and its outputs can hold."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .submissions import AS_BEFORE, Row, added

JOBS = "predictions.json"
PK = "a39dc874-3e12-52d7-a7e2-c7a22f1d1daf"
LIKELIHOODS = f"{PK}/output/multiple-referable-glaucoma-likelihoods.json"
DECISIONS = f"{PK}/output/multiple-referable-glaucoma-binary-decisions.json"


def jobs(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Path], None]:
    """Return what changes the list of jobs; what ``change`` returns, if anything, takes its place."""

    def spoil(folder: Path) -> None:
        content = json.loads((folder / JOBS).read_text())
        changed = change(content)
        (folder / JOBS).write_text(json.dumps(content if changed is None else changed))

    return spoil


def output(change: Callable[[list[Any]], object], path: str = LIKELIHOODS) -> Callable[[Path], None]:
    """Return what changes the list of values of an output."""

    def spoil(folder: Path) -> None:
        values = json.loads((folder / path).read_text())
        changed = change(values)
        (folder / path).write_text(json.dumps(values if changed is None else changed))

    return spoil


def first_value(text: str, path: str = LIKELIHOODS) -> Callable[[Path], None]:
    """Return what replaces the text of the first value of an output."""

    def spoil(folder: Path) -> None:
        content = (folder / path).read_text()
        (folder / path).write_text("[" + text + content[content.index(",") :])

    return spoil


def data(content: bytes, path: str = JOBS) -> Callable[[Path], None]:
    return lambda folder: (folder / path).write_bytes(content) and None


def converted(change: Callable[[bytes], bytes], path: str = JOBS) -> Callable[[Path], None]:
    return lambda folder: (folder / path).write_bytes(change((folder / path).read_bytes())) and None


def linked(target: str, path: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / path).unlink()
        (folder / path).symlink_to(target)

    return spoil


def piped(path: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        (folder / path).unlink()
        os.mkfifo(folder / path)

    return spoil


def place(text: str) -> Callable[[Path], None]:
    """Return what gives the first output another place."""
    return jobs(lambda content: content[0]["outputs"][0]["socket"].update(relative_path=text))


def _older_names(content: list[dict[str, Any]]) -> None:
    for job in content:
        for entry in (*job["inputs"], *job["outputs"]):
            entry["interface"] = entry.pop("socket")


def _backwards(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {key: value[::-1] if isinstance(value, list) else value for key, value in reversed(job.items())}
        for job in reversed(content)
    ]


ROWS = {
    "jobs: no file": Row(lambda folder: (folder / JOBS).unlink(), "predictions.json"),
    "jobs: empty file": Row(data(b""), "predictions.json: expected a JSON file, found an empty file"),
    "jobs: a link": Row(linked("/etc/passwd", JOBS), "found a symbolic link"),
    "jobs: a named pipe": Row(piped(JOBS), "found a named pipe"),
    "jobs: no JSON": Row(data(b"[{"), "predictions.json, line 1: expected JSON"),
    "jobs: a hundred thousand brackets": Row(data(b"[" * 100_000), "JSON of at most 64 levels"),
    "jobs: closed brackets of the same depth": Row(
        data(b"[" * 5000 + b"]" * 5000), "JSON of at most 64 levels"
    ),
    "jobs: a hundred megabytes": Row(
        data(b"[" + b" " * 100_000_000 + b"]"), "predictions.json: expected at most"
    ),
    "jobs: an object": Row(data(b"{}"), "expected a list of jobs"),
    "jobs: a hundred thousand zeros": Row(data(b"[" + b"0," * 100_000 + b"0]"), "predictions.json"),
    "jobs: UTF-16": Row(converted(lambda text: text.decode().encode("utf-16")), "expected JSON in UTF-8"),
    "jobs: a key twice": Row(
        converted(lambda text: text.replace(b'{"pk":', b'{"pk":"x","pk":', 1)), "expected every key once"
    ),
    "jobs: a number beyond floats": Row(
        converted(lambda text: text.replace(b'{"pk":', b'{"x":1e999,"pk":', 1)), "expected finite numbers"
    ),
    "jobs: NaN": Row(converted(lambda text: text.replace(b'{"pk":', b'{"x":NaN,"pk":', 1)), "finite numbers"),
    "jobs: an integer of a million digits": Row(
        converted(lambda text: text.replace(b'{"pk":', b'{"x":' + b"9" * 1_000_000 + b',"pk":', 1)),
        "predictions.json",
    ),
    "jobs: a lone surrogate": Row(
        converted(lambda text: text.replace(b'{"pk":', b'{"x":"\\ud800","pk":', 1)), "a lone surrogate"
    ),
    "jobs: a key of NUL": Row(jobs(lambda content: content[0].update(pk="\0")), "3 forbidden (first: "),
    "jobs: a key that climbs": Row(
        jobs(lambda content: content[0].update(pk="../../etc")), "3 forbidden (first: "
    ),
    "jobs: an absolute key": Row(jobs(lambda content: content[0].update(pk="/etc")), "3 forbidden (first: "),
    "jobs: the same key twice": Row(jobs(lambda content: [*content, content[0]]), "predictions.json"),
    "jobs: outputs of text": Row(jobs(lambda content: content[0].update(outputs="x")), "predictions.json"),
    "jobs: a place that climbs": Row(place("../../../../etc/passwd"), "1 forbidden (first: "),
    "jobs: an absolute place": Row(place("/etc/passwd"), "1 forbidden (first: "),
    "output: a link": Row(linked("/etc/passwd", LIKELIHOODS), "found a symbolic link"),
    "output: a named pipe": Row(piped(LIKELIHOODS), "found a named pipe"),
    "output: no JSON": Row(data(b"high", LIKELIHOODS), "expected JSON"),
    "output: a hundred megabytes": Row(
        data(b"[" + b" " * 100_000_000 + b"]", LIKELIHOODS), "expected at most"
    ),
    "output: deep": Row(data(b"[" * 100_000, LIKELIHOODS), "JSON of at most 64 levels"),
    "output: one number for all": Row(data(b"0.5", LIKELIHOODS), "expected a list of"),
    "output: a value too few": Row(output(lambda values: values.pop() and None), "expected a list of"),
    "output: a value too many": Row(output(lambda values: values.append(0.5)), "expected a list of"),
    "output: text for a number": Row(first_value('"0.5"'), "expected"),
    "output: true for a number": Row(first_value("true"), "expected"),
    "output: NaN for a number": Row(first_value("NaN"), "expected"),
    "output: a number beyond floats": Row(first_value("1e999"), "expected"),
    "output: an integer beyond floats": Row(first_value("1" + "0" * 350), "expected"),
    "output: a list for a number": Row(first_value("[0.5]"), "expected"),
    "output: a number for a decision": Row(first_value("1", DECISIONS), "expected"),
    "odd: a byte order mark": Row(converted(lambda text: b"\xef\xbb\xbf" + text), AS_BEFORE),
    "odd: the older name of a socket": Row(jobs(_older_names), AS_BEFORE),
    "odd: everything in another order": Row(jobs(_backwards), AS_BEFORE),
    "odd: files that nobody asked for": Row(added("inputs.json", b"\xff"), AS_BEFORE),
    "odd: a folder of no job": Row(added("00000000/output/x.json", b"x"), AS_BEFORE),
}
