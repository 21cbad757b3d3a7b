"""Build the cyst benchmark from annotations to a phase folder, in steps that can be run one by one.

Input:

    images/<volume>.mha                            the OCT volumes (also .nii.gz, .tif)
    evaluation.csv                                 volume, b_scan (from 1): everyone annotates them twice
    evaluation/<annotator>/run1|run2/<volume>.mha  confidences 0 to 5; other B-scans are ignored
    evaluation/supervisor/run1|run2/<volume>.mha   the same by the expert, who is the reference
    volumes.csv                                    volume, vendor, quality_<annotator> … (high, medium or low)
    annotations/<annotator>/<volume>.mha           the benchmark itself, confidences 0 to 5
    phase.toml                                     of the phase to be built

The steps and the tables that they write. A table can be inspected and changed before the next step; tables in
brackets are for inspection only:

    distinction   distinctions.csv             every cyst of the evaluation set, Eq. 1
                  (histograms.csv)             of every cyst and its ring, Fig. 5
    transform     transforms.csv, levels.csv   annotators mapped to the supervisor, Eq. 2
                  (transformed.csv)            every cyst's distinction before and after
                  (distributions.csv)          their histograms, Fig. 6
                  (intervals.csv)              between neighbouring confidences, Fig. 7
    accuracy      accuracy.csv                 reproducibility and accuracy of every annotator, Eq. 3
                  (accuracy_by_group.csv)      by vendor and by quality
                  (interval_effect.csv)        under both values of --interval
    comparison    (combinations.csv)           Eq. 4 and plain averages against the supervisor, Figs. 9 to 12
    partition     partition.csv                parts with the same mix of vendors and qualities as the whole
                  (scanners.csv)               sizes and resolutions, Table 1
    assignment    assignment.csv               two complementary annotators for every part
                  (workload.csv)               B-scans and hours of every annotator
    combination   the phase folder             Eq. 4

With --interval level, the a and b of transforms.csv change nothing: Eq. 2 gives every annotator's
distribution the supervisor's mean, which is then the value. interval_effect.csv shows what --interval cyst,
which uses them, would change.

Every step adds its section to `report.json`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from evaluation.core.fault import PhaseError
from evaluation.core.outcome import Progress, no_progress
from evaluation.io.json_files import read_json
from evaluation.organiser.cyst_benchmark.accuracy import write_accuracy
from evaluation.organiser.cyst_benchmark.assignment import (
    MINUTES_PER_B_SCAN,
    write_assignment,
    write_partition,
)
from evaluation.organiser.cyst_benchmark.combination import write_combination, write_comparison
from evaluation.organiser.cyst_benchmark.data import B_SCANS_EACH, open_evaluation_set, read_strata
from evaluation.organiser.cyst_benchmark.transform import Interval, write_distinctions, write_transforms
from evaluation.organiser.output import write_report

Step = Literal["distinction", "transform", "accuracy", "comparison", "partition", "assignment", "combination"]
STEPS: tuple[Step, ...] = get_args(Step)


@dataclass(frozen=True)
class Benchmark:
    """The organiser's folder, the folder of tables, the phase folder to write, and the options.

    ``b_scans_each``: of every volume in the evaluation set; 0 allows any number. ``minutes``: that one
    annotator needs for one B-scan.
    """

    folder: Path
    work: Path
    output: Path | None
    interval: Interval = "level"
    parts: int = 3
    seed: int = 0
    b_scans_each: int = B_SCANS_EACH
    minutes: float = MINUTES_PER_B_SCAN


def run_step(step: Step, benchmark: Benchmark, progress: Progress = no_progress) -> tuple[str, ...]:
    """Run one step from the tables of earlier ones; return warnings. Raises `PhaseError` with every fault."""
    folder, work, interval = benchmark.folder, benchmark.work, benchmark.interval
    work.mkdir(parents=True, exist_ok=True)
    if step in ("distinction", "accuracy", "comparison"):
        strata = read_strata(folder)
        evaluation_set = open_evaluation_set(folder, strata, benchmark.b_scans_each)
    if step == "distinction":
        said = write_distinctions(evaluation_set, work)
    elif step == "transform":
        said = write_transforms(work)
    elif step == "accuracy":
        said = write_accuracy(evaluation_set, strata, work, interval)
    elif step == "comparison":
        said = write_comparison(evaluation_set, strata, work, interval)
    elif step == "partition":
        said = write_partition(folder, work, benchmark.parts, benchmark.seed)
    elif step == "assignment":
        said = write_assignment(work, benchmark.minutes)
    else:
        if benchmark.output is None:
            raise PhaseError("combination: expected a phase folder to write, found none")
        said = write_combination(folder, work, benchmark.output, interval, progress)
    # The sections of later steps are outdated.
    report = work / "report.json"
    content: dict[str, object] = read_json(report) if report.exists() else {}
    known = {name: content[name] for name in STEPS[: STEPS.index(step)] if name in content}
    write_report(report, {**known, step: said})
    warnings = said.get("warnings", ())
    return tuple(map(str, warnings)) if isinstance(warnings, list) else ()
