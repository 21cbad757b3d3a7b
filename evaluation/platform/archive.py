"""Archive phases: a zip that the platform has unpacked into folders of files and tables."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import Fault, FaultKind
from evaluation.core.field import Field, Files, in_one_table
from evaluation.core.form import Form, name_key
from evaluation.core.source import FileSource
from evaluation.io.listing import Listing, list_files, strip_common_folder
from evaluation.platform.archive_tables import FieldTable, tables_of
from evaluation.platform.hints import hint_of_absence, hint_of_image
from evaluation.platform.index import Sources, SubmissionIndex, fault_of_no_task, participating

# The platform writes its description of the inputs under this name and overwrites a participant's file.
INPUTS_FILE = "inputs.json"
_OVERWRITTEN = f"{INPUTS_FILE} is not part of a submission: the platform writes a file of its own over it"


def index_archive(folder: Path, form: Form, tasks: Sequence[Task]) -> SubmissionIndex:
    """Return the index of an unpacked archive; one common leading folder is stripped as on the platform.

    The platform's file `inputs.json`, beside that folder or in it, is ignored.
    """
    fields = fields_of(tasks)
    all_files = list_files(folder)
    inner = strip_common_folder(_without_inputs_file(all_files), _known_folders(fields))
    listing = _without_inputs_file(inner)
    notices = [_OVERWRITTEN] if len(listing.files) < len(all_files.files) else []
    faults = list(listing.faults)
    lost = _lost_folder(fields, listing)
    sources: Sources = [{} for _ in form.cases]
    for field in fields:
        if isinstance(field.archive, Files):
            _index_files(field, field.archive, lost, listing, form, sources, faults)
        else:
            table = FieldTable(field, field.archive, listing, form, alone=in_one_table(fields))
            table.index(sources, faults)
    present = participating(form, tasks, sources)
    needed = fields_of(present) if form.missing == "reject" else ()
    if needed:
        faults += _missing(present, form, listing, fields, sources, faults)
    if not faults:
        faults += fault_of_no_task("submission", tasks, present)
    names = tuple(task.name for task in present or tasks)
    # A needed field that is missing is already a fault.
    notices += _absent([field for field in fields if field not in needed], listing, sources)
    return SubmissionIndex(listing.root, sources, names, tuple(faults), tuple(notices))


def _absent(fields: Sequence[Field], listing: Listing, sources: Sources) -> Iterator[str]:
    """Yield a sentence about every field without any value."""
    for field in fields:
        if not any(field.name in case_sources for case_sources in sources):
            hint = hint_of_absence(field.archive, listing.files)
            yield f"nothing was found for: {field.title}" + (f" ({hint})" if hint else "")


def _without_inputs_file(listing: Listing) -> Listing:
    if INPUTS_FILE not in listing.files:
        return listing
    return replace(listing, files=tuple(path for path in listing.files if path != INPUTS_FILE))


def _known_folders(fields: Sequence[Field]) -> set[str]:
    folders = {field.archive.folder.partition("/")[0] for field in fields if isinstance(field.archive, Files)}
    return {folder.casefold() for folder in folders} | folders


def _lost_folder(fields: Sequence[Field], listing: Listing) -> str:
    """Return the common folder of all files of a format, with its slash, which the platform has stripped.

    If a phase asks only for ``disc/<image>.png``, its files arrive without the folder.
    """
    layouts = [field.archive for field in fields]
    folders = [layout.folder.casefold() for layout in layouts if isinstance(layout, Files)]
    if not folders or len(folders) < len(layouts):
        return ""
    common = posixpath.commonpath(folders)
    if not common or any(path.casefold().startswith(f"{common}/") for path in listing.files):
        return ""
    return f"{common}/"


def _index_files(
    field: Field,
    layout: Files,
    lost: str,
    listing: Listing,
    form: Form,
    sources: Sources,
    faults: list[Fault],
) -> None:
    """Match the files of a folder to cases by name; an unmatched file is a fault."""
    prefix = f"{layout.folder.casefold()}/".removeprefix(lost)
    for path in listing.files:
        if not path.casefold().startswith(prefix):
            continue
        name = path[len(prefix) :]
        stem = _stem(name, layout)
        position = None if stem is None else form.names.get(name_key(stem))
        if position is None or not field.cases(form.cases[position]):
            expected = f"only images of this phase, as {layout.path('<image>')}"
            if len(layout.extensions) > 1:
                expected += f" ({', '.join(layout.extensions)})"
            faults.append(
                Fault(FaultKind.UNKNOWN, path, expected, "a file of another name", hint=hint_of_image(name))
            )
        elif (other := sources[position].get(field.name)) is not None:
            found = f"a second one beside {getattr(other, 'path', '')}"
            faults.append(
                Fault(FaultKind.DUPLICATE, path, f"one file for {form.cases[position].name}", found)
            )
        else:
            sources[position][field.name] = FileSource(path)


def _stem(name: str, layout: Files) -> str | None:
    folded = name.casefold()
    for extension in layout.extensions:
        ending = (layout.suffix + extension).casefold()
        if folded.endswith(ending) and "/" not in name:
            return name[: len(name) - len(ending)]
    return None


def _missing(
    tasks: Sequence[Task],
    form: Form,
    listing: Listing,
    fields: Sequence[Field],
    sources: Sources,
    faults: Sequence[Fault],
) -> list[Fault]:
    """Return a fault for every case without a value, or one for a field without any."""
    unreadable = {fault.file for fault in faults}
    missing = []
    for field in fields_of(tasks):
        cases = [position for position, case in enumerate(form.cases) if field.cases(case)]
        absent = [position for position in cases if field.name not in sources[position]]
        layout = field.archive
        if isinstance(layout, Files):
            place = f"{layout.folder}/"
        else:
            place = next(iter(tables_of(layout, listing, alone=in_one_table(fields))), layout.files[0])
        if len(absent) == len(cases) and cases:
            if isinstance(layout, Files) or place not in unreadable:
                expected = (
                    f"{len(cases)} files" if isinstance(layout, Files) else f"a table of {len(cases)} images"
                )
                hint = hint_of_absence(layout, listing.files)
                missing.append(Fault(FaultKind.MISSING, place, expected, "none", hint=hint))
        elif isinstance(layout, Files):
            missing += [
                Fault(FaultKind.MISSING, layout.path(form.cases[i].name), "a file for this image", "none")
                for i in absent
            ]
        else:
            missing += [
                Fault(FaultKind.MISSING, place, f"a row for {form.cases[i].name}", "none", field=layout.key)
                for i in absent
            ]
    return missing
