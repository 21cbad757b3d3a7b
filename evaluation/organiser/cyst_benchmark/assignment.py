"""The steps that distribute the work: parts, and two complementary annotators for each."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evaluation.core.fault import PhaseError
from evaluation.metrics.arrays import Floats
from evaluation.organiser.cyst_benchmark import data
from evaluation.organiser.cyst_benchmark.accuracy import read_accuracy, weights_of
from evaluation.organiser.output import write_rows
from evaluation.phase.cases import organiser_table

Pair = tuple[str, str]


def assign(accuracies: Mapping[str, Floats], parts: int) -> tuple[Pair, ...]:
    """Return a pair of annotators for every part.

    The numbers of parts per annotator differ by one at most. Of these assignments the one with the highest
    sum of `complementarity` is chosen; of equal ones, the first in the order of `pairs`. With three
    annotators and three parts, every pair has one part. Raises `ValueError` for fewer than two annotators.
    """
    candidates = pairs(tuple(accuracies))
    if not candidates:
        raise ValueError(f"annotators: expected at least 2, found {len(accuracies)}")
    gains = [complementarity(accuracies[first], accuracies[second]) for first, second in candidates]
    fewest, rest = divmod(2 * parts, len(accuracies))
    best_left = [max(gains[position:]) for position in range(len(gains))]
    load = dict.fromkeys(accuracies, 0)
    chosen: list[int] = []
    best: tuple[float, tuple[int, ...]] = (-math.inf, ())

    def search(first: int) -> None:
        """Try every multiset of pairs, in order, that can still become balanced and the best."""
        nonlocal best
        left = parts - len(chosen)
        if not left:
            # Exact sums, so that equal sums of different terms are ties.
            value = math.fsum(gains[position] for position in chosen)
            if value > best[0] and sum(count > fewest for count in load.values()) == rest:
                best = (value, tuple(chosen))
            return
        missing = sum(max(0, fewest - count) for count in load.values())
        if missing > 2 * left:
            return
        for position in range(first, len(candidates)):
            bound = math.fsum([*(gains[i] for i in chosen), left * best_left[position]])
            if bound <= best[0]:
                return
            one, other = candidates[position]
            if max(load[one], load[other]) < fewest + (rest > 0):
                load[one], load[other] = load[one] + 1, load[other] + 1
                chosen.append(position)
                search(position)
                chosen.pop()
                load[one], load[other] = load[one] - 1, load[other] - 1

    search(0)
    return tuple(candidates[position] for position in best[1])


def complementarity(first: Floats, second: Floats) -> float:
    """Return the sum over the confidences of the better accuracy of two annotators."""
    return math.fsum(np.maximum(weights_of(first), weights_of(second))[1:])


def pairs(annotators: Sequence[str]) -> tuple[Pair, ...]:
    """Return all pairs: first neighbours in the circle of annotators, then annotators two apart, and so on.

    Three annotators give 1+2, 2+3 and 1+3, the order in the cyst benchmark.
    """
    count = len(annotators)
    found: dict[Pair, None] = {}
    for gap in range(1, count // 2 + 1):
        for start in range(count):
            first, second = sorted((start, (start + gap) % count))
            found[annotators[first], annotators[second]] = None
    return tuple(found)


PARTITION, ASSIGNMENT, WORKLOAD = "partition.csv", "assignment.csv", "workload.csv"

_OF_VOLUME = ("volume", "vendor", "quality", "part", "b_scans")
_OF_PART = ("part", "reader_1", "reader_2", "volumes", "b_scans", "complementarity")
_OF_WORKLOAD = ("reader", "parts", "volumes", "b_scans")
_MAX_PARTS = 1000
_MAX_B_SCANS = 100_000


def write_partition(folder: Path, work: Path, parts: int, seed: int) -> dict[str, object]:
    """Divide the volumes into parts; return the report's section."""
    strata = data.read_strata(folder)
    if not 1 <= parts <= min(len(strata), _MAX_PARTS):
        raise PhaseError(f"parts: expected 1 to {len(strata)}, the number of volumes, found {parts}")
    images = data.images_of(folder, strata)
    found = data.partition(strata, parts, seed)
    rows = [
        (name, strata[name].vendor, strata[name].quality, found[name] + 1, images[name].geometry().shape[0])
        for name in sorted(strata)
    ]
    write_rows(work / PARTITION, _OF_VOLUME, rows)
    return {"seed": seed}


def _read_parts(work: Path) -> dict[str, tuple[int, int]]:
    """Return the part of every volume, counted from 1, and its number of B-scans. Raises `PhaseError`."""
    with organiser_table(work / PARTITION, ("volume", "part", "b_scans")) as table:
        return {
            row.cells["volume"]: (row.whole("part", 1, _MAX_PARTS), row.whole("b_scans", 1, _MAX_B_SCANS))
            for row in table.rows
        }


def write_assignment(work: Path) -> dict[str, object]:
    """Assign two annotators to every part; return the report's section, which is empty."""
    accuracies = read_accuracy(work)
    volumes: Counter[int] = Counter()
    b_scans: Counter[int] = Counter()
    for part, number in _read_parts(work).values():
        volumes[part] += 1
        b_scans[part] += number
    parts = sorted(volumes)
    try:
        pairs = assign(accuracies, len(parts))
    except ValueError as error:
        raise PhaseError(f"{work}: {error}") from None

    assigned = dict(zip(parts, pairs, strict=True))
    rows = [
        (part, *pair, volumes[part], b_scans[part], complementarity(*(accuracies[name] for name in pair)))
        for part, pair in assigned.items()
    ]
    write_rows(work / ASSIGNMENT, _OF_PART, rows)
    loads = []
    for name in sorted(accuracies):
        own = [part for part, pair in assigned.items() if name in pair]
        loads.append((name, len(own), sum(volumes[i] for i in own), sum(b_scans[i] for i in own)))
    write_rows(work / WORKLOAD, _OF_WORKLOAD, loads)
    return {}


def read_assignment(work: Path) -> dict[str, tuple[str, str]]:
    """Return the assigned annotators of every volume. Raises `PhaseError`."""
    with organiser_table(work / ASSIGNMENT, ("part", "reader_1", "reader_2")) as table:
        pairs = {
            row.whole("part", 1, _MAX_PARTS): (row.cells["reader_1"], row.cells["reader_2"])
            for row in table.rows
        }
    part_of = {volume: part for volume, (part, _) in _read_parts(work).items()}
    if missing := sorted(set(part_of.values()) - set(pairs)):
        raise PhaseError(f"{work / ASSIGNMENT}: expected annotators of part {missing[0]}, found none")
    return {volume: pairs[part] for volume, part in part_of.items()}
