"""Algorithm phases: `predictions.json` lists jobs, each run on one image or one stack of images."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import Fault, FaultKind, FormFault, ReadError
from evaluation.core.field import Field
from evaluation.core.form import (
    INPUT_VALUE,
    INTERFACE,
    STACK_NAME,
    CaseForm,
    Form,
    Interface,
    name_key,
    stack_key,
)
from evaluation.core.sources import (
    FileSource,
    ImageStackSource,
    IndexedSource,
    JsonFileSource,
    JsonSource,
    StackSource,
)
from evaluation.io.files import ReadBuffer, list_folder
from evaluation.io.json_files import json_kind, parse_json
from evaluation.io.volumes import case_geometry
from evaluation.platform.index import Sources, SubmissionIndex, fault_of_no_task, participating

# --- `predictions.json`: the jobs of an algorithm phase as the platform lists them ---

FILE_NAME = "predictions.json"
# A duration of ISO 8601 in the units that the platform writes; together at most thirty years.
_DURATION = re.compile(
    "P(?=T?[0-9])(?:([0-9]{1,4})D)?"
    "(?:T(?:([0-9]{1,4})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,7}(?:[.][0-9]{1,6})?)S)?)?"
)


class JobInput(NamedTuple):
    """One input of a job; ``image`` and ``file`` are names without folders.

    ``value`` is the value of an input that is neither. ``socket_name`` is the last part of the socket's path,
    after which the platform names the JSON file of every job.
    """

    slug: str
    image: str | None
    file: str | None
    value: Any = None
    socket_name: str = ""

    def names_of(self, name: str) -> tuple[str, ...]:
        """Return a name of this input as it is, and without the extension of the socket's own path."""
        extension = PurePosixPath(self.socket_name).suffix.casefold()
        if extension and name.casefold().endswith(extension) and len(name) > len(extension):
            return name, name[: -len(extension)]
        return (name,)


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


def read_jobs(root: str, limit_bytes: int, max_values: int) -> tuple[list[Job], list[Fault]]:
    """Return the jobs of a submission in the order of their keys, and the faults of the others."""
    jobs: dict[str, Job] = {}
    faults: list[Fault] = []
    try:
        data = ReadBuffer().read(root, FILE_NAME, limit_bytes=limit_bytes)
        items = parse_json(data, max_values=max_values)
        if not isinstance(items, list):
            raise ReadError(FaultKind.MALFORMED, "a list of jobs", json_kind(items))
        for number, item in enumerate(items, start=1):
            try:
                job = _job(item, f"job number {number}")
            except FormFault as fault:
                faults += fault.faults
                continue
            if job.pk in jobs:
                faults.append(_duplicate("one entry for a job", f"job {job.pk}"))
            jobs[job.pk] = job
    except ReadError as error:
        return [], [error.fault(FILE_NAME)]
    return [jobs[pk] for pk in sorted(jobs)], faults


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
    socket, slug = _socket(entry, place, "inputs")
    path = socket.get("relative_path")
    image, file = entry.get("image"), entry.get("file")
    if isinstance(image, dict):
        image = image.get("name")
    place = f"{place}, socket {slug}"
    names = _base_name(image, place), _base_name(file, place)
    socket_name = PurePosixPath(path).name if isinstance(path, str) else ""
    return JobInput(slug, *names, entry.get("value"), socket_name)


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


# --- Algorithm phases: the jobs of `predictions.json`, each run on one image or one stack of images ---

_MAX_VALUE_BYTES = 1 << 20
_MAX_FILE_BYTES = 1 << 27
_BYTES_PER_VALUE = 16
_JOB_ALLOWANCE = 1 << 16
_SPARE_VALUES = 10_000
_VALUES_PER_ENTRY = 400
_ABSENT_NAMED = 3
# Values in the list of jobs may on average have this share of a single value's limit.
_SHARE_OF_MOST = 0.1


