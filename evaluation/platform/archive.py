"""Archive phases: a zip that the platform has unpacked into folders of files and tables."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import Fault, FaultKind, ReadError, most_similar, printable, shorten
from evaluation.core.field import (
    CellsSource,
    Field,
    Files,
    FileSource,
    RowsSource,
    TableColumns,
    TableRows,
    in_one_table,
)
from evaluation.core.form import Form, name_key
from evaluation.core.limits import max_rows
from evaluation.io.files import Listing, ReadBuffer, list_files, strip_common_folder
from evaluation.io.tables import ColumnSpec, Row, read_table
from evaluation.platform.index import Sources, SubmissionIndex, fault_of_no_task, participating

# --- Tables of an archive, whose cells or rows are matched to cases ---

# A submission that is one bare table arrives under this name.
BARE_TABLE = "predictions.csv"
_MAX_ROW_BYTES = 4096
_SPARE_ROWS = 1000
_MEAN_BYTES_OF_A_LIST = 256
_SPARE_BYTES_OF_A_LIST = 1 << 20
_MAX_UNKNOWN_ROWS = 10_000


@dataclass(frozen=True)
class SubmittedTable:
    """The table of a field in the listing of a submission; ``alone``: a submission is this table only."""

    field: Field
    layout: TableColumns | TableRows
    listing: Listing
    form: Form
    alone: bool

    def index(self, sources: Sources, faults: list[Fault]) -> None:
        """Match the rows to cases by name; a row that belongs to no case is a fault."""
        found = tables_of(self.layout, self.listing, self.alone)
        if not found:
            return
        path, *others = found
        faults += [
            Fault(FaultKind.DUPLICATE, other, "one table of this kind", f"a second one beside {path}")
            for other in others
        ]
        if isinstance(self.layout, TableColumns):
            self._index_single_rows(path, sources, faults)
        else:
            self._index_lists(path, sources, faults)

    def _index_single_rows(self, path: str, sources: Sources, faults: list[Fault]) -> None:
        limit = len(self.form.cases) + _SPARE_ROWS
        rows = self._rows(path, limit, limit * _MAX_ROW_BYTES, faults)
        lines: dict[int, int] = {}
        for position, row in self._cases(path, rows, faults):
            if position in lines:
                expected = f"one row for {self.form.cases[position].name}"
                found = f"a second one beside line {lines[position]}"
                faults.append(Fault(FaultKind.DUPLICATE, path, expected, found, row.line, self.layout.key))
            else:
                lines[position] = row.line
                source = CellsSource(row.cells[1:], path, row.line, self.layout.columns)
                sources[position][self.field.name] = source

    def _index_lists(self, path: str, sources: Sources, faults: list[Fault]) -> None:
        """Collect the rows of every case; a case without any has an empty list if its kind has one."""
        cases = [position for position, case in enumerate(self.form.cases) if self.field.cases(case)]
        limit = max_rows(len(cases), self.field)
        limit_bytes = _SPARE_BYTES_OF_A_LIST + limit * _MEAN_BYTES_OF_A_LIST
        rows = self._rows(path, limit, limit_bytes, faults)
        lists: dict[int, list[tuple[int, tuple[str, ...]]]] = {position: [] for position in cases}
        for position, row in self._cases(path, rows, faults):
            lists[position].append((row.line, row.cells[1:]))
        for position, found in lists.items():
            if not found and not self.field.kind.may_have_no_rows:
                continue
            sources[position][self.field.name] = RowsSource(tuple(found), path, self.layout.columns)

    def _rows(self, path: str, limit: int, limit_bytes: int, faults: list[Fault]) -> tuple[Row, ...]:
        columns = (ColumnSpec(self.layout.key), *(ColumnSpec(column) for column in self.layout.columns))
        try:
            data = ReadBuffer().read(self.listing.root, path, limit_bytes=limit_bytes)
            table = read_table(data, columns, max_rows=limit)
        except ReadError as error:
            faults.append(error.fault(path))
            return ()
        faults += [problem.fault(path) for problem in table.problems]
        return table.rows

    def _cases(self, path: str, rows: Iterable[Row], faults: list[Fault]) -> Iterator[tuple[int, Row]]:
        """Yield every row with the position of its case; too many rows of no case end the table."""
        unknown = 0
        for row in rows:
            position = self.form.names.get(name_key(PurePosixPath(row.cells[0]).name))
            if position is not None and self.field.cases(self.form.cases[position]):
                yield position, row
                continue
            unknown += 1
            if unknown > _MAX_UNKNOWN_ROWS:
                expected = f"at most {_MAX_UNKNOWN_ROWS} rows of other images"
                faults.append(Fault(FaultKind.TOO_LARGE, path, expected, "more", row.line, self.layout.key))
                return
            found = repr(shorten(row.cells[0]))
            faults.append(
                Fault(FaultKind.UNKNOWN, path, "an image of this phase", found, row.line, self.layout.key)
            )


def tables_of(layout: TableColumns | TableRows, listing: Listing, alone: bool) -> list[str]:
    """Return the files that are tables of this layout; ``alone`` if a submission is one table."""
    accepted = {file.casefold() for file in layout.files}
    if alone:
        accepted.add(BARE_TABLE)
    return [path for path in listing.files if path.casefold() in accepted]


# --- Hints on likely mistakes of participants, derived from the names of the submitted files ---

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".7z", ".rar")
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_TABLES = (".csv", ".txt", ".tsv")
_LOSSY = (".jpg", ".jpeg", ".webp")


def hint_of_image(name: str) -> str | None:
    """Return a hint on a file whose name matches no image of the phase."""
    if name.casefold().endswith(_LOSSY):
        return "lossy compression changes the values of a mask: save it in one of the formats named"
    return None


def hint_of_absence(layout: Files | TableColumns | TableRows, files: Sequence[str]) -> str | None:
    """Return a hint on files submitted in place of a missing folder or table, None without a likely mistake.

    ``files`` are the paths of all submitted files.
    """
    archives = [path for path in files if path.casefold().endswith(ARCHIVES)]
    if archives:
        return f"{printable(archives[0])} is an archive in the archive: upload what it holds"
    if isinstance(layout, Files):
        folders = {str(PurePosixPath(path).parent) for path in files} - {"."}
        alike = most_similar(layout.folder, folders)
        return alike and f"is {printable(alike)}/ meant for it? Rename it"
    wanted = PurePosixPath(layout.files[0])
    spreadsheets = {
        PurePosixPath(path).stem: path for path in files if path.casefold().endswith(_SPREADSHEETS)
    }
    if stem := most_similar(wanted.stem, spreadsheets):
        return f"{printable(spreadsheets[stem])} is a spreadsheet: save it as csv"
    alike = most_similar(str(wanted), [path for path in files if path.casefold().endswith(_TABLES)])
    return alike and f"is {printable(alike)} meant for it? Rename it"


_MOST_UNUSED = 10
# The platform writes its description of the inputs under this name and overwrites a participant's file.
INPUTS_FILE = "inputs.json"
_OVERWRITTEN = f"{INPUTS_FILE} is not part of a submission: the platform writes a file of its own over it"


def index_archive(folder: Path, form: Form, tasks: Sequence[Task]) -> SubmissionIndex:
    """Return the index of an unpacked archive; one common leading folder is stripped as on the platform.

    The platform's file `inputs.json`, beside that folder or in it, is ignored.
    """
    fields = fields_of(tasks)
    all_files = list_files(folder)
    folders = {field.archive.folder.partition("/")[0] for field in fields if isinstance(field.archive, Files)}
    known = {folder.casefold() for folder in folders} | folders
    inner = strip_common_folder(_without_inputs_file(all_files), known)
    listing = _without_inputs_file(inner)
    notices = [_OVERWRITTEN] if len(listing.files) < len(all_files.files) else []
    faults = list(listing.faults)
    # A listing that stopped holds no files, so that none is known to be missing.
    stopped = any(fault.kind is FaultKind.TOO_LARGE for fault in faults)
    lost = _lost_folder(fields, listing)
    sources: Sources = [{} for _ in form.cases]
    for field in fields:
        if isinstance(field.archive, Files):
            _index_files(field, field.archive, lost, listing, form, sources, faults)
        else:
            table = SubmittedTable(field, field.archive, listing, form, alone=in_one_table(fields))
            table.index(sources, faults)
    present = participating(form, tasks, sources)
    needed = fields_of(present) if form.missing == "reject" and not stopped else ()
    if needed:
        faults += _missing(present, form, listing, fields, sources, faults)
    if not faults:
        faults += fault_of_no_task("submission", tasks, present)
    names = tuple(task.name for task in present or tasks)
    # A needed field that is missing is already a fault.
    if not stopped:
        notices += _absent([field for field in fields if field not in needed], listing, sources)
        notices += _unused(fields, listing, lost)
    return SubmissionIndex(listing.root, sources, names, tuple(faults), tuple(notices))


def _absent(fields: Sequence[Field], listing: Listing, sources: Sources) -> Iterator[str]:
    """Yield a sentence about every field without any value."""
    for field in fields:
        if not any(field.name in case_sources for case_sources in sources):
            hint = hint_of_absence(field.archive, listing.files)
            yield f"nothing was found for: {field.title}" + (f" ({hint})" if hint else "")


def _unused(fields: Sequence[Field], listing: Listing, lost: str) -> list[str]:
    """Return a sentence about each of the first files that no field reads, and one about the others."""
    read: set[str] = set()
    prefixes = []
    for field in fields:
        if isinstance(field.archive, Files):
            prefixes.append(f"{field.archive.folder.casefold()}/".removeprefix(lost))
        else:
            read.update(tables_of(field.archive, listing, in_one_table(fields)))
    unused = [
        path for path in listing.files if path not in read and not path.casefold().startswith(tuple(prefixes))
    ]
    named = [f"{printable(path)} is not part of the format and is not read" for path in unused[:_MOST_UNUSED]]
    more = len(unused) - len(named)
    return [*named, f"{more} further files are not part of the format"] if more else named


def _without_inputs_file(listing: Listing) -> Listing:
    if INPUTS_FILE not in listing.files:
        return listing
    return replace(listing, files=tuple(path for path in listing.files if path != INPUTS_FILE))


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
