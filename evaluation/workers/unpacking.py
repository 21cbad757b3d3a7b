"""Unpacks a submission as the platform does.

A zip is parsed and inflated by a reader, which is confined to it. This process gets paths and bytes, checks
every path, and writes.
"""

import contextlib
import importlib
import json
import os
import re
import shutil
import sys
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.challenge import fields_of
from evaluation.core.fault import Fault, FaultKind, Faults, FormFault, PhaseError
from evaluation.core.form import INTERFACE, STACK_NAME, Form, name_key
from evaluation.core.outcome import Died
from evaluation.io.files import MAX_ENTRIES, fault_of_path
from evaluation.io.handover import HandoverError, array_of, decode, encode, list_of, text_of
from evaluation.phase.registry import tasks_of_form
from evaluation.platform import machine
from evaluation.platform.algorithm import FILE_NAME
from evaluation.platform.archive import BARE_TABLE
from evaluation.platform.submission import MAX_SUBMISSION_BYTES, ZipContent, raise_unpacking
from evaluation.workers.confinement import confine, limit_memory
from evaluation.workers.pool import PoolSettings, open_pool
from evaluation.workers.reading import DEADLY, require_no_lack
from evaluation.workers.reports import REPORT_BYTES, pack_faults, unpack_faults
from evaluation.workers.worker import AskReader, Handler, Reply, Tick

# Names that Windows does not store, or gives to a device.
_NOT_ON_WINDOWS = re.compile(
    r"""[<>:"|?*\\\x00-\x1f]|[ .]$|^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)""", re.IGNORECASE
)
_IS_WINDOWS = sys.platform == "win32"
_PIECE_SECONDS = 60.0
_IMPORTED_LATE = "encodings.cp437"
"""How old zips write names."""


@contextlib.contextmanager
def unpacked(
    submission: Path, max_bytes: int = MAX_SUBMISSION_BYTES, workers: int | None = None
) -> Iterator[Path]:
    """Yield a folder with the content that the container would find in /input.

    A folder is yielded as it is; a zip or csv file is unpacked into a temporary folder, see `unpack`.
    """
    if submission.is_dir():
        yield submission
        return
    with tempfile.TemporaryDirectory(prefix="submission-") as folder:
        unpack(submission, Path(folder), max_bytes, workers)
        yield Path(folder)


def unpack(
    submission: Path, folder: Path, max_bytes: int = MAX_SUBMISSION_BYTES, workers: int | None = None
) -> None:
    """Unpack a zip, or copy a csv file, into an empty folder; with 0 ``workers`` in this process alone.

    Raises `FormFault` for any other file and for a zip that cannot be unpacked safely, `OSError` for a fault
    of the machine, such as a full disk, and `PhaseError` where no process can be started.
    """
    if submission.suffix.casefold() == ".csv":
        shutil.copyfile(submission, folder / BARE_TABLE)
        return
    count_of_workers = min(1, machine.worker_count(workers))
    memory = machine.worker_memory(count_of_workers, None)
    setup = _UnpackSetup(str(submission.resolve()), submission.name, max_bytes, memory)
    settings = PoolSettings(count_of_workers, _PIECE_SECONDS, answer_bytes=REPORT_BYTES)
    with open_pool(setup, settings) as pool:
        answers = (_content(answer, setup.name) for _, answer in pool.run(count(), lambda number: number))
        paths = _paths(next(answers), setup.name)
        FormFault.raise_all(_unstorable(paths, folder))
        try:
            _write(answers, [folder / path for path in paths], max_bytes)
        except (OSError, ValueError) as error:
            raise_unpacking(error, setup.name)


@dataclass(frozen=True)
class _UnpackSetup:
    """The setup of a process that reads one zip."""

    path: str
    name: str
    max_bytes: int
    memory_bytes: int | None
    modules: tuple[str, ...] = ()

    def open(self, ask_reader: AskReader | None) -> Handler:
        """Return a handler that answers with the paths of the zip, then its pieces, an empty one last."""
        importlib.import_module(_IMPORTED_LATE)
        contents = self._contents()

        def answer(job: int, tick: Tick) -> Reply:
            tick(_PIECE_SECONDS)
            try:
                return encode([pack_faults(Faults()), 0, next(contents, [])])
            except FormFault as fault:
                return encode([pack_faults(Faults(fault.faults)), 0, []])
            except OSError as error:
                return encode([pack_faults(Faults()), error.errno or 0, []])

        return answer

    def _contents(self) -> Iterator[list[Any]]:
        content = ZipContent(Path(self.path), self.name, self.max_bytes)
        yield content.paths
        for piece in content.pieces():
            yield [[number, np.frombuffer(data, np.uint8)] for number, data in piece]

    def confine(self) -> None:
        limit_memory(self.memory_bytes)
        confine(self.path)


def _content(answer: memoryview | Died, name: str) -> list[Any]:
    """Return the content of an answer. Raises `FormFault`, also where a reader crashed, `MachineTrouble`."""
    try:
        if isinstance(answer, Died):
            require_no_lack(answer, name)
            raise HandoverError(answer.reason)
        packed, code, content = list_of(decode(answer), 3)
        faults = unpack_faults(packed)
        if not isinstance(code, int):
            raise HandoverError("expected a number of an error")
    except HandoverError:
        raise FormFault(Fault(FaultKind.UNREADABLE, name, "a readable zip archive", DEADLY)) from None
    if faults:
        raise FormFault(faults)
    if code:
        raise OSError(code, os.strerror(code), name)
    return list_of(content)


