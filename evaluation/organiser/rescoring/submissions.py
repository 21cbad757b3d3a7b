"""The submissions in a folder or at an address: fetched, listed, and their digests."""

import hashlib
import os
import posixpath
import stat
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from evaluation.core.fault import PhaseError, printable
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.files import MAX_ENTRIES, fault_of_path, sha256_of_file
from evaluation.organiser.platform_export import has_rows, key_of, read_rows, submission_of
from evaluation.platform.submission import MAX_SUBMISSION_BYTES

# --- Folders and files by path or by address (`s3://…`, `file://…`); fsspec provides the file systems ---

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
        found = []
        for entry in system.ls(root, detail=True):
            if (place := entry["name"].rstrip("/")) != root:
                name, location = posixpath.basename(place), system.unstrip_protocol(place)
                found.append(Entry(name, location, entry["type"] == "directory", entry["type"] == "file"))
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
    places = {path: path.removeprefix(root).strip("/") for path in files}
    for path, place in places.items():
        is_below = path.startswith(f"{root}/") and all(part.strip(".") for part in place.split("/"))
        if not is_below or "\\" in path:
            raise PhaseError(f"{location}: expected files below it, found {path}")
        if fault := fault_of_path(place):
            raise PhaseError(f"{location}: {fault}")
    target.mkdir()
    for path, place in places.items():
        copy = target / place
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


# --- The submissions in a folder: sub-folders, zips and tables as the platform hands them out ---


def find_submissions(folder: str, own: Collection[str] = ()) -> tuple[dict[str, str], list[str]]:
    """Return the locations of the submissions in a folder, sorted by name, and the names of other entries.

    The folder is a path or an address. A name is the team's, or "team/submission" for one of several.

    FOLDER/<team>/                        one submission, unpacked
    FOLDER/<team>.zip, .csv               one submission, as it was uploaded
    FOLDER/<team>/<name>/, <name>.zip     several of one team, in a folder that holds nothing but these
    FOLDER/evaluations.json, .csv         the platform's export, which names the zips beside it

    ``own`` are the folders of a submission to the phase: a folder with one of them is one submission.
    Hidden entries are left out. Raises `PhaseError` for repeated names and for a folder without any, and
    `OSError`.
    """
    found: list[tuple[str, str]] = []
    others: list[str] = []
    entries = entries_of(folder)
    place = local_path(folder)
    files = [entry.name for entry in entries if entry.is_file]
    exports, names = ([], {}) if place is None else _exported_names(place, files)
    for entry in entries:
        if entry.is_folder:
            found += _of_team(entry, own)
        elif entry.name in exports:
            continue
        elif entry.is_file and entry.name.casefold().endswith((".zip", ".csv")):
            found.append((names.get(entry.name, _stem(entry)), entry.location))
        else:
            others.append(entry.name)
    if not found:
        ignored = f"; it holds {', '.join(map(printable, others))}" if others else ""
        raise PhaseError(f"{folder}: expected a folder or a zip for each team, found none{ignored}")
    locations: dict[str, list[str]] = {}
    for name, location in found:
        locations.setdefault(name, []).append(location)
    problems = [
        f"{printable(name)}: expected one submission of this name, found {', '.join(map(printable, given))}"
        for name, given in locations.items()
        if len(given) > 1
    ]
    PhaseError.raise_all(problems)
    return dict(sorted(found)), others


def _of_team(team: Entry, own: Collection[str]) -> list[tuple[str, str]]:
    inner = [entry for entry in entries_of(team.location) if entry.name != "__MACOSX"]
    if inner and all(
        entry.name not in own if entry.is_folder else entry.name.casefold().endswith(".zip")
        for entry in inner
    ):
        return [
            (f"{team.name}/{entry.name if entry.is_folder else _stem(entry)}", entry.location)
            for entry in inner
        ]
    return [(team.name, team.location)]


def _stem(entry: Entry) -> str:
    return PurePosixPath(entry.name).stem


def _exported_names(folder: Path, files: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the exported evaluations in a folder, and the name "team/submission" of each file beside them.

    A zip that was uploaded keeps its name on the platform, such as `predictions.zip`, which is no team's. The
    export has the creator of each submission and the address of its file.

    A file belongs to the submission whose key is its name, else to the one whose uploaded file is called like
    it. Teams are the creators; their submissions are numbered in the order of their times, and named as
    `rank` does. Raises `PhaseError` with every file that may be that of several submissions.
    """
    exports = [name for name in files if _is_export(folder / name)]
    if not exports:
        return [], {}
    rows = read_rows([folder / name for name in exports], ("submission",))
    submissions = {submission_of(one): one.values["submission"].get("predictions_file") for one in rows}
    numbers: dict[str, int] = defaultdict(int)
    by_name: dict[str, list[str]] = defaultdict(list)
    for one, file in sorted(submissions.items(), key=lambda item: item[0].created):
        numbers[one.team] += 1
        name = f"{one.team}/{one.name(numbers[one.team])}"
        by_name[one.key.casefold()].append(name)
        if file:
            by_name[PurePosixPath(unquote(urlsplit(str(file)).path)).name.casefold()].append(name)
    by_file: dict[str, str] = {}
    problems: list[str] = []
    for file in files:
        stem = key_of(PurePosixPath(file).stem).casefold()
        names = by_name.get(stem) or by_name.get(file.casefold(), [])
        if len(names) > 1:
            expected = "expected a file of one submission, found its name"
            remedy = "call it after the key (pk) of its submission"
            problems.append(f"{file}: {expected} in {len(names)} ({', '.join(names)}): {remedy}")
        elif names and file not in exports:
            by_file[file] = names[0]
    PhaseError.raise_all(problems)
    return exports, by_file


def _is_export(path: Path) -> bool:
    if path.suffix.casefold() == ".csv":
        return has_rows(path, "submission", "outputs")
    if path.suffix.casefold() != ".json":
        return False
    with path.open("rb") as file:
        head = file.read(1 << 16)
    return b'"submission"' in head and b'"outputs"' in head


# --- The digest of a submission: of a file's bytes, or of a folder's content ---


def submission_digest(submission: Path) -> str:
    """Return the SHA-256 of a file, or of the names, kinds and contents of everything in a folder.

    Links are not followed and devices not opened; a file that cannot be read counts with its error. Raises
    `OSError` where the submission itself cannot be read.
    """
    if not submission.is_dir():
        return sha256_of_file(submission)
    digest = hashlib.sha256()
    for line in sorted(_lines(submission)):
        digest.update(line.encode("utf-8", "surrogateescape") + b"\0")
    return digest.hexdigest()


def _lines(root: Path) -> Iterator[str]:
    """Yield a line for each entry below a folder, however deep."""
    left = os.listdir(root)  # noqa: PTH208 - names alone
    while left:
        path = left.pop()
        here = root / path
        try:
            mode = here.lstat().st_mode
            if stat.S_ISDIR(mode):
                yield f"{path}/"
                left += [f"{path}/{name}" for name in os.listdir(here)]  # noqa: PTH208
            elif stat.S_ISREG(mode):
                yield f"{path} {sha256_of_file(here)}"
            elif stat.S_ISLNK(mode):
                yield f"{path} -> {os.readlink(here)}"  # noqa: PTH115
            else:
                yield f"{path} {stat.S_IFMT(mode)}"
        except OSError as error:
            raise_trouble_of(error, "read", here)
            yield f"{path} error {error.errno}"
