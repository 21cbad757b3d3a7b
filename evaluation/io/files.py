"""Files below an untrusted folder: opened without following links, read whole or in pieces, and listed.

Files of our own are written completely or not at all.
"""

import contextlib
import errno
import hashlib
import importlib
import os
import re
import stat
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.core.fault import Fault, FaultKind, FormFault, ReadError
from evaluation.core.formats import HEAD_BYTES, format_of_name
from evaluation.core.trouble import TEMPORARY, MachineTrouble, raise_trouble_of, trouble_of
from evaluation.io.system_calls import file_status, folder_entries

# --- Temporary files and folders: each is locked by its process, so that others can tell an abandoned one ---

# Windows has no such module; there, nothing is locked and nothing abandoned is found.
fcntl: Any = None
with contextlib.suppress(ModuleNotFoundError):
    fcntl = importlib.import_module("fcntl")
_HELD_FILE = re.compile(r"\..*\.[0-9a-f]{16}\.part")
_swept: set[tuple[str, str]] = set()


@contextlib.contextmanager
def scratch_folder(prefix: str, parent: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """Yield a new folder below ``parent``, by default the system's, and remove it with its content.

    Folders of the same prefix that belong to no living process are removed too. Raises `MachineTrouble` and
    `OSError`.
    """
    import shutil
    import tempfile

    try:
        root = Path(tempfile.gettempdir() if parent is None else parent)
    except FileNotFoundError:  # none that can be written to
        raise MachineTrouble("make", "a temporary folder", TEMPORARY) from None
    remove_abandoned(root, re.compile(re.escape(prefix) + "[a-z0-9_]{8}"))
    held = -1
    try:
        while held < 0:
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=root))
            with contextlib.suppress(FileNotFoundError):  # another process took it for an abandoned one
                held = _hold(os.open(folder, os.O_RDONLY)) if fcntl else 0
    except OSError as error:
        raise_trouble_of(error, "make a folder in", root)
        raise
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if fcntl:
            os.close(held)


def remove_abandoned(folder: Path, names: re.Pattern[str] = _HELD_FILE) -> None:
    """Remove the temporary files or folders of processes that were killed, once per process and folder.

    Whatever cannot be removed stays.
    """
    import shutil

    place = (str(folder), names.pattern)
    if fcntl is None or place in _swept:
        return
    _swept.add(place)
    with contextlib.suppress(OSError):
        for path in [folder / name for name in os.listdir(folder) if names.fullmatch(name)]:  # noqa: PTH208
            with contextlib.suppress(OSError):
                descriptor = os.open(path, _NO_LINK | (os.O_RDONLY if path.is_dir() else os.O_RDWR))
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                finally:
                    os.close(descriptor)


def _hold(descriptor: int) -> int:
    """Lock a new file or folder until its descriptor is closed; -1 if it was taken for an abandoned one."""
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink == 0:
            os.close(descriptor)
            return -1
    return descriptor


# --- Files that are written completely or not at all ---