def index_algorithm(folder: Path, form: Form, tasks: Sequence[Task]) -> SubmissionIndex:
    """Return the index of an algorithm's jobs; a job's cases are those of its input image or stack.

    If one field of a challenge is stacked, all of them are. A job whose cases cannot be told and an image
    without a job count as one fault. The files that a job wrote are opened later, when its cases are scored.
    Raises `PhaseError` for an inconsistent mapping of stacks.
    """
    fields = fields_of(tasks)
    algorithm = _Algorithm(os.path.realpath(folder), form, fields)
    entries = len(form.cases) * (len(fields) + 1)
    jobs, strays = read_jobs(algorithm.root, _limit(entries * _JOB_ALLOWANCE), _max_values(form, fields))
    for job in jobs:
        try:
            algorithm.add(job)
        except FormFault as fault:
            strays += fault.faults
    present = participating(form, tasks, algorithm.sources)
    faults = algorithm.faults
    if form.missing == "reject" and (jobs or not strays):
        faults += algorithm.missing({field.name for field in fields_of(present)})
        strays = _with_absent(strays, algorithm.without_a_job(), algorithm.unit)
    faults += strays
    if not faults:
        faults += fault_of_no_task(FILE_NAME, tasks, present)
    names = tuple(task.name for task in present or tasks)
    seconds = algorithm.run_seconds
    return SubmissionIndex(algorithm.root, algorithm.sources, names, tuple(faults), run_seconds=seconds)


def _max_values(form: Form, fields: Sequence[Field]) -> int:
    """Return the maximum number of commas and opening brackets in the list of jobs, values included."""
    values = (round(field.kind.max_json_values * _SHARE_OF_MOST) for field in fields)
    in_a_job = sum(max(_VALUES_PER_ENTRY, most) for most in values)
    return _SPARE_VALUES + len(form.cases) * (_VALUES_PER_ENTRY + in_a_job)


def _limit(wanted: int) -> int:
    return min(_MAX_FILE_BYTES, _MAX_VALUE_BYTES + wanted)


