"""`subset`: a phase of a part of another phase's cases."""

import argparse
from pathlib import Path

from evaluation.cli.common import add_phase, progress_bar, say, share, whole_number
from evaluation.organiser.cli.shared import add_seed
from evaluation.organiser.subset import DrawnCases, draw, write_subset
from evaluation.phase.named import named_phase


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add_phase(parser)
    add("--output", type=Path, required=True, metavar="FOLDER", help="the phase folder to write")
    add("--name", help="name of the new phase (default: the name of its folder)")
    add("--title", help="title of the new phase (default: that of the phase)")
    add("--share", type=share, default="1/10", help="of the cases that are drawn, from 0 to 1 (default: 0.1)")
    add(
        "--by",
        action="append",
        default=[],
        metavar="COLUMN",
        help="of cases.csv: draw the share of each of its values; bins in [[subgroups]] cut "
        "numbers; repeatable (default: the first label of 2 to 10 values)",
    )
    add_seed(parser)
    add(
        "--stack",
        type=whole_number(1),
        metavar="N",
        help="most images of a stack, where algorithms are run on stacks (default: as many as in the phase)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the phase and print the numbers of drawn cases. Raises `PhaseError` with all faults."""
    phase = named_phase(arguments.phase)
    part = draw(phase, arguments.share, arguments.by, arguments.seed)
    output: Path = arguments.output
    with progress_bar("cases", len(part.positions)) as progress:
        left_out = write_subset(
            phase,
            part,
            output,
            arguments.name or output.absolute().name,
            arguments.title,
            arguments.stack,
            progress,
        )
    lines = [f"{output}: {len(part.positions)} of {len(phase.rows)} cases", *_strata(part)]
    lines += [f"note: {path} is left out" for path in left_out]
    say(*lines)
    return 0


def _strata(part: DrawnCases) -> list[str]:
    if not part.columns:
        return ["note: drawn without strata, since cases.csv has no label of 2 to 10 values; see --by"]
    return [
        f"  {', '.join(f'{column} {value!r}' for column, value in zip(part.columns, stratum, strict=True))}: "
        f"{drawn} of {cases}"
        for stratum, (drawn, cases) in part.counts.items()
    ]
