"""The command line: finds the module of a command, parses its arguments and runs it."""

import argparse
import inspect
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Literal

from evaluation import __version__
from evaluation.cli.common import USE_THE_PACKAGE, Handler, is_of_organisers, status_of
from evaluation.core.entry_points import loaded, other_entries, own_entries, place_of
from evaluation.core.fault import most_similar
from evaluation.phase.named import BAKED, UPLOADED


@dataclass(frozen=True)
class Command:
    """A command: its place ("module" or "module:handler"), a summary in one line, an example, line by line.

    The example runs in any folder. ``consequence`` is the last line after an error, for commands that might
    have been done in part.
    """

    place: str
    summary: str
    example: tuple[str, ...]
    consequence: str = ""

    def is_in(self, package: Path) -> bool:
        """Return whether the folder of a package has the command."""
        module = self.place.partition(":")[0]
        return package.parent.joinpath(*module.split(".")).with_suffix(".py").is_file()


def _read_commands() -> tuple[dict[str, Command], dict[str, list[str]]]:
    """Read the table of commands; an example names lines that several examples share by their keys.

    Commands whose room was deleted are left out; those of organisers are known in an image, too.
    """
    package = Path(__file__).parents[1]
    table = tomllib.loads((package / "cli" / "commands.toml").read_text(encoding="utf-8"))
    shared = table["lines"]
    places = own_entries(_GROUP)
    commands = {
        name: Command(
            places[name], **entry | {"example": tuple(shared.get(line, line) for line in entry["example"])}
        )
        for name, entry in table["commands"].items()
    }
    if (package / "organiser").is_dir():
        commands = {name: one for name, one in commands.items() if one.is_in(package)}
    roles = {role: [name for name in names if name in commands] for role, names in table["roles"].items()}
    return commands, roles


_MODULE = "python -m evaluation"
_GROUP: Literal["evaluation.commands"] = "evaluation.commands"
COMMANDS, ROLES = _read_commands()
"""The commands, and by whom or what they are for their names in the order of their use."""

_HELP, _VERSION = ("-h", "--help", "help"), ("-V", "--version")


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status.

    Without arguments, run `evaluate` in a container, as the platform does; elsewhere print the commands.
    """
    if not arguments:
        arguments = ["evaluate" if BAKED.parent.is_dir() or UPLOADED.is_dir() else "--help"]
    if arguments[0] == "help" and arguments[1:2] and arguments[1] in COMMANDS:
        arguments = [arguments[1], "--help"]
    name = arguments[0]
    consequence = COMMANDS[name].consequence if name in COMMANDS else ""
    return status_of(partial(_run, name, arguments[1:]), consequence)


def _program() -> str:
    """Return how this program was called."""
    return "evaluation" if Path(sys.argv[0]).stem == "evaluation" else _MODULE


class _Layout(argparse.RawDescriptionHelpFormatter):
    """Help whose words, such as names of choices, are not broken at their hyphens."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        import textwrap

        return textwrap.wrap(text, width, break_on_hyphens=False)


def parser_of(name: str, module: ModuleType | Handler) -> argparse.ArgumentParser:
    """Return the parser of a command: with the arguments that its module or handler declares."""
    command = COMMANDS.get(name) or Command("", _summary_of(module), ())
    parser = argparse.ArgumentParser(
        prog=f"{_program()} {name}",
        description=command.summary,
        epilog="\n  ".join(["example:", *command.example]).replace(_MODULE, _program())
        if command.example
        else None,
        formatter_class=_Layout,
    )
    module.add_arguments(parser)
    return parser


def _run(name: str, arguments: Sequence[str]) -> int:
    """Run a command, of this package or of another one; show all commands where there is none."""
    place = None if name in (*_HELP, *_VERSION) else place_of(_GROUP, name)
    if place is None:
        return _overview(name)
    try:
        module = loaded(place)
        status: int = module.run(parser_of(name, module).parse_args(arguments))
        return status
    except ModuleNotFoundError as error:
        if not is_of_organisers(error):
            raise
    sys.stderr.write(f"{name} is an organiser's command; this image has none of them. {USE_THE_PACKAGE}\n")
    return 2


def _summary_of(module: ModuleType | Handler) -> str:
    return (inspect.getdoc(module) or "").partition("\n")[0]


def _overview(name: str) -> int:
    lines = [f"usage: {_program()} COMMAND [ARGUMENTS]", ""]
    for role, names in ROLES.items():
        lines += [f"{role}:", *(f"  {one:<10} {COMMANDS[one].summary}" for one in names)]
    if others := other_entries(_GROUP):
        summaries = ((one, _summary_of(loaded(place))) for one, place in others.items())
        lines += ["other packages:", *(f"  {one:<10} {summary}" for one, summary in summaries)]
    lines += [
        "",
        f"{_program()} COMMAND --help shows arguments and an example.",
        "In a container, without a command: score /input and write /output/metrics.json.",
    ]
    if name in _HELP:
        sys.stdout.write("\n".join(lines) + "\n")
        return 0
    if name in _VERSION:
        sys.stdout.write(f"evaluation {__version__}\n")
        return 0
    if meant := most_similar(name, COMMANDS):
        lines = [f"see {_program()} --help"]
    hint = f"; did you mean {meant!r}?" if meant else ""
    sys.stderr.write("\n".join([f"unknown command {name!r}{hint}", *lines]) + "\n")
    return 2