class _Algorithm:
    """The jobs of a submission, matched to the cases of a form; ``unit`` names the input of a job."""

    def __init__(self, root: str, form: Form, fields: Sequence[Field]) -> None:
        self.root, self._form = root, form
        self._is_stacked = any(field.socket.stacked for field in fields)
        self.unit = "stack" if self._is_stacked else "image"
        self._positions = self._positions_by_key()
        self._sockets = [(field, form.sockets.get(field.name, field.socket.slug)) for field in fields]
        self._cases = {field.name: list(map(field.cases, form.cases)) for field in fields}
        self._everywhere = all(map(all, self._cases.values()))
        self._jobs: dict[str, Job] = {}
        self._found: dict[str, dict[str, IndexedSource]] = {}
        self._faulty: set[str] = set()
        self.sources: Sources = [{} for _ in form.cases]
        self.run_seconds: list[float | None] = [None] * len(form.cases)
        self.faults: list[Fault] = []

    def _positions_by_key(self) -> Mapping[str, tuple[int, ...]]:
        """Return the positions of the cases of each job by the keys of interface and name of the input."""
        form = self._form
        if self._is_stacked:
            return form.stacks
        if not form.interfaces:
            return {key: (position,) for key, position in form.names.items()}
        interfaces = {interface.name: interface for interface in form.interfaces}
        positions = {}
        for position, case in enumerate(form.cases):
            interface = interfaces[case.columns[INTERFACE]]
            key = case.columns[INPUT_VALUE] if interface.by_value else name_key(case.name)
            positions[_key_within(interface, key)] = (position,)
        return positions

    def _key(self, name: str, interface: Interface | None) -> str:
        if interface is not None:
            return _key_within(interface, name_key(name))
        return stack_key(name) if self._is_stacked else name_key(name)

    def _name(self, key: str) -> str:
        case = self._form.cases[self._positions[key][0]]
        return case.columns[STACK_NAME] if self._is_stacked else case.name

    def _wanted(self, positions: Sequence[int]) -> list[tuple[Field, str]]:
        """Return the fields of cases that share a job, and the slugs of their sockets."""
        if self._everywhere:
            return self._sockets
        return [
            (field, slug)
            for field, slug in self._sockets
            if any(self._cases[field.name][position] for position in positions)
        ]

    def add(self, job: Job) -> None:
        """Give the cases of a job the sources of its outputs. Raises `FormFault` if they cannot be told."""
        key = self._target(job)
        if (other := self._jobs.setdefault(key, job)) is not job:
            expected = f"one job for {self.unit} {self._name(key)}"
            second = f"a second one beside job {other.pk}"
            raise FormFault(Fault(FaultKind.DUPLICATE, FILE_NAME, expected, second, field=f"job {job.pk}"))
        positions = self._positions[key]
        found = self._found[key] = self._sources_of(job, positions)
        for position in positions:
            self.sources[position] = found  # shared by the cases of a job
            if not self._everywhere:
                cases = self._cases
                self.sources[position] = {name: found[name] for name in found if cases[name][position]}
            self.run_seconds[position] = None if job.seconds is None else job.seconds / len(positions)

    def _target(self, job: Job) -> str:
        """Return the key of the case of a job: of its input image, else of its input file, or of a value.

        Jobs of one phase may have different sets of inputs. Among several input images, those with a socket
        that the phase names count, else those named like a case.
        """
        interface = _interface(job, self._form) if self._form.interfaces else None
        sockets = self._form.input_sockets
        if interface is not None:
            sockets = interface.input_sockets or interface.inputs
        wanted = [item for item in job.inputs if not sockets or item.slug in sockets]
        if interface is not None and interface.by_value:
            key = _key_within(interface, interface.key_of({item.slug: item.value for item in wanted}))
            if key in self._positions:
                return key
            of, place = f"of a case of interface {interface.name}", f"socket {' and '.join(sockets)}"
            expected, found = (
                (f"the values {of}", "others") if len(sockets) > 1 else (f"the value {of}", "another one")
            )
            raise _input_fault(job, FaultKind.UNKNOWN, expected, found, place)
        images = [(item, item.image) for item in wanted if item.image is not None]
        named = images or [(item, item.file) for item in wanted if item.file is not None]
        named_keys = ([self._key(one, interface) for one in item.names_of(name)] for item, name in named)
        known = {key for keys in named_keys for key in [key for key in keys if key in self._positions][:1]}
        if len(known) == 1:
            return known.pop()
        if len(named) == 1:
            ((item, name),) = named
            of = "this phase" if interface is None else f"interface {interface.name}"
            expected = f"the name of {'a stack' if self._is_stacked else 'an image'} of {of}"
            every = ", the name of the socket, which every job has" if name == item.socket_name else ""
            raise _input_fault(job, FaultKind.UNKNOWN, expected, f"{name!r}{every}", f"socket {item.slug}")
        expected = f"one input image or file of socket {' or '.join(sockets)}"
        if not sockets:
            expected = "one input image or file of a case (else the phase must name its input_socket)"
        raise _input_fault(job, FaultKind.MALFORMED, expected, str(len(named)), "inputs")

    def _sources_of(self, job: Job, positions: Sequence[int]) -> dict[str, IndexedSource]:
        """Return the sources of a job's outputs by field; all cases of a stack share them."""
        sources: dict[str, IndexedSource] = {}
        for field, slug in self._wanted(positions):
            if (output := job.outputs.get(slug)) is None:
                continue
            try:
                cases = [self._form.cases[position] for position in positions]
                source = _source(job, output, slug, self.root, field, cases)
            except FormFault as fault:
                self.faults += fault.faults
                self._faulty.add(_place(job, slug))
                continue
            if source is not None:
                sources[field.name] = source
        return sources

    def without_a_job(self) -> list[str]:
        """Return the names of the images or stacks without a job."""
        return [self._name(key) for key in self._positions if key not in self._jobs]

    def missing(self, fields: Collection[str]) -> list[Fault]:
        """Return a fault for every output of some fields that a job lacks and that has no fault yet."""
        places = [
            _place(self._jobs[key], slug)
            for key, positions in self._positions.items()
            if key in self._jobs
            for field, slug in self._wanted(positions)
            if field.name in fields and field.name not in self._found[key]
        ]
        return [
            Fault(FaultKind.MISSING, FILE_NAME, "an output", "none", field=place)
            for place in places
            if place not in self._faulty
        ]


