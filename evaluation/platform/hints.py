"""Hints on likely mistakes of participants, derived from the names of the submitted files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from evaluation.core.fault import printable
from evaluation.core.field import Files, TableColumns, TableRows
from evaluation.core.similar import most_similar

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".7z", ".rar")
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_TABLES = (".csv", ".txt", ".tsv")
_LOSSY = (".jpg", ".jpeg", ".webp")


def hint_of_image(name: str) -> str | None:
    """Return a hint on a file whose name matches no image of the phase."""
    if name.casefold().endswith(_LOSSY):
        return "lossy compression changes the values of a mask: save it in one of the formats named"
    return None


def hint_of_absence(layout: Files | TableColumns | TableRows, files: Sequence[str]) -> str | None:
    """Return a hint on files submitted in place of a missing folder or table, None without a likely mistake.

    ``files`` are the paths of all submitted files.
    """
    archives = [path for path in files if path.casefold().endswith(_ARCHIVES)]
    if archives:
        return f"{printable(archives[0])} is an archive in the archive: upload what it holds"
    if isinstance(layout, Files):
        folders = {str(PurePosixPath(path).parent) for path in files} - {"."}
        alike = most_similar(layout.folder, folders)
        return alike and f"is {printable(alike)}/ meant for it? Rename it"
    wanted = PurePosixPath(layout.files[0])
    spreadsheets = {
        PurePosixPath(path).stem: path for path in files if path.casefold().endswith(_SPREADSHEETS)
    }
    if stem := most_similar(wanted.stem, spreadsheets):
        return f"{printable(spreadsheets[stem])} is a spreadsheet: save it as csv"
    alike = most_similar(str(wanted), [path for path in files if path.casefold().endswith(_TABLES)])
    return alike and f"is {printable(alike)} meant for it? Rename it"
