"""The case table of a phase, made or completed from the files of its cases: names, sizes and positions."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from evaluation.core.challenge import fields_of, references_of
from evaluation.core.fault import FaultKind, PhaseError, ReadError
from evaluation.core.field import AnyField, CaseColumns, Files, TableRows
from evaluation.core.form import INPUT_VALUE, INTERFACE, CaseForm, name_key
from evaluation.core.formats import META_IMAGE, format_of_name
from evaluation.core.outcome import Progress, no_progress
from evaluation.io.files import FileStream
from evaluation.io.metaimage import read_plane_geometry
from evaluation.io.pixels import values_in_words
from evaluation.io.tables import parse_number, write_csv
from evaluation.io.volume_header import B_SCANS, DEPTH, geometry_columns
from evaluation.io.volumes import EXTENSIONS, open_volume
from evaluation.organiser.platform_export import name_of, names_of_images, read_rows, slug_of
from evaluation.phase import registry
from evaluation.phase.cases import FILE_NAME, columns_of, encoding_of, organiser_table
from evaluation.phase.config import PhaseConfig
from evaluation.phase.manifest import list_phase

NAME, _CASE = "name", "case"
_MAX_FILE_BYTES = 1 << 40


@dataclass
class CompletedTable:
    """A case table to be written, and the changes to it.

    ``rows`` are the cells by column, by the key of the case's name. ``filled`` counts the cells that were
    filled, by column. ``differing`` are the files, and the filled cells, that tell something else, and the
    cases that a source lacks. ``left_out``: the names without a row, where ``may_add`` adds none.
    """

    path: Path
    columns: list[str]
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    added: int = 0
    renamed: int = 0
    filled: Counter[str] = field(default_factory=Counter)
    differing: list[str] = field(default_factory=list)
    may_add: bool = True
    left_out: dict[str, str] = field(default_factory=dict)

    def row_of(self, name: str) -> dict[str, str]:
        """Return the row of a case, a new one if it has none; it enters the table where it may be added."""
        if (key := name_key(name)) in self.rows:
            return self.rows[key]
        row = {NAME: name}
        if self.may_add:
            self.rows[key] = row
            self.added += 1
        else:
            self.left_out.setdefault(key, name)
        return row

    def fill(self, name: str, cells: Mapping[str, tuple[str, str]]) -> None:
        """Fill the empty cells of a case; ``cells``: the cell and the file that tells it, by column."""
        if (key := name_key(name)) not in self.rows:
            return
        row = self.rows[key]
        self.add_columns(cells)
        for column, (cell, file) in cells.items():
            if not row.get(column):
                row[column] = cell
                self.filled[column] += bool(cell)
            elif cell and not _are_equal(row[column], cell):
                self.differing.append(f"{FILE_NAME}, {name}, {column}: {row[column]}, found {cell} in {file}")

    def add_columns(self, columns: Iterable[str]) -> None:
        """Add the columns that the table lacks."""
        self.columns += [column for column in dict.fromkeys(columns) if column not in self.columns]

    @property
    def empty(self) -> dict[str, int]:
        """How many cells are empty, by column; columns without any are left out."""
        found = {one: sum(not row.get(one) for row in self.rows.values()) for one in self.columns}
        return {column: count for column, count in found.items() if count}

    def forms(self) -> list[CaseForm]:
        """Return the names of the cases, and their sizes where they are known, else 0."""

        def side(row: Mapping[str, str], name: str) -> int:
            cell = row.get(name, "")
            return int(cell) if cell.isdecimal() else 0

        rows = self.rows.values()
        return [CaseForm(row[NAME], side(row, "width"), side(row, "height")) for row in rows]

    def write(self) -> None:
        """Write the table. Raises `OSError`."""
        rows = ([row.get(column, "") for column in self.columns] for row in self.rows.values())
        write_csv(self.path, self.columns, rows)


def table_from_files(
    folder: Path,
    images: Path | None = None,
    labels: Path | None = None,
    progress: Progress = no_progress,
    archive: Sequence[Path] = (),
    key: str | None = None,
    add: bool = False,
    named: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> CompletedTable:
    """Return the case table of a phase folder, completed from the reference and from further files.

    Names are those of the images in the folder ``images``, of the reference files and of the rows in tables.
    A table that has rows gets no others, unless ``add`` says so: a case that was taken out stays out.
    Sizes and positions are read from the headers of the images, else of the reference. ``labels`` is a table
    of the organiser with a row for each case, whose columns are taken over; ``key`` is the column of their
    names, by default "name" or "case". An image without a reference file or a row in it is told in
    ``differing``, as an item without an input and a file that cannot be read are. Filled cells stay as they
    are; a name with the extension of a file loses it. ``archive``: the items of the platform's archive, and
    the names of their images, as it exports them; ``named``: names that annotations tell, with width and
    height or empty cells. ``progress`` is called with the number of files read. Raises `PhaseError`.
    """
    found = registry.read_configuration(folder)
    references = references_of(found.tasks)
    form_columns = found.challenge.form_columns_of(found.config.submission)
    public = [column.name for column in form_columns]
    depth = next((name for name in (B_SCANS, DEPTH) if name in public), "")
    problems = [f"{path}: no such file or folder" for path in (images, labels) if path and not path.exists()]
    PhaseError.raise_all(problems)
    kinds = [one.kind for one in fields_of(found.tasks)] + [one.reference.kind for one in references]
    with_size = images is not None or any(kind.needs_size for kind in kinds)
    table = _existing(folder)
    table.may_add = add or bool(archive) or not table.rows
    listed = list_phase(images) if images else ()
    files = [(images, path, _without_extension(PurePosixPath(path).name)) for path in listed if images]
    sources: dict[str, set[str]] = defaultdict(set)
    for _, path, name in (of_reference := list(_files_of_reference(folder, references))):
        sources[f"{path.rpartition('/')[0]}/"].add(name_key(name))
    files += of_reference

    def header(root: Path, path: str) -> dict[str, str]:
        # A reference of its own format, a table for example, has no size that is known here.
        has_size = with_size and (root == images or _is_image(path))
        return _geometry_cells(root, path, depth, "spacing_mm" in public) if has_size else {}

    told = _told_by_headers(table, files, header, progress)
    for image, sides in named.items():
        name = _without_extension(PurePosixPath(image).name)
        cells = told[table.row_of(name)[NAME]]
        cells |= {one: (side, "annotations") for one, side in zip(("width", "height"), sides, strict=True)}
    for name, cells in told.items():
        table.fill(name, cells)
    if archive:
        _add_archive(table, archive, found.config)
    locations = [one.reference.location for one in references]
    if labels:
        sources[labels.name] = _add_labels(table, labels, key)
    for one in locations:
        if isinstance(one, TableRows) and (file := folder / one.files[0]).exists():
            with organiser_table(file, (one.key,)) as given:
                for row in given.rows:
                    table.row_of(row.cells[one.key])
    _tell_lacking(table, {name_key(name): name for root, _, name in files if root == images}, sources)
    if not table.rows:
        raise PhaseError(f"{folder}: expected files of cases, found none; see --images and --labels")
    table.add_columns(("width", "height") if with_size else ())
    table.add_columns(one.name for one in form_columns if not one.values)
    table.add_columns(column for one in locations if isinstance(one, CaseColumns) for column in one.columns)
    table.add_columns(group.column for group in found.config.subgroups)
    return table


_MAX_ITEMS_TOLD = 20
_Told = dict[str, dict[str, tuple[str, str]]]
"""What files tell of the cases: by name and column, the cell and the file."""


def _told_by_headers(
    table: CompletedTable,
    files: Sequence["_File"],
    header: Callable[[Path, str], dict[str, str]],
    progress: Progress,
) -> _Told:
    """Return what the ``header`` of each file tells; files that tell different things are noted."""
    told: _Told = defaultdict(dict)
    for done, (root, path, name) in enumerate(files, start=1):
        cells = told[table.row_of(name)[NAME]]
        try:
            read = header(root, path)
        except (ReadError, OSError) as error:
            told_of = str(error.fault(path)) if isinstance(error, ReadError) else f"{path}: {error}"
            table.differing.append(told_of)
            continue
        for column, cell in read.items():
            kept, other = cells.setdefault(column, (cell, path))
            if not _are_equal(kept, cell):
                table.differing.append(f"{path}: {column} {cell}, found {kept} in {other}")
        progress(done)
    return told


def _add_labels(table: CompletedTable, labels: Path, key: str | None) -> set[str]:
    """Take over the columns of a table of labels; return the keys of its names."""
    encoding = encoding_of(labels)
    key = _key_column(labels, encoding, key)
    with organiser_table(labels, (key,), encoding=encoding) as given:
        for row in given.rows:
            taken = [one for one in given.columns if one not in ("", key)]
            label_cells = {one: (row.cells[one], labels.name) for one in taken}
            table.fill(table.row_of(row.cells[key])[NAME], label_cells)
        return {name_key(row.cells[key]) for row in given.rows}


def _tell_lacking(
    table: CompletedTable, of_images: Mapping[str, str], sources: Mapping[str, Collection[str]]
) -> None:
    """Note the images of which a source has nothing; ``of_images``: names of images by key."""
    for source, known in sources.items():
        lacking = [name for one, name in of_images.items() if one not in known and one in table.rows]
        if lacking:
            table.differing.append(f"{source}: nothing of the images {values_in_words(lacking)}")


def _key_column(labels: Path, encoding: str, key: str | None) -> str:
    """Return the column of the names. Raises `PhaseError` with the columns that there are."""
    columns = columns_of(labels, encoding)
    for wanted in (NAME, _CASE) if key is None else (key,):
        if found := next((one for one in columns if one.casefold() == wanted.casefold()), None):
            return found
    expected = f"the column {NAME} or {_CASE}" if key is None else f"the column {key}"
    found = ", ".join(filter(None, columns)) or "none"
    raise PhaseError(
        f"{labels.name}: expected {expected}, found {found}; --key COLUMN names that of the cases"
    )


def _is_image(path: str) -> bool:
    row = format_of_name(path)
    return row is not None and (bool(row.dimensions) or row.pillow)


def _add_archive(table: CompletedTable, paths: Sequence[Path], config: PhaseConfig) -> None:
    """Add the cases of an archive's items; items that lack an input or share a name are told as differing."""
    rows = read_rows(paths, ("pk",))
    items = [(one.file, one.values) for one in rows if isinstance(one.values.get("values"), list)]
    images = names_of_images([one.values for one in rows if isinstance(one.values.get("name"), str)])
    interfaces = config.interfaces_of(())
    used = Counter(slug_of(value) for _, row in items for value in row["values"])
    owners: dict[tuple[str, str], str] = {}
    elsewhere: list[str] = []
    for file, row in items:
        place = f"{file}, item {row.get('title') or row['pk']}"
        values = {slug_of(value): value for value in row["values"]}
        interface = next((one for one in interfaces if set(one.inputs) == set(values)), None)
        sockets = config.input_sockets if interface is None else interface.input_sockets or interface.inputs
        lacking = [slug for slug in used if slug not in values]
        if interfaces and interface is None:
            known = "; ".join(f"{one.name}: {', '.join(one.inputs)}" for one in interfaces)
            found = ", ".join(sorted(values)) or "none"
            table.differing.append(f"{place}: expected the inputs of an interface ({known}), found {found}")
            continue
        any_of_several = len(config.input_sockets) > 1 and set(config.input_sockets) & set(values)
        if not interfaces and lacking and not any_of_several:
            table.differing.append(f"{place}: lacks {', '.join(lacking)}, which other items have")
        if interface is not None and interface.by_value:
            chosen = {slug: values[slug].get("value") for slug in interface.input_sockets}
            value = chosen if len(chosen) > 1 else next(iter(chosen.values()))
            text = value if isinstance(value, str) else json.dumps(value)
            name = str(row.get("title") or row["pk"])
        else:
            text = ""
            wanted = [value for slug, value in values.items() if not sockets or slug in sockets]
            with_image = [value for value in wanted if value.get("image") is not None] or wanted
            names = [one for value in with_image if (one := name_of(value, images)) is not None]
            if len(names) != 1:
                expected = f"one image or file of {' or '.join(sockets or used)}"
                if not wanted:
                    found = ", ".join(sorted(values)) or "none"
                    elsewhere.append(f"{place}: expected {expected}, found the sockets {found}")
                    continue
                addresses = any(isinstance(value.get("image"), str) for value in with_image)
                hint = ": also give the export of the images, which has their names" if addresses else ""
                table.differing.append(f"{place}: expected {expected}, found {len(names)} names{hint}")
                continue
            name = _without_extension(names[0])
        key = ("" if interface is None else interface.name, name_key(name))
        if key in owners:
            table.differing.append(f"{place}: {name} is also the name of item {owners[key]}")
            continue
        owners[key] = str(row.get("title") or row["pk"])
        table.row_of(name)
        cells = {INTERFACE: interface.name} if interface is not None else {}
        cells |= {INPUT_VALUE: text} if text else {}
        table.fill(name, {column: (cell, file) for column, cell in cells.items()})
    if elsewhere and not owners:
        # Nothing is written: without a name from the archive, the table would be of other cases.
        remedy = "input_socket in phase.toml names the socket of the cases"
        raise PhaseError(*elsewhere[:_MAX_ITEMS_TOLD], f"{len(elsewhere)} items without a name: {remedy}")
    table.differing += elsewhere


