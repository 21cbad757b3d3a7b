"""Folders and files by path or by address (`s3://…`, `file://…`); fsspec provides the file systems."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from evaluation.core.fault import PhaseError
from evaluation.io.listing import MAX_ENTRIES
from evaluation.platform.unpack import MAX_SUBMISSION_BYTES

_LOCAL = ("file", "local")


@dataclass(frozen=True)
class Entry:
    """A file or folder in a folder: its name, and its path or address."""

    name: str
    location: str
    is_folder: bool
    is_file: bool


def is_address(location: str) -> bool:
    """Return whether a location is an address, and not a path of this machine."""
    return "://" in location


def local_path(location: str) -> Path | None:
    """Return the path of a location on this machine, None for one elsewhere."""
    if not is_address(location):
        return Path(location)
    parts = urlsplit(location)
    return Path(url2pathname(parts.netloc + parts.path)) if parts.scheme in _LOCAL else None


def entries_of(folder: str) -> list[Entry]:
    """Return the entries of a folder, sorted by name, without hidden ones.

    Raises `OSError`, and `PhaseError` where fsspec or its file system is not installed.
    """
    path = local_path(folder)
    if path is not None:
        found = [Entry(inner.name, str(inner), inner.is_dir(), inner.is_file()) for inner in path.iterdir()]
    else:
        system, root = _open(folder)
        found = [
            Entry(
                posixpath.basename(entry["name"].rstrip("/")),
                system.unstrip_protocol(entry["name"].rstrip("/")),
                entry["type"] == "directory",
                entry["type"] == "file",
            )
            for entry in system.ls(root, detail=True)
            if entry["name"].rstrip("/") != root
        ]
    return sorted((entry for entry in found if not entry.name.startswith(".")), key=lambda entry: entry.name)


def fetch(location: str, folder: Path) -> Path:
    """Copy a file or a folder with its content from an address into a folder; return its path there.

    Raises `OSError`, and `PhaseError` for names that lead out of the folder, for more than 100,000 files or
    8 GiB, and where fsspec or its file system is not installed.
    """
    system, root = _open(location)
    target = folder / posixpath.basename(root)
    if system.isfile(root):
        _require(location, 1, system.size(root) or 0)
        system.get_file(root, str(target))
        return target
    files = system.find(root, detail=True)
    if not files and not system.isdir(root):
        raise FileNotFoundError(2, "no such file or folder", location)
    _require(location, len(files), sum(entry["size"] or 0 for entry in files.values()))
    target.mkdir()
    for path in files:
        parts = path.removeprefix(root).strip("/").split("/")
        if not path.startswith(f"{root}/") or not all(part.strip(".") for part in parts) or "\\" in path:
            raise PhaseError(f"{location}: expected files below it, found {path}")
        copy = target.joinpath(*parts)
        copy.parent.mkdir(parents=True, exist_ok=True)
        system.get_file(path, str(copy))
    return target


def _require(location: str, files: int, size_bytes: int) -> None:
    for what, count, limit in (("files", files, MAX_ENTRIES), ("bytes", size_bytes, MAX_SUBMISSION_BYTES)):
        if count > limit:
            raise PhaseError(f"{location}: expected at most {limit} {what}, found {count}")


def _open(location: str) -> tuple[Any, str]:
    """Return the file system of an address and the path there, without a slash at its end."""
    try:
        import fsspec

        system, root = fsspec.core.url_to_fs(location)
    except ImportError as error:
        raise PhaseError(
            f"{location}: {error}; an address needs this package with its extra 'cluster', and fsspec's "
            "package for its file system (s3fs for s3://)"
        ) from None
    except ValueError as error:
        raise PhaseError(f"{location}: {error}") from None
    return system, root.rstrip("/")
