"""Submissions with the commonest mistakes: each must be rejected with the fault that it is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import fields_of
from evaluation.core.fault import Fault, FaultKind
from evaluation.core.field import Field, Files, Kind, TableRows, Variant
from evaluation.core.form import CaseForm
from evaluation.core.outcome import CaseJob
from evaluation.core.sources import FileAccess, Source
from evaluation.evaluate import check
from evaluation.io.files import scratch_folder
from evaluation.io.kinds.volume import Volume
from evaluation.organiser.rehearsal.submissions import Stage, part_of, writer_of, written
from evaluation.organiser.submission_writer import pixels_of
from evaluation.phase.phase import Phase

_GREY = 255
_NO_VALUE = "no value"
_OURS = "evaluation."


class _Mistaken(Kind):
    """Writes something else than the value: by default, what no reader of this package takes for a value."""

    def __init__(self, kind: Kind, columns: int) -> None:
        self._kind, self._columns = kind, columns

    def read(self, source: Source, case: CaseForm, files: FileAccess) -> Any:
        """Read as the kind does."""
        return self._kind.read(source, case, files)

    def describe(self) -> str:
        """Describe as the kind does."""
        return self._kind.describe()

    def write_file(self, value: Any, extension: str) -> bytes:
        """Return bytes that are no text and no image."""
        return b"\xff\xfe\x00 no value"

    def write_cells(self, value: Any) -> tuple[str, ...]:
        """Return cells of words."""
        return (_NO_VALUE,) * self._columns

    def write_rows(self, value: Any) -> list[tuple[str, ...]]:
        """Return one row of words."""
        return [(_NO_VALUE,) * self._columns]

    def write_json(self, value: Any) -> Any:
        """Return an object that has no value."""
        return {_NO_VALUE: _NO_VALUE}


class _Changed(_Mistaken):
    """Writes the pixels of an image after a change."""

    def __init__(self, kind: Kind, change: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
        super().__init__(kind, 0)
        self._change = change

    def write_file(self, value: Any, extension: str) -> bytes:
        """Return the bytes of the changed image."""
        if isinstance(value, Volume):
            changed = self._change(value.values)
            geometry = replace(value.geometry, shape=changed.shape)
            return self._kind.write_file(Volume(changed, geometry), extension)
        return self._kind.write_file(self._change(value), extension)


class _Other(_Mistaken):
    """Writes another value, which is ready to be written."""

    def __init__(self, kind: Kind, other: Any) -> None:
        super().__init__(kind, 0)
        self._other = other

    def write_file(self, value: Any, extension: str) -> bytes:
        """Return the bytes of the other value."""
        return self._kind.write_file(self._other, extension)

    def write_cells(self, value: Any) -> tuple[str, ...]:
        """Return the cells of the other value."""
        return self._kind.write_cells(self._other)

    def write_rows(self, value: Any) -> list[tuple[str, ...]]:
        """Return the rows of the other value."""
        return self._kind.write_rows(self._other)

    def write_json(self, value: Any) -> Any:
        """Return the JSON of the other value."""
        return self._kind.write_json(self._other)


@dataclass(frozen=True)
class Given:
    """The perfect value of a field of a case, as it is read, and as writers take it."""

    field: Field
    case: CaseForm
    value: Any
    written: Any


def _one_row_more(values: NDArray[Any]) -> NDArray[Any]:
    """Return an image (…, y, x) with its last row twice."""
    return np.concatenate([values, values[..., -1:, :]], axis=-2)


def _grey(number: int, background: int, values: NDArray[Any]) -> NDArray[Any]:
    """Return an image with one number in place of everything but the background, and in its first pixel."""
    grey = np.where(values == background, values, values.dtype.type(number))
    grey.flat[0] = number
    return grey


def _other_content(given: Given) -> Kind | None:
    layout = given.field.archive
    return _Mistaken(given.field.kind, 0 if isinstance(layout, Files) else len(layout.columns))


def _other_size(given: Given) -> Kind | None:
    if pixels_of(given.written) is not None:
        return _Changed(given.field.kind, _one_row_more)
    other = _of_higher_image(given)
    return None if other is None else _Other(given.field.kind, other)


def _of_higher_image(given: Given) -> Any:
    """Return a value as writers take it, of an image with one row more; None for a kind that makes none."""
    kind, value = given.field.kind, given.value
    case = replace(given.case, height=given.case.height + 1)
    if kind.pixels(case) == kind.pixels(given.case):
        return None
    if (regions := kind.regions) and regions.value:
        other = regions.value(list(regions.of(value)), case)
    elif (voxels := kind.voxels) and voxels.value:
        planes = [plane.in_image(case.height, case.width).copy() for plane in voxels.of(value)]
        other = voxels.value(np.stack(planes), case)
    else:
        other = kind.example(case, np.random.default_rng(0))
    return None if other is None else written(case, given.field, other)


def _grey_values(given: Given) -> Kind | None:
    kind = given.field.kind
    number = (_GREY, 0) if kind.highest < _GREY else kind.regions and kind.regions.unlisted
    if not number or pixels_of(given.written) is None:
        return None
    return _Changed(kind, partial(_grey, *number))


_WRONG = frozenset({FaultKind.WRONG_VALUE, FaultKind.MALFORMED, FaultKind.UNREADABLE, FaultKind.UNKNOWN})


@dataclass(frozen=True)
class Mistake:
    """A mistake: how a field's value is written then, and the faults as which it must be found.

    Without ``kind`` the value is left out.
    """

    name: str
    faults: frozenset[FaultKind]
    kind: Callable[[Given], Kind | None] | None
    of_images: bool = False


MISTAKES = (
    Mistake("a missing value", frozenset({FaultKind.MISSING}), None),
    Mistake("other content than a value", _WRONG, _other_content),
    Mistake("an image of another size", frozenset({FaultKind.WRONG_SIZE}), _other_size, of_images=True),
    Mistake("a mask of grey values", frozenset({FaultKind.WRONG_VALUE}), _grey_values, of_images=True),
)


@dataclass(frozen=True)
class Tried:
    """The result of the mistakes: what is accepted or misnamed, and what could not be tried."""

    problems: tuple[str, ...]
    notes: tuple[str, ...]


def try_mistakes(phase: Phase, workers: int) -> Tried:
    """Return how submissions with each mistake are checked: in all fields, in the smallest of the cases.

    ``phase`` is of `part_of`. A reader lets a mistake through or finds it by the content of one file, so that
    one case stands for all. A kind of the organiser's own decides itself what it takes: where it takes a
    mistake, that is a note. Raises `PhaseError` where a check itself fails.
    """
    problems: list[str] = []
    notes: list[str] = []
    for mistake in MISTAKES:
        for problem, is_ours in _found(phase, mistake, workers, notes):
            (problems if is_ours else notes).append(problem)
    return Tried(tuple(problems), tuple(dict.fromkeys(notes)))


def _found(whole: Phase, mistake: Mistake, workers: int, notes: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield what is wrong with the check of a mistake, and whether it is a fault of this package."""
    forms = whole.form.cases
    pixels = [sum(field.kind.pixels(case) for field in fields_of(whole.tasks)) for case in forms]
    order = sorted(range(len(forms)), key=pixels.__getitem__)
    mistaken: dict[str, int] = {}
    chosen: set[int] = set()
    for field in fields_of(whole.tasks):
        having = [position for position in order if field.cases(forms[position])]
        # Of a value that is missing everywhere, no case is named.
        chosen |= set(having[: 1 if mistake.kind else 2])
        if having:
            mistaken[field.name] = having[0]
    phase = part_of(whole, sorted(chosen))
    names = {name: forms[position].name for name, position in mistaken.items()}
    stage = Stage(phase, workers, lambda done: None)
    fields = [field for field in stage.fields if stage.reaches(field, Variant.NEAR) and field.name in names]
    expected: list[Field] = []
    with scratch_folder("rehearsal-") as folder:
        writer = writer_of(phase, folder / "submission", fields)
        for case, row in zip(phase.form.cases, phase.rows, strict=True):
            perfect = stage.predictions(case, stage.reference(CaseJob(case, row)), Variant.PERFECT)
            values: dict[str, Any] = {}
            kinds: dict[str, Kind] = {}
            for field in fields:
                if field.name not in perfect:
                    continue
                values[field.name] = value = written(case, field, perfect[field.name])
                if names[field.name] != case.name:
                    continue
                if mistake.kind is None:
                    if not _may_be_absent(phase, field, case):
                        expected.append(field)
                    del values[field.name]
                elif (kind := mistake.kind(Given(field, case, perfect[field.name], value))) is not None:
                    kinds[field.name] = kind
                    expected.append(field)
                elif mistake.of_images and field.kind.pixels(case):
                    notes.append(f"{field.name}: {mistake.name} was not tried: its kind has none")
            writer.add(case.name, values, kinds)
        writer.close()
        if not expected:
            return
        shown = [field.name for field in fields]
        tasks = tuple(task for task in phase.tasks if {field.name for field in task.fields} <= set(shown))
        faults = list(check(replace(phase, tasks=tasks).form, folder / "submission", workers).faults)
    for field in expected:
        if not any(field in task.fields for task in tasks):
            continue
        case = next(case for case in phase.form.cases if case.name == names[field.name])
        of_field = [fault for fault in faults if _is_of(fault, field, case, phase)]
        if not any(fault.kind in mistake.faults for fault in of_field):
            found = "; ".join(map(str, of_field[:3])) or "no fault"
            kinds_of = " or ".join(sorted(mistake.faults))
            expected_fault = f"expected a fault ({kinds_of}), found {found}"
            text = f"{field.name}: {mistake.name} for case {case.name}: {expected_fault}"
            yield text, type(field.kind).__module__.startswith(_OURS) or bool(of_field)


def _may_be_absent(phase: Phase, field: Field, case: CaseForm) -> bool:
    """Return whether a value of a case may be left out, so that its absence is no fault."""
    in_one = phase.form.submission == "archive" or field.socket.by != "order"
    is_list = isinstance(field.archive, TableRows) and in_one
    # The planes of one case of a stack are never missing: those of the others follow.
    alone = sum(map(field.cases, phase.form.cases)) < 2 or (field.socket.stacked and field.socket.is_image)
    return phase.missing != "reject" or alone or (is_list and field.kind.may_have_no_rows)


def _is_of(fault: Fault, field: Field, case: CaseForm, phase: Phase) -> bool:
    """Return whether a fault is of the value of a field of a case."""
    layout, place = field.archive, fault.field or ""
    if phase.form.submission == "algorithm":
        slug = phase.form.sockets.get(field.name, field.socket.slug)
        return slug in place or field.socket.file_name in fault.file or case.name in fault.expected
    name = PurePosixPath(fault.file).name
    if isinstance(layout, Files):
        return name.startswith(f"{case.name}{layout.suffix}.")
    columns = (layout.key, *layout.columns)
    return name in {Path(file).name for file in layout.files} and any(one in place for one in columns)
