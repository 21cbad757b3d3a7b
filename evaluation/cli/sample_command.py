"""`sample`: synthetic phases and submissions of known quality."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType

from evaluation.cli.progress import progress_bar
from evaluation.phase.registry import known_challenges

_MODULE = "evaluation.challenges.{}.sample"


def _generator(challenge: str) -> ModuleType | None:
    """Return what writes the samples of a challenge, None where it has none."""
    try:
        return importlib.import_module(_MODULE.format(challenge))
    except ModuleNotFoundError as error:
        if error.name is None or not _MODULE.format(challenge).startswith(error.name):
            raise
        return None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments, those of every challenge under its name."""
    challenges = parser.add_subparsers(dest="challenge", required=True, metavar="CHALLENGE")
    for name in known_challenges():
        if (module := _generator(name)) is not None:
            of_challenge = challenges.add_parser(
                name, help=f"sample of {name}", formatter_class=argparse.ArgumentDefaultsHelpFormatter
            )
            of_challenge.add_argument(
                "--output", type=Path, required=True, metavar="FOLDER", help="where to write"
            )
            of_challenge.add_argument("--name", default=f"{name}-sample", help="name of the phase")
            of_challenge.add_argument("--seed", type=int, default=0, help="of all random choices")
            module.add_arguments(of_challenge)


def run(arguments: argparse.Namespace) -> int:
    """Write the sample and print its folders; return 1 where an argument is out of range."""
    module = importlib.import_module(_MODULE.format(arguments.challenge))
    try:
        with progress_bar("cases", arguments.cases) as progress:
            folders = module.write(arguments, progress)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write("".join(f"{folder}\n" for folder in folders))
    return 0
