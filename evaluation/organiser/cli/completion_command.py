"""`completion`: the script with which a shell completes commands and options."""

import argparse
import sys
from collections.abc import Iterator

from evaluation.cli.common import tables_of
from evaluation.cli.main import COMMANDS

_BASH = """_evaluation() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  if ((COMP_CWORD == 1)); then words="{commands}"
  elif [[ $word == -* ]]; then case ${{COMP_WORDS[1]}} in
{cases}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _evaluation evaluation
"""


def run(arguments: argparse.Namespace) -> int:
    """Print the program for the shell."""
    options = {name: ["--help", *_options(name)] for name in COMMANDS}
    if arguments.shell == "fish":
        lines = []
        for name, found in options.items():
            summary = COMMANDS[name].summary.replace("'", r"\'")
            lines.append(f"complete -c evaluation -n __fish_use_subcommand -a {name} -d '{summary}'")
            seen = f"-n '__fish_seen_subcommand_from {name}'"
            lines += [f"complete -c evaluation {seen} -l {option.removeprefix('--')}" for option in found]
        sys.stdout.write("\n".join(lines) + "\n")
        return 0
    if arguments.shell == "zsh":
        sys.stdout.write("autoload -U +X compinit bashcompinit && compinit && bashcompinit\n")
    cases = "\n".join(f'    {name}) words="{" ".join(found)}" ;;' for name, found in options.items())
    sys.stdout.write(_BASH.format(commands=" ".join(options), cases=cases))
    return 0


def _options(command: str) -> Iterator[str]:
    """Yield the options in the table of a command, without importing the command."""
    package, _, _ = f"evaluation.{COMMANDS[command].module}".rpartition(".")
    for name, keys in tables_of(package).get(command, {}).items():
        if name.startswith("--"):
            yield name
            if keys.get("action") == "optional":
                yield name.replace("--", "--no-", 1)
