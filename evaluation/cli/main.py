"""The command line: finds the module of a command, parses its arguments and runs it."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation import __version__
from evaluation.cli.errors import status_of


@dataclass(frozen=True)
class Command:
    """A command: its module below `evaluation.cli`, a summary in one line, and an example.

    ``consequence`` is the last line after an error, for commands that might have been done in part.
    """

    module: str
    summary: str
    example: str
    consequence: str = ""


COMMANDS = {
    "evaluate": Command(
        "evaluate_command",
        "Score a submission against a phase and write metrics.json.",
        "python -m evaluation evaluate --input test/input/refuge-onsite "
        "--ground-truth ground-truth/refuge-onsite --output output/refuge-onsite",
    ),
    "seal": Command(
        "seal_command",
        "Validate a phase folder and write its manifest.",
        "python -m evaluation seal ground-truth/refuge-onsite",
        "the phase is not sealed",
    ),
    "rehearse": Command(
        "rehearse_command",
        "Score submissions derived from a phase's own reference, and test every metric on them.",
        "python -m evaluation rehearse refuge-onsite",
    ),
    "settings": Command(
        "settings_command",
        "Print the settings of a phase on the platform as JSON.",
        "python -m evaluation settings refuge-onsite",
    ),
    "form": Command(
        "form_command",
        "Write what participants may know of a phase: for check, or in words.",
        "python -m evaluation form refuge-onsite --output output/refuge-onsite/form.json",
    ),
    "check": Command(
        "check_command",
        "List every fault of a submission, as the container would, without labels.",
        "python -m evaluation check --form output/refuge-onsite/form.json test/input/refuge-onsite",
    ),
    "unpack": Command(
        "unpack_command",
        "Unpack a submission as the platform does before it starts the container.",
        "python -m evaluation unpack submission.zip output/input",
    ),
    "audience": Command(
        "audience_command",
        "Print what each audience sees of a recorded run (see run.sh --audience).",
        "python -m evaluation audience output/recorded",
    ),
    "sample": Command(
        "sample_command",
        "Write a synthetic phase and submissions of known quality.",
        "python -m evaluation sample refuge --output output/sample --cases 40 --width 160 --height 160",
    ),
    "rank": Command(
        "rank_command",
        "Make a leaderboard of many teams' results, with its uncertainty.",
        "python -m evaluation rank output/each --output output/leaderboard",
    ),
    "fuse": Command(
        "fuse_command",
        "Build the reference of a phase from several annotators.",
        "python -m evaluation fuse annotators annotations/refuge-onsite --output ground-truth/refuge-onsite",
        "nothing was written",
    ),
    "ensemble": Command(
        "ensemble_command",
        "Combine several submissions of a phase into one.",
        "python -m evaluation ensemble team-a team-b team-c "
        "--ground-truth ground-truth/refuge-onsite --output output/ensemble",
        "nothing was written",
    ),
    "audit": Command(
        "audit_command",
        "Tell how many bits about the labels a phase gives to each submission.",
        "python -m evaluation audit ground-truth/refuge-onsite",
    ),
    "summary": Command(
        "summary_command",
        "Print the main figures of a metrics.json as a table.",
        "python -m evaluation summary output/refuge-onsite/metrics.json",
    ),
    "schema": Command(
        "schema_command",
        "Print the JSON schema of metrics.json, leaderboard.json or phase.toml.",
        "python -m evaluation schema phase",
    ),
}


def main(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status; without arguments, run `evaluate` as in the container."""
    if not arguments:
        arguments = ["evaluate"]
    name = arguments[0]
    if name in COMMANDS:
        command = COMMANDS[name]
        module = importlib.import_module(f"evaluation.cli.{command.module}")
        parser = argparse.ArgumentParser(
            prog=f"python -m evaluation {name}",
            description=command.summary,
            epilog=f"example:\n  {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(parser)
        parsed = parser.parse_args(arguments[1:])
        return status_of(lambda: module.run(parsed), command.consequence)
    return _overview(name)


def _overview(name: str) -> int:
    lines = [
        "usage: python -m evaluation [COMMAND] [ARGUMENTS]",
        "",
        "Without a command: score /input and write /output/metrics.json, as the platform runs the container.",
        "",
        *(f"  {name:<10} {command.summary}" for name, command in COMMANDS.items()),
        "",
        "example:",
        "  python -m evaluation COMMAND --help",
    ]
    if name in ("-h", "--help"):
        sys.stdout.write("\n".join(lines) + "\n")
        return 0
    if name == "--version":
        sys.stdout.write(f"evaluation {__version__}\n")
        return 0
    sys.stderr.write("\n".join([f"unknown command {name!r}", *lines]) + "\n")
    return 2
