"""`fuse cysts`: the steps of the cyst benchmark."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from evaluation.cli.progress import progress_bar
from evaluation.core.fault import PhaseError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `fuse cysts`."""
    from evaluation.challenges.cysts.benchmark.steps import STEPS

    parser.add_argument(
        "input",
        type=Path,
        metavar="FOLDER",
        help="phase.toml, volumes.csv, images/, evaluation.csv, evaluation/<annotator>/run1|run2/ "
        "and annotations/<annotator>/",
    )
    parser.add_argument(
        "--report", type=Path, required=True, metavar="FOLDER", help="where every step writes its tables"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER", help="the phase folder that the last step writes"
    )
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument(
        "--step", choices=STEPS, help="run only this step, from the tables of the earlier steps"
    )
    steps.add_argument(
        "--until",
        choices=STEPS,
        default=STEPS[-1],
        help="stop after this step, for example to inspect its tables",
    )
    parser.add_argument(
        "--interval",
        choices=["level", "cyst"],
        default="level",
        help="value of a marked voxel. level (default): the supervisor's mean distinction at that "
        "confidence; a and b of Eq. 2 change nothing then. cyst: the cyst's own distinction, transformed by "
        "a and b",
    )
    parser.add_argument("--parts", type=int, default=3, help="number of parts of the partition (default: 3)")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the partition (default: 0)")
    parser.add_argument(
        "--b-scans",
        type=int,
        default=5,
        metavar="N",
        help="B-scans of every volume in the evaluation set; 0 allows any number (default: 5)",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=15.0,
        help="time of one annotation of a B-scan, for the estimated hours (default: 15)",
    )
    parser.set_defaults(fuse=run)


def run(arguments: argparse.Namespace) -> list[Path]:
    """Run the chosen steps, print their warnings, and return the folders written. Raises `PhaseError`."""
    from evaluation.challenges.cysts.benchmark.steps import STEPS, Benchmark, run_step

    benchmark = Benchmark(
        arguments.input,
        arguments.report,
        arguments.output,
        arguments.interval,
        arguments.parts,
        arguments.seed,
        arguments.b_scans,
        arguments.minutes,
    )
    steps = [arguments.step] if arguments.step else STEPS[: STEPS.index(arguments.until) + 1]
    if "combination" in steps and arguments.output is None:
        raise PhaseError("--output: expected a phase folder for the combination, found none")
    with progress_bar("steps", len(steps)) as progress:
        for done, step in enumerate(steps, start=1):
            for warning in run_step(step, benchmark):
                sys.stderr.write(f"warning: {step}: {warning}\n")
            progress(done)
    return [arguments.report, *([arguments.output] if "combination" in steps else [])]
