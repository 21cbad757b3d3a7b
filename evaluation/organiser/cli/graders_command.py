"""`graders`: admit graders by an exam, and draw who grades which images."""

import argparse
import sys
from fractions import Fraction
from pathlib import Path

from evaluation.cli.common import share, whole_number
from evaluation.organiser.justraigs_graders import assignment
from evaluation.organiser.justraigs_graders.assignment import BLOCK, hold_exam, write_pairs, write_results
from evaluation.organiser.justraigs_graders.grading import ENTRY_EXAM, GraderLimits


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare one sub-command for each step, with its arguments."""
    steps = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    # The module's docstring describes the files read and written.
    layout = argparse.RawDescriptionHelpFormatter
    for name, summary, add in (
        ("exam", "who passes the entry exam", _add_exam),
        ("pairs", "two graders for every image, by blocks", _add_pairs),
    ):
        add(steps.add_parser(name, help=summary, description=assignment.__doc__, formatter_class=layout))


def run(arguments: argparse.Namespace) -> int:
    """Do the step and print its result. Raises `PhaseError` with the faults of the input files."""
    sys.stdout.write(arguments.step(arguments))
    return 0


def add_limits(parser: argparse.ArgumentParser, default: GraderLimits) -> None:
    """Declare the limits below which a grader fails or leaves."""
    for figure, limit in (("sensitivity", default.sensitivity), ("specificity", default.specificity)):
        parser.add_argument(
            f"--min-{figure}",
            type=share,
            default=limit,
            metavar="SHARE",
            help=f"lowest {figure} of a grader, from 0 to 1 (default: {float(limit):g})",
        )


def add_draw(parser: argparse.ArgumentParser) -> None:
    """Declare how graders are drawn."""
    parser.add_argument("--seed", type=whole_number(0), default=0, help="of the draw (default: %(default)s)")
    parser.add_argument(
        "--block",
        type=whole_number(1),
        default=BLOCK,
        metavar="N",
        help="images for which graders are drawn together (default: %(default)s)",
    )


def limits_of(arguments: argparse.Namespace) -> GraderLimits:
    """Return the limits that `add_limits` declared."""
    sensitivity: Fraction = arguments.min_sensitivity
    return GraderLimits(sensitivity, arguments.min_specificity)


def _add_exam(parser: argparse.ArgumentParser) -> None:

    parser.add_argument("answers", type=Path, metavar="ANSWERS_CSV", help="the candidates' answers")
    parser.add_argument(
        "--output", type=Path, required=True, metavar="CSV", help="where to write the results"
    )
    add_limits(parser, ENTRY_EXAM)
    parser.set_defaults(step=_exam)


def _exam(arguments: argparse.Namespace) -> str:

    candidates = hold_exam(arguments.answers, limits_of(arguments))
    write_results(arguments.output, candidates)
    passed = sum(candidate.passed for candidate in candidates)
    return f"{arguments.output}: {passed} of {len(candidates)} passed\n"


def _add_pairs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("images", type=Path, metavar="IMAGES_CSV", help="the images, in their order")
    parser.add_argument(
        "--graders", type=Path, required=True, metavar="CSV", help="the graders, or the results of the exam"
    )
    parser.add_argument("--output", type=Path, required=True, metavar="CSV", help="where to write the pairs")
    add_draw(parser)
    parser.set_defaults(step=_pairs)


def _pairs(arguments: argparse.Namespace) -> str:

    blocks = write_pairs(
        arguments.images, arguments.graders, arguments.output, arguments.seed, arguments.block
    )
    return f"{arguments.output}: pairs for {blocks} {'block' if blocks == 1 else 'blocks'}\n"
