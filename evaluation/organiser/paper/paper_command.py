"""`paper`: the manuscript of a challenge with its archive and data sheets, and the check of an archive."""

import argparse
from pathlib import Path

from evaluation.cli.common import add_workers, progress_bar, say, tell
from evaluation.core.fault import PhaseError
from evaluation.organiser.cli.shared import add_features


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
    add(
        "--verify",
        type=Path,
        metavar="ARCHIVE",
        help="recompute the tables of a published archive (a folder or a zip file), and compare",
    )
    add_features(parser)
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the paper or verify an archive; return 1 if it differs. Raises `PhaseError`."""
    if arguments.verify is not None:
        return _verify(arguments)
    if not (arguments.phases and arguments.results and arguments.output):
        raise PhaseError("expected PHASE, --results FOLDER and --output FOLDER, or --verify ARCHIVE")
    from evaluation.organiser.paper.archive import archive_of, drafts
    from evaluation.organiser.paper.document import Document
    from evaluation.organiser.paper.facts import read_study
    from evaluation.organiser.paper.folder import renew_folder
    from evaluation.organiser.paper.questions import ANSWERS, read_answers
    from evaluation.phase.named import named_phase
    from evaluation.platform import machine

    answers = read_answers(arguments.output / ANSWERS)
    phases = [named_phase(name) for name in arguments.phases]
    workers = machine.worker_count(arguments.workers)
    study = read_study(phases, arguments.results, answers, workers, arguments.features)
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


def _verify(arguments: argparse.Namespace) -> int:
    from evaluation.organiser.paper.archive import verify

    if arguments.phases or arguments.results or arguments.output:
        raise PhaseError("--verify: expected no other argument")
    faults = verify(arguments.verify)
    tell(faults, f"{arguments.verify}: is not as it was published" if faults else "")
    if not faults:
        say(f"{arguments.verify}: all tables follow from the results")
    return 1 if faults else 0
