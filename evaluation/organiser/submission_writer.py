"""Writes submissions and phase folders through the fields' own declarations."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from evaluation.core.challenge import Values
from evaluation.core.fault import PhaseError
from evaluation.core.field import AnyField, CaseColumns, Field, Files, Kind, TableRows
from evaluation.core.form import INTERFACE, STACK_NAME, CaseForm, Form, Interface
from evaluation.io.kinds.volume import Volume
from evaluation.io.stacked import joined
from evaluation.io.tables import write_csv
from evaluation.io.volume_header import Geometry
from evaluation.io.volumes import case_geometry, write_volume

_SITE = "https://grand-challenge.org"


def unwritten(field: Field, submission: str) -> str:
    """Return what the kind of a field would have to write in a submission, in words, if it does not."""
    if submission == "algorithm":
        name, words = ("write_json", "JSON") if field.socket.is_json else ("write_file", "a file")
    elif isinstance(field.archive, Files):
        name, words = "write_file", "a file"
    else:
        name = "write_rows" if isinstance(field.archive, TableRows) else "write_cells"
        words = "cells of a table"
    return words if getattr(type(field.kind), name) is getattr(Kind, name) else ""


@dataclass
class ArchiveWriter:
    """Writes a submission of a predictions phase case by case; tables are written at the end.

    ``extensions`` replaces the default extension of fields that are files.
    """

    folder: Path
    fields: Sequence[Field]
    extensions: Mapping[str, str] = field(default_factory=dict)
    _rows: dict[TableRows, list[list[str]]] = field(default_factory=dict)
    _cells: dict[tuple[str, str], dict[str, dict[str, str]]] = field(default_factory=dict)

    def add(self, case: str, values: Values) -> None:
        """Write the values of one case; fields that are absent from ``values`` are left out."""
        for item in self.fields:
            if item.name not in values:
                continue
            layout, value, kind = item.archive, values[item.name], item.kind
            if isinstance(layout, Files):
                extension = self.extensions.get(item.name, layout.extensions[0])
                write_case_file(self.folder, kind, layout, case, value, extension)
            elif isinstance(layout, TableRows):
                self._rows.setdefault(layout, []).extend([case, *cells] for cells in kind.write_rows(value))
            else:
                of_case = self._cells.setdefault((layout.files[0], layout.key), {}).setdefault(case, {})
                of_case |= zip(layout.columns, kind.write_cells(value), strict=True)

    def close(self) -> None:
        """Write the tables; fields with one row per case may share one, and cells of no value are empty."""
        for layout, rows in self._rows.items():
            write_csv(self.folder / layout.files[0], [layout.key, *layout.columns], rows)
        for (file, key), cells in self._cells.items():
            columns = list(dict.fromkeys(chain(*cells.values())))
            whole = ([case, *(own.get(one, "") for one in columns)] for case, own in cells.items())
            write_csv(self.folder / file, [key, *columns], whole)


@dataclass(frozen=True)
class InputSocket:
    """An input socket of an algorithm, as the platform describes it."""

    slug: str
    kind: str = "Image"
    super_kind: str = "Image"
    path: str = ""
    example: Any = None


@dataclass(frozen=True)
class InputImage:
    """The input of one job of an algorithm: the name of its image, and its cases in their order.

    With an ``interface`` the job has all inputs of it; ``values`` are those that identify its case by socket.
    """

    name: str
    cases: tuple[str, ...]
    interface: Interface | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class AlgorithmWriter:
    """Writes a submission of an algorithm phase in the platform's layout; jobs are written at the end.

    Each of ``inputs``, an image or a stack, becomes a job. ``sockets`` describes input sockets by slug; all
    others are images. JSON values go into files, or with ``inline`` into `predictions.json`; an image goes
    into a folder of its own in the format ``extension``. ``forms``: of the cases, for stacks of images.
    ``socket_keys`` are the keys of a socket: both in current files, "interface" alone in older ones. The
    missing value of a case in a stack is null, and its planes are 0. An output without any value is left out,
    and so is a job without output, unless its interface has no field.
    """

    folder: Path
    fields: Sequence[Field]
    inputs: Sequence[InputImage]
    input_socket: str
    sockets: Mapping[str, InputSocket] = field(default_factory=dict)
    extension: str = ".mha"
    inline: bool = False
    socket_keys: tuple[str, ...] = ("socket", "interface")
    forms: Mapping[str, CaseForm] = field(default_factory=dict)
    _values: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, case: str, values: Values) -> None:
        """Add the values of one case; images are written at once."""
        case_values = self._values.setdefault(case, {})
        for item in self.fields:
            if item.name not in values:
                continue
            value = values[item.name]
            if item.socket.is_image and item.socket.stacked:
                case_values[item.name] = value
            elif item.socket.is_image:
                (image,) = (image for image in self.inputs if case in image.cases)
                data = item.kind.write_file(value, self.extension)
                case_values[item.name] = self._write_image(image, item, data)
            elif item.socket.extension:
                case_values[item.name] = item.kind.write_file(value, item.socket.extension)
            else:
                case_values[item.name] = item.kind.write_json(value)

    def close(self) -> None:
        """Write `predictions.json` and the JSON files; the order of the jobs has no meaning."""
        jobs = []
        for image in self.inputs:
            outputs = [
                self._write_output(image, item)
                for item in self.fields
                if any(item.name in self._values.get(case, {}) for case in image.cases)
            ]
            if outputs or (image.interface is not None and not image.interface.fields):
                jobs.append(_job(_key(image.name), len(image.cases), list(self._inputs(image)), outputs))
        _write_json(self.folder / "predictions.json", sorted(jobs, key=lambda job: str(job["pk"])))

    def _write_image(self, image: InputImage, item: Field, data: bytes) -> dict[str, str]:
        key = _key(image.name, item.name)
        path = self.folder / self._output(image, item) / f"{key}{self.extension}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return {"pk": key, "name": path.name}

    def _stack(self, kind: Kind, values: Sequence[Any], cases: Sequence[str]) -> bytes:
        """Return the planes of all cases as one file, 0 without a value."""
        parts = []
        for case, value in zip(cases, values, strict=True):
            shape = case_geometry(self.forms[case], kind.image_axes).shape
            given = value.values if isinstance(value, Volume) else value
            pixels = np.zeros(shape, np.uint8) if value is None else given
            if not isinstance(pixels, np.ndarray) or pixels.ndim < 2:
                found = f"a {type(value).__name__} of a {type(kind).__name__}"
                raise PhaseError(f"a stack of images: expected arrays of pixels from its kind, found {found}")
            parts.append(pixels.reshape(shape))
        planes = np.concatenate(parts)
        return write_volume(planes, Geometry(planes.shape), self.extension)

    def _output(self, image: InputImage, item: Field) -> str:
        return f"{_key(image.name)}/output/{item.socket.file_name}"

    def _inputs(self, image: InputImage) -> Iterator[dict[str, Any]]:
        interface = image.interface
        slugs = (self.input_socket,) if interface is None else interface.inputs
        for number, slug in enumerate(slugs, start=1):
            socket = self.sockets.get(slug, InputSocket(slug))
            content = self._socket(slug, socket.kind, socket.super_kind, socket.path or f"images/{slug}")
            if socket.super_kind == "Image":
                key = _key(image.name, slug if interface else "image")
                content["image"] = {"pk": key, "name": image.name}
            elif socket.super_kind == "File":
                extension = PurePosixPath(socket.path).suffix
                content["file"] = f"{_SITE}/media/{_key(image.name, slug)}/{image.name}{extension}"
            else:
                content["value"] = image.values.get(slug, socket.example)
            yield content | {"pk": number}

    def _socket(self, slug: str, kind: str | None, super_kind: str, path: str) -> dict[str, Any]:
        """Return an input or output without content."""
        socket = {"slug": slug, "kind": kind, "super_kind": super_kind, "relative_path": path}
        described = dict.fromkeys(self.socket_keys, socket)
        return {**described, "value": None, "file": None, "image": None, "pk": 2}

    def _write_output(self, image: InputImage, item: Field) -> dict[str, Any]:
        values = [self._values.get(case, {}).get(item.name) for case in image.cases]
        content: Any = values[0]
        if item.socket.stacked and item.socket.is_image:
            content = self._write_image(image, item, self._stack(item.kind, values, image.cases))
        elif item.socket.stacked:
            content = joined(values, item.socket.by, image.cases)
        kind = "Anything" if item.socket.stacked and item.socket.is_json else item.kind.socket_kind
        super_kind = "Value" if self.inline and item.socket.is_json else "File"
        if item.socket.is_image:
            kind = super_kind = "Image"
        elif super_kind == "File":
            path = self._output(image, item)
            if item.socket.extension:
                (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
                (self.folder / path).write_bytes(content)
            else:
                _write_json(self.folder / path, content)
            content = f"{_SITE}/media/components/componentinterfacevalue/{path}?Signature=s"
        output = self._socket(item.socket.slug, kind, super_kind, item.socket.file_name)
        return output | {super_kind.lower(): content}


def writer_of(
    folder: Path,
    form: Form,
    fields: Sequence[Field],
    values: Mapping[str, Mapping[str, Any]] | None = None,
) -> ArchiveWriter | AlgorithmWriter:
    """Return the writer of a submission to a phase: of an archive, or of jobs with the phase's sockets.

    Where values identify the cases, a form has only their digests: ``values`` are the values themselves by
    the name of the case, and by socket. Raises `PhaseError` without them.
    """
    if form.submission == "archive":
        return ArchiveWriter(folder, fields)
    interfaces = {interface.name: interface for interface in form.interfaces}
    by_value = [interface for interface in form.interfaces if interface.by_value]
    if any(field.socket.stacked for field in fields):
        inputs = [
            InputImage(form.cases[stack[0]].columns[STACK_NAME], tuple(form.cases[i].name for i in stack))
            for stack in form.stacks.values()
        ]
    elif values is None and by_value:
        raise PhaseError(f"{form.phase}: expected inputs that are named like the cases, found values")
    else:
        given = values or {}
        inputs = [
            InputImage(
                case.name,
                (case.name,),
                interfaces.get(case.columns.get(INTERFACE, "")),
                given.get(case.name, {}),
            )
            for case in form.cases
        ]
    sockets = (replace(one.socket, slug=form.sockets.get(one.name, one.socket.slug)) for one in fields)
    renamed = [replace(one, socket=socket) for one, socket in zip(fields, sockets, strict=True)]
    described = {
        slug: InputSocket(slug, "String", "Value")
        for interface in by_value
        for slug in interface.input_sockets
    }
    forms = {case.name: case for case in form.cases}
    socket = next(iter(form.input_sockets), "image")
    return AlgorithmWriter(folder, renamed, inputs, socket, described, forms=forms)


def _job(
    key: str, cases: int, given: Sequence[Mapping[str, Any]], outputs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a job with all fields of the platform; its run time is 2 s, plus half a second per case."""
    hours, seconds = divmod(2 + cases / 2, 3600)
    minutes, seconds = divmod(seconds, 60)
    return {
        "pk": key,
        "url": f"{_SITE}/algorithms/sample/jobs/{key}/",
        "api_url": f"{_SITE}/api/v1/algorithms/jobs/{key}/",
        "algorithm_image": f"{_SITE}/api/v1/algorithms/images/{_key('sample')}/",
        "inputs": list(given),
        "outputs": list(outputs),
        "status": "Succeeded",
        "hanging_protocol": None,
        "optional_hanging_protocols": [],
        "view_content": {},
        "exec_duration": f"P0DT{int(hours):02d}H{int(minutes):02d}M{seconds:09.6f}S",
        "invoke_duration": None,
    }


