"""Opening files below an untrusted folder without following links, on every system.

Linux and macOS open every folder on the way relative to the one before, so that no link can take its place
meanwhile. Windows has no descriptors of folders: every part of the path is checked before the file is opened,
and the file again afterwards.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence

from evaluation.core.fault import FaultKind, ReadError


def _flags(*names: str) -> int:
    """Return flags of `os.open` together, without those that this system lacks."""
    return sum(getattr(os, name, 0) for name in names)


# Without O_BINARY, Windows would translate line ends and stop at Ctrl-Z.
_FILE_FLAGS = _flags("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
_FOLDER_FLAGS = _flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC")
_NO_LINK = _flags("O_NOFOLLOW")
_HAS_FOLDER_DESCRIPTORS = os.open in os.supports_dir_fd and os.listdir in os.supports_fd
_HAS_READV = hasattr(os, "readv")
_PIECE = 1 << 20
# Windows takes these for a drive, a stream of a file or a step to another folder.
_NOT_IN_NAMES = frozenset() if _HAS_FOLDER_DESCRIPTORS else frozenset("\\:")
_NO_NAMES = frozenset({"", ".", ".."})
_MOUNT_POINT = 0xA0000003


def read_into(descriptor: int, view: memoryview) -> int:
    """Read the next bytes into a view and return their number, 0 at the end. Raises `OSError`."""
    if _HAS_READV:
        return os.readv(descriptor, [view])
    data = os.read(descriptor, min(len(view), _PIECE))
    view[: len(data)] = data
    return len(data)


class OpenFolder:
    """The folder of the file that was opened last, kept open: the next file mostly lies there too.

    Saves 16 % of the processor time of EDD2020's 10,000 text files (0.78 → 0.94 s without).
    """

    def __init__(self) -> None:
        self._place: tuple[str, str] | None = None
        self._descriptor = -1

    def open_below(self, root: str, path: str) -> int:
        """Return a descriptor of the file at a path below ``root``; no link on the way is followed.

        Raises `ReadError` for a path out of the folder and for a link or another special file, and `OSError`
        if the system does not open the file.
        """
        parts = _parts(path)
        if not _HAS_FOLDER_DESCRIPTORS:
            return _open_by_path(root, parts)
        folder, _, name = path.rpartition("/")
        if self._place != (root, folder):
            self.close()
            self._descriptor = _open_folders(root, parts[:-1])
            self._place = root, folder
        return _open_entry(name, _FILE_FLAGS, self._descriptor)

    def close(self) -> None:
        """Close the folder."""
        if self._place is not None:
            os.close(self._descriptor)
            self._place = None

    def __del__(self) -> None:
        self.close()


def list_below(root: str, path: str) -> list[tuple[str, int]]:
    """Return the names of the entries in a folder below ``root`` with their modes (as of `os.lstat`).

    No link on the way is followed. Raises as `OpenFolder.open_below` does.
    """
    parts = _parts(path)
    if not _HAS_FOLDER_DESCRIPTORS:
        with os.scandir(_checked(root, [*parts, ""])) as entries:
            return [(entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in entries]
    folder = _open_folders(root, parts)
    try:
        names = os.listdir(folder)  # noqa: PTH208
        return [(name, os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode) for name in names]
    finally:
        os.close(folder)


def not_regular(mode: int) -> ReadError:
    """Return the error for an entry that is not a regular file; `mode` as in `os.stat_result`."""
    kinds = (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    found = next((name for test, name in kinds if test(mode)), "something else")
    return ReadError(FaultKind.FORBIDDEN, "a regular file", found)


def _parts(path: str) -> list[str]:
    parts = path.split("/")
    if (
        "\0" in path
        or not _NO_NAMES.isdisjoint(parts)
        or (_NOT_IN_NAMES and not _NOT_IN_NAMES.isdisjoint(path))
    ):
        raise ReadError(FaultKind.FORBIDDEN, "a path inside the folder", f'"{path}"')
    return parts


def _open_folders(root: str, names: Sequence[str]) -> int:
    folder = os.open(root, _FOLDER_FLAGS)
    try:
        for name in names:
            inner = _open_entry(name, _FOLDER_FLAGS | _NO_LINK, folder)
            os.close(folder)
            folder = inner
    except (OSError, ReadError):
        os.close(folder)
        raise
    return folder


def _open_entry(name: str, flags: int, folder: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        # A link gives ELOOP or ENOTDIR, a socket ENXIO: ask for the type, for the message.
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            if not stat.S_ISREG(mode):
                raise not_regular(mode) from None
        raise


def _open_by_path(root: str, parts: Sequence[str]) -> int:
    path = _checked(root, parts)
    before = os.lstat(path)
    if not stat.S_ISREG(before.st_mode):
        raise not_regular(before.st_mode)
    descriptor = os.open(path, _FILE_FLAGS)
    after = os.fstat(descriptor)
    if (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
        os.close(descriptor)
        raise ReadError(FaultKind.FORBIDDEN, "a regular file", "one that was replaced while it was opened")
    return descriptor


def _checked(root: str, parts: Sequence[str]) -> str:
    """Return the path of the last part, after looking at all folders before it."""
    path = root
    for name in parts[:-1]:
        path = os.path.join(path, name)  # noqa: PTH118
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _MOUNT_POINT:
            raise not_regular(stat.S_IFLNK)
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return os.path.join(path, parts[-1]) if parts[-1] else path  # noqa: PTH118
