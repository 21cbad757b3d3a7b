"""Lists the files of an untrusted folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from dataclasses import dataclass, replace

from evaluation.core.fault import Fault, FaultKind, ReadError
from evaluation.io.buffer import read_error
from evaluation.io.descriptors import list_below, not_regular

MAX_ENTRIES = 100_000
MAX_FOLDER_DEPTH = 8

_IGNORED_NAMES = frozenset({"__MACOSX", ".DS_Store", "desktop.ini", "Thumbs.db"})


@dataclass(frozen=True, slots=True)
class Listing:
    """The regular files below a folder, as sorted relative paths with ``/`` between folders."""

    root: str
    files: tuple[str, ...]
    faults: tuple[Fault, ...] = ()


class _TooLargeError(Exception):
    def __init__(self, fault: Fault) -> None:
        self.fault = fault


def list_files(root: str | os.PathLike[str]) -> Listing:
    """Return the files below `root` (which may itself be a symbolic link), in one walk.

    Files that operating systems create are skipped. Links, devices, pipes, sockets and unreadable folders are
    faults; none is followed or opened. A tree of more than 100,000 entries or eight levels of folders gives
    that fault and no files.
    """
    resolved = os.path.realpath(root)
    files: list[str] = []
    faults: list[Fault] = []
    remaining = MAX_ENTRIES
    folders = [""]
    try:
        while folders:
            folder = folders.pop()
            try:
                entries = _scan(resolved, folder, remaining)
            except OSError:
                faults.append(
                    Fault(
                        FaultKind.UNREADABLE, folder or ".", "a readable folder", "one that cannot be listed"
                    )
                )
                continue
            remaining -= len(entries)
            inner = []
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_file(follow_symlinks=False):
                    files.append(path)
                elif entry.is_dir(follow_symlinks=False):
                    inner.append(path)
                else:
                    faults.append(_forbidden(path, entry))
            if inner and inner[0].count("/") >= MAX_FOLDER_DEPTH:
                raise _too_large(inner[0], f"at most {MAX_FOLDER_DEPTH} levels of folders", "more")
            folders.extend(reversed(inner))
    except _TooLargeError as error:
        return Listing(resolved, (), (error.fault,))
    return Listing(resolved, tuple(sorted(files)), tuple(sorted(faults, key=lambda fault: fault.file)))


def list_folder(root: str, path: str) -> list[str]:
    """Return the sorted names of the regular files in one folder below ``root``; links are not followed.

    Files that operating systems create are skipped. Raises `ReadError` (missing, forbidden, unreadable or too
    large), also for an entry that is not a regular file.
    """
    try:
        entries = {name: mode for name, mode in list_below(root, path) if not _ignored(name)}
    except OSError as error:
        raise read_error(error, "a folder") from None
    if len(entries) > MAX_ENTRIES:
        raise ReadError(FaultKind.TOO_LARGE, f"at most {MAX_ENTRIES} files", "more")
    names = sorted(entries)
    for name in names:
        if not stat.S_ISREG(entries[name]):
            raise not_regular(entries[name])
    return names


def strip_common_folder(listing: Listing, known: Collection[str]) -> Listing:
    """Return the listing relative to the one folder that contains everything, if there is such a folder.

    The listing is unchanged if the folder's name is in `known` (ignoring case): it is part of the format.
    """
    places = [*listing.files, *(fault.file for fault in listing.faults)]
    top = {place.partition("/")[0] for place in places}
    if not listing.files or len(top) != 1 or not all("/" in place for place in places):
        return listing
    (folder,) = top
    if folder.casefold() in {name.casefold() for name in known}:
        return listing
    start = len(folder) + 1
    return Listing(
        os.path.join(listing.root, folder),  # noqa: PTH118
        tuple(path[start:] for path in listing.files),
        tuple(replace(fault, file=fault.file[start:]) for fault in listing.faults),
    )


def _scan(root: str, folder: str, remaining: int) -> list[os.DirEntry[str]]:
    """Return a folder's entries sorted by name; stops as soon as there are too many."""
    entries: list[os.DirEntry[str]] = []
    with os.scandir(os.path.join(root, folder)) as found:  # noqa: PTH118
        for entry in found:
            if _ignored(entry.name):
                continue
            if len(entries) == remaining:
                raise _too_large(".", f"at most {MAX_ENTRIES} files and folders", "more")
            entries.append(entry)
    return sorted(entries, key=lambda entry: entry.name)


def _ignored(name: str) -> bool:
    return name in _IGNORED_NAMES or name.startswith("._")


def _forbidden(path: str, entry: os.DirEntry[str]) -> Fault:
    return not_regular(entry.stat(follow_symlinks=False).st_mode).fault(path)


def _too_large(path: str, expected: str, found: str) -> _TooLargeError:
    return _TooLargeError(Fault(FaultKind.TOO_LARGE, path, expected, found))
