"""Archive phases: a zip that the platform has unpacked into folders of files and tables."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePosixPath

from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import Fault, FaultKind, ReadError, counted, most_similar, printable, shorten
from evaluation.core.field import Field, Files, TableColumns, TableRows, in_one_table
from evaluation.core.form import Form, name_key
from evaluation.core.formats import FORMATS, extensions_of
from evaluation.core.limits import SPARE_ITEMS, WHO_CAN_RAISE, max_rows
from evaluation.core.sources import CellsSource, FileSource, RowsSource
from evaluation.io.files import Listing, ReadBuffer, list_files, strip_common_folder
from evaluation.io.tables import Row, read_table, surplus_columns
from evaluation.platform.index import Sources, SubmissionIndex, fault_of_no_task, participating

# A submission that is one bare table arrives under this name.
BARE_TABLE = "predictions.csv"
_MAX_ROW_BYTES = 4096
_SPARE_ROWS = 1000
_MEAN_BYTES_OF_A_LIST = 256
_SPARE_BYTES_OF_A_LIST = 1 << 20
_MAX_UNKNOWN_ROWS = 10_000
_IN_ONE_ORDER = 2  # columns of a table: a name and its value

# --- Hints on likely mistakes of participants, derived from the names of the submitted files ---

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".7z", ".rar")
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_TABLES = (".csv", ".txt", ".tsv")
# What nnU-Net writes beside its masks.
_BESIDE = frozenset({"dataset.json", "plans.json", "predict_from_raw_data_args.json", "postprocessing.pkl"})
_BESIDE_CASE = (".npz", ".pkl")
_LOSSY = extensions_of(row for row in FORMATS if row.lossy)
_LOSES = "lossy compression changes the values of a mask: save it in one of the formats named"


def hint_of_absence(layout: Files | TableColumns | TableRows, files: Sequence[str]) -> str | None:
    """Return a hint on files submitted in place of a missing folder or table, None without a likely mistake.

    ``files`` are the paths of all submitted files.
    """
    archives = [path for path in files if path.casefold().endswith(ARCHIVES)]
    if archives:
        return f"{printable(archives[0])} is an archive in the archive: upload what it holds"
    if isinstance(layout, Files):
        folders = {str(PurePosixPath(path).parent) for path in files} - {"."}
        inside = [path for path in files if path.casefold().startswith(f"{layout.folder.casefold()}/")]
        if inside:
            more = f" and {len(inside) - 1} more" if len(inside) > 1 else ""
            return f"found {printable(inside[0])}{more}: expected names as {_in_words([layout])}"
        alike = most_similar(layout.folder, folders)
        if alike and alike.casefold() == layout.folder.casefold():
            return "its files have other names"
        return alike and f"is {printable(alike)}/ meant for it? Rename it"
    wanted = PurePosixPath(layout.files[0])
    spreadsheets = {
        PurePosixPath(path).stem: path for path in files if path.casefold().endswith(_SPREADSHEETS)
    }
    if stem := most_similar(wanted.stem, spreadsheets):
        return f"{printable(spreadsheets[stem])} is a spreadsheet: save it as csv"
    own = {file.casefold() for file in layout.files}
    others = [path for path in files if path.casefold().endswith(_TABLES) and path.casefold() not in own]
    alike = most_similar(str(wanted), others)
    return alike and f"is {printable(alike)} meant for it? Rename it"


# --- The case that a file of another name is probably meant for ---

_PARTS = re.compile(r"[^\W\d_]+|\d+")
# The number that nnU-Net puts at the end of an image's name.
_CHANNEL = re.compile(r"_\d{4}$")
_MOST_PARTS = 12
_MOST_CASES = 20_000

_Parts = tuple[str, ...]


class MeantNames:
    """Finds the one case whose name is in a file's, or the other way round.

    So `CT_001_0000` as nnU-Net names its images, `001_pred` and `1` are meant for `001`. Names are compared
    part by part, words and numbers; leading zeros do not count. A name in which several cases could be meant
    is meant for none.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._cases: dict[_Parts, str | None] = {}
        self._within: dict[_Parts, str | None] = {}
        for name in names if len(names) <= _MOST_CASES else ():
            parts = _parts_of(name)
            self._cases[parts] = None if parts in self._cases else name
            for inner in _inner(parts):
                self._within[inner] = None if inner in self._within else name

    def case_of(self, stem: str) -> str | None:
        """Return the name of the case, None if it is not clear."""
        found = (self._of_parts(_parts_of(text)) for text in (_CHANNEL.sub("", stem), stem))
        return next(filter(None, found), None)

    def _of_parts(self, parts: _Parts) -> str | None:
        for names in (self._cases, self._within):
            found = {inner: names[inner] for inner in _inner(parts) if inner in names}
            if names is self._within:
                found = {inner: name for inner, name in found.items() if any(map(str.isdecimal, inner))}
            # The longest: of the cases 1 and CT_1, the second one is meant by CT_1_pred.
            longest = max(map(len, found), default=0)
            of_longest = {name for inner, name in found.items() if len(inner) == longest}
            if len(of_longest) == 1:
                return of_longest.pop()
        return None


