"""`completion`: the script with which a shell completes commands and options."""

import argparse
import sys
from importlib.resources import files

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add(
        "shell",
        choices=["bash", "zsh", "fish"],
        help='bash, zsh: put eval "$(evaluation completion bash)" into ~/.bashrc (zsh: ~/.zshrc); '
        "fish: evaluation completion fish > ~/.config/fish/completions/evaluation.fish",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the program for the shell."""
    of_commands = _options()
    options = {name: ["--help", *of_commands[name]] for name in COMMANDS}
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


def _options() -> dict[str, list[str]]:
    """Return the options of each command from a generated file (`python -m test.cli.options` writes it).

    A shell asks at each start, and to import all commands takes two seconds.
    """
    lines = (files("evaluation.organiser") / "templates" / "options.txt").read_text(encoding="utf-8")
    return {command: options for command, *options in map(str.split, lines.splitlines())}
