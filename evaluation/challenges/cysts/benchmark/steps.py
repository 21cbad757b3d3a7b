"""Build the cyst benchmark from annotations to a phase folder, in steps that can be run one by one.

Input:

    images/<volume>.mha                            the OCT volumes (also .nii.gz, .tif)
    evaluation.csv                                 volume, b_scan (from 1): everyone annotates them twice
    evaluation/<annotator>/run1|run2/<volume>.mha  confidences 0 to 5; other B-scans are ignored
    evaluation/supervisor/run1|run2/<volume>.mha   the same by the expert, who is the reference
    volumes.csv                                    volume, vendor, quality_<annotator> … (high, medium or low)
    annotations/<annotator>/<volume>.mha           the benchmark itself, confidences 0 to 5
    phase.toml                                     of the phase to be built

The steps and the tables that they write. A table can be inspected and changed before the next step:

    distinction   distinctions.csv             every cyst of the evaluation set, Eq. 1
    transform     transforms.csv, levels.csv   annotators mapped to the supervisor, Eq. 2
    accuracy      accuracy.csv                 reproducibility and accuracy of every annotator, Eq. 3
    partition     partition.csv                parts with the same mix of vendors and qualities as the whole
    assignment    assignment.csv               two complementary annotators for every part
    combination   the phase folder             Eq. 4

Every step adds its section to `report.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.accuracy import Accuracy
from evaluation.challenges.cysts.benchmark.distinction import Range, cysts_of, distinctions
from evaluation.challenges.cysts.benchmark.evaluation_set import IMAGES, open_evaluation_set
from evaluation.challenges.cysts.benchmark.measures import (
    Interval,
    Scale,
    read_accuracy,
    read_scale,
    write_accuracy,
    write_distinctions,
    write_transforms,
)
from evaluation.challenges.cysts.benchmark.scans import Scan, scans_in
from evaluation.challenges.cysts.benchmark.task_assignment import (
    read_assignment,
    read_strata,
    write_assignment,
    write_partition,
)
from evaluation.challenges.cysts.benchmark.weighting import Marks, combine, nearest_level
from evaluation.challenges.cysts.rules import CHALLENGE
from evaluation.core.challenge import references_of
from evaluation.core.fault import PhaseError
from evaluation.io.kinds.volume import Volume
from evaluation.io.volumes.case_geometry import geometry_columns
from evaluation.io.volumes.header import Geometry, check_geometry
from evaluation.metrics.crop import Box, box_of_content
from evaluation.phase.config import FILE_NAME
from evaluation.phase.configuration import read_configuration
from evaluation.phase.output import whole_folder, write_report
from evaluation.phase.writer import SampleCase, write_phase
from evaluation.workers.reading import Progress, no_progress

Step = Literal["distinction", "transform", "accuracy", "partition", "assignment", "combination"]
STEPS: tuple[Step, ...] = get_args(Step)
_ANNOTATIONS, _REPORT = "annotations", "report.json"


@dataclass(frozen=True)
class Benchmark:
    """The organiser's folder, the folder of tables, the phase folder to write, and the options."""

    folder: Path
    work: Path
    output: Path | None
    interval: Interval = "level"
    parts: int = 3
    seed: int = 0


def run_step(step: Step, benchmark: Benchmark, progress: Progress = no_progress) -> None:
    """Run one step from the tables of the earlier steps. Raises `PhaseError` with every fault."""
    folder, work = benchmark.folder, benchmark.work
    work.mkdir(parents=True, exist_ok=True)
    if step == "distinction":
        said = write_distinctions(open_evaluation_set(folder), work)
    elif step == "transform":
        said = write_transforms(work)
    elif step == "accuracy":
        said = write_accuracy(open_evaluation_set(folder), work, benchmark.interval)
    elif step == "partition":
        said = write_partition(folder, work, benchmark.parts, benchmark.seed)
    elif step == "assignment":
        said = write_assignment(work)
    else:
        said = write_combination(benchmark, progress)
    _add_to_report(work / _REPORT, step, said)


def write_combination(benchmark: Benchmark, progress: Progress = no_progress) -> dict[str, object]:
    """Combine the annotators of every volume (Eq. 4) into a phase folder; return the report's section."""
    if benchmark.output is None:
        raise PhaseError("combination: expected a phase folder to write, found none")
    configuration = read_configuration(benchmark.folder, only=CHALLENGE.name)
    fields = references_of(configuration.tasks)
    scale, accuracies = read_scale(benchmark.work, benchmark.interval), read_accuracy(benchmark.work)
    strata = read_strata(benchmark.folder)
    annotations = _annotations(benchmark, list(strata), accuracies)
    images = scans_in(benchmark.folder / IMAGES)
    if missing := [name for name in strata if name not in images]:
        raise PhaseError(*(f"{benchmark.folder / IMAGES}/{name}: is missing" for name in missing))

    names = [field.name for field in fields]

    def cases() -> Iterator[SampleCase]:
        for done, (name, stratum) in enumerate(sorted(strata.items()), start=1):
            geometry = images[name].geometry()
            volumes = _combined(images[name], geometry, annotations[name], scale, accuracies, names)
            columns = {**geometry_columns(geometry), "vendor": stratum.vendor, "quality": stratum.quality}
            yield SampleCase(name, columns, volumes)
            progress(done)

    with whole_folder(benchmark.output) as phase:
        write_phase(phase, (benchmark.folder / FILE_NAME).read_text(encoding="utf-8"), fields, cases())
    return {
        "interval": benchmark.interval,
        "annotators_of_volumes": {
            name: list(volume_annotators) for name, volume_annotators in sorted(annotations.items())
        },
    }