def _key(*names: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(names)))


def _write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


def write_case_file(folder: Path, kind: Kind, layout: Files, case: str, value: Any, extension: str) -> None:
    """Write the file of one case into a folder, in the given layout."""
    path = folder / layout.path(case, extension)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(kind.write_file(value, extension))


@dataclass(frozen=True)
class SampleCase:
    """One case to be written: its name, its further columns of the case table, and its reference values."""

    name: str
    columns: Mapping[str, str]
    reference: Values


def write_phase(
    folder: Path, configuration: str, fields: Sequence[AnyField], cases: Iterable[SampleCase]
) -> None:
    """Write a phase folder: `phase.toml`, `cases.csv` and the reference files; the phase is not sealed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "phase.toml").write_text(configuration, encoding="utf-8")
    found: list[dict[str, str]] = []
    locations = (item.reference.location for item in fields)
    lists: dict[TableRows, list[list[str]]] = {
        location: [] for location in locations if isinstance(location, TableRows)
    }
    for case in cases:
        columns = dict(case.columns)
        for item in fields:
            if item.name not in case.reference:
                continue
            kind, location, value = item.reference.kind, item.reference.location, case.reference[item.name]
            if isinstance(location, CaseColumns):
                columns |= zip(location.columns, kind.write_cells(value), strict=True)
            elif isinstance(location, TableRows):
                lists[location].extend([case.name, *cells] for cells in kind.write_rows(value))
            else:
                write_case_file(folder, kind, location, case.name, value, location.extensions[0])
        found.append({"name": case.name, **columns})
    header = list(dict.fromkeys(column for row in found for column in row))
    write_csv(folder / "cases.csv", header, [[row.get(name, "") for name in header] for row in found])
    for location, rows in lists.items():
        write_csv(folder / location.files[0], [location.key, *location.columns], rows)
