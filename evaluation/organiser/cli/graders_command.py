"""`graders`: admit graders by an exam, and draw who grades which images."""

import argparse
import sys
from fractions import Fraction

from evaluation.cli.common import declare
from evaluation.organiser.justraigs_graders import assignment
from evaluation.organiser.justraigs_graders.assignment import hold_exam, write_pairs, write_results
from evaluation.organiser.justraigs_graders.grading import ENTRY_EXAM, GraderLimits


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare one sub-command for each step, with its arguments."""
    steps = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    # The module's docstring describes the files read and written.
    layout = argparse.RawDescriptionHelpFormatter
    for name, summary, step, words in (
        ("exam", "who passes the entry exam", _exam, words_of(ENTRY_EXAM)),
        ("pairs", "two graders for every image, by blocks", _pairs, {}),
    ):
        added = steps.add_parser(name, help=summary, description=assignment.__doc__, formatter_class=layout)
        declare(added, __package__, f"graders-{name}", words)
        added.set_defaults(step=step)


def run(arguments: argparse.Namespace) -> int:
    """Do the step and print its result. Raises `PhaseError` with the faults of the input files."""
    sys.stdout.write(arguments.step(arguments))
    return 0


def words_of(limits: GraderLimits) -> dict[str, object]:
    """Return the limits below which a grader fails or leaves, as words of the table of arguments."""
    return {name: f"{float(getattr(limits, name)):g}" for name in ("sensitivity", "specificity")}


def limits_of(arguments: argparse.Namespace) -> GraderLimits:
    """Return the limits below which a grader fails or leaves."""
    sensitivity: Fraction = arguments.min_sensitivity
    return GraderLimits(sensitivity, arguments.min_specificity)


def _exam(arguments: argparse.Namespace) -> str:
    candidates, limits = hold_exam(arguments.answers), limits_of(arguments)
    write_results(arguments.output, candidates, limits)
    passed = sum(not candidate.is_below(limits) for candidate in candidates)
    return f"{arguments.output}: {passed} of {len(candidates)} passed\n"


def _pairs(arguments: argparse.Namespace) -> str:
    blocks = write_pairs(
        arguments.images, arguments.graders, arguments.output, arguments.seed, arguments.block
    )
    return f"{arguments.output}: pairs for {blocks} {'block' if blocks == 1 else 'blocks'}\n"
