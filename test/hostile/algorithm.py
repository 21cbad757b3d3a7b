"""Hostile and odd submissions to an algorithm phase: contents of predictions.json and of the outputs."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .submissions import AS_BEFORE, Row, added, replaced, table

JOBS = "predictions.json"
PK = "a39dc874-3e12-52d7-a7e2-c7a22f1d1daf"
LIKELIHOODS = f"{PK}/output/multiple-referable-glaucoma-likelihoods.json"
DECISIONS = f"{PK}/output/multiple-referable-glaucoma-binary-decisions.json"


def output(change: Callable[[Any], object], path: str = LIKELIHOODS) -> Callable[[Path], None]:
    """Return a change of a JSON file, whose content the result of ``change``, if any, replaces."""

    def spoil(folder: Path) -> None:
        content = json.loads((folder / path).read_text())
        changed = change(content)
        (folder / path).write_text(json.dumps(content if changed is None else changed))

    return spoil


def jobs(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Path], None]:
    """Return a change of the list of jobs."""
    return output(change, JOBS)


def first_value(text: str, path: str = LIKELIHOODS) -> Callable[[Path], None]:
    """Return a change that replaces the text of the first value of an output."""

    def spoil(folder: Path) -> None:
        content = (folder / path).read_text()
        (folder / path).write_text("[" + text + content[content.index(",") :])

    return spoil


def data(content: bytes, path: str = JOBS) -> Callable[[Path], None]:
    return lambda folder: (folder / path).write_bytes(content) and None


def converted(change: Callable[[bytes], bytes], path: str = JOBS) -> Callable[[Path], None]:
    return table(change, path)


def linked(target: str, path: str) -> Callable[[Path], None]:
    return replaced(lambda file: file.symlink_to(target), path)


def place(text: str) -> Callable[[Path], None]:
    """Return a change that moves the first output."""
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
    "jobs: no file": Row(lambda folder: (folder / JOBS).unlink()),
    "jobs: a link": Row(linked("/etc/passwd", JOBS)),
    "jobs: a named pipe": Row(replaced(os.mkfifo, JOBS)),
    "jobs: no JSON": Row(data(b"[{")),
    "jobs: a hundred thousand brackets": Row(data(b"[" * 100_000)),
    "jobs: a hundred megabytes": Row(data(b"[" + b" " * 100_000_000 + b"]")),
    "jobs: an object": Row(data(b"{}")),
    "jobs: four megabytes of objects": Row(data(b"[" + b"{}," * 1_300_000 + b"{}]")),
    "jobs: four megabytes of outputs": Row(
        jobs(lambda content: content[0].update(outputs=[[] for _ in range(1_300_000)]))
    ),
    "jobs: a key of NUL": Row(jobs(lambda content: content[0].update(pk="\0"))),
    "jobs: a key that climbs": Row(jobs(lambda content: content[0].update(pk="../../etc"))),
    "jobs: the same key twice": Row(jobs(lambda content: [*content, content[0]])),
    "jobs: a place that climbs": Row(place("../../../../etc/passwd")),
    "output: a link": Row(linked("/etc/passwd", LIKELIHOODS)),
    "output: a named pipe": Row(replaced(os.mkfifo, LIKELIHOODS)),
    "output: a hundred megabytes": Row(data(b"[" + b" " * 100_000_000 + b"]", LIKELIHOODS)),
    "output: a megabyte of lists": Row(data(b"[" + b"[]," * 350_000 + b"[]]", LIKELIHOODS)),
    "output: a value too few": Row(output(lambda values: values.pop() and None)),
    "output: a number for a decision": Row(first_value("1", DECISIONS)),
    "output: an integer beyond floats": Row(first_value("1" + "0" * 350)),
    "odd: a byte order mark": Row(converted(lambda text: b"\xef\xbb\xbf" + text), AS_BEFORE),
    "odd: the older name of a socket": Row(jobs(_older_names), AS_BEFORE),
    "odd: everything in another order": Row(jobs(_backwards), AS_BEFORE),
    "odd: files that nobody asked for": Row(added("inputs.json", b"\xff"), AS_BEFORE),
    "odd: a folder of no job": Row(added("00000000/output/x.json", b"x"), AS_BEFORE),
}
