"""`audience`: the views of a recorded run for participant, public and organiser."""

import argparse
import sys
from pathlib import Path

from evaluation.core.fault import PhaseError
from evaluation.core.trouble import raise_trouble_of
from evaluation.io.json_files import read_json
from evaluation.organiser.audience import recorded_run, views_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add(
        "recorded",
        type=Path,
        metavar="FOLDER",
        help="holds settings.json, and what scripts/platform.sh wrote: status, stdout, stderr and output/",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the three views. Raises `PhaseError` if the folder holds no recorded run."""
    folder: Path = arguments.recorded
    try:
        settings = read_json(folder / "settings.json")
        views = views_of(recorded_run(folder), settings)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise_trouble_of(error, "read", folder)
        raise PhaseError(f"{folder}: holds no recorded run ({error})") from None
    for title, lines in (
        ("PARTICIPANT", views.participant),
        ("PUBLIC", views.public),
        ("ORGANISER", views.organiser),
    ):
        sys.stdout.write("\n".join([title, *(f"  {line}" for line in lines), "", ""]))
    return 0
