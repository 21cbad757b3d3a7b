"""`summary`: the main figures of a metrics.json as a table."""

import argparse
import json
import sys
from pathlib import Path

from evaluation.cli.common import add_json
from evaluation.cli.figures import figures_in, print_figures, title_of
from evaluation.core.fault import PhaseError
from evaluation.io.json_files import read_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("metrics", type=Path, metavar="METRICS_JSON", help="a metrics.json that evaluate wrote")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the table. Raises `PhaseError` for any other file."""
    try:
        content = read_json(arguments.metrics)
        figures = figures_in(content)
        title_of(content)
    except (FileNotFoundError, KeyError, TypeError, AttributeError) as error:
        raise PhaseError(f"{arguments.metrics}: is not a metrics.json of this package ({error})") from None
    if arguments.json:
        shown = {"phase": content["phase"]["name"], "cases": content["cases"], "figures": figures}
        sys.stdout.write(json.dumps(shown, indent=2) + "\n")
    else:
        print_figures(content)
    return 0
