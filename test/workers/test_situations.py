"""Every fault of every kind is the same in a confined reader, which imports nothing, and in one process.

Each commit tries a fourth of the changed values, and the files that the tests of each format read or refuse;
the weekly job tries all values and the faults of all bundled phases, and changes files byte by byte.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import pkgutil
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import evaluation.challenges
from evaluation.core.fault import Fault, FormFault, PhaseError, ReadError
from evaluation.core.field import Files, Kind
from evaluation.core.form import CaseForm, Form
from evaluation.core.trouble import MachineTrouble
from evaluation.evaluate import check
from evaluation.io.kinds.boxes import BoxesInSpace
from evaluation.phase.registry import challenge_named
from evaluation.workers import processes
from test.examples.samples import write_sample
from test.messages.faults import FAULTS
from test.messages.lines import form_of as line_form
from test.repository import REPOSITORY

from . import situations
from .situations import (
    FORMATS,
    box_files,
    case_of,
    cells,
    form_of,
    images,
    json_values,
    rows,
    write_files,
    write_jobs,
    write_table,
)

MOST_CASES = 900  # of faults of one kind, a thousand are kept
SIZED = case_of("")
STEP = 4
"""Of the changed values of JSON and tables, so many stand for one another in each commit."""
ALWAYS = (" is missing", " key", " keys")
"""Ends of names of changes that are tried in each commit."""
OF_FORMATS = {
    "label_map_2d": ("images", "metaimages"),
    "label_mask": ("images", "metaimages"),
    "image_3d": ("volumes",),
}
"""Fields of numbers, of grey values and of volumes, whose files have all faults of their formats."""
OF_PHASES = {
    "refuge-onsite": (
        "link to the reference",
        "nine levels of folders",
        "table of three million blank lines",
        "unclosed quotation mark",
        "row of a million lines",
        "column twice",
    ),
    "justraigs-phase1": ("jobs: a place that climbs", "output: a number for a decision"),
    "luna16": ("candidates: a million of no scan",),
}
"""Faults of whole submissions that no changed value has."""
VARIANTS = {
    "boxes_kept",
    "boxes_clipped",
    "keypoints_in_part",
    "points_in_image",
    "polygons",
}
"""Fields that read JSON by the places of another: a fifth of their changed values stand for the others."""
ROOT = Path(evaluation.__file__).parent
EXEMPT = {
    "one that was replaced while it was opened": "a file that changes meanwhile",
    'f"{len(view)} bytes", f"{filled} bytes"': "a file that changes meanwhile",
    '"a readable folder", found': "a folder that root reads all the same",
    "at most {MAX_ENTRIES} files": "a hundred thousand files",
    'FaultKind.TOO_LARGE, ".", expected, "more"': "a hundred thousand files, see `test_listing`",
    "repr(shorten(cell)), FaultKind.WRONG_VALUE": "`TwoClasses`, of references alone",
    'fault_at(source, self.describe(), ", ".join': "`ImageSize`, of references alone",
    "error.fault(self.source.file)": "images of a stack, see `test_stacked`",
    '"at least one pixel"': "a phase that knows no size",
    "at most {MAX_PIXELS} pixels": "a phase that knows no size",
    "image data that contradict the header": "a decoder that contradicts the header that was checked",
    '"no page"': "the first page is there, or its place is damaged",
    "a path inside the archive": "names in a zip, see `test_unpacking`",
    "FaultKind.TOO_LARGE, path, expected": "names in a zip, see `test_unpacking`",
    'f"an integer of {digits} digits"': "JSON files of organisers alone",
    '"another type of values"': "a type that was refused with the header",
    "fault_at(place, expected, shown, FaultKind.UNKNOWN)": "JSON of a stack, see `test_stacked`",
    "fault_at(source, expected, found, FaultKind.MALFORMED)": "JSON of a stack, see `test_stacked`",
    '"an image of one plane"': "sizes that `cases` reads from the organisers' images",
    'damaged(_IMAGE, "a header with invalid numbers")': "sizes that `cases` reads of organisers",
    "at most {_MAX_CHUNKS} chunks": "files of small images are limited before",
}
"""Places that no submission of the tests reaches, and why, by a part of their line."""
RAISING = {"fault_at", "ReadError", "FormFault", "Fault", "damaged"}


CHALLENGES = str(Path(__file__).parent / "kinds")
"""Its challenge has options without a description, and is known here alone."""


@functools.cache
def module() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation.challenges, "__path__", [*evaluation.challenges.__path__, CHALLENGES])
        challenge_named("situations")
    return sys.modules["evaluation.challenges.situations"]


Answer = tuple[str, Any]
"""How a check ends, and its faults or the error."""
Part = tuple[str, str, CaseForm, Callable[[Path], list[str]]]
"""A field, its layout, a nameless case, and a function that writes a submission and returns the names."""


def _parts_of(name: str, kind: Kind, step: int) -> Iterator[Part]:
    """Yield the submissions of a field, in every layout that its kind has."""
    layouts = module()

    def in_parts(
        layout: str, found: list, write: Callable[[Path, list], list[str]], case: CaseForm = SIZED
    ) -> Iterator[Part]:
        for start in range(0, len(found), MOST_CASES):
            part = found[start : start + MOST_CASES]
            yield name, layout, case, functools.partial(write, part=part)

    if _has(kind, "write_file"):
        place = layouts.layout_of(name, "files")
        found = box_files(kind) if _is_text(place) else images(kind, place.extensions)
        write = lambda folder, part: write_files(folder, place, part)  # noqa: E731
        yield from in_parts("files", list(found), write)
        for formats in OF_FORMATS.get(name, ()):
            further = list(situations.of_formats(formats))
            further += situations.changed_bytes(formats) if step == 1 else ()
            yield from in_parts("files", further, write, FORMATS[formats])
    for layout, of in (("cells", cells), ("rows", rows)):
        if not _has(kind, f"write_{layout}") or (layout == "cells" and kind.columns):
            continue
        values = [value if layout == "rows" else [value] for _, value in of(kind)][::step]
        columns = layouts.layout_of(name, layout).columns
        yield from in_parts(
            layout, values, lambda folder, part, columns=columns: write_table(folder, columns, part)
        )
    if _has(kind, "write_json") and not (isinstance(kind, BoxesInSpace) and kind.space.axes == 3):
        few = 5 * step if name in VARIANTS and step > 1 else step
        values = [
            value
            for number, (what, value) in enumerate(json_values(kind))
            if number % few == 0 or what.endswith(ALWAYS) or "multiplied" in what
        ]
        texts = [json.dumps(value).encode() for value in values]
        texts += situations.texts_of_json(kind.write_json(situations.good(kind)))
        field = layouts.field_of(name, "json")
        yield from in_parts("json", texts, lambda folder, part: write_jobs(folder, field, part))


def _has(kind: Kind, writer: str) -> bool:
    return getattr(type(kind), writer) is not getattr(Kind, writer)


def _is_text(place: Files) -> bool:
    return place.extensions == (".txt",)


def answer(form: Form, folder: Path, workers: int) -> Answer:
    """Return how a check ends, and its faults or the error."""
    try:
        checked = check(form, folder, workers)
    except (PhaseError, MachineTrouble) as error:
        return type(error).__name__, str(error)
    return "faults" if checked.faults else "passed", (
        list(map(repr, checked.faults)),
        dict(checked.faults.more),
    )


@functools.cache
def fault_sites() -> dict[tuple[str, int], tuple[range, str]]:
    """Return the calls that make a fault in modules of readers: their lines and text by file and line."""
    sites = {}
    for path in (ROOT / "io").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            if getattr(node.func, "id", getattr(node.func, "attr", "")) in RAISING:
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                sites[str(path), node.lineno] = lines, text.splitlines()[node.lineno - 1].strip()
    return sites


class Sites:
    """Collects the lines of the calls during which a fault or an error of a reader is made."""

    def __init__(self) -> None:
        self.lines: set[tuple[str, int]] = set()

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect in this process."""
        with pytest.MonkeyPatch.context() as patch:
            for made in (Fault, ReadError, FormFault):
                patch.setattr(made, "__init__", self._collecting(made.__init__))
            yield

    def _collecting(self, make: Callable[..., None]) -> Callable[..., None]:
        def made(*arguments: Any, **named: Any) -> None:
            frame: FrameType | None = sys._getframe(1)
            while frame and frame.f_code.co_name != "check":
                self.lines.add((frame.f_code.co_filename, frame.f_lineno))
                frame = frame.f_back
            make(*arguments, **named)

        return made