def _existing(folder: Path) -> CompletedTable:
    table = CompletedTable(folder / FILE_NAME, [NAME])
    if table.path.exists():
        with organiser_table(table.path, (NAME,)) as given:
            table.columns = [column for column in given.columns if column]
            for row in given.rows:
                name = _without_extension(row.cells[NAME])
                table.row_of(row.cells[NAME]).update({**row.cells, NAME: name})
                table.renamed += row.cells[NAME] != name
        table.added = 0
    return table


def _without_extension(name: str) -> str:
    """Return a name without the extension of a file, in its own letter case."""
    return name[: len(name_key(name))]


_File = tuple[Path, str, str]
"""A folder, the path of a file in it, and the name of its case."""


def _files_of_reference(folder: Path, references: Sequence[AnyField]) -> Iterator[_File]:
    listed = list_phase(folder)
    for location in (one.reference.location for one in references):
        if not isinstance(location, Files):
            continue
        for path in listed:
            parent, _, name = path.rpartition("/")
            endings = [f"{location.suffix}{extension}" for extension in location.extensions]
            ending = next((end for end in endings if name.lower().endswith(end.lower())), "")
            if ending and parent == location.folder:
                yield folder, path, name[: len(name) - len(ending)]


def _geometry_cells(root: Path, path: str, depth: str, with_spacing: bool) -> dict[str, str]:
    """Return what the header of a file tells, by column. Raises `ReadError` and `OSError`."""
    row = format_of_name(path)
    if row is not None and 3 in row.dimensions and (depth or row.positioned):
        with FileStream(str(root), path, _MAX_FILE_BYTES) as stream:
            if not depth and row is META_IMAGE:
                geometry = read_plane_geometry(stream, stream.size)
            else:
                geometry = open_volume(stream, path).header.geometry
        cells = geometry_columns(geometry, depth or DEPTH)
    elif depth:
        raise ReadError(
            FaultKind.UNREADABLE, f"a volume, one of {', '.join(EXTENSIONS)}", "another extension"
        )
    else:
        from PIL import Image

        Image.MAX_IMAGE_PIXELS = None  # of an organiser's own files the header alone is read
        with Image.open(root / path) as image:
            cells = {"width": str(image.width), "height": str(image.height)}
            cells["spacing_mm"] = _spacing_of_tiff(getattr(image, "tag_v2", {}))
    if not depth:
        spacing = " ".join(cells.get("spacing_mm", "").split()[:2])
        cells = {"width": cells["width"], "height": cells["height"]}
        cells |= {"spacing_mm": spacing} if with_spacing else {}
    return {column: cell for column, cell in cells.items() if cell}


_X_RESOLUTION, _Y_RESOLUTION, _RESOLUTION_UNIT = 282, 283, 296
_MM_OF_UNITS = {2: 25.4, 3: 10.0}
_OF_SCREENS = (72.0, 96.0)


def _spacing_of_tiff(tags: Mapping[int, Any]) -> str:
    """Return the spacing that the resolution of a TIFF image tells; that of a screen is nobody's measure."""
    numbers = [float(tags.get(tag, 0)) for tag in (_X_RESOLUTION, _Y_RESOLUTION)]
    unit = tags.get(_RESOLUTION_UNIT, 2)
    known = unit in _MM_OF_UNITS and all(math.isfinite(one) and one > 0 for one in numbers)
    if not known or (unit == 2 and set(numbers) <= {1.0, *_OF_SCREENS}):
        return ""
    return " ".join(f"{_MM_OF_UNITS[unit] / one:.12g}" for one in numbers)


def _are_equal(one: str, other: str) -> bool:
    """Return whether two cells hold the same numbers, up to the rounding of headers in files."""
    try:
        pairs = zip(map(parse_number, one.split()), map(parse_number, other.split()), strict=True)
        return all(math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-3) for a, b in pairs)
    except (ReadError, ValueError):
        return one == other