def write_atomically(path: Path, data: bytes, synced: bool = True) -> None:
    """Write a file completely or not at all, and make its folder if needed.

    The data go into a new file of an unpredictable name first; an existing file or link of that name is an
    error, so that several processes, also hostile ones, can write into the same folder. If not ``synced``,
    the file is whole even if this process dies, but perhaps not if the machine fails; on a busy disk that
    saves up to a second. Raises `MachineTrouble` and `OSError`.
    """
    import secrets  # not at the start of a command, which writes last

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(path.parent)
        held = -1
        while held < 0:
            temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
            # Exclusive: never follows a link.
            held = _hold(os.open(temporary, _flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_BINARY"), 0o666))
        try:
            # Windows renames no open file; elsewhere it stays locked until it has its name.
            with open(held, "wb", closefd=fcntl is None) as file:
                file.write(data)
                if synced:
                    file.flush()
                    os.fsync(held)
            temporary.replace(path)
        except BaseException:
            # Keep the original error; clean-up may fail too.
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        finally:
            if fcntl is not None:
                os.close(held)
    except OSError as error:
        raise_trouble_of(error, "write", path)
        error.filename = str(path)
        raise


# --- Opening files below an untrusted folder without following links, on every system ---


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
    """Fill a view with the next bytes and return their number, less than asked for only at the end.

    Raises `OSError`.
    """
    filled = 0
    while filled < len(view):
        if _HAS_READV:
            count = os.readv(descriptor, [view[filled:]])
        else:
            data = os.read(descriptor, min(len(view) - filled, _PIECE))
            count = len(data)
            view[filled : filled + count] = data
        if count == 0:
            break
        filled += count
    return filled


class OpenFolder:
    """The folder of the file that was opened last, kept open: the next file mostly lies there too.

    Linux and macOS open every folder on the way relative to the one before, so that no link can take its
    place meanwhile. Windows has no descriptors of folders: every part of the path is checked before the file
    is opened, and the file again afterwards.
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
    """Return the names of the entries in a folder below ``root`` with their types as in `stat.S_IFMT`.

    No link on the way is followed. Raises as `OpenFolder.open_below` does.
    """
    return list(_entries(root, _parts(path)))


def _entries(root: str, parts: Sequence[str]) -> Iterator[tuple[str, int]]:
    if not _HAS_FOLDER_DESCRIPTORS:
        yield from folder_entries(_checked(root, [*parts, ""]))
        return
    folder = _open_folders(root, parts)
    try:
        yield from folder_entries(folder)
    finally:
        os.close(folder)


_TYPES = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def not_regular(mode: int) -> ReadError:
    """Return the error for an entry that is not a regular file; `mode` as in `os.stat_result`."""
    found = _TYPES.get(stat.S_IFMT(mode), "something else")
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
            mode = dict(folder_entries(folder)).get(name, stat.S_IFREG)
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


# --- Regular files: read whole into a reusable buffer, or once in pieces; SHA-256 digests ---


def head_of(root: str, path: str, folder: OpenFolder) -> bytes:
    """Return the first bytes of a regular file below `root`, none where it cannot be opened or read.

    ``folder`` is one that may be open already, and stays open.
    """
    try:
        with FileStream(root, path, sys.maxsize, folder=folder) as stream:
            return stream.read(HEAD_BYTES)
    except (ReadError, MachineTrouble, OSError):  # whoever reads the file tells
        return b""


class ReadBuffer:
    """A growing buffer that is reused for one file after another.

    Fresh memory has to be cleared and is in no cache. A worker keeps one buffer for predictions and another
    for references, since decoded images may be views.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._folder = OpenFolder()

    def read(
        self, root: str | os.PathLike[str], path: str, *, limit_bytes: int, may_be_empty: bool = False
    ) -> memoryview:
        """Return the bytes of a file, opened as by `FileStream`, read-only and valid until the next call.

        Raises `ReadError`, and `MachineTrouble`.
        """
        with FileStream(os.fspath(root), path, limit_bytes, None, may_be_empty, self._folder) as stream:
            if stream.size > len(self._buffer):
                # Views of the old buffer stay valid: it is replaced, not resized.
                self._buffer = bytearray(max(stream.size, len(self._buffer) * 3 // 2))
            view = memoryview(self._buffer)[: stream.size]
            filled = stream.readinto(view)
        if filled < len(view):
            raise ReadError(FaultKind.UNREADABLE, f"{len(view)} bytes", f"{filled} bytes")
        return view.toreadonly()

    def close(self) -> None:
        """Close the folder of the last file, which stays open for the next one."""
        self._folder.close()


_REASONS = {
    errno.ENOENT: "no such file",
    errno.ENOTDIR: "a file in place of a folder",
    errno.EACCES: "a file that may not be read",
    errno.ENAMETOOLONG: "a name that is too long",
}
_OTHER_REASON = "a file that cannot be read"


def unreadable(path: str, error: OSError, expected: str = "") -> ReadError | MachineTrouble:
    """Return the error for a file or folder that the system does not open or read."""
    if trouble := trouble_of(error, "read", path):
        return trouble
    kind = FaultKind.MISSING if error.errno == errno.ENOENT else FaultKind.UNREADABLE
    return ReadError(kind, expected or expected_format(path), _REASONS.get(error.errno or 0, _OTHER_REASON))


def expected_format(path: str) -> str:
    """Return the format that belongs to the file's extension, for example ``a PNG image``."""
    found = format_of_name(path)
    return found.name if found else "a file"


class FileStream:
    """A regular file below a folder, read in pieces; a context manager.

    ``path`` is relative to ``root``, with ``/`` between folders. Symbolic links below ``root`` are not
    followed, only regular files are read, and opening a pipe does not block. ``observe`` is called with all
    bytes in the order of reading, for example to compute a digest. ``folder`` is one that may be open
    already, and stays open.
    """

    def __init__(
        self,
        root: str,
        path: str,
        limit_bytes: int,
        observe: Callable[[memoryview], None] | None = None,
        may_be_empty: bool = False,
        folder: OpenFolder | None = None,
    ) -> None:
        """Open the file.

        Raises `ReadError` (forbidden, too large or unreadable; so is an empty file unless it may be empty),
        and `MachineTrouble`.
        """
        self._path, self._observe = path, observe
        own = OpenFolder() if folder is None else folder
        try:
            self._descriptor = own.open_below(root, path)
        except OSError as error:
            raise unreadable(path, error) from None
        finally:
            if folder is None:
                own.close()
        try:
            mode, self.size = file_status(self._descriptor)
            if not stat.S_ISREG(mode):
                raise not_regular(mode)
            if self.size > limit_bytes:
                raise ReadError(FaultKind.TOO_LARGE, f"at most {limit_bytes} bytes", f"{self.size} bytes")
            if self.size == 0 and not may_be_empty:
                raise ReadError(FaultKind.UNREADABLE, expected_format(path), "an empty file")
        except BaseException as error:
            os.close(self._descriptor)
            raise_trouble_of(error, "read", path)
            raise

    def __enter__(self) -> "FileStream":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def readinto(self, view: memoryview) -> int:
        """Fill a view with the next bytes of the file; return their number. Raises `ReadError`."""
        try:
            filled = read_into(self._descriptor, view)
        except OSError as error:
            raise unreadable(self._path, error) from None
        if self._observe is not None and filled:
            self._observe(view[:filled])
        return filled

    def read(self, count: int) -> bytes:
        """Return at most ``count`` bytes. Raises `ReadError`."""
        data = bytearray(count)
        return bytes(memoryview(data)[: self.readinto(memoryview(data))])

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> memoryview:
        """Return bytes from anywhere; reading goes on where it was. ``observe`` is not called."""
        start, stop, _ = part.indices(self.size)
        data = bytearray(max(stop - start, 0))
        try:
            place = os.lseek(self._descriptor, 0, os.SEEK_CUR)
            os.lseek(self._descriptor, start, os.SEEK_SET)
            filled = read_into(self._descriptor, memoryview(data))
            os.lseek(self._descriptor, place, os.SEEK_SET)
        except OSError as error:
            raise unreadable(self._path, error) from None
        return memoryview(data)[:filled].toreadonly()

    def drain(self) -> None:
        """Read the rest of the file, so that ``observe`` gets all of it."""
        while self.read(_PIECE):
            pass


def sha256_of(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 digest as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: Path) -> str:
    """Return the digest of a file, read in pieces. Raises `MachineTrouble` and `OSError`."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise_trouble_of(error, "read", path)
        raise


def digest_below(root: str, path: str) -> str:
    """Return the digest of a file below a folder, opened as `FileStream` opens it. Raises `ReadError`."""
    digest = hashlib.sha256()
    with FileStream(root, path, sys.maxsize, digest.update) as stream:
        stream.drain()
    return digest.hexdigest()


# --- Lists the files of an untrusted folder ---

MAX_ENTRIES = 100_000
MAX_FOLDER_DEPTH = 8

_IGNORED_NAMES = frozenset({"__MACOSX", ".DS_Store", "desktop.ini", "Thumbs.db"})


_MAX_NAME_BYTES = 255


def normal_path(path: str) -> str:
    """Return a path without empty parts and dots, so that `./a/b` and `a//b` are `a/b`; roots stay."""
    root = "/" if path.startswith("/") else ""
    return root + "/".join(part for part in path.split("/") if part not in ("", "."))


def fault_of_path(path: str) -> Fault | None:
    """Return the fault of a stranger's path by its name alone, before anything is made or opened there.

    It leads out of its folder, lies deeper than `list_files` looks, or has a name that no system stores.
    """
    parts = path.split("/")
    if "\0" in path or not _NO_NAMES.isdisjoint(parts):
        return Fault(FaultKind.FORBIDDEN, path, "a path inside the archive", "one that leads out of it")
    if len(parts) - 1 > MAX_FOLDER_DEPTH:
        expected = f"at most {MAX_FOLDER_DEPTH} levels of folders"
        return Fault(FaultKind.TOO_LARGE, path, expected, str(len(parts) - 1))
    longest = max(len(part.encode("utf-8", "surrogateescape")) for part in parts)
    if longest > _MAX_NAME_BYTES:
        expected = f"names of at most {_MAX_NAME_BYTES} bytes"
        return Fault(FaultKind.TOO_LARGE, path, expected, f"{longest} bytes")
    return None


@dataclass(frozen=True, slots=True)
class Listing:
    """The regular files below a folder, as sorted relative paths with ``/`` between folders."""

    root: str
    files: tuple[str, ...]
    faults: tuple[Fault, ...] = ()


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
            except (OSError, ReadError) as error:
                raise_trouble_of(error, "list", folder or ".")
                found = "one that cannot be listed"
                faults.append(Fault(FaultKind.UNREADABLE, folder or ".", "a readable folder", found))
                continue
            remaining -= len(entries)
            inner = []
            for name, mode in entries:
                path = f"{folder}/{name}" if folder else name
                if stat.S_ISREG(mode):
                    files.append(path)
                elif stat.S_ISDIR(mode):
                    inner.append(path)
                else:
                    faults.append(not_regular(mode).fault(path))
            if inner and inner[0].count("/") >= MAX_FOLDER_DEPTH:
                expected = f"at most {MAX_FOLDER_DEPTH} levels of folders"
                raise FormFault(Fault(FaultKind.TOO_LARGE, inner[0], expected, "more"))
            folders.extend(reversed(inner))
    except FormFault as fault:
        return Listing(resolved, (), fault.faults)
    return Listing(resolved, tuple(sorted(files)), tuple(sorted(faults, key=lambda fault: fault.file)))


def list_folder(root: str, path: str) -> list[str]:
    """Return the sorted names of the regular files in one folder below ``root``; links are not followed.

    Files that operating systems create are skipped. Raises `ReadError` (missing, forbidden, unreadable or too
    large), also for an entry that is not a regular file.
    """
    try:
        entries = {name: mode for name, mode in list_below(root, path) if not _ignored(name)}
    except OSError as error:
        raise unreadable(path, error, "a folder") from None
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


def _scan(root: str, folder: str, remaining: int) -> list[tuple[str, int]]:
    """Return the names and types of a folder's entries, sorted; stops as soon as there are too many."""
    entries: list[tuple[str, int]] = []
    for name, mode in _entries(root, folder.split("/") if folder else []):
        if _ignored(name):
            continue
        if len(entries) == remaining:
            expected = f"at most {MAX_ENTRIES} files and folders"
            raise FormFault(Fault(FaultKind.TOO_LARGE, ".", expected, "more"))
        entries.append((name, mode))
    return sorted(entries)


def _ignored(name: str) -> bool:
    return name in _IGNORED_NAMES or name.startswith("._")
