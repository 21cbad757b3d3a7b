"""Hints on likely mistakes of participants, derived from the names of the submitted files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from evaluation.core.fault import printable
from evaluation.core.field import Files, TableColumns, TableRows

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".7z", ".rar")
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_TABLES = (".csv", ".txt", ".tsv")
_LOSSY = (".jpg", ".jpeg", ".webp")
_ALIKE = 0.75
# Comparing takes microseconds per name, and a submission may have 100,000 files.
_MAX_COMPARED = 1000


def hint_of_image(name: str) -> str | None:
    """Return a hint on a file whose name matches no image of the phase."""
    if name.casefold().endswith(_LOSSY):
        return "lossy compression changes the values of a mask: save it in one of the formats named"
    return None


def hint_of_absence(layout: Files | TableColumns | TableRows, files: Sequence[str]) -> str | None:
    """Return a hint on what was submitted instead of a missing folder or table, None without a likely one.

    ``files`` are the paths of all submitted files.
    """
    archives = [path for path in files if path.casefold().endswith(_ARCHIVES)]
    if archives:
        return f"{printable(archives[0])} is an archive in the archive: upload what it holds"
    if isinstance(layout, Files):
        folders = {str(PurePosixPath(path).parent) for path in files} - {"."}
        alike = _alike(layout.folder, folders)
        return alike and f"is {printable(alike)}/ meant for it? Rename it"
    wanted = PurePosixPath(layout.files[0])
    spreadsheets = {
        PurePosixPath(path).stem: path for path in files if path.casefold().endswith(_SPREADSHEETS)
    }
    if stem := _alike(wanted.stem, spreadsheets):
        return f"{printable(spreadsheets[stem])} is a spreadsheet: save it as csv"
    alike = _alike(str(wanted), [path for path in files if path.casefold().endswith(_TABLES)])
    return alike and f"is {printable(alike)} meant for it? Rename it"


def _alike(wanted: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to the wanted one, ignoring case; None if none is similar."""
    from difflib import get_close_matches

    by_key = {name.casefold(): name for name in sorted(set(names))[:_MAX_COMPARED]}
    found = get_close_matches(wanted.casefold(), by_key, n=1, cutoff=_ALIKE)
    return by_key[found[0]] if found else None