def _paths(content: list[Any], name: str) -> list[str]:
    """Return the paths of the files of a zip. Raises `FormFault` where a reader forged one."""
    paths = [text_of(path) for path in content]
    if len(paths) > MAX_ENTRIES or any(map(fault_of_path, paths)):
        raise FormFault(Fault(FaultKind.FORBIDDEN, name, "paths inside the archive", "others"))
    return paths


def _write(pieces: Iterator[list[Any]], targets: Sequence[Path], max_bytes: int) -> None:
    """Write the files of a zip. Raises `OSError`, and `ValueError` for what no zip holds."""
    left, current = max_bytes, -1
    with contextlib.ExitStack() as opened:
        file: Any = None
        while piece := next(pieces):
            for entry in piece:
                number, values = list_of(entry, 2)
                data = array_of(values, ["|u1"], 1)
                left -= len(data)
                if left < 0 or not isinstance(number, int) or not max(current, 0) <= number < len(targets):
                    raise ValueError("its content contradicts its directory")
                if number != current:
                    opened.close()
                    current = number
                    targets[number].parent.mkdir(parents=True, exist_ok=True)
                    file = opened.enter_context(targets[number].open("wb"))
                file.write(data.data)


def _unstorable(paths: Sequence[str], folder: Path) -> list[Fault]:
    """Return faults of files that Linux can store and this system cannot, alone or beside each other."""
    faults = []
    if _IS_WINDOWS:
        faults += [
            Fault(FaultKind.UNREADABLE, path, "a file name that Windows can store", "another one")
            for path in paths
            if any(_NOT_ON_WINDOWS.search(part) for part in path.split("/"))
        ]
    if _ignores_case(folder):
        first: dict[str, str] = {}
        for path in paths:
            other = first.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
            if other != path:
                expected, found = "names that differ in more than letter case", f"one like {other}"
                faults.append(Fault(FaultKind.DUPLICATE, path, expected, found))
    return faults


def _ignores_case(folder: Path) -> bool:
    """Return whether names in a new folder that differ only in letter case are the same file."""
    with tempfile.NamedTemporaryFile(prefix="case-", dir=folder) as file:
        return (folder / Path(file.name).name.upper()).exists()


# --- Runs on a participant's own machine, which have no list of jobs ---


@contextlib.contextmanager
def listed_runs(folder: Path, form: Form) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a folder as the platform gives it to the container, and what its list of jobs stands for.

    A folder that has a list is yielded as it is, with nothing. Runs are folders named like their image or
    stack that hold a folder "output"; of several interfaces, a run has that of its image. Raises `FormFault`
    without a list and runs, and `PhaseError` where runs do not tell their image.
    """
    if form.submission != "algorithm" or (folder / FILE_NAME).exists():
        yield folder, {}
        return
    runs = sorted(path.name for path in folder.iterdir() if (path / "output").is_dir())
    if any(interface.by_value for interface in form.interfaces):
        raise PhaseError(f"{folder}: expected {FILE_NAME}, since the value of an input tells the image")
    names = [case.columns.get(STACK_NAME) or case.name for case in form.cases]
    if not runs:
        inside = [path.name for path in sorted(folder.iterdir()) if path.is_dir()]
        found = f"none in {', '.join(inside[:3])}" + ", …" * (len(inside) > 3) if inside else "none"
        expected = f"the outputs of a run for each image or stack, such as {names[0]}/output"
        raise FormFault(Fault(FaultKind.MISSING, "*/output", expected, found))
    places = {f"a job for {unit} {name}": f"{name}/output" for name in names for unit in ("image", "stack")}
    interfaces = {interface.name: interface for interface in form.interfaces}
    of_case = {name_key(case.name): case.columns.get(INTERFACE, "") for case in form.cases}
    outputs = {
        slug: field.socket.path(slug)
        for field in fields_of(tasks_of_form(form))
        for slug in [form.sockets.get(field.name, field.socket.slug)]
    }
    jobs = []
    for name in runs:
        interface = interfaces.get(of_case.get(name_key(name), ""))
        inputs = interface.inputs if interface else form.input_sockets[:1] or ("image",)
        places |= {f"job {name}, socket {slug}": f"{name}/" for slug in inputs} | {f"job {name}": f"{name}/"}
        places |= {f"job {name}, socket {slug}": f"{name}/output/{path}" for slug, path in outputs.items()}
        jobs.append(
            {
                "pk": name,
                "inputs": [{"socket": {"slug": slug}, "image": {"name": name}} for slug in inputs],
                "outputs": [
                    {"socket": {"slug": slug, "relative_path": path}}
                    for slug, path in outputs.items()
                    if (folder / name / "output" / path).exists()
                ],
            }
        )
    with tempfile.TemporaryDirectory(prefix="runs-") as target:
        for name in runs:
            output = Path(name, "output")
            shutil.copytree(folder / output, target / output, symlinks=True, copy_function=_linked)
        Path(target, FILE_NAME).write_text(json.dumps(jobs), encoding="utf-8")
        yield Path(target), places


def of_run(fault: Fault, places: Mapping[str, str]) -> Fault:
    """Return a fault of the list of jobs as one of the folder for which it stands."""
    if fault.file != FILE_NAME or not places:
        return fault
    file = places.get(fault.field or fault.expected, "*/output")
    expected, found, hint = (
        re.sub(r"\bjob\b", "run", of or "") for of in (fault.expected, fault.found, fault.hint)
    )
    return replace(fault, file=file, field=None, expected=expected, found=found, hint=hint or None)


def _linked(source: str, target: str) -> str:
    """Give a file a second name, or copy it where the system does not give one."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copyfile(source, target, follow_symlinks=False)
    return target
