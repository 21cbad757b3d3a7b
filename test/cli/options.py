"""The options of each command in the file that `completion` reads; `python -m test.cli.options` writes it."""

import argparse
import importlib
from pathlib import Path

from evaluation.cli.main import COMMANDS, parser_of
from test.repository import REPOSITORY

OPTIONS = REPOSITORY / "evaluation" / "organiser" / "templates" / "options.txt"


def options_of(name: str) -> list[str]:
    """Return the long options of a command but --help; a command with parts has none of its own."""
    parser = parser_of(name, importlib.import_module(COMMANDS[name].module))
    actions = [action for action in parser._actions if not isinstance(action, argparse._HelpAction)]
    return [option for action in actions for option in action.option_strings if option.startswith("--")]


def lines() -> str:
    """Return the file's content, a line for each command."""
    return "".join(f"{' '.join([name, *options_of(name)])}\n" for name in COMMANDS)


if __name__ == "__main__":
    Path(OPTIONS).write_text(lines(), encoding="utf-8")
