"""A submission as the platform hands it over: unpacked, and the index of its values."""

from __future__ import annotations

import contextlib
import errno
import re
import shutil
import stat
import sys
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path, PurePosixPath

from evaluation.core.challenge import Task
from evaluation.core.fault import Fault, FaultKind, FormFault
from evaluation.core.form import Form
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.files import MAX_ENTRIES
from evaluation.platform.algorithm import index_algorithm
from evaluation.platform.archive import BARE_TABLE, index_archive
from evaluation.platform.index import SubmissionIndex

# --- Unpacks a submission, a zip or one bare table, as the platform does ---

MAX_SUBMISSION_BYTES = 8 << 30
"""Bytes that a zip may unpack to, far more than the test set of any bundled challenge."""

# Names that Windows does not store, or gives to a device.
_NOT_ON_WINDOWS = re.compile(
    r"""[<>:"|?*\\\x00-\x1f]|[ .]$|^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)""", re.IGNORECASE
)
_IS_WINDOWS = sys.platform == "win32"
# The platform skips a file if this matches anywhere in its path.
_SKIPPED = re.compile(r"(__MACOSX|\.DS_Store|desktop.ini)")
_BLOCK = 1 << 20
_ENCRYPTED = 0x1


@dataclass(frozen=True)
class _Member:
    """An entry of a zip and the path to which it is unpacked."""

    info: zipfile.ZipInfo
    path: str


@contextlib.contextmanager
def unpacked(submission: Path, max_bytes: int = MAX_SUBMISSION_BYTES) -> Iterator[Path]:
    """Yield a folder with the content that the container would find in /input.

    A folder is yielded as it is; a zip or csv file is unpacked into a temporary folder. Raises `FormFault`
    for any other file and for a zip that cannot be unpacked safely, `MachineTrouble` and `OSError`.
    """
    if submission.is_dir():
        yield submission
        return
    with tempfile.TemporaryDirectory(prefix="submission-") as folder:
        unpack(submission, Path(folder), max_bytes)
        yield Path(folder)


def unpack(submission: Path, folder: Path, max_bytes: int = MAX_SUBMISSION_BYTES) -> None:
    """Unpack a zip, or copy a csv file, into an empty folder.

    Raises `FormFault`, `MachineTrouble` such as for a full disk, and `OSError`.
    """
    if submission.suffix.casefold() == ".csv":
        shutil.copyfile(submission, folder / BARE_TABLE)
        return
    name = submission.name
    try:
        with zipfile.ZipFile(submission) as archive:
            members = _members(archive.infolist(), name, max_bytes)
            if faults := _unstorable(members, folder):
                raise FormFault(faults)
            for member in members:
                _extract(archive, member, folder)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, UnicodeDecodeError) as error:
        found = f"one that cannot be unpacked ({error})" if zipfile.is_zipfile(submission) else "another file"
        raise FormFault(
            Fault(FaultKind.UNREADABLE, name, "a folder, a zip archive or a csv file", found)
        ) from None
    except (RuntimeError, OSError, ValueError, zlib.error) as error:
        raise_trouble_of(error, "unpack", name)
        if isinstance(error, OSError) and error.errno == errno.EROFS:
            raise
        # Without the path, which is that of a temporary folder.
        reason = error.strerror if isinstance(error, OSError) else error
        found = f"one that cannot be unpacked ({reason})"
        raise FormFault(Fault(FaultKind.UNREADABLE, name, "a readable zip archive", found)) from None


def _members(entries: Sequence[zipfile.ZipInfo], name: str, max_bytes: int) -> list[_Member]:
    """Return the files of a zip without common leading folders. Raises `FormFault` for unsafe entries."""
    files = [entry for entry in entries if not entry.is_dir() and not _SKIPPED.search(entry.filename)]
    if not files:
        raise FormFault(Fault(FaultKind.MISSING, name, "a zip archive that holds files", "none"))
    if len(files) > MAX_ENTRIES:
        raise FormFault(
            Fault(FaultKind.TOO_LARGE, name, f"at most {MAX_ENTRIES} files", f"{len(files)} files")
        )
    if faults := [fault for entry in files if (fault := _unsafe(entry))]:
        raise FormFault(faults)
    size = sum(entry.file_size for entry in files)
    if size > max_bytes:
        raise FormFault(
            Fault(FaultKind.TOO_LARGE, name, f"at most {max_bytes} bytes when unpacked", f"{size} bytes")
        )
    paths = [entry.filename for entry in files]
    # For a single file, its folder; else the longest folder that all files share.
    common = str(PurePosixPath(paths[0]).parent) if len(paths) == 1 else commonpath(paths)
    start = 0 if common in ("", ".") else len(common) + 1
    return [_Member(entry, entry.filename[start:]) for entry in files]


def _unstorable(members: Sequence[_Member], folder: Path) -> list[Fault]:
    """Return faults of files that Linux can store and this system cannot, alone or beside each other."""
    faults = []
    if _IS_WINDOWS:
        faults += [
            Fault(FaultKind.UNREADABLE, member.path, "a file name that Windows can store", "another one")
            for member in members
            if any(_NOT_ON_WINDOWS.search(part) for part in member.path.split("/"))
        ]
    if _ignores_case(folder):
        first: dict[str, str] = {}
        for member in members:
            other = first.setdefault(unicodedata.normalize("NFC", member.path).casefold(), member.path)
            if other != member.path:
                expected, found = "names that differ in more than letter case", f"one like {other}"
                faults.append(Fault(FaultKind.DUPLICATE, member.path, expected, found))
    return faults


def _ignores_case(folder: Path) -> bool:
    """Return whether names in a new folder that differ only in letter case are the same file."""
    with tempfile.NamedTemporaryFile(prefix="case-", dir=folder) as file:
        return (folder / Path(file.name).name.upper()).exists()


def _unsafe(entry: zipfile.ZipInfo) -> Fault | None:
    """Return the fault of an entry that must not be unpacked."""
    path = entry.filename
    if path.startswith("/") or ".." in path.split("/") or "\0" in path:
        return Fault(FaultKind.FORBIDDEN, path, "a path inside the archive", "one that leads out of it")
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        found = "a symbolic link" if stat.S_ISLNK(mode) else "something else"
        return Fault(FaultKind.FORBIDDEN, path, "a regular file", found)
    if entry.flag_bits & _ENCRYPTED:
        return Fault(FaultKind.UNREADABLE, path, "a file without a password", "an encrypted one")
    return None


def _extract(archive: zipfile.ZipFile, member: _Member, folder: Path) -> None:
    """Write one file, never more bytes of it than the zip's directory says."""
    target = folder / member.path
    if not target.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{member.path} is outside of the archive")
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member.info) as source, target.open("wb") as file:
        shutil.copyfileobj(source, file, _BLOCK)


# --- The index of a submission of either kind ---


def index_submission(folder: Path, form: Form, tasks: Sequence[Task]) -> SubmissionIndex:
    """Return the index of a submission; the form, not the folder, tells its kind."""
    index = index_algorithm if form.submission == "algorithm" else index_archive
    return index(folder, form, tasks)
