"""`schema`: the JSON schema of metrics.json."""

from __future__ import annotations

import argparse
import json
import sys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: none."""


def run(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    from evaluation.platform.schema import metrics_schema

    sys.stdout.write(json.dumps(metrics_schema(), indent=2) + "\n")
    return 0
