"""The step `accuracy`: reproducibility and accuracy of every annotator (Eq. 3)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from math import isnan
from pathlib import Path

from evaluation.challenges.cysts.benchmark.accuracy import Accuracy, Similarity, marked_by_either
from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES
from evaluation.challenges.cysts.benchmark.distinction_step import read_distinctions
from evaluation.challenges.cysts.benchmark.evaluation_set import RUNS, SUPERVISOR, EvaluationSet
from evaluation.challenges.cysts.benchmark.partition import Stratum
from evaluation.challenges.cysts.benchmark.scale import EVERY_INTERVAL, Interval, read_scale
from evaluation.challenges.cysts.benchmark.valued import ValuedBScan, valued
from evaluation.challenges.cysts.benchmark.volume_table import EVERYTHING, Group, groups_of
from evaluation.phase.organiser_tables import organiser_table
from evaluation.phase.output import write_rows

ACCURACY, GROUPS, EFFECT = "accuracy.csv", "accuracy_by_group.csv", "interval_effect.csv"
BY_CONFIDENCE = tuple(f"confidence_{c}" for c in CONFIDENCES)
_OF_ACCURACY = ("reader", "measure", "overall", *BY_CONFIDENCE)
_OF_GROUP = ("column", "value", "b_scans", *_OF_ACCURACY)
_OF_EFFECT = ("reader", "measure", "voxels", *EVERY_INTERVAL, "difference")
_MEASURES = ("reproducibility", "accuracy")

_Measured = tuple[str, str]
"""A measure and an annotator."""


def write_accuracy(
    evaluation_set: EvaluationSet, strata: Mapping[str, Stratum], work: Path, interval: Interval
) -> dict[str, object]:
    """Measure reproducibility and accuracy of every annotator; return the report's section."""
    scales = {kind: read_scale(work, kind) for kind in EVERY_INTERVAL}
    measured = read_distinctions(work)
    similarities: dict[tuple[Interval, Group], dict[_Measured, Similarity]] = defaultdict(
        lambda: defaultdict(Similarity)
    )
    b_scans: Counter[Group] = Counter()
    for b_scan in evaluation_set:
        groups = groups_of(strata[b_scan.volume])
        b_scans.update(groups)
        for kind, scale in scales.items():
            for key, found in _similarities(valued(b_scan, scale, measured), evaluation_set.annotators):
                for group in groups:
                    similarities[kind, group][key].merge(found)
    results = {
        place: {key: found.result() for key, found in of_place.items()}
        for place, of_place in similarities.items()
    }
    order = [
        (measure, annotator)
        for measure in _MEASURES
        for annotator in (*evaluation_set.annotators, SUPERVISOR)
        if (measure, annotator) != ("accuracy", SUPERVISOR)
    ]
    rows = [_row(key, results[interval, EVERYTHING][key]) for key in order]
    write_rows(work / ACCURACY, _OF_ACCURACY, rows)
    of_groups = [
        (*group, b_scans[group], *_row(key, results[interval, group][key]))
        for group in sorted(b_scans)
        if group != EVERYTHING
        for key in order
    ]
    write_rows(work / GROUPS, _OF_GROUP, of_groups)
    effect = [
        (annotator, measure, voxels, level, cyst, cyst - level)
        for measure, annotator in order
        for voxels, level, cyst in zip(
            ("overall", *BY_CONFIDENCE),
            *(
                _row((measure, annotator), results[kind, EVERYTHING][measure, annotator])[2:]
                for kind in EVERY_INTERVAL
            ),
            strict=True,
        )
    ]
    write_rows(work / EFFECT, _OF_EFFECT, effect)
    return {
        "interval": interval,
        "annotators": [dict(zip(_OF_ACCURACY, row, strict=True)) for row in rows],
        "groups": [dict(zip(_OF_GROUP, row, strict=True)) for row in of_groups],
        "effect_of_the_interval": [
            dict(zip(_OF_EFFECT, row, strict=True)) for row in effect if row[2] == "overall"
        ],
    }


def read_accuracy(work: Path) -> dict[str, Accuracy]:
    """Return every annotator's accuracy, without the supervisor's. Raises `PhaseError`."""
    accuracies = {}
    with organiser_table(work / ACCURACY, _OF_ACCURACY) as table:
        for row in table.rows:
            if row.cells["measure"] != "accuracy":
                continue
            weights = [row.number("overall"), *(row.number(name) for name in BY_CONFIDENCE)]
            if isnan(weights[0]) or any(weight < 0 for weight in weights):
                row.fault("overall", f"expected accuracies of at least 0, found {weights}")
            by_confidence = dict(zip(CONFIDENCES, weights[1:], strict=True))
            accuracies[row.cells["reader"]] = Accuracy(weights[0], by_confidence)
    return accuracies


def _similarities(b_scan: ValuedBScan, annotators: tuple[str, ...]) -> Iterator[tuple[_Measured, Similarity]]:
    """Yield every annotator's two measures in one B-scan."""
    true_levels = [b_scan.levels[SUPERVISOR, run] for run in RUNS]
    truth = b_scan.mean(SUPERVISOR)
    for annotator in (*annotators, SUPERVISOR):
        levels = [b_scan.levels[annotator, run] for run in RUNS]
        first, second = (b_scan.values[annotator, run] for run in RUNS)
        reproducibility = Similarity()
        reproducibility.add(first, second, marked_by_either(*levels))
        yield ("reproducibility", annotator), reproducibility
        if annotator != SUPERVISOR:
            accuracy = Similarity()
            accuracy.add(b_scan.mean(annotator), truth, marked_by_either(*levels, *true_levels))
            yield ("accuracy", annotator), accuracy


def _row(key: _Measured, found: Accuracy) -> tuple[str, str, float, *tuple[float, ...]]:
    measure, annotator = key
    return (annotator, measure, found.overall, *(found.by_confidence[c] for c in CONFIDENCES))
