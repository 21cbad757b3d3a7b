"""`new`: a new repository for an organiser, with a phase, a sample and the files for its image."""

import argparse
from pathlib import Path

from evaluation.cli.common import say, tell
from evaluation.core.fault import PhaseError
from evaluation.organiser.starter.forge import write_from_kits
from evaluation.organiser.starter.repository import KINDS, write_repository


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("folder", type=Path, metavar="FOLDER", help="a new or empty folder")
    add = parser.add_mutually_exclusive_group(required=True).add_argument
    add("--like", choices=KINDS, metavar="KIND", help=f"what the challenge is like: {', '.join(KINDS)}")
    add(
        "--from",
        dest="kits",
        type=Path,
        nargs="+",
        metavar="STARTER_KIT",
        help="the zip archives that the platform gives for its phases, or their predictions.json: "
        "one folder for each phase, with its sockets",
    )
    add = parser.add_argument
    add(
        "--algorithm",
        action="store_true",
        help="with --like: participants submit algorithms; the sample is the platform's list of jobs",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the repository and print the next steps."""
    if arguments.kits is not None and arguments.algorithm:
        raise PhaseError("--algorithm: expected with --like, since a kit has its own interfaces")
    if arguments.kits is not None:
        written = write_from_kits(arguments.folder, *arguments.kits)
        tell([*written.notes, *written.left_out])
        say(*written.folders)
        return 1 if written.left_out else 0

    write_repository(arguments.folder, arguments.like, arguments.algorithm)
    steps = (arguments.folder / "README.md").read_text(encoding="utf-8").partition("```sh\n")[2]
    told = "a phase with synthetic labels, a submission to it, and README.md, which begins with"
    first = steps.partition("```")[0].splitlines()
    say(f"{arguments.folder}: {told}", "", f"cd {arguments.folder}", *first)
    return 0
