"""The step `comparison`: Eq. 4 and the plain average against the supervisor, on the evaluation set.

Every annotator alone, every pair, and all of them together are scored as the annotators are (Eq. 3). Each run
is combined by itself, as the benchmark's single annotations are, and the two results are averaged. The
weights were estimated on the same B-scans. Source: section 3, Figs. 9 to 12.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from evaluation.challenges.cysts.benchmark.accuracy import Accuracy, Similarity, marked_by_either
from evaluation.challenges.cysts.benchmark.accuracy_step import BY_CONFIDENCE, read_accuracy
from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES
from evaluation.challenges.cysts.benchmark.distinction_step import read_distinctions
from evaluation.challenges.cysts.benchmark.evaluation_set import RUNS, SUPERVISOR, EvaluationSet
from evaluation.challenges.cysts.benchmark.partition import Stratum
from evaluation.challenges.cysts.benchmark.scale import Interval, read_scale
from evaluation.challenges.cysts.benchmark.valued import ValuedBScan, valued
from evaluation.challenges.cysts.benchmark.volume_table import EVERYTHING, Group, groups_of
from evaluation.challenges.cysts.benchmark.weighting import Floats, Marks, combine
from evaluation.core.fault import PhaseError
from evaluation.phase.output import write_rows

COMBINATIONS = "combinations.csv"
ALONE, WEIGHTED, AVERAGE = "alone", "weighted", "average"
_OF_COMBINATION = (
    *("readers", "method", "column", "value", "b_scans", "overall", *BY_CONFIDENCE),
    *("cysts", "found", "false"),
)
_EIGHT_NEIGHBOURS = np.ones((3, 3), dtype=np.int64)

Members = tuple[str, ...]
_Key = tuple[Members, str]


@dataclass(frozen=True, slots=True)
class CystCounts:
    """The numbers of the supervisor's cysts, of touched ones, and of components that touch none."""

    cysts: int = 0
    found: int = 0
    false: int = 0

    def __add__(self, other: CystCounts) -> CystCounts:
        """Return the counts of both."""
        return CystCounts(self.cysts + other.cysts, self.found + other.found, self.false + other.false)


def count_cysts(marked: NDArray[np.bool_], true: NDArray[np.bool_]) -> CystCounts:
    """Return the counts of one B-scan (y, x); a cyst is an 8-connected component of ``true``."""
    cysts, count = ndimage.label(true, structure=_EIGHT_NEIGHBOURS)
    components, of_marked = ndimage.label(marked, structure=_EIGHT_NEIGHBOURS)
    found = len(np.unique(cysts[marked & true]))
    return CystCounts(count, found, of_marked - len(np.unique(components[marked & true])))


def groups_of_annotators(annotators: Sequence[str]) -> list[Members]:
    """Return every annotator alone, every pair, and all together."""
    pairs = [*combinations(annotators, 1), *combinations(annotators, 2)]
    return list(dict.fromkeys([*pairs, tuple(annotators)]))


