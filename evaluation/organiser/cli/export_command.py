"""`export`: the files of a phase that are uploaded to the platform."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from evaluation.organiser.cli.build_command import add_arguments as add_arguments_of_build


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_arguments_of_build(parser)
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER", help="where to write (default: export/ beside the phase)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Build the image, write the files and print their paths. Raises `PhaseError`."""
    from evaluation.organiser.starter.image import build_image, export_image

    image = build_image(arguments.folder, arguments.base, arguments.builder)
    output = arguments.output or arguments.folder / "export"
    sys.stdout.write("".join(f"{path}\n" for path in export_image(arguments.folder, output, image)))
    return 0
