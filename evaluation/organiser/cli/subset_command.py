"""`subset`: a phase of a part of another phase's cases."""

import argparse
import sys
from pathlib import Path

from evaluation.cli.common import progress_bar
from evaluation.organiser.subset import DrawnCases, draw, write_subset
from evaluation.phase.named import named_phase


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
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _strata(part: DrawnCases) -> list[str]:
    if not part.columns:
        return ["note: drawn without strata, since cases.csv has no label of 2 to 10 values; see --by"]
    return [
        f"  {', '.join(f'{column} {value!r}' for column, value in zip(part.columns, stratum, strict=True))}: "
        f"{drawn} of {cases}"
        for stratum, (drawn, cases) in part.counts.items()
    ]
