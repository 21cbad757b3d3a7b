"""`schema`: the JSON schemas of metrics.json, leaderboard.json and phase.toml."""

import argparse
import json
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "file",
        nargs="?",
        choices=["metrics", "leaderboard", "phase"],
        default="metrics",
        help="of which file (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    if arguments.file == "phase":
        from evaluation.organiser.phase_schema import phase_schema as schema
    elif arguments.file == "metrics":
        from evaluation.platform.result_file import metrics_schema as schema
    else:
        from evaluation.organiser.ranking.leaderboard_file import leaderboard_schema as schema

    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
    return 0
