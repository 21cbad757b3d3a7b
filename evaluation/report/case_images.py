"""Read predictions and references again: sizes and positions of all cases, pictures of some.

Runs in a process of its own (see `evaluation.isolated`), since it decodes files of a submission.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evaluation.core.challenge import Values, fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.io.kinds.point import Point
from evaluation.metrics.cup_to_disc import VerticalDiameter
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.platform import machine
from evaluation.platform.submission import index_submission
from evaluation.platform.unpack import unpacked
from evaluation.report.case_pictures import CaseImage, Location, is_shown, location_of, picture_of
from evaluation.report.photographs import Photographs
from evaluation.report.regions import (
    Ratio,
    Size,
    ratios,
    sizes,
)
from evaluation.workers.case_reader import CaseReader
from evaluation.workers.progress import Progress

_PORTION = 16


@dataclass(frozen=True)
class CaseValues:
    """The drawn values of one case: sizes, locations by field, and pictures by task."""

    name: str
    sizes: tuple[Size, ...]
    ratios: tuple[Ratio, ...]
    locations: Mapping[str, Location]
    pictures: Mapping[str, CaseImage]


@dataclass(frozen=True)
class Request:
    """A request for values of a phase and a submission, with the cases to draw by task.

    submission: None for the reference itself, which shows only fields submitted in the reference's form.
    only_pictures: leave out the sizes and positions of all cases.
    """

    phase: str
    submission: str | None
    pictures: Mapping[str, Sequence[str]]
    images: str | None
    workers: int
    only_pictures: bool = False


def read_cases(request: Request, progress: Progress) -> list[CaseValues]:
    """Return the values of every case, in the order of the phase.

    Raises `PhaseError` where the submission or a photograph cannot be read.
    """
    with unpacked(Path(request.submission)) if request.submission else nullcontext() as folder:
        reader = _Reader(request, folder)
        chosen = list(reader.positions())
        portions = [chosen[start : start + _PORTION] for start in range(0, len(chosen), _PORTION)]
        found: list[CaseValues] = []
        if request.workers > 1 and machine.CAN_ISOLATE:
            # Arguments of a forked process are not pickled.
            with multiprocessing.get_context("fork").Pool(request.workers, _begin, (reader,)) as pool:
                for values in pool.imap(_read_portion, portions):
                    found += values
                    progress(len(found))
        else:
            _begin(reader)
            for portion in portions:
                found += _read_portion(portion)
                progress(len(found))
    return found


class _Reader:
    """Reads the cases of one submission and its phase in one process."""

    def __init__(self, request: Request, folder: Path | None) -> None:
        self.phase: Phase = load_phase(Path(request.phase))
        self._fields = {field.name: field for field in fields_of(self.phase.tasks) if is_shown(field)}
        self._submitted = self._of_reference if folder is None else self._of(folder)
        self._reference = OpenReference(self.phase.reference, references_of(self.phase.tasks))
        self._photographs = Photographs(Path(request.images) if request.images else None)
        self._wanted = request.pictures
        self._only_pictures = request.only_pictures
        self._definition: VerticalDiameter = getattr(self.phase.options, "vertical_diameter", "column_count")

    def positions(self) -> Iterator[int]:
        """Yield the positions of the cases to read."""
        shown = {name for names in self._wanted.values() for name in names}
        for position, case in enumerate(self.phase.cases.forms):
            if not self._only_pictures or case.name in shown:
                yield position

    def read(self, position: int) -> CaseValues:
        """Return the values of a case, without fields that were not submitted or have no reference."""
        case = self.phase.cases.forms[position]
        references = ReferenceValues(self._reference, case, self.phase.rows[position])
        predicted = self._submitted(position, references)
        submitted = {name: value for name, value in predicted.items() if references[name] is not None}
        pictures = self._pictures(case, submitted, references)
        if self._only_pictures:
            return CaseValues(case.name, (), (), {}, pictures)
        pairs = {name: (value, references[name]) for name, value in submitted.items()}
        return CaseValues(
            case.name,
            tuple(size for name, pair in pairs.items() for size in sizes(self._fields[name], case, *pair)),
            tuple(
                ratio
                for name, pair in pairs.items()
                for ratio in ratios(self._fields[name], *pair, self._definition)
            ),
            {
                name: location
                for name, pair in pairs.items()
                if isinstance(pair[0], Point) and (location := location_of(self._fields[name], *pair))
            },
            pictures,
        )

    def _of(self, folder: Path) -> Callable[[int, Values], Values]:
        """Return the reader of the submitted values. Raises `PhaseError` for a faulty submission."""
        index = index_submission(folder, self.phase.form, self.phase.tasks)
        if index.faults:
            raise PhaseError(*map(str, index.faults))
        files = CaseReader(index.root, self.phase.tasks, self.phase.missing)

        def read(position: int, references: Values) -> Values:
            sources = index.sources[position].items()
            of_case = {name: source for name, source in sources if name in self._fields}
            return files.read(self.phase.cases.forms[position], of_case)[0]

        return read

    def _of_reference(self, position: int, references: Values) -> Values:
        same = [
            name for name, field in self._fields.items() if type(field.kind) is type(field.reference.kind)
        ]
        return {name: references[name] for name in same}

    def _pictures(self, case: CaseForm, submitted: Values, references: Values) -> dict[str, CaseImage]:
        """Return the requested pictures of a case by task."""
        wanted = [task for task in self.phase.tasks if case.name in self._wanted.get(task.name, ())]
        if not wanted:
            return {}
        photograph, volume = self._photographs.of(case), partial(self._photographs.volume_of, case)
        pictures = {
            task.name: picture_of(self.phase, task, case, submitted, references, photograph, volume)
            for task in wanted
        }
        return {name: picture for name, picture in pictures.items() if picture}


_readers: list[_Reader] = []


def _begin(reader: _Reader) -> None:
    _readers[:] = [reader]


def _read_portion(positions: Sequence[int]) -> list[CaseValues]:
    return [_readers[0].read(position) for position in positions]
