"""Read several submissions, or annotations laid out like submissions, case by case."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.core.challenge import Task
from evaluation.core.fault import Fault, PhaseError
from evaluation.core.form import Form
from evaluation.core.source import Source
from evaluation.platform.index import SubmissionIndex
from evaluation.platform.submission import index_submission
from evaluation.workers.case_reader import CaseReader


@dataclass(frozen=True)
class OpenSubmission:
    """One submission: the index of its files, and the runner that reads them."""

    name: str
    form: Form
    index: SubmissionIndex
    reader: CaseReader

    def sources(self, position: int) -> Mapping[str, Source]:
        """Return the sources of a case's values by field."""
        return self.index.sources[position]

    def read(
        self, position: int, fields: Collection[str], faults: list[str], leave_out: Collection[str] = ()
    ) -> dict[str, Any]:
        """Return the values of a case by field, without missing ones; faults are added to ``faults``."""
        sources = {
            name: source
            for name, source in self.sources(position).items()
            if name in fields and name not in leave_out
        }
        values, found = self.reader.read(self.form.cases[position], sources)
        faults += self.described(found)
        return values

    def described(self, faults: Iterable[Fault]) -> list[str]:
        """Return faults as text, with the submission's name."""
        return [f"{self.name}: {fault}" for fault in faults]


def open_submissions(
    folders: Mapping[str, Path], form: Form, tasks: Sequence[Task]
) -> tuple[OpenSubmission, ...]:
    """Open submissions, sorted by name. Raises `PhaseError` with the faults of all of them."""
    if missing := [
        f"{name}: {folder} is not a folder" for name, folder in folders.items() if not folder.is_dir()
    ]:
        raise PhaseError(*missing)
    opened = []
    for name in sorted(folders):
        index = index_submission(folders[name], form, tasks)
        opened.append(OpenSubmission(name, form, index, CaseReader(index.root, tasks, form.missing)))
    if faults := [problem for one in opened for problem in one.described(one.index.faults)]:
        raise PhaseError(*faults)
    return tuple(opened)
