"""Writes annotations of other formats as the reference of a phase, or as a submission to it."""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from evaluation.core.challenge import references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import AnyField, Field, Files, Kind, TableRows
from evaluation.core.form import CaseForm, name_key
from evaluation.io.pixels import Size, values_in_words
from evaluation.io.tables import write_csv
from evaluation.organiser.annotation_files.formats import Annotations, read_annotations
from evaluation.organiser.annotation_files.mapping import is_mapped, key_of_image, map_annotations
from evaluation.organiser.submission_writer import write_case_file
from evaluation.phase import registry


@dataclass(frozen=True)
class MappingChoices:
    """What an organiser says of annotations: see `add_arguments`."""

    field: str | None = None
    classes: tuple[str, ...] = ()
    without_crowds: bool = False
    coco: Path | None = None
    empty: bool = False

    @property
    def renamed(self) -> dict[str, str]:
        """The classes of the phase by labels. Raises `PhaseError` for a choice without "="."""
        pairs = [one.rpartition("=") for one in self.classes]
        PhaseError.raise_all([f"--class {name}: expected LABEL=CLASS" for _, sign, name in pairs if not sign])
        return {label: name for label, _, name in pairs}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that say how annotations are mapped."""
    add = parser.add_argument
    add("--field", metavar="NAME", help="the field of the annotations, where several could hold them")
    add(
        "--class",
        dest="classes",
        action="append",
        default=[],
        metavar="LABEL=CLASS",
        help="the class of the phase that a label of the annotations means; LABEL= leaves these out",
    )
    add("--without-crowds", action="store_true", help="leave out annotations of COCO with iscrowd")
    add("--coco", type=Path, metavar="FILE", help="the COCO file with the images and classes of COCO results")


def choices_of(arguments: argparse.Namespace) -> MappingChoices:
    """Return the choices of a command."""
    return MappingChoices(
        field=arguments.field,
        classes=tuple(arguments.classes),
        without_crowds=arguments.without_crowds,
        coco=arguments.coco,
        empty=getattr(arguments, "empty", False),
    )


def read_for(path: Path, cases: Iterable[CaseForm], choices: MappingChoices) -> Annotations:
    """Return annotations; ``cases`` give the sizes of images. Raises `PhaseError`."""
    sizes = {key_of_image(case.name): Size(case.width, case.height) for case in cases if case.width}
    return read_annotations(path, choices.coco, sizes)


_Item = TypeVar("_Item", bound=AnyField)


def _chosen(fields: Sequence[_Item], kind_of: Callable[[_Item], Kind], choices: MappingChoices) -> _Item:
    fitting = [one for one in fields if is_mapped(kind_of(one))]
    if choices.field is not None:
        fitting = [one for one in fitting if one.name == choices.field]
    if len(fitting) != 1:
        found = ", ".join(one.name for one in fitting) or "none"
        expected = "one field of boxes, points or labels in images"
        raise PhaseError(f"annotations: expected {expected}, found {found}; see --field")
    return fitting[0]


def write_reference(
    folder: Path, annotations: Annotations, cases: Sequence[CaseForm], choices: MappingChoices
) -> tuple[str, ...]:
    """Write the reference of a phase, which must not exist, and return what became of the annotations.

    Raises `PhaseError` with all that cannot be mapped; nothing is written then.
    """
    references = references_of(registry.read_configuration(folder).tasks)
    item = _chosen(references, lambda one: one.reference.kind, choices)
    kind, location = item.reference.kind, item.reference.location
    annotated, unnamed = _with_empty(annotations, cases, choices)
    mapped = map_annotations(annotated, kind, cases, choices.renamed, choices.without_crowds, False)
    by_name = {case.name: case for case in cases}
    values = {name: kind.writable(value, by_name[name]) for name, value in mapped.values.items()}
    if isinstance(location, TableRows):
        files = [folder / location.files[0]]
    elif isinstance(location, Files):
        files = [folder / location.path(name) for name in values]
    else:
        expected = "a reference in files or rows of a table"
        raise PhaseError(f"{item.name}: expected {expected}, found columns of cases.csv")
    existing = [str(file.relative_to(folder)) for file in files if file.exists()]
    PhaseError.raise_all([f"{file}: exists already; nothing is overwritten" for file in existing])
    if isinstance(location, Files):
        for name, value in values.items():
            write_case_file(folder, kind, location, name, value, location.extensions[0])
    else:
        rows = [[name, *cells] for name, value in values.items() for cells in kind.write_rows(value)]
        write_csv(files[0], [location.key, *location.columns], rows)
    empty = [f"without annotations, so without objects: {values_in_words(unnamed)}"] if unnamed else []
    written = f"{files[0].relative_to(folder)}{' and others' * (len(files) > 1)}"
    return (*mapped.lines, *empty, f"written: {written}")


def _with_empty(
    annotations: Annotations, cases: Sequence[CaseForm], choices: MappingChoices
) -> tuple[Annotations, list[str]]:
    """Return annotations in which cases that they do not name are without objects, and these cases.

    Raises `PhaseError` where the format would name them, unless the organiser says that they are empty.
    """
    named = {key_of_image(image) for image in annotations.images}
    unnamed = [case.name for case in cases if name_key(case.name) not in named]
    if unnamed and annotations.names_empty and not choices.empty:
        expected = f"every case in the annotations ({annotations.format})"
        hint = "--empty says that these have no objects"
        raise PhaseError(f"expected {expected}, found nothing of {values_in_words(unnamed)}; {hint}")
    return replace(annotations, images={**annotations.images, **dict.fromkeys(unnamed)}), unnamed


def submitted_values(
    path: Path, fields: Sequence[Field], cases: Sequence[CaseForm], choices: MappingChoices
) -> tuple[Field, Mapping[str, object], tuple[str, ...]]:
    """Return the field that annotations fill, its values by case, and what became of the annotations.

    Raises `PhaseError` with all that cannot be mapped.
    """
    item = _chosen(fields, lambda one: one.kind, choices)
    asked = item.kind.objects is not None and item.kind.objects.with_confidence
    read = read_for(path, cases, choices)
    mapped = map_annotations(read, item.kind, cases, choices.renamed, choices.without_crowds, asked)
    by_name = {case.name: case for case in cases}
    values = {name: item.kind.writable(value, by_name[name]) for name, value in mapped.values.items()}
    return item, values, mapped.lines