@dataclass
class Answers:
    """The answers to submissions by name, and the imports that confined readers tried."""

    unconfined: dict[str, Answer] = field(default_factory=dict)
    confined: dict[str, Answer] = field(default_factory=dict)
    sites: Sites = field(default_factory=Sites)
    log: Path = Path()

    def add(self, name: str, form: Form, folder: Path) -> None:
        with self.sites.collecting():
            self.unconfined[name] = answer(form, folder, 0)
        self.confined[name] = answer(form, folder, 1)


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> Answers:
    return answered(tmp_path_factory, STEP)


def answered(folders: pytest.TempPathFactory, step: int) -> Answers:
    """Check one of ``step`` changed values, in confined readers and in this process."""
    found = Answers(log=folders.mktemp("log") / module().CONFINED_IMPORTS)
    found.log.touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(found.log.parent))
        patch.setenv("EVALUATION_CHALLENGES", CHALLENGES)
        patch.setattr(evaluation.challenges, "__path__", [*evaluation.challenges.__path__, CHALLENGES])
        patch.setattr(processes, "_server", None)  # one that logs
        for name, kind in module().KINDS.items():
            for number, (_, layout, case, write) in enumerate(_parts_of(name, kind, step)):
                folder = folders.mktemp("part") / "submission"
                cases = [replace(case, name=one) for one in write(folder)]
                found.add(f"{name} {number}", form_of(name, layout, cases), folder)
        _add_wholes(found, folders)
        for phase, spoils in FAULTS.items():
            good = REPOSITORY / "test" / "input" / phase
            names = spoils if step == 1 else OF_PHASES.get(phase, ())
            if not good.exists() and names:
                good = write_sample(folders.mktemp("sample") / "sample", phase) / "submission"
            for name in names:
                folder = Path(shutil.copytree(good, folders.mktemp("spoilt") / "submission"))
                spoils[name](folder)
                found.add(f"{phase}: {name}", line_form(phase), folder)
                shutil.rmtree(folder.parent)
        assert processes._server is not None
        processes._server.kill()
    return found


