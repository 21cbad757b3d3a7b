"""`fuse`: build the reference of a phase from several annotators."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.cli.common import progress_bar, share_below_one
from evaluation.core.fault import PhaseError
from evaluation.organiser.cli.graders_command import add_draw, add_limits, limits_of
from evaluation.platform import machine

if TYPE_CHECKING:
    from evaluation.organiser.annotators.combine import CombinationRules


def _add_cysts(parser: argparse.ArgumentParser) -> None:
    from evaluation.organiser.cyst_benchmark.steps import STEPS

    folder = partial(parser.add_argument, type=Path, metavar="FOLDER")
    folder(
        "input",
        help="phase.toml, volumes.csv, images/, evaluation.csv, evaluation/<annotator>/run1|run2/ "
        "and annotations/<annotator>/",
    )
    folder("--report", required=True, help="where every step writes its tables")
    folder("--output", help="the phase folder that the last step writes")
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
    parser.set_defaults(fuse=_fuse_cysts)


def _fuse_cysts(arguments: argparse.Namespace) -> list[Path]:
    """Run the chosen steps, print their warnings, and return the folders written. Raises `PhaseError`."""
    from evaluation.organiser.cyst_benchmark.steps import STEPS, Benchmark, run_step

    benchmark = Benchmark(
        *(arguments.input, arguments.report, arguments.output, arguments.interval),
        *(arguments.parts, arguments.seed, arguments.b_scans, arguments.minutes),
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare one sub-command for each kind of input, with its arguments."""
    texts = files("evaluation.organiser") / "templates"
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for name, summary, add in (
        ("annotators", "masks, boxes, points and labels of several annotators", _add_annotators),
        ("graders", "labels of two graders and a specialist (JustRAIGS)", _add_graders),
        ("cysts", "a confidence benchmark of cysts in OCT volumes", _add_cysts),
    ):
        layout = argparse.RawDescriptionHelpFormatter
        read = (texts / f"fuse-{name}.txt").read_text(encoding="utf-8")  # the files read and written
        add(kinds.add_parser(name, help=summary, description=read, formatter_class=layout))


def run(arguments: argparse.Namespace) -> int:
    """Build the reference and print the paths. Raises `PhaseError` with the faults of the input files."""
    sys.stdout.write("".join(f"{path}\n" for path in arguments.fuse(arguments)))
    return 0


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Declare how values are combined."""
    parser.add_argument(
        "--tie",
        choices=["background", "foreground"],
        default="background",
        help="the result where as many annotators say yes as no (default: background)",
    )
    parser.add_argument(
        "--method",
        choices=["majority", "staple"],
        default="majority",
        help="how masks are combined (default: majority)",
    )
    parser.add_argument(
        "--boxes",
        choices=["wbf", "nms"],
        default="wbf",
        help="how boxes are combined: weighted boxes fusion or non-maximum suppression (default: wbf)",
    )
    parser.add_argument(
        "--box-iou",
        type=share_below_one,
        default=0.55,
        metavar="SHARE",
        help="boxes belong together whose intersection over union is above this (default: 0.55)",
    )


def rules_of(arguments: argparse.Namespace) -> CombinationRules:
    """Return how values are combined."""
    from evaluation.organiser.annotators.combine import CombinationRules as Rules

    return Rules(arguments.tie, arguments.method, arguments.boxes, arguments.box_iou)


def _add_output(parser: argparse.ArgumentParser) -> None:
    folder = partial(parser.add_argument, type=Path, metavar="FOLDER")
    folder("--output", required=True, help="the phase folder to write")
    folder("--report", help="where to write the report (default: OUTPUT-report)")


def _report(arguments: argparse.Namespace) -> Path:
    output: Path = arguments.output
    return arguments.report or output.with_name(f"{output.name}-report")


def _add_annotators(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "input",
        type=Path,
        metavar="FOLDER",
        help="phase.toml, cases.csv, readers/<annotator>/… and dropped.csv",
    )
    _add_output(parser)
    add_rules(parser)
    parser.set_defaults(fuse=_fuse_annotators)


def _fuse_annotators(arguments: argparse.Namespace) -> list[Path]:
    from evaluation.organiser.annotators.annotations import ellipses_as_masks, open_annotators
    from evaluation.organiser.annotators.reference import fuse_annotators, write_reference_report

    rules = rules_of(arguments)
    with ellipses_as_masks(arguments.input) as folder:
        given = open_annotators(folder)
        for column, names in given.ignored.items():
            sys.stderr.write(
                f"Note: {column}: cases.csv has this column already; what {', '.join(names)} say is ignored. "
                "Remove the column to combine their values\n"
            )
        with progress_bar("cases", len(given.cases.forms)) as progress:
            fused = fuse_annotators(given, arguments.output, rules, machine.worker_count(), progress)
    write_reference_report(_report(arguments), fused, rules)
    return [arguments.output, _report(arguments)]


def _add_graders(parser: argparse.ArgumentParser) -> None:
    from evaluation.organiser.justraigs_graders.grading import MONITORING

    path = partial(parser.add_argument, type=Path)
    path("table", metavar="GRADERS_CSV", help="the graders' table")
    path(
        "--mapping",
        metavar="JSON",
        help="mapping of the archive's stacks; a phase of predictions without it has all eyes of the table",
    )
    path("--phase", required=True, metavar="FILE", help="the configuration of the phase, under any name")
    _add_output(parser)
    add_limits(parser, MONITORING)
    add_draw(parser)
    parser.set_defaults(fuse=_fuse_graders)


def _fuse_graders(arguments: argparse.Namespace) -> list[Path]:
    from evaluation.organiser.justraigs_graders.reference import Monitoring, fuse_graders

    report = _report(arguments)
    monitoring = Monitoring(limits_of(arguments), arguments.seed, arguments.block)
    fuse_graders(arguments.table, arguments.mapping, arguments.phase, arguments.output, report, monitoring)
    return [arguments.output, report]
