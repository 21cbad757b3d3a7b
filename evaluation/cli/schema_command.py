"""`schema`: the JSON schemas of metrics.json and leaderboard.json."""

from __future__ import annotations

import argparse
import json
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "file",
        nargs="?",
        choices=["metrics", "leaderboard"],
        default="metrics",
        help="of which file (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    if arguments.file == "metrics":
        from evaluation.platform.schema import metrics_schema as schema
    else:
        from evaluation.ranking.leaderboard_file import leaderboard_schema as schema

    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
    return 0
