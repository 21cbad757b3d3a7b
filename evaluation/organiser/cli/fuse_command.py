"""`fuse`: build the reference of a phase from several annotators."""

import argparse
import sys
from importlib.resources import files
from pathlib import Path

from evaluation.cli.common import declare, progress_bar
from evaluation.core.fault import PhaseError
from evaluation.organiser.annotators.annotations import ellipses_as_masks, open_annotators
from evaluation.organiser.annotators.combine import CombinationRules
from evaluation.organiser.annotators.reference import fuse_annotators, write_reference_report
from evaluation.organiser.cli.graders_command import limits_of, words_of
from evaluation.organiser.cyst_benchmark.steps import STEPS, Benchmark, run_step
from evaluation.organiser.justraigs_graders.grading import MONITORING
from evaluation.organiser.justraigs_graders.reference import Monitoring, fuse_graders
from evaluation.platform import machine


def _fuse_cysts(arguments: argparse.Namespace) -> list[Path]:
    """Run the chosen steps, print their warnings, and return the folders written. Raises `PhaseError`."""
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

    for name, fuse, words, summary in (
        ("annotators", _fuse_annotators, {}, "masks, boxes, points and labels of several annotators"),
        (
            "graders",
            _fuse_graders,
            words_of(MONITORING),
            "labels of two graders and a specialist (JustRAIGS)",
        ),
        ("cysts", _fuse_cysts, {"steps": STEPS}, "a confidence benchmark of cysts in OCT volumes"),
    ):
        layout = argparse.RawDescriptionHelpFormatter
        read = (texts / f"fuse-{name}.txt").read_text(encoding="utf-8")  # the files read and written
        added = kinds.add_parser(name, help=summary, description=read, formatter_class=layout)
        declare(added, __package__, f"fuse-{name}", words)
        added.set_defaults(fuse=fuse)


def run(arguments: argparse.Namespace) -> int:
    """Build the reference and print the paths. Raises `PhaseError` with the faults of the input files."""
    sys.stdout.write("".join(f"{path}\n" for path in arguments.fuse(arguments)))
    return 0


def rules_of(arguments: argparse.Namespace) -> CombinationRules:
    """Return how values are combined."""
    return CombinationRules(arguments.tie, arguments.method, arguments.boxes, arguments.box_iou)


def _report(arguments: argparse.Namespace) -> Path:
    output: Path = arguments.output
    return arguments.report or output.with_name(f"{output.name}-report")


def _fuse_annotators(arguments: argparse.Namespace) -> list[Path]:
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


def _fuse_graders(arguments: argparse.Namespace) -> list[Path]:
    report = _report(arguments)
    monitoring = Monitoring(limits_of(arguments), arguments.seed, arguments.block)
    fuse_graders(arguments.table, arguments.mapping, arguments.phase, arguments.output, report, monitoring)
    return [arguments.output, report]
