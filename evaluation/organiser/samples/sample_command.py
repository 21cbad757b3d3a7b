"""`sample`: synthetic phases and submissions of known quality."""

import argparse
import importlib.util
from pathlib import Path

from evaluation.cli.common import progress_bar, say
from evaluation.core.fault import PhaseError
from evaluation.phase.registry import known_challenges

_MODULE = "evaluation.organiser.samples.{}"


class _Layout(argparse.HelpFormatter):
    """Names the default of every option that has one; a flag has none, and a list of all choices is "all"."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        default = action.default
        if default is None or isinstance(default, bool) or default is argparse.SUPPRESS:
            return action.help
        shown = (
            f"{default:g}" if isinstance(default, float) else "all" if default == action.choices else default
        )
        return f"{action.help} (default: {shown})"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments, for every challenge under its name."""
    challenges = parser.add_subparsers(dest="challenge", required=True, metavar="CHALLENGE")
    for name in known_challenges():
        if importlib.util.find_spec(_MODULE.format(name)) is not None:
            module = importlib.import_module(_MODULE.format(name))
            added = challenges.add_parser(name, help=f"sample of {name}", formatter_class=_Layout)
            added.add_argument(
                "--output",
                type=Path,
                required=True,
                default=argparse.SUPPRESS,
                metavar="FOLDER",
                help="where to write",
            )
            added.add_argument("--name", default=f"{name}-sample", help="name of the phase")
            added.add_argument("--seed", type=int, default=0, help="of all random choices")
            module.add_arguments(added)


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
