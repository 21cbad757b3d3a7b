"""A submission as the platform hands it over: the content of its zip, and the index of its values."""

import contextlib
import errno
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from os.path import commonpath
from pathlib import Path, PurePosixPath
from typing import NoReturn

from evaluation.core.challenge import Task
from evaluation.core.fault import Fault, FaultKind, FormFault
from evaluation.core.form import Form
from evaluation.core.formats import GZIP, HEAD_BYTES, ZIP, format_of_content
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.files import MAX_ENTRIES, fault_of_path, normal_path
from evaluation.platform.algorithm import index_algorithm
from evaluation.platform.archive import ARCHIVES, index_archive
from evaluation.platform.index import SubmissionIndex

# --- The content of a zip, as the platform unpacks it ---

MAX_SUBMISSION_BYTES = 8 << 30
"""Bytes that a zip may unpack to, far more than the test set of any bundled challenge."""

# The platform skips a file if this matches anywhere in its path.
_SKIPPED = re.compile(r"(__MACOSX|\.DS_Store|desktop.ini)")
_PIECE_BYTES = 1 << 22
_ENCRYPTED = 0x1


class ZipContent:
    """The files of a zip by their paths, and their bytes in pieces; to be read in a confined process.

    ``name`` stands for the zip in messages. Every method raises `FormFault`, and `OSError` for a fault of the
    machine.
    """

    def __init__(self, path: Path, name: str, max_bytes: int) -> None:
        self._path, self._name = path, name
        with self._faults():
            self._archive = zipfile.ZipFile(path)
            self._files = _files(self._archive.infolist(), name, max_bytes)
            self.paths = _without_common_folder([normal_path(file.filename) for file in self._files])
            FormFault.raise_all([fault for path in self.paths if (fault := fault_of_path(path))])

    def pieces(self) -> Iterator[list[tuple[int, bytes]]]:
        """Yield files by number with their next bytes, 4 MiB at a time; an empty file has a part too."""
        piece: list[tuple[int, bytes]] = []
        left = _PIECE_BYTES
        for number, file in enumerate(self._files):
            with self._faults(), self._archive.open(file) as source:
                data = source.read(left)
                while True:
                    piece.append((number, data))
                    left -= max(len(data), _PIECE_BYTES >> 12)
                    if left <= 0:
                        yield piece
                        piece, left = [], _PIECE_BYTES
                    # Never more of it than the zip's directory says.
                    data = source.read(left)
                    if not data:
                        break
        if piece:
            yield piece

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (zipfile.BadZipFile, NotImplementedError, EOFError, UnicodeDecodeError) as error:
            with self._path.open("rb") as file:
                content = format_of_content(file.read(HEAD_BYTES))
            is_zip = content is ZIP or zipfile.is_zipfile(self._path)
            found = content.name if content else "another file"
            if is_zip:
                found = f"one that cannot be unpacked ({error})"
            expected = "a folder, a zip archive or a csv file"
            others = tuple(set(ARCHIVES) - {".zip"})
            is_other = content is GZIP or bool(content and set(content.extensions) & set(others))
            is_other = is_other or (not is_zip and self._name.casefold().endswith(others))
            hint = "zip it: the platform unpacks zip archives alone" if is_other else None
            raise FormFault(Fault(FaultKind.UNREADABLE, self._name, expected, found, hint=hint)) from None
        except (RuntimeError, OSError, ValueError, zlib.error) as error:
            raise_unpacking(error, self._name)


def raise_unpacking(error: Exception, name: str) -> NoReturn:
    """Raise an error of unpacking again: as it is if it is the machine's, else as a `FormFault`."""
    raise_trouble_of(error, "unpack", name)
    if isinstance(error, OSError) and error.errno == errno.EROFS:
        raise error
    # Without the path, which is that of a temporary folder.
    reason = error.strerror if isinstance(error, OSError) else error
    found = f"one that cannot be unpacked ({reason})"
    raise FormFault(Fault(FaultKind.UNREADABLE, name, "a readable zip archive", found)) from None


def _files(entries: Sequence[zipfile.ZipInfo], name: str, max_bytes: int) -> list[zipfile.ZipInfo]:
    """Return the files of a zip. Raises `FormFault` for unsafe entries."""
    files = [entry for entry in entries if not entry.is_dir() and not _SKIPPED.search(entry.filename)]
    if not files:
        raise FormFault(Fault(FaultKind.MISSING, name, "a zip archive that holds files", "none"))
    if len(files) > MAX_ENTRIES:
        found = f"{len(files)} files"
        raise FormFault(Fault(FaultKind.TOO_LARGE, name, f"at most {MAX_ENTRIES} files", found))
    names = {normal_path(entry.filename) for entry in files}
    folders = {str(folder) for name in names for folder in PurePosixPath(name).parents}
    expected, found = "a file or a folder of this name", "both"
    both = [Fault(FaultKind.UNREADABLE, name, expected, found) for name in sorted(names & folders)]
    FormFault.raise_all(both + [fault for entry in files if (fault := _unsafe(entry))])
    size = sum(entry.file_size for entry in files)
    if size > max_bytes:
        expected = f"at most {max_bytes} bytes when unpacked"
        raise FormFault(Fault(FaultKind.TOO_LARGE, name, expected, f"{size} bytes"))
    return files


def _without_common_folder(paths: Sequence[str]) -> list[str]:
    # For a single file, its folder; else the longest folder that all files share.
    common = str(PurePosixPath(paths[0]).parent) if len(set(paths)) == 1 else commonpath(paths)
    start = 0 if common in ("", ".") else len(common) + 1
    return [path[start:] for path in paths]


def _unsafe(entry: zipfile.ZipInfo) -> Fault | None:
    """Return the fault of an entry that must not be unpacked."""
    path = entry.filename
    if path.startswith("/") or ".." in path.split("/") or "\0" in path or not normal_path(path):
        return Fault(FaultKind.FORBIDDEN, path, "a path inside the archive", "one that leads out of it")
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        found = "a symbolic link" if stat.S_ISLNK(mode) else "something else"
        return Fault(FaultKind.FORBIDDEN, path, "a regular file", found)
    if entry.flag_bits & _ENCRYPTED:
        return Fault(FaultKind.UNREADABLE, path, "a file without a password", "an encrypted one")
    return None


# --- The index of a submission of either kind ---


def index_submission(folder: Path, form: Form, tasks: Sequence[Task]) -> SubmissionIndex:
    """Return the index of a submission; the form, not the folder, tells its kind."""
    index = index_algorithm if form.submission == "algorithm" else index_archive
    return index(folder, form, tasks)
