"""The steps `combination` and `comparison`: several annotators as one reference (Eq. 4)."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.rules import CHALLENGE
from evaluation.core.challenge import references_of
from evaluation.core.fault import PhaseError
from evaluation.io.kinds.volume import Volume
from evaluation.io.volume_header import Geometry, geometry_columns
from evaluation.metrics.arrays import Floats
from evaluation.metrics.crops import around, content_of
from evaluation.organiser.cyst_benchmark import accuracy, data, transform
from evaluation.organiser.cyst_benchmark.accuracy import ValuedBScan
from evaluation.organiser.cyst_benchmark.assignment import read_assignment
from evaluation.organiser.cyst_benchmark.transform import Interval, Scale
from evaluation.organiser.output import whole_folder, write_rows
from evaluation.organiser.submission_writer import SampleCase, write_phase
from evaluation.phase.config import FILE_NAME
from evaluation.phase.registry import read_configuration

# --- Combine the marks of several annotators to one confidence per voxel (Eq. 4 of the cyst benchmark) ---


def combine(levels: NDArray[np.uint8], values: Floats, weights: Floats) -> Floats:
    """Return Σ w·A / Σ w over the annotators, voxel by voxel (Eq. 4); 0 where Σ w is 0.

    levels, values, weights: shape (annotators, y, x), confidences 0 to 5 and the value and the weight (see
    `weights_at`) of every voxel; at confidence 0 the value is 0. A marked voxel with Σ w > 0 gets at least
    0.01, so that it differs from voxels that nobody marked.
    """
    combined = weighted_mean(weights, values)
    marked = (levels > 0).any(axis=0) & weights.any(axis=0)
    combined[marked] = np.maximum(combined[marked], transform.LOWEST)
    return combined


def weights_at(levels: NDArray[np.uint8], accuracies: Sequence[Floats]) -> Floats:
    """Return each annotator's accuracy at the confidence of every voxel; at 0 the overall one."""
    own = zip(accuracies, levels, strict=True)
    return np.stack([accuracy.weights_of(of_one)[at] for of_one, at in own])


def weighted_mean(weights: Floats, values: NDArray[Any]) -> Floats:
    """Return Σ w·v / Σ w over the annotators, 0 where Σ w is 0; their order does not matter."""
    # Sorted, so that rounding does not depend on the order of the annotators.
    total = np.sort(weights, axis=0).sum(axis=0)
    weighted = np.sort(weights * values, axis=0).sum(axis=0)
    mean: Floats = np.divide(weighted, total, out=np.zeros_like(total), where=total > 0)
    # Rounding must not leave the range of the annotators' values.
    return np.clip(mean, np.where(total > 0, values.min(axis=0), 0.0), values.max(axis=0))


def nearest_level(
    confidence: Floats, mean_level: Floats, marked: NDArray[np.bool_], levels: Mapping[int, float]
) -> NDArray[np.uint8]:
    """Return the level with the value nearest to a combined confidence, 0 for unmarked voxels.

    ``levels`` is the supervisor's value by confidence. Levels that isotonic regression has tied have one
    value; of these the one nearest to ``mean_level``, the weighted mean of the annotators' own, is returned,
    so that none is lost. Of two equally near values or levels the lower one is returned.
    """
    numbers = np.array(data.CONFIDENCES)
    values = np.array([levels[c] for c in data.CONFIDENCES])
    distinct = np.unique(values)
    value = distinct[np.abs(confidence[marked][:, np.newaxis] - distinct).argmin(axis=1)]
    distance = np.abs(mean_level[marked][:, np.newaxis] - numbers)
    distance[value[:, np.newaxis] != values] = np.inf
    found = np.zeros(confidence.shape, dtype=np.uint8)
    found[marked] = numbers[distance.argmin(axis=1)]
    return found


