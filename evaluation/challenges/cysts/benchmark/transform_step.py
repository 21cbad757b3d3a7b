"""The step `transform`: annotators mapped to the supervisor, and the value of every level (Eq. 2)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES
from evaluation.challenges.cysts.benchmark.distinction_step import CYST, DISTINCTIONS
from evaluation.challenges.cysts.benchmark.distribution import write_distributions
from evaluation.challenges.cysts.benchmark.evaluation_set import SUPERVISOR
from evaluation.challenges.cysts.benchmark.scale import LEVELS, TRANSFORMS
from evaluation.challenges.cysts.benchmark.transform import (
    Supervisor,
    Transform,
    fit,
    moments_of,
    supervisor_of,
)
from evaluation.core.fault import PhaseError
from evaluation.phase.organiser_tables import TableRow, organiser_table
from evaluation.phase.output import write_rows

TRANSFORMED = "transformed.csv"
USED_BY = "cyst"
"""The interval that uses a and b; also a column of the table, so that nobody takes them for more."""

NOTE = (
    "a and b change a value only with --interval cyst. With --interval level a confidence has the mean of "
    "its transformed distinctions, and Eq. 2 makes that the supervisor's mean, whatever the annotator's is."
)
_OF_TRANSFORM = ("reader", "confidence", "cysts", "mean", "variance", "a", "b", "used_by_interval")
_OF_LEVEL = ("confidence", "cysts", "mean", "variance", "pooled_with", "value")
_OF_TRANSFORMED = (*CYST, "confidence", "distinction", "transformed")

_ByConfidence = dict[int, list[float]]


def write_transforms(work: Path) -> dict[str, object]:
    """Fit every annotator's transform to the supervisor's distinctions; return the report's section."""
    before: dict[str, _ByConfidence] = defaultdict(lambda: defaultdict(list))
    cysts: list[tuple[TableRow, str, int, float]] = []
    with organiser_table(work / DISTINCTIONS, (*CYST, "confidence", "distinction")) as table:
        for row in table.rows:
            confidence, distinction = row.whole("confidence", 1, CONFIDENCES[-1]), row.number("distinction")
            before[row.cells["reader"]][confidence].append(distinction)
            cysts.append((row, row.cells["reader"], confidence, distinction))
    if SUPERVISOR not in before:
        raise PhaseError(f"{work / DISTINCTIONS}: expected cysts of the supervisor, found none")
    supervisor = supervisor_of(before[SUPERVISOR])
    rows, maps = [], {}
    for annotator in sorted(before):
        for c in CONFIDENCES:
            moments = moments_of(before[annotator][c])
            # The others are mapped to the supervisor, who has the identity.
            map_to = Transform(1.0, 0.0) if annotator == SUPERVISOR else fit(moments, supervisor.moments[c])
            maps[annotator, c] = map_to
            figures = (moments.count, moments.mean, moments.variance, map_to.a, map_to.b)
            rows.append((annotator, c, *figures, USED_BY))
    write_rows(work / TRANSFORMS, _OF_TRANSFORM, rows)
    _write_levels(work, supervisor)
    after: dict[str, _ByConfidence] = defaultdict(lambda: defaultdict(list))
    transformed = []
    for row, annotator, confidence, distinction in cysts:
        moved = maps[annotator, confidence].of(distinction)
        transformed.append((*(row.cells[name] for name in CYST), confidence, distinction, moved))
        if annotator != SUPERVISOR:
            after[annotator][confidence].append(moved)
    write_rows(work / TRANSFORMED, _OF_TRANSFORMED, transformed)
    write_distributions(work, before, after)
    return {
        "levels": dict(supervisor.levels),
        "levels_of_one_value": [list(group) for group in supervisor.tied],
        "pooled_confidences_of_the_supervisor": dict(supervisor.pooled_with),
        "note": NOTE,
        "transforms": [dict(zip(_OF_TRANSFORM, row, strict=True)) for row in rows],
        "warnings": warnings_of(supervisor),
    }


def warnings_of(supervisor: Supervisor) -> list[str]:
    """Return warnings to the organiser before the next step: tied and pooled confidences."""
    ties = [
        f"confidences {', '.join(map(str, group))} have one value, {supervisor.levels[group[0]]:.3g}: the "
        "supervisor's mean distinctions do not increase. The combined level tells them apart by the "
        "annotators' own confidences"
        for group in supervisor.tied
    ]
    pooled = [
        f"the supervisor has fewer than two cysts of confidence {confidence}, which is pooled with {other}"
        for confidence, other in supervisor.pooled_with.items()
    ]
    return ties + pooled


def _write_levels(work: Path, supervisor: Supervisor) -> None:
    rows = [
        (c, m.count, m.mean, m.variance, supervisor.pooled_with.get(c), supervisor.levels[c])
        for c, m in supervisor.moments.items()
    ]
    write_rows(work / LEVELS, _OF_LEVEL, rows)
