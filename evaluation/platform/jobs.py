"""`predictions.json`: the jobs of an algorithm phase as the platform lists them."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from pydantic import TypeAdapter, ValidationError

from evaluation.core.fault import Fault, FaultKind, FormFault, ReadError
from evaluation.io.buffer import ReadBuffer
from evaluation.io.json_files import json_kind, parse_json

FILE_NAME = "predictions.json"
_DURATION = TypeAdapter(timedelta)


@dataclass(frozen=True, slots=True)
class JobInput:
    """One input of a job; ``image`` and ``file`` are names without folders."""

    slug: str
    image: str | None
    file: str | None


@dataclass(frozen=True, slots=True)
class JobOutput:
    """One output of a job: its inline value, or None and the path of its file."""

    slug: str
    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class Job:
    """One run of the algorithm; ``pk`` is the platform's key and the name of the job's folder.

    ``seconds`` is how long it ran, None if the platform does not say.
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
    try:
        data = ReadBuffer().read(root, FILE_NAME, limit_bytes=limit_bytes)
        content = parse_json(data, max_values=max_values)
    except ReadError as error:
        return Jobs((), (error.fault(FILE_NAME),))
    if not isinstance(content, list):
        return Jobs((), (_malformed("a list of jobs", content),))
    jobs: dict[str, Job] = {}
    faults: list[Fault] = []
    for position, item in enumerate(content):
        try:
            job = _job(item, f"job number {position + 1}")
        except FormFault as fault:
            faults += fault.faults
            continue
        if job.pk in jobs:
            faults.append(
                Fault(
                    FaultKind.DUPLICATE,
                    FILE_NAME,
                    "one entry for a job",
                    "a second one",
                    field=f"job {job.pk}",
                )
            )
        jobs[job.pk] = job
    return Jobs(tuple(jobs[pk] for pk in sorted(jobs)), tuple(faults))


def _job(item: object, place: str) -> Job:
    if not isinstance(item, dict):
        raise FormFault(_malformed("an object", item, place))
    pk = item.get("pk")
    if isinstance(pk, bool) or not isinstance(pk, str | int) or pk == "":
        raise FormFault(_malformed("a key pk", pk, place))
    place = f"job {pk}"
    inputs = [_input(entry, place) for entry in _entries(item, "inputs", place)]
    outputs: dict[str, JobOutput] = {}
    for entry in _entries(item, "outputs", place):
        output = _output(entry, place, str(pk))
        if output.slug in outputs:
            raise FormFault(
                Fault(
                    FaultKind.DUPLICATE,
                    FILE_NAME,
                    "one output of a socket",
                    "a second one",
                    field=f"{place}, socket {output.slug}",
                )
            )
        outputs[output.slug] = output
    return Job(str(pk), tuple(inputs), outputs, _seconds(item))


def _seconds(item: Mapping[str, Any]) -> float | None:
    """Return the duration of a job, as executed or invoked; an invalid duration counts as unknown."""
    for key in ("exec_duration", "invoke_duration"):
        if item.get(key) is None:
            continue
        with contextlib.suppress(ValidationError):
            seconds = _DURATION.validate_python(item.get(key)).total_seconds()
            if seconds >= 0:
                return seconds
    return None


def _entries(item: Mapping[str, Any], key: str, place: str) -> list[Any]:
    entries = item.get(key)
    if not isinstance(entries, list):
        raise FormFault(_malformed("a list", entries, f"{place}, {key}"))
    return entries


def _input(entry: object, place: str) -> JobInput:
    socket = _socket(entry, f"{place}, inputs")
    assert isinstance(entry, dict)
    slug = _text(socket.get("slug"), f"{place}, inputs, slug")
    place = f"{place}, socket {slug}"
    image, file = entry.get("image"), entry.get("file")
    if isinstance(image, dict):
        image = image.get("name")
    return JobInput(slug, _base_name(image, place), _base_name(file, place))


def _output(entry: object, place: str, pk: str) -> JobOutput:
    socket = _socket(entry, f"{place}, outputs")
    assert isinstance(entry, dict)
    slug = _text(socket.get("slug"), f"{place}, outputs, slug")
    path = _text(socket.get("relative_path"), f"{place}, socket {slug}, relative_path")
    return JobOutput(slug, f"{pk}/output/{path}", entry.get("value"))


def _socket(entry: object, place: str) -> Mapping[str, Any]:
    """Return the socket of an input or output; ``interface`` is its older name."""
    if not isinstance(entry, dict):
        raise FormFault(_malformed("an object", entry, place))
    socket = entry.get("socket") or entry.get("interface")
    if not isinstance(socket, dict):
        raise FormFault(_malformed("a socket", socket, place))
    return socket


def _text(value: object, place: str) -> str:
    if not isinstance(value, str) or not value:
        raise FormFault(_malformed("a text", value, place))
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


def _malformed(expected: str, found: object, place: str | None = None) -> Fault:
    return Fault(FaultKind.MALFORMED, FILE_NAME, expected, json_kind(found), field=place)
