"""`fuse`: the reference of a phase from what several annotators said."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from evaluation.cli.progress import progress_bar
from evaluation.core.fault import PhaseError
from evaluation.platform import machine

Run = Callable[[argparse.Namespace], list[Path]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be fused, and the arguments of each."""
    from evaluation.annotators import annotations as annotators
    from evaluation.challenges.cysts.benchmark import steps as benchmark
    from evaluation.challenges.justraigs import reference as labels_phase

    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for name, summary, module, add in (
        ("annotators", "masks, points and labels of several annotators", annotators, _add_annotators),
        ("graders", "labels of two graders and a specialist (JustRAIGS)", labels_phase, _add_graders),
        ("cysts", "a confidence benchmark of cysts in OCT volumes", benchmark, _add_cysts),
    ):
        # What is read and written stands where the module says it.
        layout = argparse.RawDescriptionHelpFormatter
        add(kinds.add_parser(name, help=summary, description=module.__doc__, formatter_class=layout))


def run(arguments: argparse.Namespace) -> int:
    """Fuse, and print what was written. Raises `PhaseError` for what is wrong with the annotators' files."""
    fuse: Run = arguments.fuse
    written = fuse(arguments)
    sys.stdout.write("".join(f"{path}\n" for path in written))
    return 0


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Declare how values are combined."""
    parser.add_argument(
        "--tie",
        choices=["background", "foreground"],
        default="background",
        help="what is decided where as many say yes as no (default: background)",
    )
    parser.add_argument(
        "--method", choices=["majority", "staple"], default="majority", help="of masks (default: majority)"
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output", type=Path, required=True, metavar="FOLDER", help="the phase folder to write"
    )
    parser.add_argument(
        "--report", type=Path, metavar="FOLDER", help="where the report goes (default: OUTPUT-report)"
    )


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
    from evaluation.annotators.annotations import open_annotators
    from evaluation.annotators.masks import Rules
    from evaluation.annotators.reference import fuse_annotators, write_reference_report

    rules = Rules(arguments.tie, arguments.method)
    given = open_annotators(arguments.input)
    with progress_bar("cases", len(given.cases.forms)) as progress:
        fused = fuse_annotators(given, arguments.output, rules, machine.worker_count(), progress)
    write_reference_report(_report(arguments), fused, rules)
    return [arguments.output, _report(arguments)]


def _add_graders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", type=Path, metavar="GRADERS_CSV", help="the graders' table")
    parser.add_argument("--mapping", type=Path, required=True, metavar="JSON", help="of the archive's stacks")
    parser.add_argument("--phase", type=Path, required=True, metavar="PHASE_TOML", help="its configuration")
    _add_output(parser)
    parser.set_defaults(fuse=_fuse_graders)


def _fuse_graders(arguments: argparse.Namespace) -> list[Path]:
    from evaluation.challenges.justraigs.reference import fuse_graders

    report = _report(arguments)
    fuse_graders(arguments.table, arguments.mapping, arguments.phase, arguments.output, report)
    return [arguments.output, report]


def _add_cysts(parser: argparse.ArgumentParser) -> None:
    from evaluation.challenges.cysts.benchmark.steps import STEPS

    parser.add_argument(
        "input",
        type=Path,
        metavar="FOLDER",
        help="phase.toml, volumes.csv, images/, evaluation.csv, evaluation/<annotator>/run1|run2/ "
        "and annotations/<annotator>/",
    )
    parser.add_argument(
        "--report", type=Path, required=True, metavar="FOLDER", help="where every step leaves its tables"
    )
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="the phase folder, of the last step")
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument("--step", choices=STEPS, help="run this step alone, from the tables of those before")
    steps.add_argument("--until", choices=STEPS, default=STEPS[-1], help="stop after this step, to look")
    parser.add_argument(
        "--interval",
        choices=["level", "cyst"],
        default="level",
        help="what a mark is worth: the supervisor's mean distinction of its confidence, "
        "or its own distinction transformed (default: level)",
    )
    parser.add_argument("--parts", type=int, default=3, help="of the partition (default: 3)")
    parser.add_argument("--seed", type=int, default=0, help="of the partition (default: 0)")
    parser.set_defaults(fuse=_fuse_cysts)


def _fuse_cysts(arguments: argparse.Namespace) -> list[Path]:
    from evaluation.challenges.cysts.benchmark.steps import STEPS, Benchmark, run_step

    benchmark = Benchmark(
        arguments.input,
        arguments.report,
        arguments.output,
        arguments.interval,
        arguments.parts,
        arguments.seed,
    )
    steps = [arguments.step] if arguments.step else STEPS[: STEPS.index(arguments.until) + 1]
    if "combination" in steps and arguments.output is None:
        raise PhaseError("--output: expected a phase folder for the combination, found none")
    with progress_bar("steps", len(steps)) as progress:
        for done, step in enumerate(steps, start=1):
            run_step(step, benchmark)
            progress(done)
    return [arguments.report, *([arguments.output] if "combination" in steps else [])]
