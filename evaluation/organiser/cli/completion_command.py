"""`completion`: what makes a shell complete commands and options."""

import argparse
import importlib
import sys

from evaluation.cli.main import COMMANDS, parser_of

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
    options = {
        name: [
            option
            for action in parser_of(name, importlib.import_module(f"evaluation.{command.module}"))._actions
            for option in action.option_strings
            if option.startswith("--")
        ]
        for name, command in COMMANDS.items()
    }
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
