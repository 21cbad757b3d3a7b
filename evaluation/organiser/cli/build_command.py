"""`build`: the image of a phase in any folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path(),
        metavar="FOLDER",
        help="a phase folder, or the repository with one in phase/ (default: the current folder)",
    )
    parser.add_argument(
        "--base", metavar="IMAGE", help="image to start from (default: evaluation-base of this version)"
    )
    parser.add_argument(
        "--builder",
        metavar="IMAGE",
        help="image that seals and rehearses (default: evaluation-builder of this version)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Build the image and print its name. Raises `PhaseError`."""
    from evaluation.organiser.starter.image import build_image

    def tell(line: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"{line}\n")

    sys.stdout.write(f"{build_image(arguments.folder, arguments.base, arguments.builder, tell)}\n")
    return 0
