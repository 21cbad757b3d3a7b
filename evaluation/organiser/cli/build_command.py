"""`build`: the image of a phase in any folder, or the images without a phase."""

import argparse

from evaluation.cli.common import say
from evaluation.organiser.cli.shared import add_recipe, recipe_of, tell_built, tell_terminal
from evaluation.organiser.image.build import build_image, build_without_phase


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add(
        "--without-phase",
        action="store_true",
        help="build evaluation-builder and evaluation-base, which have the package and no phase",
    )
    add_recipe(parser)


def run(arguments: argparse.Namespace) -> int:
    """Build and print the names of the images. Raises `PhaseError`."""
    if arguments.without_phase:
        names = build_without_phase(recipe_of(arguments), tell_terminal)
        say(*names)
    else:
        tell_built(build_image(arguments.folder, recipe_of(arguments), tell_terminal))
    return 0
