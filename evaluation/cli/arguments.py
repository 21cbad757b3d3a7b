"""Arguments of several commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from fractions import Fraction

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


def share_below_one(text: str) -> float:
    """Return an argument as a number from 0 to below 1; the ``type`` of an argument."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to below 1, found {text!r}")
    return number


def whole_number(least: int) -> Callable[[str], int]:
    """Return the ``type`` of an argument that is a whole number of at least ``least``."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"expected a whole number of at least {least}, found {text!r}")
        return number

    return read


def share(text: str) -> Fraction:
    """Return an argument as an exact share from 0 to 1: 0.95 or 95/100."""
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        number = Fraction(-1)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found {text!r}")
    return number
