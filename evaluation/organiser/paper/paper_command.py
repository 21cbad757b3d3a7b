"""`paper`: the manuscript of a challenge with its archive and data sheet."""

import argparse
from pathlib import Path

from evaluation.cli.common import add_workers, progress_bar, say
from evaluation.core.fault import PhaseError


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
    add_workers(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the paper. Raises `PhaseError`."""
    if not (arguments.phases and arguments.results and arguments.output):
        raise PhaseError("expected PHASE, --results FOLDER and --output FOLDER")
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
