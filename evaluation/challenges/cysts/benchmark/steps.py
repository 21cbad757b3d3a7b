"""The cyst benchmark, from readers' annotations to a phase folder, in steps that can be run one by one.

What is read:

    images/<volume>.mha                          the OCT volumes (also .nii.gz, .tif)
    evaluation.csv                               volume, b_scan (from 1 on): what everybody annotates twice
    evaluation/<reader>/run1|run2/<volume>.mha   confidences 0 to 5; other B-scans are not looked at
    evaluation/supervisor/run1|run2/…            the same by the expert whom the readers are measured against
    volumes.csv                                  volume, vendor, quality_<reader> … (high, medium or low)
    annotations/<reader>/<volume>.mha            the benchmark itself, confidences 0 to 5
    phase.toml                                   of the phase that is to be

The steps and the tables that each leaves, which may be looked at and changed before the next:

    distinction   distinctions.csv             every cyst of the evaluation set, Eq. 1
    transform     transforms.csv, levels.csv   readers mapped to the supervisor, Eq. 2
    accuracy      accuracy.csv                 reproducibility and accuracy of every reader, Eq. 3
    partition     partition.csv                parts that are small copies of the whole
    assignment    assignment.csv               two complementary readers for every part
    combination   the phase folder             Eq. 4

Every step adds what is to be said of it to `report.json`.
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
from evaluation.io.kinds.volume import Volume, geometry_columns
from evaluation.io.volumes.header import Geometry, check_geometry
from evaluation.metrics.crop import Box, box_of_content
from evaluation.phase.config import FILE_NAME, read_configuration
from evaluation.phase.output import whole_folder, write_report
from evaluation.phase.writer import SampleCase, write_phase
from evaluation.workers.reading import Progress, no_progress

Step = Literal["distinction", "transform", "accuracy", "partition", "assignment", "combination"]
STEPS: tuple[Step, ...] = get_args(Step)
_ANNOTATIONS, _REPORT = "annotations", "report.json"


@dataclass(frozen=True)
class Benchmark:
    """What is built: the organiser's folder, the working folder, the phase folder, and the choices."""

    folder: Path
    work: Path
    output: Path | None
    interval: Interval = "level"
    parts: int = 3
    seed: int = 0


def run_step(step: Step, benchmark: Benchmark, progress: Progress = no_progress) -> None:
    """Run one step, whose predecessors have left their tables. Raises `PhaseError` with what is wrong."""
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
    """Combine the readers of every volume (Eq. 4) into a phase folder; return what the report says of it."""
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
        "readers_of_volumes": {
            name: list(volume_annotators) for name, volume_annotators in sorted(annotations.items())
        },
    }


def _annotations(
    benchmark: Benchmark, volumes: Sequence[str], accuracies: Mapping[str, Accuracy]
) -> dict[str, dict[str, Scan]]:
    """Return the volumes of confidences by volume and reader; the assigned readers must all be there."""
    assigned = read_assignment(benchmark.work)
    folder = benchmark.folder / _ANNOTATIONS
    scans = {path.name: scans_in(path) for path in sorted(folder.iterdir())} if folder.is_dir() else {}
    problems = [
        f"{folder / reader}: expected one of the readers of the evaluation set, found {reader!r}"
        for reader in scans
        if reader not in accuracies
    ]
    for name in volumes:
        if name not in assigned:
            problems.append(f"{name}: expected to be in a part, found in none; repeat the partition step")
        problems += [
            f"{folder / reader}/{name}: is missing, which {reader} was to annotate"
            for reader in assigned.get(name, ())
            if name not in scans.get(reader, {})
        ]
    if problems:
        raise PhaseError(*problems)
    return {
        name: {
            reader: annotator_scans[name]
            for reader, annotator_scans in scans.items()
            if name in annotator_scans
        }
        for name in volumes
    }


def _combined(
    image: Scan,
    geometry: Geometry,
    readers: Mapping[str, Scan],
    scale: Scale,
    accuracies: Mapping[str, Accuracy],
    fields: Sequence[str],
) -> dict[str, Volume]:
    """Return the reference of one volume by field: confidence, level, and single readers where asked for."""
    for scan in readers.values():
        if problems := check_geometry(scan.geometry(), geometry):
            raise PhaseError(*(str(problem.fault(str(scan.path))) for problem in problems))
    confidence = np.zeros(geometry.shape, dtype=np.float32)
    level = np.zeros(geometry.shape, dtype=np.uint8)
    single = {
        reader: np.zeros(geometry.shape, dtype=np.uint8) for reader in readers if f"reader_{reader}" in fields
    }
    measured = scale.interval == "cyst"
    intensities = image.intensities() if measured else Range(0.0, 0.0)
    planes = image.planes() if measured else iter(level)
    streams = [scan.planes() for scan in readers.values()]
    for z, (intensity, *annotator_planes) in enumerate(zip(planes, *streams, strict=True)):
        levels = {
            reader: scan.levels(plane, z + 1)
            for (reader, scan), plane in zip(readers.items(), annotator_planes, strict=True)
        }
        for reader, annotator_scans in single.items():
            annotator_scans[z] = levels[reader]
        # Outside of the box nobody marked anything.
        box = reduce(Box.union, map(box_of_content, levels.values())).slices
        marks = [
            Marks(
                annotator_scans[box],
                _values(scale, reader, annotator_scans, intensity, intensities)[box],
                accuracies[reader],
            )
            for reader, annotator_scans in levels.items()
        ]
        marked = np.logical_or.reduce([annotator_scans.levels > 0 for annotator_scans in marks])
        if marked.any():
            combined = combine(marks)
            confidence[z][box], level[z][box] = combined, nearest_level(combined, marked, scale.levels)
    volumes: dict[str, NDArray[Any]] = {"cysts": confidence, "level": level}
    volumes |= {f"reader_{reader}": levels for reader, levels in single.items()}
    return {name: Volume(values, geometry) for name, values in volumes.items()}


def _values(
    scale: Scale, reader: str, levels: NDArray[np.uint8], image: NDArray[np.generic], intensities: Range
) -> NDArray[np.float64]:
    if scale.interval == "level":
        return scale.values(reader, levels, (), ())
    cysts = cysts_of(levels)
    return scale.values(reader, levels, cysts, distinctions(image, levels, cysts, intensities))


def _add_to_report(path: Path, step: Step, said: Mapping[str, object]) -> None:
    """Add a step to the report; what earlier runs said of later steps is no longer true and is left out."""
    content: dict[str, object] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known = {name: content[name] for name in STEPS[: STEPS.index(step)] if name in content}
    write_report(path, {**known, step: said})
