"""`build`: the image of a phase in any folder, or the images without a phase."""

import argparse
import sys

from evaluation.organiser.image.build import BuiltImage, Recipe, build_image, build_without_phase


def recipe_of(arguments: argparse.Namespace) -> Recipe:
    """Return how the image is built."""
    return Recipe(arguments.base, arguments.dockerfile, arguments.docker)


def tell_terminal(line: str) -> None:
    """Show a line of progress on a terminal; a log has none."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{line}\n")


def tell_built(image: BuiltImage) -> None:
    """Print a line about the image, and the notes for the organiser."""
    sys.stderr.write("".join(f"Note: {note}\n" for note in image.notes))
    sys.stdout.write(f"{image.summary}\n")


def run(arguments: argparse.Namespace) -> int:
    """Build and print the names of the images. Raises `PhaseError`."""
    if arguments.without_phase:
        names = build_without_phase(recipe_of(arguments), tell_terminal)
        sys.stdout.write("".join(f"{name}\n" for name in names))
    else:
        tell_built(build_image(arguments.folder, recipe_of(arguments), tell_terminal))
    return 0
