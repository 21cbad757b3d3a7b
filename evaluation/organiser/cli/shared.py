"""Arguments that several commands of organisers have, and what is made of them."""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from evaluation.cli.common import say, share_below_one, tell, whole_number

if TYPE_CHECKING:
    from evaluation.organiser.annotators.combine import CombinationRules
    from evaluation.organiser.image.build import BuiltImage, Recipe
    from evaluation.organiser.report_library import Report

Parts: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""The sub-commands of a command, to which one can be added."""


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Declare the seed of a draw."""
    parser.add_argument("--seed", type=whole_number(0), default=0, help="of the draw (default: %(default)s)")


def add_figures(parser: argparse.ArgumentParser) -> None:
    """Declare the folder of a report's figures."""
    words = "also write every figure there as SVG, PDF, PNG, CSV and Vega-Lite"
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help=words)


# --- The parts of `fuse` and `report`, some of which are in leaf rooms ---


def add_fused(parts: Parts, package: str, name: str, summary: str) -> argparse.ArgumentParser:
    """Return the new parser of a part of `fuse`; a template in its package names the files."""
    read = (files(package) / "templates" / f"fuse-{name}.txt").read_text(encoding="utf-8")
    layout = argparse.RawDescriptionHelpFormatter
    return parts.add_parser(name, help=summary, description=read, formatter_class=layout)


def report_folder(arguments: argparse.Namespace) -> Path:
    """Return the folder of the report on a reference, by default beside the reference."""
    output: Path = arguments.output
    return arguments.report or output.with_name(f"{output.name}-report")


def add_report(parts: Parts, name: str, content: str) -> argparse.ArgumentParser:
    """Return the new parser of a part of `report`."""
    summary = f"Write {content}, for the organiser."
    return parts.add_parser(name, help=summary, description=summary)


def write_report(report: Report, arguments: argparse.Namespace) -> int:
    """Write a report and its figures, and return the exit status."""
    report.write(arguments.output)
    if arguments.figures is not None:
        report.write_figures(arguments.figures)
    say(arguments.output)
    return 0


# --- How annotators or submissions are combined ---


def add_combination(parser: argparse.ArgumentParser) -> None:
    """Declare how values are combined."""
    add = parser.add_argument
    add(
        "--tie",
        choices=["background", "foreground"],
        default="background",
        help="the result where as many annotators say yes as no (default: background)",
    )
    add(
        "--method",
        choices=["majority", "staple"],
        default="majority",
        help="how masks are combined (default: majority)",
    )
    add(
        "--boxes",
        choices=["wbf", "nms"],
        default="wbf",
        help="how boxes are combined: weighted boxes fusion or non-maximum suppression (default: wbf)",
    )
    add(
        "--box-iou",
        type=share_below_one,
        default=0.55,
        metavar="SHARE",
        help="boxes belong together whose intersection over union is above this (default: 0.55)",
    )


def rules_of(arguments: argparse.Namespace) -> CombinationRules:
    """Return how values are combined."""
    from evaluation.organiser.annotators.combine import CombinationRules

    return CombinationRules(arguments.tie, arguments.method, arguments.boxes, arguments.box_iou)


# --- How an image is built, and what is told of it ---


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Declare the folder that an image is made of, and how."""
    add = parser.add_argument
    add(
        "folder",
        type=Path,
        nargs="?",
        default=".",
        metavar="FOLDER",
        help="a phase folder, the repository with one in phase/, or a name (default: the current folder)",
    )
    add("--base", metavar="IMAGE", help="image of Python to start from, such as python@sha256:…")
    words = "instead of the package's own, from the same files"
    add("--dockerfile", type=Path, metavar="FILE", help=words)
    add(
        "--docker",
        action="append",
        default=[],
        metavar="ARGUMENT",
        help="an argument of docker build, as --docker=--no-cache; may be repeated",
    )


def recipe_of(arguments: argparse.Namespace) -> Recipe:
    """Return how the image is built."""
    from evaluation.organiser.image.build import Recipe

    return Recipe(arguments.base, arguments.dockerfile, arguments.docker)


def tell_terminal(line: str) -> None:
    """Show a line of progress on a terminal; a log has none."""
    if sys.stderr.isatty():
        tell([line])


def tell_built(image: BuiltImage) -> None:
    """Print a line about the image, and the notes for the organiser."""
    tell(f"Note: {note}" for note in image.notes)
    say(image.summary)
