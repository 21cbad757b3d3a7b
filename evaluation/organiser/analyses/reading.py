"""Submitted values and references of a phase's cases, read again after the evaluation.

Runs in a process of its own (see `evaluation.isolated`), since it decodes files of a submission.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from evaluation.core.challenge import Options, Values, fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field
from evaluation.core.form import CaseForm
from evaluation.core.outcome import Progress
from evaluation.phase.phase import Phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.platform import machine
from evaluation.platform.submission import index_submission
from evaluation.workers.case_reader import CaseReader

_PORTION = 16
Visited = TypeVar("Visited")


@dataclass(frozen=True)
class OpenCase:
    """A case with its submitted values and references by field, and its cells of `cases.csv` by column.

    ``submitted`` lacks fields that were not submitted or have no reference.
    """

    form: CaseForm
    cells: Mapping[str, str]
    submitted: Values
    references: Values
    options: Options


class OpenSubmission:
    """The chosen fields of a submission and its phase; a folder of None stands for the reference itself.

    The reference has only fields that are submitted in its form. Raises `PhaseError` for a faulty submission.
    """

    def __init__(self, phase: Phase, folder: Path | None, chosen: Callable[[Field], bool]) -> None:
        self.phase = phase
        self.fields = {field.name: field for field in fields_of(phase.tasks) if chosen(field)}
        self._reference = OpenReference(phase.reference, references_of(phase.tasks))
        self._submitted = self._of_reference if folder is None else self._of(folder)

    def case(self, position: int) -> OpenCase:
        """Return the case at a position of the phase."""
        case, row = self.phase.cases.forms[position], self.phase.rows[position]
        references = ReferenceValues(self._reference, case, row)
        predicted = self._submitted(position, references)
        submitted = {name: value for name, value in predicted.items() if references[name] is not None}
        return OpenCase(case, row.cells, submitted, references, self.phase.options)

    def _of(self, folder: Path) -> Callable[[int, Values], Values]:
        index = index_submission(folder, self.phase.form, self.phase.tasks)
        if index.faults:
            raise PhaseError(*map(str, index.faults))
        files = CaseReader(index.root, self.phase.tasks, self.phase.missing)

        def read(position: int, references: Values) -> Values:
            sources = index.sources[position].items()
            of_case = {name: source for name, source in sources if name in self.fields}
            return files.read(self.phase.cases.forms[position], of_case)[0]

        return read

    def _of_reference(self, position: int, references: Values) -> Values:
        case = self.phase.cases.forms[position]
        return {
            name: references[name]
            for name, field in self.fields.items()
            if field.cases(case) and type(field.kind) is type(field.reference.kind)
        }


def visit_cases(
    positions: Sequence[int], visit: Callable[[int], Visited], workers: int, progress: Progress
) -> list[Visited]:
    """Return what ``visit`` returns for each position, in their order; several workers share them."""
    portions = [positions[start : start + _PORTION] for start in range(0, len(positions), _PORTION)]
    found: list[Visited] = []
    if workers > 1 and machine.CAN_ISOLATE:
        # Arguments of a forked process are not pickled.
        with multiprocessing.get_context("fork").Pool(workers, _begin, (visit,)) as pool:
            for values in pool.imap(_visit_portion, portions):
                found += values
                progress(len(found))
    else:
        _begin(visit)
        for portion in portions:
            found += _visit_portion(portion)
            progress(len(found))
    return found


_visits: list[Callable[[int], Any]] = []


def _begin(visit: Callable[[int], Any]) -> None:
    _visits[:] = [visit]


def _visit_portion(positions: Sequence[int]) -> list[Any]:
    return [_visits[0](position) for position in positions]