def _key_within(interface: Interface, key: str) -> str:
    return f"{interface.name}/{key}"  # neither names nor digests hold a slash


def _interface(job: Job, form: Form) -> Interface:
    """Return the interface of a job, which has exactly its inputs. Raises `FormFault`."""
    found = {item.slug for item in job.inputs}
    for interface in form.interfaces:
        if found == set(interface.inputs):
            return interface
    known = "; ".join(f"{interface.name}: {', '.join(interface.inputs)}" for interface in form.interfaces)
    sockets = ", ".join(sorted(found)) or "none"
    raise _input_fault(job, FaultKind.UNKNOWN, f"the inputs of an interface ({known})", sockets, "inputs")


def _input_fault(job: Job, kind: FaultKind, expected: str, found: str, place: str) -> FormFault:
    return FormFault(Fault(kind, FILE_NAME, expected, found, field=f"job {job.pk}, {place}"))


def _place(job: Job, slug: str) -> str:
    return f"job {job.pk}, socket {slug}"


def _source(
    job: Job, output: JobOutput, slug: str, root: str, field: Field, cases: Sequence[CaseForm]
) -> IndexedSource | None:
    # The path of a file names its job, and mostly its socket: messages say neither a second time.
    of_file = "" if slug in output.path else f"socket {slug}"
    if field.socket.is_image:
        image = _image(output, root, of_file)
        if image is None or not field.socket.stacked:
            return image
        planes = (case_geometry(case, field.kind.image_axes).shape[0] for case in cases)
        return ImageStackSource(image.file, tuple(accumulate(planes, initial=0)))
    if field.socket.extension:
        return FileSource(output.path)
    entries, by = len(cases) if field.socket.stacked else None, field.socket.by
    names = () if by == "order" else tuple(case.name for case in cases)
    if output.value is None:
        most = field.kind.max_json_values
        limit_bytes = _limit(len(cases) * max(_MAX_VALUE_BYTES, most * _BYTES_PER_VALUE))
        return JsonFileSource(output.path, of_file, limit_bytes, entries, most, by, names)
    place = _place(job, slug)
    if entries is None:
        return JsonSource(output.value, FILE_NAME, place)
    return StackSource(output.value, FILE_NAME, place, entries, by, names)


def _image(output: JobOutput, root: str, place: str) -> FileSource | None:
    """Return the one file in the folder of an image output, None if there is none."""
    try:
        names = list_folder(root, output.path)
    except ReadError as error:
        if error.kind is FaultKind.MISSING:
            return None
        raise FormFault(error.fault(output.path, place)) from None
    if len(names) > 1:
        found = f"{len(names)} files"
        raise FormFault(Fault(FaultKind.DUPLICATE, output.path, "one image", found, field=place))
    return FileSource(f"{output.path}/{names[0]}") if names else None


def _with_absent(strays: Sequence[Fault], absent: Sequence[str], what: str) -> list[Fault]:
    """Return the faults of jobs whose cases cannot be told, and of the images or stacks without a job.

    Each of these jobs may be the job of such an image, so that as many images have no fault of their own. A
    hint names the first of them.
    """
    faults = list(strays)
    if named := absent[: min(len(strays), _ABSENT_NAMED)]:
        more = min(len(strays), len(absent)) - len(named)
        names = f"{what} {', '.join(named)}" + (f" and {more} more" if more else "")
        faults[0] = replace(faults[0], hint=f"no job for {names}")
    return faults + [
        Fault(FaultKind.MISSING, FILE_NAME, f"a job for {what} {name}", "none")
        for name in absent[len(strays) :]
    ]
