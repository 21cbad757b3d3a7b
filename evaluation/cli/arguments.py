"""Arguments that several commands have."""

from __future__ import annotations

import argparse

PHASE_HELP = "a phase folder, or the name of one below ground-truth/"


def add_phase(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Declare the argument PHASE, or one or more phases with ``several``."""
    if several:
        parser.add_argument("phases", metavar="PHASE", nargs="+", help=PHASE_HELP)
    else:
        parser.add_argument("phase", metavar="PHASE", help=PHASE_HELP)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Declare the argument --workers."""
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="number of worker processes (default: one per processor; 0: none)",
    )