def _parts_of(name: str) -> _Parts:
    parts = _PARTS.findall(name_key(name))[:_MOST_PARTS]
    return tuple(part.lstrip("0") or "0" if part.isdecimal() else part for part in parts)


def _inner(parts: _Parts) -> Iterator[_Parts]:
    """Yield every run of parts, once each."""
    runs = (parts[first:last] for first in range(len(parts)) for last in range(first + 1, len(parts) + 1))
    yield from dict.fromkeys(runs)


# --- The index ---

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
    folders = folders_of(fields)
    known = {folder.casefold() for folder in folders} | folders
    inner = strip_common_folder(_without_inputs_file(all_files), known)
    listing = _without_inputs_file(inner)
    notices = [_OVERWRITTEN] if len(listing.files) < len(all_files.files) else []
    archive = _Archive(form, fields, listing)
    faults, sources = archive.faults, archive.sources
    # A listing that stopped holds no files, so that none is known to be missing.
    stopped = any(fault.kind is FaultKind.TOO_LARGE for fault in faults)
    archive.add_files()
    for field in fields:
        if not isinstance(field.archive, Files):
            archive.add_table(field, field.archive)
    present = participating(form, tasks, sources)
    needed = fields_of(present) if form.missing == "reject" and not stopped else ()
    faults += archive.missing(needed)
    if not faults:
        faults += fault_of_no_task("submission", tasks, present)
    names = tuple(task.name for task in present or tasks)
    # A needed field that is missing is already a fault.
    if not stopped:
        notices += archive.absent([field for field in fields if field not in needed])
        notices += archive.unused()
        notices += archive.surplus()
    return SubmissionIndex(listing.root, sources, names, tuple(faults), tuple(notices))


def folders_of(fields: Sequence[Field]) -> set[str]:
    """Return the names of the folders on top of a submission with some fields."""
    layouts = [field.archive for field in fields]
    return {layout.folder.partition("/")[0] for layout in layouts if isinstance(layout, Files)}


def _without_inputs_file(listing: Listing) -> Listing:
    if INPUTS_FILE not in listing.files:
        return listing
    return replace(listing, files=tuple(path for path in listing.files if path != INPUTS_FILE))


