"""Arguments that `graders` and `fuse graders` share."""

import argparse
from fractions import Fraction

from evaluation.cli.common import share, whole_number
from evaluation.organiser.cli.shared import add_seed
from evaluation.organiser.justraigs_graders.grading import GraderLimits


def add_limits(parser: argparse.ArgumentParser, default: GraderLimits) -> None:
    """Declare the limits below which a grader fails or leaves."""
    for name in ("sensitivity", "specificity"):
        parser.add_argument(
            f"--min-{name}",
            type=share,
            default=f"{float(getattr(default, name)):g}",
            metavar="SHARE",
            help=f"lowest {name} of a grader, from 0 to 1 (default: %(default)s)",
        )


def limits_of(arguments: argparse.Namespace) -> GraderLimits:
    """Return the limits below which a grader fails or leaves."""
    sensitivity: Fraction = arguments.min_sensitivity
    return GraderLimits(sensitivity, arguments.min_specificity)


def add_blocks(parser: argparse.ArgumentParser) -> None:
    """Declare how graders are drawn."""
    add_seed(parser)
    parser.add_argument(
        "--block",
        type=whole_number(1),
        default=200,
        metavar="N",
        help="images for which graders are drawn together (default: %(default)s)",
    )
