"""`predictions.json`: the jobs of an algorithm phase as the platform lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from evaluation.core.fault import Fault, FaultKind, FormFault, ReadError
from evaluation.io.buffer import ReadBuffer
from evaluation.io.json_files import json_kind, parse_entries

FILE_NAME = "predictions.json"
# A duration of ISO 8601 in the units that the platform writes; together at most thirty years.
_DURATION = re.compile(
    "P(?=T?[0-9])(?:([0-9]{1,4})D)?"
    "(?:T(?:([0-9]{1,4})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,7}(?:[.][0-9]{1,6})?)S)?)?"
)


class JobInput(NamedTuple):
    """One input of a job; ``image`` and ``file`` are names without folders."""

    slug: str
    image: str | None
    file: str | None


class JobOutput(NamedTuple):
    """One output of a job: its inline value, or None and the path of its file."""

    path: str
    value: Any


class Job(NamedTuple):
    """One run of the algorithm; ``pk`` is the platform's key and the name of the job's folder.

    ``outputs`` are by the slugs of their sockets. ``seconds`` is the run time, None if unknown.
    """

    pk: str
    inputs: tuple[JobInput, ...]
    outputs: Mapping[str, JobOutput]
    seconds: float | None = None


@dataclass(frozen=True)
class Jobs:
    """The jobs that could be read, and the faults of the others."""

    jobs: tuple[Job, ...]
    faults: tuple[Fault, ...]


def read_jobs(root: str, limit_bytes: int, max_values: int) -> Jobs:
    """Return the jobs of a submission in the order of their keys; faults are returned, not raised."""
    jobs: dict[str, Job] = {}
    faults: list[Fault] = []
    try:
        data = ReadBuffer().read(root, FILE_NAME, limit_bytes=limit_bytes)
        for number, item in enumerate(parse_entries(data, "a list of jobs", max_values=max_values), 1):
            try:
                job = _job(item, f"job number {number}")
            except FormFault as fault:
                faults += fault.faults
                continue
            if job.pk in jobs:
                faults.append(_duplicate("one entry for a job", f"job {job.pk}"))
            jobs[job.pk] = job
    except ReadError as error:
        return Jobs((), (error.fault(FILE_NAME),))
    return Jobs(tuple(jobs[pk] for pk in sorted(jobs)), tuple(faults))


def _job(item: object, place: str) -> Job:
    if not isinstance(item, dict):
        raise _malformed("an object", item, place)
    pk = item.get("pk")
    if isinstance(pk, bool) or not isinstance(pk, str | int) or pk == "":
        raise _malformed("a key pk", pk, place)
    place = f"job {pk}"
    inputs = tuple([_input(entry, place) for entry in _entries(item, "inputs", place)])
    outputs: dict[str, JobOutput] = {}
    for entry in _entries(item, "outputs", place):
        socket, slug = _socket(entry, place, "outputs")
        path = _text(socket.get("relative_path"), place, f"socket {slug}", "relative_path")
        if slug in outputs:
            raise FormFault(_duplicate("one output of a socket", f"{place}, socket {slug}"))
        outputs[slug] = JobOutput(f"{pk}/output/{path}", entry.get("value"))
    return Job(str(pk), inputs, outputs, _seconds(item))


def _seconds(item: Mapping[str, Any]) -> float | None:
    """Return the duration of a job, as executed or invoked; an invalid duration counts as unknown."""
    for key in ("exec_duration", "invoke_duration"):
        found = item.get(key)
        if isinstance(found, str) and (match := _DURATION.fullmatch(found)) is not None:
            days, hours, minutes, seconds = map(float, match.groups("0"))
            return round(((days * 24 + hours) * 60 + minutes) * 60 + seconds, 6)
    return None


def _entries(item: Mapping[str, Any], key: str, place: str) -> list[Any]:
    entries = item.get(key)
    if not isinstance(entries, list):
        raise _malformed("a list", entries, place, key)
    return entries


def _input(entry: Any, place: str) -> JobInput:
    _, slug = _socket(entry, place, "inputs")
    image, file = entry.get("image"), entry.get("file")
    if isinstance(image, dict):
        image = image.get("name")
    place = f"{place}, socket {slug}"
    return JobInput(slug, _base_name(image, place), _base_name(file, place))


def _socket(entry: object, *place: str) -> tuple[Mapping[str, Any], str]:
    """Return the socket of an input or output, and its slug; ``interface`` is the older name of a socket."""
    if not isinstance(entry, dict):
        raise _malformed("an object", entry, *place)
    socket = entry.get("socket") or entry.get("interface")
    if not isinstance(socket, dict):
        raise _malformed("a socket", socket, *place)
    return socket, _text(socket.get("slug"), *place, "slug")


def _text(value: object, *place: str) -> str:
    if not isinstance(value, str) or not value:
        raise _malformed("a text", value, *place)
    return value


def _base_name(value: object, place: str) -> str | None:
    """Return the last part of a path, or of a URL without its query and percent-encoding."""
    if value is None:
        return None
    text = _text(value, place)
    if "/" not in text and text != ".":
        return text
    if "://" in text:
        text = unquote(text.partition("://")[2].partition("#")[0].partition("?")[0])
    return PurePosixPath(text).name


def _malformed(expected: str, found: object, *place: str) -> FormFault:
    field = ", ".join(place)
    return FormFault(Fault(FaultKind.MALFORMED, FILE_NAME, expected, json_kind(found), field=field))


def _duplicate(expected: str, place: str) -> Fault:
    return Fault(FaultKind.DUPLICATE, FILE_NAME, expected, "a second one", field=place)
