"""The submissions in a folder: sub-folders, zips and tables as the platform hands them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from evaluation.core.fault import PhaseError
from evaluation.rescoring.addresses import Entry, entries_of

_FILES = (".zip", ".csv")


@dataclass(frozen=True)
class Submission:
    """A submission and its location; ``name`` is the team's, or "team/submission" for one of several."""

    name: str
    location: str


@dataclass(frozen=True)
class Found:
    """The submissions in a folder, sorted by name, and the names of other entries."""

    submissions: tuple[Submission, ...]
    others: tuple[str, ...]


def find_submissions(folder: str) -> Found:
    """Return the submissions in a folder, a path or an address.

    FOLDER/<team>/               one submission, unpacked
    FOLDER/<team>.zip, .csv      one submission, as it was uploaded
    FOLDER/<team>/<name>.zip     several of one team, in a folder that holds nothing but zips

    Hidden entries are left out. Raises `PhaseError` for repeated names and for a folder without any, and
    `OSError`.
    """
    found: list[Submission] = []
    others: list[str] = []
    for entry in entries_of(folder):
        if entry.is_folder:
            found += _of_team(entry)
        elif entry.is_file and _is_upload(entry):
            found.append(Submission(_stem(entry), entry.location))
        else:
            others.append(entry.name)
    if not found:
        ignored = f"; it holds {', '.join(others)}" if others else ""
        raise PhaseError(f"{folder}: expected a folder or a zip for each team, found none{ignored}")
    if problems := _duplicates(found):
        raise PhaseError(*problems)
    return Found(tuple(sorted(found, key=lambda submission: submission.name)), tuple(others))


def shard_of(submissions: Sequence[Submission], number: int, shards: int) -> tuple[Submission, ...]:
    """Return one of several shares of the submissions; ``number`` counts from 1."""
    return tuple(submissions[number - 1 :: shards])


def _of_team(team: Entry) -> list[Submission]:
    inner = entries_of(team.location)
    if inner and all(entry.is_file and entry.name.casefold().endswith(".zip") for entry in inner):
        return [Submission(f"{team.name}/{_stem(entry)}", entry.location) for entry in inner]
    return [Submission(team.name, team.location)]


def _is_upload(entry: Entry) -> bool:
    return entry.name.casefold().endswith(_FILES)


def _stem(entry: Entry) -> str:
    return PurePosixPath(entry.name).stem


def _duplicates(found: Sequence[Submission]) -> list[str]:
    places: dict[str, list[str]] = {}
    for submission in found:
        places.setdefault(submission.name, []).append(submission.location)
    return [
        f"{name}: expected one submission of this name, found {', '.join(locations)}"
        for name, locations in places.items()
        if len(locations) > 1
    ]
