"""`graders`: admit graders by an exam, and draw who grades which images."""

import argparse
from pathlib import Path

from evaluation.cli.common import say
from evaluation.core.fault import counted
from evaluation.organiser.justraigs_graders import assignment
from evaluation.organiser.justraigs_graders.arguments import add_blocks, add_limits, limits_of
from evaluation.organiser.justraigs_graders.assignment import hold_exam, write_pairs, write_results
from evaluation.organiser.justraigs_graders.grading import ENTRY_EXAM


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare one sub-command for each step, with its arguments."""
    steps = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    # The module's docstring describes the files read and written.
    description, layout = assignment.__doc__, argparse.RawDescriptionHelpFormatter

    exam = steps.add_parser(
        "exam", help="who passes the entry exam", description=description, formatter_class=layout
    )
    exam.set_defaults(step=_exam)
    exam.add_argument("answers", type=Path, metavar="ANSWERS_CSV", help="the candidates' answers")
    words = "where to write the results"
    exam.add_argument("--output", type=Path, required=True, metavar="CSV", help=words)
    add_limits(exam, ENTRY_EXAM)

    pairs = steps.add_parser(
        "pairs",
        help="two graders for every image, by blocks",
        description=description,
        formatter_class=layout,
    )
    pairs.set_defaults(step=_pairs)
    pairs.add_argument("images", type=Path, metavar="IMAGES_CSV", help="the images, in their order")
    words = "the graders, or the results of the exam"
    pairs.add_argument("--graders", type=Path, required=True, metavar="CSV", help=words)
    pairs.add_argument("--output", type=Path, required=True, metavar="CSV", help="where to write the pairs")
    add_blocks(pairs)


def run(arguments: argparse.Namespace) -> int:
    """Do the step and print its result. Raises `PhaseError` with the faults of the input files."""
    say(arguments.step(arguments))
    return 0


def _exam(arguments: argparse.Namespace) -> str:
    candidates, limits = hold_exam(arguments.answers), limits_of(arguments)
    write_results(arguments.output, candidates, limits)
    passed = sum(not candidate.is_below(limits) for candidate in candidates)
    return f"{arguments.output}: {passed} of {len(candidates)} passed"


def _pairs(arguments: argparse.Namespace) -> str:
    blocks = write_pairs(
        arguments.images, arguments.graders, arguments.output, arguments.seed, arguments.block
    )
    return f"{arguments.output}: pairs for {counted(blocks, 'block')}"
