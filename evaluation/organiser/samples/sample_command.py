"""`sample`: synthetic phases and submissions of known quality."""

import argparse
import importlib.util
from pathlib import Path

from evaluation.cli.common import add_all, progress_bar, say
from evaluation.core.fault import PhaseError
from evaluation.phase.registry import known_challenges

_MODULE = "evaluation.organiser.samples.{}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments, for every challenge under its name."""
    challenges = parser.add_subparsers(dest="challenge", required=True, metavar="CHALLENGE")
    for name in known_challenges():
        if importlib.util.find_spec(_MODULE.format(name)) is not None:
            module = importlib.import_module(_MODULE.format(name))
            layout = argparse.ArgumentDefaultsHelpFormatter
            added = challenges.add_parser(name, help=f"sample of {name}", formatter_class=layout)
            add, none = added.add_argument, argparse.SUPPRESS
            add("--output", type=Path, required=True, default=none, metavar="FOLDER", help="where to write")
            add("--name", default=f"{name}-sample", help="name of the phase")
            add("--seed", type=int, default=0, help="of all random choices")
            add_all(module.ARGUMENTS, added)


def run(arguments: argparse.Namespace) -> int:
    """Write the sample and print its folders. Raises `PhaseError` if an argument is out of range."""
    module = importlib.import_module(_MODULE.format(arguments.challenge))
    try:
        with progress_bar("cases", arguments.cases) as progress:
            folders = module.write(arguments, progress)
    except ValueError as error:
        raise PhaseError(str(error)) from None
    say(*folders)
    return 0