def _annotations(
    benchmark: Benchmark, volumes: Sequence[str], accuracies: Mapping[str, Accuracy]
) -> dict[str, dict[str, Scan]]:
    """Return the volumes of confidences by volume and annotator. Raises `PhaseError` where one is missing."""
    assigned = read_assignment(benchmark.work)
    folder = benchmark.folder / _ANNOTATIONS
    scans = {path.name: scans_in(path) for path in sorted(folder.iterdir())} if folder.is_dir() else {}
    problems = [
        f"{folder / annotator}: expected one of the annotators of the evaluation set, found {annotator!r}"
        for annotator in scans
        if annotator not in accuracies
    ]
    for name in volumes:
        if name not in assigned:
            problems.append(f"{name}: expected to be in a part, found in none; repeat the partition step")
        problems += [
            f"{folder / annotator}/{name}: is missing; {annotator} was assigned to it"
            for annotator in assigned.get(name, ())
            if name not in scans.get(annotator, {})
        ]
    if problems:
        raise PhaseError(*problems)
    return {
        name: {
            annotator: annotator_scans[name]
            for annotator, annotator_scans in scans.items()
            if name in annotator_scans
        }
        for name in volumes
    }


def _combined(
    image: Scan,
    geometry: Geometry,
    annotators: Mapping[str, Scan],
    scale: Scale,
    accuracies: Mapping[str, Accuracy],
    fields: Sequence[str],
) -> dict[str, Volume]:
    """Return the reference of one volume by field: confidence, level, and single annotators on request."""
    for scan in annotators.values():
        if problems := check_geometry(scan.geometry(), geometry):
            raise PhaseError(*(str(problem.fault(str(scan.path))) for problem in problems))
    confidence = np.zeros(geometry.shape, dtype=np.float32)
    level = np.zeros(geometry.shape, dtype=np.uint8)
    single = {
        annotator: np.zeros(geometry.shape, dtype=np.uint8)
        for annotator in annotators
        if f"reader_{annotator}" in fields
    }
    measured = scale.interval == "cyst"
    intensities = image.intensities() if measured else Range(0.0, 0.0)
    planes = image.planes() if measured else iter(level)
    streams = [scan.planes() for scan in annotators.values()]
    for z, (intensity, *annotator_planes) in enumerate(zip(planes, *streams, strict=True)):
        levels = {
            annotator: scan.levels(plane, z + 1)
            for (annotator, scan), plane in zip(annotators.items(), annotator_planes, strict=True)
        }
        for annotator, annotator_scans in single.items():
            annotator_scans[z] = levels[annotator]
        # Nothing is marked outside of the box.
        box = reduce(Box.union, map(box_of_content, levels.values())).slices
        marks = [
            Marks(
                annotator_scans[box],
                _values(scale, annotator, annotator_scans, intensity, intensities)[box],
                accuracies[annotator],
            )
            for annotator, annotator_scans in levels.items()
        ]
        marked = np.logical_or.reduce([annotator_scans.levels > 0 for annotator_scans in marks])
        if marked.any():
            combined = combine(marks)
            confidence[z][box], level[z][box] = combined, nearest_level(combined, marked, scale.levels)
    volumes: dict[str, NDArray[Any]] = {"cysts": confidence, "level": level}
    volumes |= {f"reader_{annotator}": levels for annotator, levels in single.items()}
    return {name: Volume(values, geometry) for name, values in volumes.items()}


def _values(
    scale: Scale, annotator: str, levels: NDArray[np.uint8], image: NDArray[np.generic], intensities: Range
) -> NDArray[np.float64]:
    if scale.interval == "level":
        return scale.values(annotator, levels, (), ())
    cysts = cysts_of(levels)
    return scale.values(annotator, levels, cysts, distinctions(image, levels, cysts, intensities))


def _add_to_report(path: Path, step: Step, said: Mapping[str, object]) -> None:
    """Add a step's section to the report, and remove the sections of later steps, which are outdated."""
    content: dict[str, object] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known = {name: content[name] for name in STEPS[: STEPS.index(step)] if name in content}
    write_report(path, {**known, step: said})
