"""`manifest.json`: the seal of a phase folder. An altered reference is never used for scoring."""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evaluation.core.fault import PhaseError
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.files import sha256_of, sha256_of_file, write_atomically
from evaluation.phase import cases, config, leaderboard

FILE_NAME = "manifest.json"
NONCE = ".nonce"
_NONCE_DIGITS = 32
_OF_WINDOWS = ("thumbs.db", "desktop.ini")
_TABLES = (config.FILE_NAME, cases.FILE_NAME, leaderboard.FILE_NAME)


def _is_read_first(path: str) -> bool:
    """Return whether a file is a table, or code of the organiser's beside it."""
    return path in _TABLES or ("/" not in path and path.endswith(".py"))


class SealedFile(NamedTuple):
    """Size in bytes and SHA-256 of a file of the phase."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The sealed files by path, and the digest of the manifest itself.

    The manifest holds a random nonce, so that its published digest cannot be used to test guessed labels.
    """

    files: Mapping[str, SealedFile]
    digest: str


def scan(folder: Path) -> Manifest:
    """Return the manifest of a phase folder as it is now, with an empty digest; nothing is written."""
    return Manifest(
        {path: SealedFile(size, sha256_of_file(folder / path)) for path, size in list_phase(folder).items()},
        digest="",
    )


def seal(folder: Path, scanned: Manifest) -> Manifest:
    """Write the manifest of a scanned phase folder and return it; a manifest that still matches is kept."""
    try:
        if (kept := read_manifest(folder)).files == scanned.files:
            return kept
    except PhaseError:
        pass  # no manifest yet, or an unreadable one
    content = {
        "nonce": _nonce(folder),
        "files": {path: {"size": file.size, "sha256": file.sha256} for path, file in scanned.files.items()},
    }
    write_atomically(folder / FILE_NAME, (json.dumps(content, indent=1) + "\n").encode("ascii"))
    return read_manifest(folder)


def _nonce(folder: Path) -> str:
    """Return the random number of a seal: the one in the file, for equal seals, or a new one."""
    try:
        kept = (folder / NONCE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return secrets.token_hex(_NONCE_DIGITS // 2)
    except (OSError, ValueError) as error:
        raise_trouble_of(error, "read", folder / NONCE)
        raise PhaseError(f"{NONCE}: cannot be read ({type(error).__name__})") from None
    if len(kept) != _NONCE_DIGITS or not set(kept) <= set("0123456789abcdef"):
        found = f"found {len(kept)} characters"
        raise PhaseError(f"{NONCE}: expected {_NONCE_DIGITS} hexadecimal digits, {found}")
    return kept


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a phase folder. Raises `PhaseError` if it is missing or damaged."""
    try:
        data = (folder / FILE_NAME).read_bytes()
        content = json.loads(data)
        if len(content["nonce"]) < _NONCE_DIGITS:
            raise ValueError("without a nonce, the digest of a manifest could be used to test guessed labels")
        files = {
            path: SealedFile(int(entry["size"]), str(entry["sha256"]))
            for path, entry in content["files"].items()
        }
    except FileNotFoundError:
        remedy = f"seal the phase first: python -m evaluation seal {folder}"
        raise PhaseError(f"{FILE_NAME}: not found in {folder}; {remedy}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise_trouble_of(error, "read", folder / FILE_NAME)
        name = type(error).__name__
        raise PhaseError(f"{FILE_NAME}: cannot be read ({name}); seal the phase again") from None
    return Manifest(files, sha256_of(data))


def verify(folder: Path, manifest: Manifest) -> None:
    """Compare a phase folder with its manifest: names and sizes of all files, digests of tables and code.

    The digests of reference files are compared when these are read. Raises `PhaseError` listing every
    difference.
    """
    listed = list_phase(folder)
    problems = [f"{path}: is not in the manifest" for path in listed if path not in manifest.files]
    for path, sealed in manifest.files.items():
        if path not in listed:
            problems.append(f"{path}: is missing, but is in the manifest")
        elif listed[path] != sealed.size:
            problems.append(f"{path}: expected {sealed.size} bytes as sealed, found {listed[path]}")
        elif _is_read_first(path) and not _is_sealed(folder, path, manifest):
            problems.append(f"{path}: differs from the sealed file")
    PhaseError.raise_all(problems)


def has_sealed_tables(folder: Path, manifest: Manifest) -> bool:
    """Return whether tables, configuration and code of a phase folder match its seal."""
    return all(
        _is_sealed(folder, path, manifest) if path in manifest.files else not (folder / path).exists()
        for path in {*_TABLES, *filter(_is_read_first, manifest.files)}
    )


def _is_sealed(folder: Path, path: str, manifest: Manifest) -> bool:
    try:
        return sha256_of((folder / path).read_bytes()) == manifest.files[path].sha256
    except OSError as error:
        raise_trouble_of(error, "read", folder / path)
        return False


def list_phase(folder: Path) -> dict[str, int]:
    """Return the size of every file of a phase folder by its path, sorted.

    The manifest, hidden files and those that Windows leaves in folders are left out.
    """
    sizes: dict[str, int] = {}
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(folder / prefix) as entries:
                for entry in entries:
                    path = prefix + entry.name
                    if entry.name.startswith(".") or entry.name.casefold() in _OF_WINDOWS:
                        continue
                    if entry.is_dir():
                        pending.append(path + "/")
                    elif path != FILE_NAME:
                        sizes[path] = entry.stat().st_size
        except OSError as error:
            raise_trouble_of(error, "list", folder / prefix)
            raise PhaseError(f"{folder / prefix}: cannot be listed ({error.strerror})") from None
    return dict(sorted(sizes.items()))