def lost_levels(combined: Counter[int], annotators: Mapping[str, Counter[int]]) -> list[str]:
    """Return a line for every level that annotators marked and the combined level does not have.

    combined, annotators: numbers of voxels by level, of the combined one and of every annotator.
    """
    marked = sum(annotators.values(), Counter[int]())
    return [
        f"level {level} is lost: annotators marked {marked[level]} voxels with it, and none has it in "
        "the combined level, because others marked these voxels differently or not at all"
        for level in data.CONFIDENCES
        if marked[level] and not combined[level]
    ]


# --- The step `combination`: the annotators of every volume combined into the reference of a phase ---

ANNOTATIONS = "annotations"
_COMBINED = ""
"""The combined level beside the names of annotators."""


def write_combination(folder: Path, work: Path, output: Path, interval: Interval) -> dict[str, object]:
    """Combine the annotators of every volume (Eq. 4) into a phase folder; return the report's section."""
    configuration = read_configuration(folder, only=CHALLENGE.name)
    fields = references_of(configuration.tasks)
    scale, accuracies = transform.read_scale(work, interval), accuracy.read_accuracy(work)
    strata = data.read_strata(folder)
    annotations = _annotations(folder, work, list(strata), accuracies)
    images = data.images_of(folder, strata)

    names = [field.name for field in fields]
    voxels: dict[str, Counter[int]] = defaultdict(Counter)

    def cases() -> Iterator[SampleCase]:
        for name, stratum in sorted(strata.items()):
            geometry = images[name].geometry()
            volumes = _combined(images[name], geometry, annotations[name], scale, accuracies, names, voxels)
            columns = {**geometry_columns(geometry), "vendor": stratum.vendor, "quality": stratum.quality}
            yield SampleCase(name, columns, volumes)

    with whole_folder(output) as phase:
        write_phase(phase, (folder / FILE_NAME).read_text(encoding="utf-8"), fields, cases())
    combined = voxels.pop(_COMBINED, Counter())
    return {
        "interval": interval,
        "voxels_of_levels": {
            "combined": _by_level(combined),
            "annotators": {name: _by_level(of_one) for name, of_one in sorted(voxels.items())},
        },
        "warnings": lost_levels(combined, voxels),
        "annotators_of_volumes": {name: list(found) for name, found in sorted(annotations.items())},
    }


def _by_level(voxels: Counter[int]) -> dict[int, int]:
    return {level: voxels[level] for level in data.CONFIDENCES}


def _annotations(
    folder: Path, work: Path, volumes: Sequence[str], accuracies: Mapping[str, Floats]
) -> dict[str, dict[str, data.Scan]]:
    """Return the volumes of confidences by volume and annotator. Raises `PhaseError` where one is missing."""
    assigned = read_assignment(work)
    folder = folder / ANNOTATIONS
    scans = {path.name: data.scans_in(path) for path in sorted(folder.iterdir())} if folder.is_dir() else {}
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
    PhaseError.raise_all(problems)
    return {
        name: {annotator: found[name] for annotator, found in scans.items() if name in found}
        for name in volumes
    }


def _combined(
    image: data.Scan,
    geometry: Geometry,
    annotators: Mapping[str, data.Scan],
    scale: Scale,
    accuracies: Mapping[str, Floats],
    fields: Sequence[str],
    voxels: dict[str, Counter[int]],
) -> dict[str, Volume]:
    """Return the reference of one volume by field: confidence, level, and single annotators on request."""
    PhaseError.raise_all([one for scan in annotators.values() for one in scan.faults_of_geometry(geometry)])
    confidence = np.zeros(geometry.shape, dtype=np.float32)
    level = np.zeros(geometry.shape, dtype=np.uint8)
    single = {
        annotator: np.zeros(geometry.shape, dtype=np.uint8)
        for annotator in annotators
        if f"reader_{annotator}" in fields
    }
    measured = scale.interval == "cyst"
    intensities = image.intensities() if measured else (0.0, 0.0)
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
        box = around(*map(content_of, levels.values())).slices
        values = []
        for annotator, marked_levels in levels.items():
            cysts = data.cysts_of(marked_levels) if measured else []
            distinctions = data.distinctions(intensity, marked_levels, cysts, intensities)
            values.append(scale.values(annotator, marked_levels, cysts, distinctions)[box])
        marks = np.stack([of_one[box] for of_one in levels.values()])
        marked = np.logical_or.reduce(marks > 0)
        if marked.any():
            weights = weights_at(marks, [accuracies[annotator] for annotator in levels])
            combined = combine(marks, np.stack(values), weights)
            confidence[z][box] = combined
            level[z][box] = nearest_level(combined, weighted_mean(weights, marks), marked, scale.levels)
            for name, of_one in {_COMBINED: level[z], **levels}.items():
                voxels[name].update(of_one[box][of_one[box] > 0].tolist())
    volumes: dict[str, NDArray[Any]] = {"cysts": confidence, "level": level}
    volumes |= {f"reader_{annotator}": levels for annotator, levels in single.items()}
    return {name: Volume(values, geometry) for name, values in volumes.items()}


