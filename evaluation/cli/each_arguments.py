"""The arguments of `evaluate --each`."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

from evaluation.core.fault import PhaseError


@dataclass(frozen=True)
class Shard:
    """One of ``count`` shares of the submissions; ``number`` counts from 1."""

    number: int
    count: int


@dataclass(frozen=True)
class Part:
    """The submissions to one phase: names, paths or addresses; the default phase is --ground-truth."""

    phase: str | None
    folder: str


def add_each_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    group = parser.add_argument_group("many submissions")
    group.add_argument(
        "--each",
        nargs="+",
        metavar="FOLDER",
        help="score every folder and zip in FOLDER as one team's submission, into OUTPUT/<team>/; a result "
        "whose submission is the same is kept. Several phases: PHASE=FOLDER …, into OUTPUT/<phase>/<team>/",
    )
    group.add_argument(
        "--since",
        type=Path,
        metavar="RESULTS",
        help="compare with earlier results; writes OUTPUT/changes.json",
    )
    group.add_argument(
        "--shard", type=shard, metavar="I/N", help="score only the I-th of N shares, as one job of an array"
    )
    group.add_argument(
        "--cases-per-task",
        type=_positive,
        metavar="N",
        help="score a submission of more than N cases in slices of N, on several processes or workers; "
        "without it, in slices of 4,300 million pixels or voxels",
    )
    group.add_argument(
        "--cluster",
        metavar="WHERE",
        help="score on the workers of the Dask scheduler at this address, or start one: local, kubernetes, "
        "or a batch system such as slurm; --workers is then how many to ask for",
    )


def shard(text: str) -> Shard:
    """Return an argument as a share."""
    if match := re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text):
        number, count = map(int, match.groups())
        if 1 <= number <= count:
            return Shard(number, count)
    raise argparse.ArgumentTypeError(f"expected I/N with I from 1 to N, found {text!r}")


def _positive(text: str) -> int:
    if re.fullmatch(r"[1-9][0-9]{0,8}", text):
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a number of cases from 1, found {text!r}")


def parts(given: list[str], ground_truth: str | None) -> list[Part]:
    """Return the phases and folders of --each. Raises `PhaseError`."""
    if len(given) == 1 and (Path(given[0]).exists() or not _names_phase(given[0])):
        return [Part(None, given[0])]
    found: list[Part] = []
    for text in given:
        phase, _, folder = text.partition("=")
        if not _names_phase(text) or not phase or not folder:
            raise PhaseError(f"--each {text}: expected PHASE=FOLDER, as several are given")
        found.append(Part(phase, folder))
    if ground_truth is not None:
        raise PhaseError("--ground-truth: expected none, as --each names the phases")
    return found


def _names_phase(text: str) -> bool:
    before, equals, _ = text.partition("=")
    # An address may have an equals sign too, behind its question mark.
    return bool(equals) and not ("://" in before and "?" in before)