def _add_wholes(found: Answers, folders: pytest.TempPathFactory) -> None:
    """Check tables and lists of jobs that are changed as a whole."""
    for number, data in enumerate(situations.tables()):
        folder = folders.mktemp("table")
        (folder / "values.csv").write_bytes(data)
        found.add(f"table {number}", form_of("number", "cells", [case_of("case0000")]), folder)
    form, base = form_of("number", "json", [case_of("case0000")]), folders.mktemp("jobs") / "submission"
    write_jobs(base, module().field_of("number", "json"), [b"0.5"])
    valid = (base / "predictions.json").read_bytes()
    for number, data in enumerate(situations.lists_of_jobs(valid)):
        (base / "predictions.json").write_bytes(data)
        found.add(f"jobs {number}", form, base)


def check_alike(answers: Answers) -> None:
    """Check that confined readers find the same faults of the participant, and import nothing."""
    assert [name for name, found in answers.confined.items() if found != answers.unconfined[name]] == []
    assert {ending for ending, _ in answers.unconfined.values()} == {"faults", "passed"}
    assert all(ending == "faults" for name, (ending, _) in answers.unconfined.items() if ": " in name)
    assert set(answers.log.read_text(encoding="utf-8").splitlines()) == set()


def test_confined_readers_find_the_same_faults_and_import_nothing(answers):
    check_alike(answers)


@pytest.mark.weekly
def test_confined_readers_find_the_same_faults_of_all_changed_values(tmp_path_factory):
    check_alike(answered(tmp_path_factory, 1))


def test_every_place_that_makes_a_fault_was_reached(answers):
    missed = {
        f"{Path(file).relative_to(ROOT)}:{line}: {text}"
        for (file, line), (lines, text) in fault_sites().items()
        if not any((file, number) in answers.sites.lines for number in lines)
    }
    exempt = {place for place in missed if any(part in place for part in EXEMPT)}
    assert sorted(missed - exempt) == []
    assert [part for part in EXEMPT if not any(part in place for place in exempt)] == []


def test_every_kind_has_situations():
    modules = pkgutil.walk_packages(evaluation.__path__, "evaluation.")
    for found in modules:
        if found.name.startswith(("evaluation.io.kinds", "evaluation.challenges")):
            importlib.import_module(found.name)

    def concrete(kind: type[Kind]) -> set[type[Kind]]:
        own = set() if inspect.isabstract(kind) or not kind.__module__.startswith("evaluation.") else {kind}
        return own.union(*map(concrete, kind.__subclasses__()))

    known = {type(kind) for kind in module().KINDS.values()} | module().OF_REFERENCES
    apart = ("evaluation.challenges.unruly", "evaluation.organiser.")
    packaged = {kind for kind in concrete(Kind) if not kind.__module__.startswith(apart)}
    assert packaged == known
