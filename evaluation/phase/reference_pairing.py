"""The reference file of every case, and faults of missing, duplicate and unmatched files."""

from __future__ import annotations

from evaluation.core.challenge import (
    Task,
    references_of,
)
from evaluation.core.field import Files, TableRows
from evaluation.core.form import CaseForm
from evaluation.phase.cases import Cases
from evaluation.phase.manifest import Manifest


def pair_files(
    tasks: tuple[Task, ...], cases: Cases, manifest: Manifest, problems: list[str]
) -> dict[str, dict[str, str]]:
    """Return the reference file of every case by field; missing, duplicate and unmatched ones are faults."""
    paired: dict[str, dict[str, str]] = {}
    for field in references_of(tasks):
        location = field.reference.location
        cases_of_field = [case for case in cases.forms if field.cases(case)]
        if isinstance(location, TableRows):
            file = location.files[0]
            paths = paired[field.name] = {case.name: file for case in cases_of_field}
            if file not in manifest.files:
                problems.append(f"{file}: is missing, expected the reference of {len(paths)} cases")
            continue
        if not isinstance(location, Files):
            continue
        expected = {
            location.path(case.name, extension): case
            for case in cases_of_field
            for extension in location.extensions
        }
        paths = paired[field.name] = {}
        for path in manifest.files:
            folder, _, _ = path.rpartition("/")
            if folder != location.folder:
                continue
            case = expected.get(path)
            if case is None:
                if not _belongs_elsewhere(path, field.name, tasks, cases.forms):
                    problems.append(f"{path}: matches no case of cases.csv")
            elif case.name in paths:
                problems.append(f"{path}: duplicate file for case {case.name}, beside {paths[case.name]}")
            else:
                paths[case.name] = path
        problems += [
            f"{location.path(case.name)}: is missing, expected the reference of case {case.name}"
            for case in cases_of_field
            if case.name not in paths and not field.reference.optional
        ]
    return paired


def _belongs_elsewhere(path: str, name: str, tasks: tuple[Task, ...], cases: tuple[CaseForm, ...]) -> bool:
    """Return whether a file is the reference of another field that shares the folder."""
    return any(
        path == location.path(case.name, extension)
        for field in references_of(tasks)
        if field.name != name and isinstance(location := field.reference.location, Files)
        for case in cases
        if field.cases(case)
        for extension in location.extensions
    )
