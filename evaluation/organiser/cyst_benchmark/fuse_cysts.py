"""`fuse cysts`: a confidence benchmark of cysts in OCT volumes, built in steps."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from evaluation.cli.common import progress_bar, tell
from evaluation.core.fault import PhaseError
from evaluation.io.json_files import read_json
from evaluation.organiser.cli.shared import Parts, add_fused
from evaluation.organiser.cyst_benchmark.accuracy import write_accuracy
from evaluation.organiser.cyst_benchmark.assignment import write_assignment, write_partition
from evaluation.organiser.cyst_benchmark.combination import write_combination, write_comparison
from evaluation.organiser.cyst_benchmark.data import EvaluationSet, open_evaluation_set, read_strata
from evaluation.organiser.cyst_benchmark.transform import Interval, write_distinctions, write_transforms
from evaluation.organiser.output import write_report

Step = Literal["distinction", "transform", "accuracy", "comparison", "partition", "assignment", "combination"]
STEPS: tuple[Step, ...] = get_args(Step)


@dataclass(frozen=True)
class Benchmark:
    """The organiser's folder, the folder of tables, the phase folder to write, and the options."""

    folder: Path
    work: Path
    output: Path | None
    interval: Interval = "level"
    parts: int = 3
    seed: int = 0


def run_step(step: Step, benchmark: Benchmark) -> tuple[str, ...]:
    """Run one step from the tables of earlier ones; return warnings. Raises `PhaseError` with every fault."""
    folder, work, interval = benchmark.folder, benchmark.work, benchmark.interval
    work.mkdir(parents=True, exist_ok=True)

    def evaluation_set() -> EvaluationSet:
        return open_evaluation_set(folder, read_strata(folder))

    def combination() -> dict[str, object]:
        if benchmark.output is None:
            raise PhaseError("combination: expected a phase folder to write, found none")
        return write_combination(folder, work, benchmark.output, interval)

    run: Mapping[Step, Callable[[], dict[str, object]]] = {
        "distinction": lambda: write_distinctions(evaluation_set(), work),
        "transform": lambda: write_transforms(work),
        "accuracy": lambda: write_accuracy(evaluation_set(), work, interval),
        "comparison": lambda: write_comparison(evaluation_set(), work, interval),
        "partition": lambda: write_partition(folder, work, benchmark.parts, benchmark.seed),
        "assignment": lambda: write_assignment(work),
        "combination": combination,
    }
    said = run[step]()
    # The sections of later steps are outdated.
    report = work / "report.json"
    content: dict[str, object] = read_json(report) if report.exists() else {}
    known = {name: content[name] for name in STEPS[: STEPS.index(step)] if name in content}
    write_report(report, {**known, step: said})
    warnings = said.get("warnings", ())
    return tuple(map(str, warnings)) if isinstance(warnings, list) else ()


def add_part(parts: Parts) -> None:
    """Declare the part of `fuse` with its arguments."""
    parser = add_fused(parts, __package__, "cysts", "a confidence benchmark of cysts in OCT volumes")
    parser.set_defaults(fuse=_fuse)
    add = parser.add_argument
    add(
        "input",
        type=Path,
        metavar="FOLDER",
        help="phase.toml, volumes.csv, images/, evaluation.csv, evaluation/<annotator>/run1|run2/ and "
        "annotations/<annotator>/",
    )
    add("--report", type=Path, required=True, metavar="FOLDER", help="where every step writes its tables")
    add("--output", type=Path, metavar="FOLDER", help="the phase folder that the last step writes")
    add = parser.add_mutually_exclusive_group().add_argument
    add("--step", choices=STEPS, help="run only this step, from the tables of the earlier steps")
    words = "stop after this step, for example to inspect its tables"
    add("--until", choices=STEPS, default="combination", help=words)
    add = parser.add_argument
    add(
        "--interval",
        choices=["level", "cyst"],
        default="level",
        help="value of a marked voxel. level (default): the supervisor's mean distinction at that "
        "confidence; a and b of Eq. 2 change nothing then. cyst: the cyst's own distinction, transformed "
        "by a and b",
    )
    add("--parts", type=int, default=3, help="number of parts of the partition (default: 3)")
    add("--seed", type=int, default=0, help="random seed of the partition (default: 0)")


def _fuse(arguments: argparse.Namespace) -> list[Path]:
    """Run the chosen steps, print their warnings, and return the folders written. Raises `PhaseError`."""
    benchmark = Benchmark(
        folder=arguments.input,
        work=arguments.report,
        output=arguments.output,
        interval=arguments.interval,
        parts=arguments.parts,
        seed=arguments.seed,
    )
    steps = [arguments.step] if arguments.step else STEPS[: STEPS.index(arguments.until) + 1]
    if "combination" in steps and arguments.output is None:
        raise PhaseError("--output: expected a phase folder for the combination, found none")
    with progress_bar("steps", len(steps)) as progress:
        for done, step in enumerate(steps, start=1):
            for warning in run_step(step, benchmark):
                tell([f"warning: {step}: {warning}"])
            progress(done)
    return [arguments.report, *([arguments.output] if "combination" in steps else [])]
