"""The organiser's folder of annotations from which the reference of a phase is built."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import Fault, PhaseError
from evaluation.core.field import CaseColumns, Field, Files, TableColumns
from evaluation.core.form import Form, name_key
from evaluation.organiser.annotators.combine import is_combinable
from evaluation.phase.cases import Cases, organiser_table, read_cases
from evaluation.phase.config import FILE_NAME
from evaluation.phase.registry import read_configuration
from evaluation.platform.index import SubmissionIndex
from evaluation.platform.submission import index_submission
from evaluation.workers.submission_reader import CaseReader


@dataclass(frozen=True)
class OpenSubmission:
    """One submission: the index of its files, and the runner that reads them."""

    name: str
    form: Form
    index: SubmissionIndex
    reader: CaseReader

    def read(self, position: int, fields: Collection[str], faults: list[str]) -> dict[str, Any]:
        """Return the values of a case by field, without missing ones; faults are added to ``faults``."""
        sources = {name: one for name, one in self.index.sources[position].items() if name in fields}
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
    missing = [name for name, folder in folders.items() if not folder.is_dir()]
    PhaseError.raise_all([f"{name}: {folders[name]} is not a folder" for name in missing])
    opened = []
    for name in sorted(folders):
        index = index_submission(folders[name], form, tasks)
        opened.append(OpenSubmission(name, form, index, CaseReader(index.root, tasks, form.missing)))
    PhaseError.raise_all([problem for one in opened for problem in one.described(one.index.faults)])
    return tuple(opened)


ANNOTATORS, DROPPED = "readers", "dropped.csv"


@dataclass(frozen=True)
class AnnotatorsFolder:
    """The content of an organiser's folder.

    ``fused``: the fields whose reference comes from the annotators. ``annotators``: one open submission each.
    ``dropped``: fields whose values do not count, by annotator and position of the case.
    """

    folder: Path
    tasks: tuple[Task, ...]
    cases: Cases
    fused: tuple[Field, ...]
    annotators: tuple[OpenSubmission, ...]
    dropped: Mapping[tuple[str, int], Collection[str]]

    @property
    def ignored(self) -> dict[str, list[str]]:
        """The columns that cases.csv has already, and the annotators whose values they leave unused."""
        found: dict[str, list[str]] = {}
        for field in fields_of(self.tasks):
            if field in self.fused or not isinstance(location := field.reference.location, CaseColumns):
                continue
            names = [
                one.name
                for one in self.annotators
                if any(field.name in sources for sources in one.index.sources)
            ]
            if names:
                found |= dict.fromkeys(location.columns, names)
        return found

    def dropped_of(self, annotator: str, position: int) -> Collection[str]:
        """Return the fields of an annotator's case that do not count."""
        return self.dropped.get((annotator, position), ())


def open_annotators(folder: Path) -> AnnotatorsFolder:
    """Open a folder without reading its annotations. Raises `PhaseError` with every fault."""
    if not (folder / ANNOTATORS).is_dir():
        raise PhaseError(f"{folder / ANNOTATORS}: is not a folder")
    configuration = read_configuration(folder)
    challenge, tasks = configuration.challenge, configuration.tasks
    cases = read_cases(folder, challenge.form_columns_of(configuration.config.submission))
    fused = tuple(field for field in fields_of(tasks) if not _is_kept(field, cases))
    PhaseError.raise_all(_problems(fused, cases))
    form = Form(
        challenge=challenge.name,
        phase=configuration.config.name,
        submission="archive",
        tasks=tuple(task.name for task in tasks),
        # An annotator may have annotated only some of the cases.
        missing="worst",
        options=configuration.options.form_options(),
        sockets={},
        cases=cases.forms,
    )
    folders = {path.name: path for path in sorted((folder / ANNOTATORS).iterdir()) if path.is_dir()}
    if not folders:
        raise PhaseError(f"{folder / ANNOTATORS}: expected a folder for every annotator, found none")
    names = {field.name for field in fused}
    annotators = open_submissions(folders, form, [read_like_references(task, names) for task in tasks])
    dropped = _read_dropped(folder / DROPPED, list(folders), form, fused)
    return AnnotatorsFolder(folder, tasks, cases, fused, annotators, dropped)


def _is_kept(field: Field, cases: Cases) -> bool:
    location = field.reference.location
    return isinstance(location, CaseColumns) and set(location.columns) <= set(cases.columns)


def read_like_references(task: Task, fused: Collection[str]) -> Task:
    """Return a task whose fused fields are read like references: for example a label, not a likelihood.

    Objects are read from the reference's files, which may have another layout than submissions.
    """
    fields = []
    for field in task.fields:
        if field.name not in fused:
            fields.append(field)
            continue
        location, archive = field.reference.location, field.archive
        if field.kind.objects and isinstance(location, Files) and isinstance(archive, Files):
            archive = replace(archive, extensions=location.extensions)
        fields.append(replace(field, kind=field.reference.kind, archive=archive))
    return replace(task, fields=tuple(fields))


def _holds_reference(field: Field) -> bool:
    """Return whether a submission has as many columns as the reference: annotators give it there."""
    archive, location = field.archive, field.reference.location
    if isinstance(archive, TableColumns) and isinstance(location, CaseColumns):
        return len(archive.columns) == len(location.columns)
    return True


def _problems(fused: Sequence[Field], cases: Cases) -> list[str]:
    problems = [
        f"{field.title}: values of this kind cannot be combined here; choose other tasks in {FILE_NAME}"
        for field in fused
        if not is_combinable(field.reference.kind) or not _holds_reference(field)
    ]
    if any(field.reference.kind.needs_size for field in fused):
        problems += [
            f"cases.csv, line {row.line}: expected width and height in pixels, found none"
            for form, row in zip(cases.forms, cases.rows, strict=True)
            if not (form.width and form.height)
        ]
    return problems


def _read_dropped(
    path: Path, annotators: Sequence[str], form: Form, fused: Sequence[Field]
) -> Mapping[tuple[str, int], Collection[str]]:
    dropped: dict[tuple[str, int], set[str]] = defaultdict(set)
    if not path.exists():
        return dropped
    names = [field.name for field in fused]
    with organiser_table(path, ("reader", "name", "field"), ("region",)) as table:
        for row in table.rows:
            annotator, image, field = (row.cells[column] for column in ("reader", "name", "field"))
            position = form.names.get(name_key(image))
            if annotator not in annotators:
                row.fault("reader", f"expected one of {', '.join(annotators)}, found {annotator!r}")
            if position is None:
                row.fault("name", f"expected a case of cases.csv, found {image!r}")
            if field and field not in names:
                row.fault("field", f"expected one of {', '.join(names)}, found {field!r}")
            if region := row.cells.get("region"):
                row.fault("region", f"expected nothing, since masks are dropped as a whole, found {region!r}")
            if position is not None:
                dropped[annotator, position].update([field] if field else names)
    return dropped