def write_comparison(
    evaluation_set: EvaluationSet, strata: Mapping[str, Stratum], work: Path, interval: Interval
) -> dict[str, object]:
    """Score every combination of annotators against the supervisor; return the report's section."""
    scale, accuracies, measured = read_scale(work, interval), read_accuracy(work), read_distinctions(work)
    if unknown := sorted(set(evaluation_set.annotators) - set(accuracies)):
        raise PhaseError(f"{work}: expected the accuracy of {unknown[0]}, found none; repeat that step")
    similarities: dict[tuple[_Key, Group], Similarity] = defaultdict(Similarity)
    cysts: dict[tuple[Members, Group], CystCounts] = defaultdict(CystCounts)
    b_scans: Counter[Group] = Counter()
    for annotated in evaluation_set:
        groups = (*groups_of(strata[annotated.volume]), ("volume", annotated.volume))
        b_scans.update(groups)
        b_scan = valued(annotated, scale, measured)
        for members in groups_of_annotators(evaluation_set.annotators):
            counts = count_cysts(marked_by(b_scan, members), marked_by(b_scan, (SUPERVISOR,)))
            for group in groups:
                cysts[members, group] += counts
            for method, found in _scored(b_scan, members, accuracies):
                for group in groups:
                    similarities[(members, method), group].merge(found)
    results = {place: found.result() for place, found in similarities.items()}
    rows = [
        (
            "+".join(members),
            method,
            *group,
            b_scans[group],
            *_figures(result),
            *astuple(cysts[members, group]),
        )
        for ((members, method), group), result in sorted(results.items(), key=_place)
    ]
    write_rows(work / COMBINATIONS, _OF_COMBINATION, rows)
    return {
        "interval": interval,
        "note": "the weights of Eq. 4 were estimated on the same B-scans",
        "combinations": [dict(zip(_OF_COMBINATION, row, strict=True)) for row in rows if row[2] == "all"],
        "weighted_against_average": [
            _against(members, results, sorted(evaluation_set.b_scans))
            for members in groups_of_annotators(evaluation_set.annotators)
            if len(members) > 1
        ],
    }


def combined_values(
    b_scan: ValuedBScan, members: Members, accuracies: Mapping[str, Accuracy]
) -> dict[str, Floats]:
    """Return the values (y, x) of some annotators together, by method: one alone, or both ways to combine."""
    average = sum((b_scan.mean(name) for name in members), np.zeros_like(b_scan.mean(SUPERVISOR)))
    methods: dict[str, Floats] = {ALONE if len(members) == 1 else AVERAGE: average / len(members)}
    if len(members) > 1:
        runs = [
            combine([Marks(b_scan.levels[n, run], b_scan.values[n, run], accuracies[n]) for n in members])
            for run in RUNS
        ]
        methods[WEIGHTED] = (runs[0] + runs[1]) / 2
    return methods


def _scored(
    b_scan: ValuedBScan, members: Members, accuracies: Mapping[str, Accuracy]
) -> Iterator[tuple[str, Similarity]]:
    """Yield every method of combining some annotators, with its similarity to the supervisor."""
    levels = [b_scan.levels[name, run] for name in (*members, SUPERVISOR) for run in RUNS]
    marked = marked_by_either(*levels)
    for method, values in combined_values(b_scan, members, accuracies).items():
        found = Similarity()
        found.add(values, b_scan.mean(SUPERVISOR), marked)
        yield method, found


def marked_by(b_scan: ValuedBScan, members: Members) -> NDArray[np.bool_]:
    """Return the voxels that any of the members marked in any run."""
    levels = [b_scan.levels[name, run] > 0 for name in members for run in RUNS]
    return np.asarray(np.logical_or.reduce(levels))


def _against(
    members: Members, results: Mapping[tuple[_Key, Group], Accuracy], volumes: Sequence[str]
) -> dict[str, object]:
    """Return both methods over all B-scans, and in how many volumes each is better."""
    weighted, average = (results[(members, method), EVERYTHING].overall for method in (WEIGHTED, AVERAGE))
    gains = [
        results[(members, WEIGHTED), ("volume", volume)].overall
        - results[(members, AVERAGE), ("volume", volume)].overall
        for volume in volumes
    ]
    return {
        "readers": "+".join(members),
        "weighted": weighted,
        "average": average,
        "difference": weighted - average,
        "volumes": len(volumes),
        "volumes_better": sum(bool(gain > 0) for gain in gains),
        "volumes_worse": sum(bool(gain < 0) for gain in gains),
    }


def _place(item: tuple[tuple[_Key, Group], Accuracy]) -> tuple[int, str, str, int, Members, str]:
    """Return where a row stands: all volumes first, then group by group, few annotators before many."""
    ((members, method), (column, value)), _ = item
    return int(column == "volume"), column, value, len(members), members, method


def _figures(found: Accuracy) -> tuple[float, ...]:
    return (found.overall, *(found.by_confidence[c] for c in CONFIDENCES))