class _Archive:
    """The listing of a submission, whose files, cells and rows are matched to the cases of a form."""

    def __init__(self, form: Form, fields: Sequence[Field], listing: Listing) -> None:
        self._form, self._fields, self._listing = form, fields, listing
        self._layouts = [field.archive for field in fields if not isinstance(field.archive, Files)]
        self._of_files = [(field, field.archive) for field in fields if isinstance(field.archive, Files)]
        self._is_one_table = in_one_table(fields)
        self._lost = self._lost_folder()
        self.sources: Sources = [{} for _ in form.cases]
        self.faults = list(listing.faults)
        self._headers: dict[str, tuple[str, ...]] = {}
        self._beside: list[str] = []
        # The cases of rows with another number of fields, by table: told with their line, and not missing.
        self._torn: dict[str, set[int | None]] = {}

    def _lost_folder(self) -> str:
        """Return the common folder of all files of a format, with its slash, which the platform has stripped.

        If a phase asks only for ``disc/<image>.png``, its files arrive without the folder.
        """
        if not self._of_files or self._layouts:
            return ""
        common = posixpath.commonpath([layout.folder.casefold() for _, layout in self._of_files])
        if not common or any(path.casefold().startswith(f"{common}/") for path in self._listing.files):
            return ""
        return f"{common}/"

    def _prefix(self, layout: Files) -> str:
        return f"{layout.folder.casefold()}/".removeprefix(self._lost)

    def _tables(self, layout: TableColumns | TableRows) -> list[str]:
        """Return the files that are tables of a layout."""
        accepted = {file.casefold() for file in layout.files}
        if self._is_one_table:
            accepted.add(BARE_TABLE)
        return [path for path in self._listing.files if path.casefold() in accepted]

    def add_files(self) -> None:
        """Match files to fields and cases by folder and name; a further file below a folder is a fault.

        Fields may share a folder, and one folder may lie in another.
        """
        fields: dict[str, list[tuple[Field, Files]]] = {}
        for field, layout in self._of_files:
            fields.setdefault(self._prefix(layout)[:-1], []).append((field, layout))
        folders = sorted(fields, key=len, reverse=True)
        tables = self._all_tables()
        for path in self._listing.files:
            folder, _, name = path.rpartition("/")
            folded = folder.casefold()
            if any(self._is_taken(path, name, *one) for one in fields.get(folded, ())) or path in tables:
                continue
            if name.casefold() in _BESIDE or (name.endswith(_BESIDE_CASE) and self._names_a_case(name[:-4])):
                self._beside.append(path)
                continue
            around = next((one for one in folders if not one or f"{folded}/".startswith(f"{one}/")), None)
            if around is not None:
                expected = f"only images of this phase, as {_in_words([of for _, of in fields[around]])}"
                is_lossy = name.casefold().endswith(_LOSSY)
                hint = _LOSES if is_lossy else self._hint_of_name(name, fields[around])
                found = "a file of another name"
                self.faults.append(Fault(FaultKind.UNKNOWN, path, expected, found, hint=hint))

    def _hint_of_name(self, name: str, fields: Sequence[tuple[Field, Files]]) -> str | None:
        """Return a hint on a file that is named otherwise than its case."""
        for field, layout in fields:
            extension = next((one for one in layout.extensions if name.casefold().endswith(one)), None)
            if extension is None:
                continue
            case = self._meant_names.case_of(name[: -len(extension)])
            if case is not None and field.name not in self.sources[self._form.names[name_key(case)]]:
                return f"for {printable(case)}? Name it {layout.path(case, extension)}"
        return None

    @cached_property
    def _meant_names(self) -> MeantNames:
        return MeantNames([case.name for case in self._form.cases])

    def _is_taken(self, path: str, name: str, field: Field, layout: Files) -> bool:
        """Return whether a file is a value of a field, and note it; a second one for a case is a fault."""
        stem = _stem(name, layout)
        position = None if stem is None else self._form.names.get(name_key(stem))
        if position is None or not field.cases(self._form.cases[position]):
            return False
        if (other := self.sources[position].get(field.name)) is not None:
            expected = f"one file for {self._form.cases[position].name}"
            found = f"a second one beside {other.file}"
            self.faults.append(Fault(FaultKind.DUPLICATE, path, expected, found))
        else:
            self.sources[position][field.name] = FileSource(path)
        return True

    def _all_tables(self) -> set[str]:
        """Return the files that are tables of any layout."""
        return {path for layout in self._layouts for path in self._tables(layout)}

    def add_table(self, field: Field, layout: TableColumns | TableRows) -> None:
        """Match the rows of a table to cases by name; a row that belongs to no case is a fault."""
        found = self._tables(layout)
        if not found:
            return
        path, *others = found
        self.faults += [
            Fault(FaultKind.DUPLICATE, other, "one table of this kind", f"a second one beside {path}")
            for other in others
        ]
        if isinstance(layout, TableColumns):
            self._add_single_rows(field, layout, path)
        else:
            self._add_lists(field, layout, path)

    def _add_single_rows(self, field: Field, layout: TableColumns, path: str) -> None:
        limit = len(self._form.cases) + _SPARE_ROWS
        lines: dict[int, int] = {}
        for position, row in self._rows(field, layout, path, limit, limit * _MAX_ROW_BYTES):
            if position in lines:
                expected = f"one row for {self._form.cases[position].name}"
                found = f"a second one beside line {lines[position]}"
                self.faults.append(Fault(FaultKind.DUPLICATE, path, expected, found, row.line, layout.key))
            else:
                lines[position] = row.line
                source = CellsSource(row.cells[1:], path, row.line, layout.columns)
                self.sources[position][field.name] = source

    def _add_lists(self, field: Field, layout: TableRows, path: str) -> None:
        """Collect the rows of every case; a case without any has an empty list if its kind has one."""
        cases = [position for position, case in enumerate(self._form.cases) if field.cases(case)]
        limit = max_rows(len(cases), field)
        limit_bytes = _SPARE_BYTES_OF_A_LIST + limit * _MEAN_BYTES_OF_A_LIST
        lists: dict[int, list[tuple[int, tuple[str, ...]]]] = {position: [] for position in cases}
        for position, row in self._rows(field, layout, path, limit, limit_bytes):
            lists[position].append((row.line, row.cells[1:]))
        for position, found in lists.items():
            if found or field.kind.may_have_no_rows:
                self.sources[position][field.name] = RowsSource(tuple(found), path, layout.columns)

    def _rows(
        self, field: Field, layout: TableColumns | TableRows, path: str, limit: int, limit_bytes: int
    ) -> Iterator[tuple[int, Row]]:
        """Yield every row with the position of its case; too many rows of no case end the table."""
        try:
            data = ReadBuffer().read(self._listing.root, path, limit_bytes=limit_bytes)
            columns = (layout.key, *layout.columns)
            table = read_table(data, columns, max_rows=limit, is_key=self._names_a_case)
            every = self._columns_of(path)
            if table.rows and not table.header and len(every) > _IN_ONE_ORDER:
                # By position, values in another order would be taken for each other.
                expected = f"a header with {', '.join(map(_quoted, every))}"
                raise ReadError(FaultKind.MISSING, expected, "none", table.rows[0].line)
        except ReadError as error:
            self.faults.append(error.fault(path))
            return
        self._headers[path] = table.header
        self._torn[path] = set(map(self._position_of, table.torn))
        for problem in table.problems:
            if problem.kind is FaultKind.TOO_LARGE and isinstance(layout, TableRows):
                problem.expected += (
                    f" ({field.kind.average_items} an image on average, and {SPARE_ITEMS} more)"
                )
                problem.hint = WHO_CAN_RAISE
            self.faults.append(problem.fault(path))
        unknown = 0
        for row in table.rows:
            position = self._position_of(row.cells[0])
            if position is not None and field.cases(self._form.cases[position]):
                yield position, row
                continue
            unknown += 1
            if unknown > _MAX_UNKNOWN_ROWS:
                expected = f"at most {_MAX_UNKNOWN_ROWS} rows of other images"
                self.faults.append(Fault(FaultKind.TOO_LARGE, path, expected, "more", row.line, layout.key))
                return
            expected, found = "an image of this phase", repr(shorten(row.cells[0]))
            self.faults.append(Fault(FaultKind.UNKNOWN, path, expected, found, row.line, layout.key))

    def _position_of(self, cell: str) -> int | None:
        """Return the position of the case that a cell names, which may be a path."""
        return self._form.names.get(name_key(PurePosixPath(cell).name))

    def _names_a_case(self, cell: str) -> bool:
        return self._position_of(cell) is not None

    def _columns_of(self, path: str) -> list[str]:
        """Return the columns of a table that any field reads."""
        tables = [layout for layout in self._layouts if path in self._tables(layout)]
        return list(dict.fromkeys(column for of in tables for column in (of.key, *of.columns)))

    def surplus(self) -> Iterator[str]:
        """Yield a sentence about every table that has columns which no field reads."""
        for path, header in self._headers.items():
            if found := surplus_columns(header, self._columns_of(path)):
                named = shorten(", ".join(_quoted(shorten(column)) for column in found))
                yield f"{printable(path)}: {named}: not part of the format and not read"

    def absent(self, fields: Sequence[Field]) -> Iterator[str]:
        """Yield a sentence about every field without any value, unless its table has a fault."""
        faulty = {fault.file for fault in self.faults}
        for field in fields:
            tables = () if isinstance(field.archive, Files) else self._tables(field.archive)
            if not (faulty.intersection(tables) or any(field.name in of for of in self.sources)):
                hint = hint_of_absence(field.archive, self._listing.files)
                yield f"nothing was found for: {field.title}" + (f" ({hint})" if hint else "")

    def unused(self) -> list[str]:
        """Return a sentence about each of the first files that no field reads, and one about the others."""
        prefixes = tuple(self._prefix(layout) for _, layout in self._of_files)
        read = self._all_tables()
        unused = [
            path
            for path in self._listing.files
            if path in self._beside or (path not in read and not path.casefold().startswith(prefixes))
        ]
        bare = {BARE_TABLE: " (the name of a csv file that is uploaded by itself)"}
        named = [
            f"{printable(path)}{bare.get(path, '')} is not part of the format and is not read"
            for path in unused[:_MOST_UNUSED]
        ]
        more = len(unused) - len(named)
        named += [f"{more} further files are not part of the format"] if more else []
        return [*self._strays([path for path in unused if path not in self._beside]), *named]

    def _strays(self, unused: Sequence[str]) -> Iterator[str]:
        """Yield a sentence about each folder of unused files that are named like images of the phase."""
        folders = Counter(str(PurePosixPath(path).parent) for path in unused if self._names_a_case(path))
        empty = [
            layout.folder
            for field, layout in self._of_files
            if not any(field.name in of for of in self.sources)
        ]
        for folder, count in sorted(folders.items()):
            last = PurePosixPath(folder).name.casefold()
            same = (one for one in empty if PurePosixPath(one).name.casefold() == last)
            meant = next(same, None) or most_similar(folder, empty)
            hint = f" (are they meant for {meant}/?)" if meant else ""
            files = counted(count, "file is", "files are")
            yield f"{printable(folder)}/: {files} named like images of this phase and not read{hint}"

    def missing(self, fields: Sequence[Field]) -> list[Fault]:
        """Return a fault for every case without a value of a field, or one for a field without any."""
        unreadable = {fault.file for fault in self.faults}
        missing = []
        for field in fields:
            cases = [case.name for case in self._form.cases if field.cases(case)]
            absent = [
                case.name
                for case, sources in zip(self._form.cases, self.sources, strict=True)
                if field.cases(case) and field.name not in sources
            ]
            layout = field.archive
            if isinstance(layout, Files):
                place, expected = f"{layout.folder}/", f"{len(cases)} files"
            else:
                place = next(iter(self._tables(layout)), layout.files[0])
                expected = f"a table of {len(cases)} images"
            if len(absent) == len(cases) and cases:
                if isinstance(layout, Files) or place not in unreadable:
                    hint = hint_of_absence(layout, self._listing.files)
                    missing.append(Fault(FaultKind.MISSING, place, expected, "none", hint=hint))
            elif isinstance(layout, Files):
                missing += [
                    Fault(FaultKind.MISSING, layout.path(name), "a file for this image", "none")
                    for name in absent
                ]
            else:
                torn = self._torn.get(place, set())
                missing += [
                    Fault(FaultKind.MISSING, place, f"a row for {name}", "none", field=layout.key)
                    for name in absent
                    if self._position_of(name) not in torn
                ]
        return missing


