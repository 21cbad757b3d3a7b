"""The step `combination`: the annotators of every volume combined into the reference of a phase (Eq. 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.accuracy import Accuracy
from evaluation.challenges.cysts.benchmark.accuracy_step import read_accuracy
from evaluation.challenges.cysts.benchmark.distinction import Range, cysts_of, distinctions
from evaluation.challenges.cysts.benchmark.evaluation_set import IMAGES
from evaluation.challenges.cysts.benchmark.level_counts import LevelCounts
from evaluation.challenges.cysts.benchmark.scale import Interval, Scale, read_scale
from evaluation.challenges.cysts.benchmark.scans import Scan, scans_in
from evaluation.challenges.cysts.benchmark.task_assignment import read_assignment
from evaluation.challenges.cysts.benchmark.volume_table import read_strata
from evaluation.challenges.cysts.benchmark.weighting import Marks, combine, mean_levels, nearest_level
from evaluation.challenges.cysts.rules import CHALLENGE
from evaluation.core.challenge import references_of
from evaluation.core.fault import PhaseError
from evaluation.io.kinds.volume import Volume
from evaluation.io.volumes.case_geometry import geometry_columns
from evaluation.io.volumes.header import Geometry, check_geometry
from evaluation.metrics.crops import Box, box_of_content
from evaluation.phase.config import FILE_NAME
from evaluation.phase.configuration import read_configuration
from evaluation.phase.output import whole_folder
from evaluation.phase.writer import SampleCase, write_phase
from evaluation.workers.progress import Progress, no_progress

ANNOTATIONS = "annotations"


def write_combination(
    folder: Path, work: Path, output: Path, interval: Interval, progress: Progress = no_progress
) -> dict[str, object]:
    """Combine the annotators of every volume (Eq. 4) into a phase folder; return the report's section."""
    configuration = read_configuration(folder, only=CHALLENGE.name)
    fields = references_of(configuration.tasks)
    scale, accuracies = read_scale(work, interval), read_accuracy(work)
    strata = read_strata(folder)
    annotations = _annotations(folder, work, list(strata), accuracies)
    images = scans_in(folder / IMAGES)
    if missing := [name for name in strata if name not in images]:
        raise PhaseError(*(f"{folder / IMAGES}/{name}: is missing" for name in missing))

    names = [field.name for field in fields]
    counts = LevelCounts()

    def cases() -> Iterator[SampleCase]:
        for done, (name, stratum) in enumerate(sorted(strata.items()), start=1):
            geometry = images[name].geometry()
            volumes = _combined(images[name], geometry, annotations[name], scale, accuracies, names, counts)
            columns = {**geometry_columns(geometry), "vendor": stratum.vendor, "quality": stratum.quality}
            yield SampleCase(name, columns, volumes)
            progress(done)

    with whole_folder(output) as phase:
        write_phase(phase, (folder / FILE_NAME).read_text(encoding="utf-8"), fields, cases())
    return {
        "interval": interval,
        "voxels_of_levels": {
            "combined": counts.combined.by_level(),
            "annotators": {name: voxels.by_level() for name, voxels in sorted(counts.annotators.items())},
        },
        "warnings": counts.warnings(),
        "annotators_of_volumes": {
            name: list(volume_annotators) for name, volume_annotators in sorted(annotations.items())
        },
    }


def _annotations(
    folder: Path, work: Path, volumes: Sequence[str], accuracies: Mapping[str, Accuracy]
) -> dict[str, dict[str, Scan]]:
    """Return the volumes of confidences by volume and annotator. Raises `PhaseError` where one is missing."""
    assigned = read_assignment(work)
    folder = folder / ANNOTATIONS
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
    counts: LevelCounts,
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
            confidence[z][box] = combined
            level[z][box] = nearest_level(combined, mean_levels(marks), marked, scale.levels)
            counts.add(level[z][box], {name: of_one[box] for name, of_one in levels.items()})
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