# --- The step `comparison`: Eq. 4 and the plain average against the supervisor, on the evaluation set ---

COMBINATIONS = "combinations.csv"
ALONE, WEIGHTED, AVERAGE = "alone", "weighted", "average"
_OF_COMBINATION = ("readers", "method", "overall", *accuracy.BY_CONFIDENCE)

Members = tuple[str, ...]


def groups_of_annotators(annotators: Sequence[str]) -> list[Members]:
    """Return every annotator alone, every pair, and all together."""
    pairs = [*combinations(annotators, 1), *combinations(annotators, 2)]
    return list(dict.fromkeys([*pairs, tuple(annotators)]))


def write_comparison(evaluation_set: data.EvaluationSet, work: Path, interval: Interval) -> dict[str, object]:
    """Score every combination of annotators against the supervisor; return the report's section.

    Every annotator alone, every pair, and all of them together are scored as the annotators are (Eq. 3). Each
    run is combined by itself, as the benchmark's single annotations are, and the two results are averaged.
    The weights were estimated on the same B-scans. Source: section 3, Figs. 9 to 12.
    """
    scale, accuracies = transform.read_scale(work, interval), accuracy.read_accuracy(work)
    measured = transform.read_distinctions(work)
    if unknown := sorted(set(evaluation_set.annotators) - set(accuracies)):
        raise PhaseError(f"{work}: expected the accuracy of {unknown[0]}, found none; repeat that step")
    sums: dict[tuple[Members, str], Floats] = defaultdict(lambda: np.zeros(accuracy.SUMS))
    for annotated in evaluation_set:
        b_scan = accuracy.valued(annotated, scale, measured)
        truth = b_scan.mean(data.SUPERVISOR)
        for members in groups_of_annotators(evaluation_set.annotators):
            for method, values in combined_values(b_scan, members, accuracies).items():
                sums[members, method] += b_scan.similarity_sums(values, truth, *members, data.SUPERVISOR)
    rows = [
        ("+".join(members), method, *accuracy.similarities_of(sums[members, method]))
        for members, method in sorted(sums, key=lambda at: (len(at[0]), *at))
    ]
    write_rows(work / COMBINATIONS, _OF_COMBINATION, rows)
    return {"interval": interval, "note": "the weights of Eq. 4 were estimated on the same B-scans"}


def combined_values(
    b_scan: ValuedBScan, members: Members, accuracies: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Return the values (y, x) of some annotators together, by method: one alone, or both ways to combine."""
    average = sum((b_scan.mean(name) for name in members), np.zeros_like(b_scan.mean(data.SUPERVISOR)))
    methods: dict[str, Floats] = {ALONE if len(members) == 1 else AVERAGE: average / len(members)}
    if len(members) > 1:
        runs = []
        for run in data.RUNS:
            levels = np.stack([b_scan.levels[name, run] for name in members])
            values = np.stack([b_scan.values[name, run] for name in members])
            runs.append(combine(levels, values, weights_at(levels, [accuracies[name] for name in members])))
        methods[WEIGHTED] = (runs[0] + runs[1]) / 2
    return methods
