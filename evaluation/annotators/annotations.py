"""The organiser's folder of annotations from which the reference of a phase is built.

phase.toml, cases.csv   as in the phase that is to be; columns of labels that cases.csv has are kept
readers/<annotator>/…      one annotator's annotations, laid out as a submission to the phase
                           ellipses.csv in place of masks: name, region, center_x, center_y,
                           radius_x, radius_y in pixels, rotation in degrees, clockwise
dropped.csv             optional: reader, name, field, rejected by a quality check (empty field: all);
                        with a column region also one region of a mask, such as optic cup
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluation.annotators.combine import is_combinable, region_names
from evaluation.annotators.submissions import OpenSubmission, open_submissions
from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import CaseColumns, Field, Files
from evaluation.core.form import Form, name_key
from evaluation.io.kinds.boxes import BoxList
from evaluation.io.kinds.class_probabilities import ClassProbabilities
from evaluation.phase.cases import Cases, read_cases
from evaluation.phase.config import FILE_NAME
from evaluation.phase.configuration import read_configuration
from evaluation.phase.organiser_tables import organiser_table

ANNOTATORS, DROPPED = "readers", "dropped.csv"
Place = tuple[str, int, str]
"""A key: annotator, position of the case, and field."""


@dataclass(frozen=True)
class AnnotatorsFolder:
    """The content of an organiser's folder.

    ``fused``: the fields whose reference comes from the annotators. ``annotators``: one open submission each.
    ``dropped``: the values that do not count, as (annotator, position of the case, field).
    ``dropped_regions``: the regions of a mask that do not count, by the same key.
    """

    folder: Path
    tasks: tuple[Task, ...]
    cases: Cases
    fused: tuple[Field, ...]
    annotators: tuple[OpenSubmission, ...]
    dropped: Collection[Place]
    dropped_regions: Mapping[Place, Collection[str]]

    def dropped_fields(self, annotator: str, position: int) -> set[str]:
        """Return the fields of an annotator's case that were dropped."""
        return {field.name for field in self.fused if (annotator, position, field.name) in self.dropped}

    def incomplete_fields(self, annotator: str, position: int) -> set[str]:
        """Return the fields of an annotator's case that were dropped, wholly or in a region."""
        partly = {
            field.name for field in self.fused if self.regions_left_out(annotator, position, field.name)
        }
        return partly | self.dropped_fields(annotator, position)

    def regions_left_out(self, annotator: str, position: int, field: str) -> Collection[str]:
        """Return the names of the regions of an annotator's mask that were dropped."""
        return self.dropped_regions.get((annotator, position, field), ())


def open_annotators(folder: Path) -> AnnotatorsFolder:
    """Open a folder without reading its annotations. Raises `PhaseError` with every fault."""
    if not (folder / ANNOTATORS).is_dir():
        raise PhaseError(f"{folder / ANNOTATORS}: is not a folder")
    configuration = read_configuration(folder)
    challenge, tasks = configuration.challenge, configuration.tasks
    cases = read_cases(folder, challenge.form_columns_of(configuration.config.submission))
    fused = tuple(field for field in fields_of(tasks) if not _is_kept(field, cases))
    if problems := _problems(fused, cases):
        raise PhaseError(*problems)
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
    annotators = open_submissions(folders, form, [read_like_references(task) for task in tasks])
    dropped, regions = _read_dropped(folder / DROPPED, list(folders), form, fused)
    return AnnotatorsFolder(folder, tasks, cases, fused, annotators, dropped, regions)


def _is_kept(field: Field, cases: Cases) -> bool:
    location = field.reference.location
    return isinstance(location, CaseColumns) and set(location.columns) <= set(cases.columns)


def read_like_references(task: Task) -> Task:
    """Return a task whose fields are read like references: for example a label instead of a likelihood.

    Boxes are read from the reference's files, which may have another layout than submissions.
    """
    fields = []
    for field in task.fields:
        location, archive = field.reference.location, field.archive
        if isinstance(field.kind, BoxList) and isinstance(location, Files) and isinstance(archive, Files):
            archive = replace(archive, extensions=location.extensions)
        fields.append(replace(field, kind=field.reference.kind, archive=archive))
    return replace(task, fields=tuple(fields))


def _problems(fused: Sequence[Field], cases: Cases) -> list[str]:
    problems = [
        f"{field.title}: values of this kind cannot be combined here; choose other tasks in {FILE_NAME}"
        for field in fused
        if not is_combinable(field.reference.kind) or isinstance(field.kind, ClassProbabilities)
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
) -> tuple[set[Place], dict[Place, set[str]]]:
    """Return the dropped values, and the dropped regions of other values."""
    dropped: set[Place] = set()
    regions: dict[Place, set[str]] = defaultdict(set)
    if not path.exists():
        return dropped, regions
    names = {field.name: region_names(field.reference.kind) for field in fused}
    with organiser_table(path, ("reader", "name", "field"), ("region",)) as table:
        for row in table.rows:
            annotator, image, field = (row.cells[column] for column in ("reader", "name", "field"))
            region = row.cells.get("region", "")
            position = form.names.get(name_key(image))
            if annotator not in annotators:
                row.fault("reader", f"expected one of {', '.join(annotators)}, found {annotator!r}")
            if position is None:
                row.fault("name", f"expected a case of cases.csv, found {image!r}")
            if field and field not in names:
                row.fault("field", f"expected one of {', '.join(names)}, found {field!r}")
            elif region and not field:
                row.fault("field", "expected the field of the region, found nothing")
            elif region and region not in names[field]:
                known = ", ".join(names[field])
                expected = f"one of {known}" if known else f"nothing, since {field} has no regions"
                row.fault("region", f"expected {expected}, found {region!r}")
            if position is None:
                continue
            if region:
                regions[annotator, position, field].add(region)
            else:
                dropped |= {(annotator, position, name) for name in ([field] if field else names)}
    return dropped, regions
