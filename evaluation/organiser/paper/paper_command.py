"""`paper`: the manuscript of a challenge with its archive and data sheet."""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from evaluation.cli.common import WORKERS, progress_bar, say
from evaluation.core.fault import PhaseError
from evaluation.io.files import sha256_of, sha256_of_file
from evaluation.organiser.output import whole_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add(
        "phases",
        nargs="*",
        metavar="PHASE",
        help="a phase folder, or the name of one below ground-truth/; sealed, as it was scored",
    )
    add(
        "--results",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="the folder that `rank --output` wrote, or results of `evaluate --each`; repeatable: "
        "then the results of the teams, and the reports of `fuse` and `ensemble`",
    )
    add(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="where to write; a later run reads paper.toml there and writes all else again",
    )
    WORKERS.add_to(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the paper. Raises `PhaseError`."""
    if not (arguments.phases and arguments.results and arguments.output):
        raise PhaseError("expected PHASE, --results FOLDER and --output FOLDER")
    from evaluation.organiser.paper.document import Document, archive_of, drafts
    from evaluation.organiser.paper.facts import read_study
    from evaluation.organiser.paper.questions import ANSWERS, read_answers
    from evaluation.phase.named import named_phase
    from evaluation.platform import machine

    answers = read_answers(arguments.output / ANSWERS)
    phases = [named_phase(name) for name in arguments.phases]
    workers = machine.worker_count(arguments.workers)
    study = read_study(phases, arguments.results, answers, workers)
    document = Document(study)
    with progress_bar("tables and figures", len(document.exhibits)) as progress:
        files = dict(document.files(progress))
    files |= {f"archive/{name}": data for name, data in archive_of(document).items()}
    renew_folder(arguments.output, files, ANSWERS, document.questions())
    closed = sum(not one.is_open for one in document.items)
    lines = [str(arguments.output), f"{closed} of {len(document.items)} items of BIAS are answered: bias.md"]
    if asked := drafts(document.study):
        lines.append(f"the archive's metadata are a draft: {ANSWERS} lacks {', '.join(asked)}")
    say(*lines)
    return 0


# --- The folder of a paper: written again as a whole, but for the answers of people and what they changed ---

_WRITTEN = "written.json"
"""The file in a renewed folder that lists the digests of all others."""


def renew_folder(folder: Path, files: Mapping[str, bytes], kept: str, first: bytes) -> None:
    """Write files into a folder, in place of those that an earlier run wrote; all of them or none.

    ``kept`` is a file of people: ``first`` is its content where there is none yet, and it is never changed.
    Raises `PhaseError` listing the other files that no run wrote or that were changed since.
    """
    if folder.exists() and (problems := list(_changed(folder, kept))):
        raise PhaseError(*problems)
    own = folder / kept
    digests = {name: sha256_of(data) for name, data in files.items()}
    listed = (json.dumps(digests, indent=1) + "\n").encode("ascii")
    everything = {**files, kept: own.read_bytes() if own.exists() else first, _WRITTEN: listed}
    with whole_folder(folder, renewed=True) as temporary:
        for name, data in everything.items():
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            (temporary / name).write_bytes(data)


def _changed(folder: Path, kept: str) -> Iterator[str]:
    if not folder.is_dir():
        yield f"{folder}: expected a folder, found a file"
        return
    listed = folder / _WRITTEN
    digests = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path != listed):
        name = path.relative_to(folder).as_posix()
        if name != kept and digests.get(name) != sha256_of_file(path):
            what = (
                "was changed since it was written" if name in digests else "was not written by this command"
            )
            yield f"{path}: {what}; move it to another folder"
