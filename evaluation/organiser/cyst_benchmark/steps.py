"""Build the cyst benchmark from annotations to a phase folder, in steps that can be run one by one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from evaluation.core.fault import PhaseError
from evaluation.io.json_files import read_json
from evaluation.organiser.cyst_benchmark import assignment
from evaluation.organiser.cyst_benchmark.accuracy import write_accuracy
from evaluation.organiser.cyst_benchmark.combination import write_combination, write_comparison
from evaluation.organiser.cyst_benchmark.data import B_SCANS_EACH, open_evaluation_set, read_strata
from evaluation.organiser.cyst_benchmark.transform import Interval, write_distinctions, write_transforms
from evaluation.organiser.output import write_report

Step = Literal["distinction", "transform", "accuracy", "comparison", "partition", "assignment", "combination"]
STEPS: tuple[Step, ...] = get_args(Step)


@dataclass(frozen=True)
class Benchmark:
    """The organiser's folder, the folder of tables, the phase folder to write, and the options.

    ``b_scans_each``: of every volume in the evaluation set; 0 allows any number.
    """

    folder: Path
    work: Path
    output: Path | None
    interval: Interval = "level"
    parts: int = 3
    seed: int = 0
    b_scans_each: int = B_SCANS_EACH


def run_step(step: Step, benchmark: Benchmark) -> tuple[str, ...]:
    """Run one step from the tables of earlier ones; return warnings. Raises `PhaseError` with every fault."""
    folder, work, interval = benchmark.folder, benchmark.work, benchmark.interval
    work.mkdir(parents=True, exist_ok=True)
    if step in ("distinction", "accuracy", "comparison"):
        evaluation_set = open_evaluation_set(folder, read_strata(folder), benchmark.b_scans_each)
    if step == "distinction":
        said = write_distinctions(evaluation_set, work)
    elif step == "transform":
        said = write_transforms(work)
    elif step == "accuracy":
        said = write_accuracy(evaluation_set, work, interval)
    elif step == "comparison":
        said = write_comparison(evaluation_set, work, interval)
    elif step == "partition":
        said = assignment.write_partition(folder, work, benchmark.parts, benchmark.seed)
    elif step == "assignment":
        assignment.write_assignment(work)
        said = {}
    else:
        if benchmark.output is None:
            raise PhaseError("combination: expected a phase folder to write, found none")
        said = write_combination(folder, work, benchmark.output, interval)
    # The sections of later steps are outdated.
    report = work / "report.json"
    content: dict[str, object] = read_json(report) if report.exists() else {}
    known = {name: content[name] for name in STEPS[: STEPS.index(step)] if name in content}
    write_report(report, {**known, step: said})
    warnings = said.get("warnings", ())
    return tuple(map(str, warnings)) if isinstance(warnings, list) else ()
