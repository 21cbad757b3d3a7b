"""What a participant probably did, told from the names of what was submitted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from evaluation.core.fault import printable
from evaluation.core.field import Files, TableColumns

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".7z", ".rar")
_SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
_TABLES = (".csv", ".txt", ".tsv")
_LOSSY = (".jpg", ".jpeg", ".webp")
_ALIKE = 0.75
# Comparing takes some microseconds a name, and a submission may hold a hundred thousand.
_MAX_COMPARED = 1000


def hint_of_image(name: str) -> str | None:
    """Return a hint on a file that is no image of the phase by its name."""
    if name.casefold().endswith(_LOSSY):
        return "lossy compression changes the values of a mask: save it in one of the formats named"
    return None


def hint_of_absence(layout: Files | TableColumns, files: Sequence[str]) -> str | None:
    """Return what stands in the place of a folder or table of which nothing was found.

    ``files`` are the paths of all that was submitted. None where nothing is alike.
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
    """Return the name most like the wanted one, in any letter case; None where none is alike."""
    from difflib import get_close_matches

    by_key = {name.casefold(): name for name in sorted(set(names))[:_MAX_COMPARED]}
    found = get_close_matches(wanted.casefold(), by_key, n=1, cutoff=_ALIKE)
    return by_key[found[0]] if found else None