def _quoted(text: str) -> str:
    return f'"{text}"'


def _in_words(layouts: Sequence[Files]) -> str:
    """Return the names that files of a folder may have."""
    patterns = dict.fromkeys(layout.path("<image>") for layout in layouts)
    extensions = dict.fromkeys(chain.from_iterable(layout.extensions for layout in layouts))
    return " or ".join(patterns) + (f" ({', '.join(extensions)})" if len(extensions) > 1 else "")


def collisions(form: Form, fields: Sequence[Field]) -> list[str]:
    """Return a sentence about each two fields of which a submitted file could be either's value."""
    by_folder: dict[str, list[tuple[str, Files, Field]]] = {}
    for field in fields:
        if isinstance(layout := field.archive, Files):
            by_folder.setdefault(layout.folder.casefold(), []).append((field.name, layout, field))
    found: dict[tuple[str, str], str] = {}
    for together in by_folder.values():
        owners: dict[str, str] = {}
        for name, layout, field in together if len(together) > 1 else ():
            for case in filter(field.cases, form.cases):
                for extension in layout.extensions:
                    path = layout.path(case.name, extension)
                    if (owner := owners.setdefault(path.casefold(), name)) != name:
                        found.setdefault((owner, name), path)
    return [
        f"fields {first} and {second}: expected files of names that differ, found {path} for both (give "
        "one of them a `suffix` or a `folder` of its own)"
        for (first, second), path in found.items()
    ]


def _stem(name: str, layout: Files) -> str | None:
    folded = name.casefold()
    for extension in layout.extensions:
        ending = (layout.suffix + extension).casefold()
        if folded.endswith(ending):
            return name[: len(name) - len(ending)]
    return None
