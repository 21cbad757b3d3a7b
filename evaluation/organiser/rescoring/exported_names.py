"""Names of submissions from the evaluations that the platform exports, which lie beside the downloaded files.

A zip that was uploaded keeps its name on the platform, such as `predictions.zip`, which is no team's. The
export has the creator of each submission and the address of its file.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from evaluation.core.fault import PhaseError
from evaluation.organiser.platform_export import has_rows, key_of, read_rows, submission_of


@dataclass(frozen=True)
class ExportedNames:
    """The name "team/submission" of each file by its own name, and the names of the exports themselves."""

    by_file: Mapping[str, str]
    exports: Sequence[str]


def exported_names(folder: Path, files: Sequence[str]) -> ExportedNames:
    """Return the names of files in a folder from the exported evaluations that lie there, if any do.

    A file belongs to the submission whose key is its name, else to the one whose uploaded file is called like
    it. Teams are the creators; their submissions are numbered in the order of their times, and named as
    `rank` does. Raises `PhaseError` with every file that may be that of several submissions.
    """
    exports = [name for name in files if _is_export(folder / name)]
    if not exports:
        return ExportedNames({}, ())
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
    return ExportedNames(by_file, exports)


def _is_export(path: Path) -> bool:
    if path.suffix.casefold() == ".csv":
        return has_rows(path, "submission", "outputs")
    if path.suffix.casefold() != ".json":
        return False
    with path.open("rb") as file:
        head = file.read(1 << 16)
    return b'"submission"' in head and b'"outputs"' in head
