"""From ordinal confidences to an interval scale (Eq. 2): the steps `distinction` and `transform`."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from math import isnan, nan
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.fault import PhaseError
from evaluation.organiser.cyst_benchmark import data
from evaluation.organiser.cyst_benchmark.data import CONFIDENCES, SUPERVISOR
from evaluation.organiser.output import write_rows
from evaluation.phase.cases import organiser_table

# The step `distinction`: every cyst of the evaluation set, and its distinction (Eq. 1).

DISTINCTIONS = "distinctions.csv"
CYST = ("reader", "run", "volume", "b_scan", "cyst")
"""The columns that tell one cyst from all others; cysts of a B-scan are counted from 1."""

CystKey = tuple[str, str, str, int]
_OF_CYST = (*CYST, "confidence", "x", "y", "pixels", "distinction")
_MOST = 10**9


def write_distinctions(evaluation_set: data.EvaluationSet, work: Path) -> dict[str, object]:
    """Measure every cyst of every annotator and run; return the report's section."""
    rows: list[tuple[object, ...]] = []
    undefined = 0
    for b_scan in evaluation_set:
        for (annotator, run), levels in b_scan.levels.items():
            cysts = data.cysts_of(levels)
            measured = data.distinctions(b_scan.image, levels, cysts, b_scan.intensities)
            for number, (cyst, distinction) in enumerate(zip(cysts, measured, strict=True), start=1):
                key = (annotator, run, b_scan.volume, b_scan.b_scan, number)
                x, y = (round(coordinate, 2) for coordinate in cyst.centre)
                pixels = int(np.count_nonzero(cyst.pixels))
                undefined += isnan(distinction)
                rows.append((*key, cyst.confidence, x, y, pixels, distinction))
    # By annotator, run and volume; within a volume they keep their order.
    write_rows(work / DISTINCTIONS, _OF_CYST, sorted(rows, key=lambda row: tuple(map(str, row[:3]))))
    return {
        "b_scans": sum(map(len, evaluation_set.b_scans.values())),
        "volumes": len(evaluation_set.b_scans),
        "cysts": len(rows),
        "without_a_ring": undefined,
    }


def read_distinctions(work: Path) -> Mapping[CystKey, Mapping[int, float]]:
    """Return the distinctions by annotator, run, volume and B-scan, then by cyst. Raises `PhaseError`."""
    found: dict[CystKey, dict[int, float]] = defaultdict(dict)
    with organiser_table(work / DISTINCTIONS, (*CYST, "distinction")) as table:
        for row in table.rows:
            key = (row.cells["reader"], row.cells["run"], row.cells["volume"], row.whole("b_scan", 1, _MOST))
            found[key][row.whole("cyst", 1, _MOST)] = row.number("distinction")
    return found


# --- Map ordinal confidences to an interval scale, with one subjectivity for all (Eq. 2) ---

LOWEST, HIGHEST = 0.01, 1.0
"""The range of the value of a marked voxel."""

_MIN_CYSTS = 2


@dataclass(frozen=True, slots=True)
class Moments:
    """Number, mean and population variance of distinctions; mean and variance are NaN without any."""

    count: int
    mean: float
    variance: float


@dataclass(frozen=True, slots=True)
class Transform:
    """The linear map a·D + b of distinctions."""

    a: float
    b: float

    def __call__(self, distinction: float) -> float:
        """Return a·D + b, clipped to [0.01, 1]."""
        return min(HIGHEST, max(LOWEST, self.a * distinction + self.b))


@dataclass(frozen=True)
class Supervisor:
    """The supervisor's distinctions by confidence, and the value of each confidence.

    ``pooled_with``: for a confidence with fewer than two cysts, the confidences pooled with it.
    """

    moments: Mapping[int, Moments]
    levels: Mapping[int, float]
    pooled_with: Mapping[int, int]

    @property
    def tied(self) -> tuple[tuple[int, ...], ...]:
        """The confidences that have one value, group by group, lowest first."""
        groups: dict[float, list[int]] = {}
        for confidence, value in self.levels.items():
            groups.setdefault(value, []).append(confidence)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    def sharing(self, confidence: int) -> str:
        """Return the other confidences of the same value or cysts, ascending and joined by spaces."""
        same = {other for group in self.tied if confidence in group for other in group}
        same |= {self.pooled_with.get(confidence, confidence)}
        return " ".join(map(str, sorted(same - {confidence})))


def moments_of(distinctions: ArrayLike) -> Moments:
    """Return the moments of distinctions of both runs together; NaN (an empty ring) is left out."""
    values = np.asarray(distinctions, dtype=np.float64)
    values = np.sort(values[~np.isnan(values)])
    if not len(values):
        return Moments(0, math.nan, math.nan)
    # The rounded mean of equal numbers can differ from them, but their variance must be 0.
    if values[0] == values[-1]:
        return Moments(len(values), float(values[0]), 0.0)
    return Moments(len(values), float(values.mean()), float(values.var()))


def fit(annotator: Moments, supervisor: Moments) -> Transform:
    """Return the map that gives an annotator's distinctions the supervisor's mean and variance (Eq. 2).

    a = √(σ²_S / σ²_R), b = μ_S − a·μ_R. a is 1 where σ_R is 0 or the annotator has fewer than two cysts.
    Without any cyst the map is the identity.
    """
    if annotator.count == 0:
        return Transform(1.0, 0.0)
    a = 1.0
    if annotator.count >= _MIN_CYSTS and annotator.variance > 0:
        a = math.sqrt(supervisor.variance / annotator.variance)
    return Transform(a, supervisor.mean - a * annotator.mean)


def supervisor_of(distinctions: Mapping[int, Sequence[float]]) -> Supervisor:
    """Return the moments and values of the supervisor's confidences.

    A confidence with fewer than two cysts is pooled with the nearest one that has two (the lower of two
    equally near ones). The value of a confidence is its mean distinction, made non-decreasing by isotonic
    regression (weighted by the number of cysts) and clipped to [0.01, 1]. Raises `PhaseError` where no
    confidence has two cysts.
    """
    from sklearn.isotonic import IsotonicRegression

    defined = {c: [value for value in distinctions.get(c, ()) if not math.isnan(value)] for c in CONFIDENCES}
    enough = [c for c in CONFIDENCES if len(defined[c]) >= _MIN_CYSTS]
    if not enough:
        raise PhaseError("the supervisor has no confidence with at least two cysts: nothing can be measured")
    pooled_with = {
        c: min(enough, key=lambda other: (abs(other - c), other)) for c in CONFIDENCES if c not in enough
    }
    moments = {
        c: moments_of(defined[c] + (defined[pooled_with[c]] if c in pooled_with else [])) for c in CONFIDENCES
    }
    means, counts = zip(*((moments[c].mean, moments[c].count) for c in CONFIDENCES), strict=True)
    regression = IsotonicRegression(y_min=LOWEST, y_max=HIGHEST)
    levels = regression.fit_transform(CONFIDENCES, means, sample_weight=counts).tolist()
    return Supervisor(moments, dict(zip(CONFIDENCES, levels, strict=True)), pooled_with)


# --- The interval scale: which value a marked voxel has (section 2.4 of the cyst benchmark) ---

TRANSFORMS, LEVELS = "transforms.csv", "levels.csv"
Interval = Literal["level", "cyst"]


@dataclass(frozen=True)
class Scale:
    """The interval scale: the value of every level, and every annotator's transform of distinctions.

    ``interval`` "level": a confidence has the supervisor's mean distinction as its value; "cyst": every cyst
    has its own distinction, transformed for its annotator.
    """

    interval: Interval
    levels: Mapping[int, float]
    transforms: Mapping[tuple[str, int], Transform]

    def values(
        self,
        annotator: str,
        levels: NDArray[np.uint8],
        cysts: Sequence[data.AnnotatedCyst],
        cyst_distinctions: Sequence[float],
    ) -> NDArray[np.float64]:
        """Return the value of every voxel of a B-scan (y, x), 0 for unmarked voxels.

        A cyst whose distinction is undefined (NaN in ``cyst_distinctions``) has the value of its level.
        """
        table = np.array([0.0, *(self.levels[c] for c in CONFIDENCES)])
        values: NDArray[np.float64] = table[levels]
        if self.interval == "cyst":
            for cyst, distinction in zip(cysts, cyst_distinctions, strict=True):
                if isnan(distinction):
                    continue
                if (transform := self.transforms.get((annotator, cyst.confidence))) is None:
                    row = f"a row of {annotator}, confidence {cyst.confidence}"
                    raise PhaseError(f"{TRANSFORMS}: expected {row}, found none")
                values[cyst.box][cyst.pixels] = transform(distinction)
        return values


def read_scale(work: Path, interval: Interval) -> Scale:
    """Read the tables of the transform step. Raises `PhaseError`."""
    with organiser_table(work / LEVELS, ("confidence", "value")) as table:
        levels = {row.whole("confidence", 1, CONFIDENCES[-1]): row.number("value") for row in table.rows}
    if missing := [c for c in CONFIDENCES if isnan(levels.get(c, nan))]:
        raise PhaseError(f"{work / LEVELS}: expected a value of confidence {missing[0]}, found none")
    with organiser_table(work / TRANSFORMS, ("reader", "confidence", "a", "b")) as table:
        transforms = {
            (row.cells["reader"], row.whole("confidence", 1, CONFIDENCES[-1])): Transform(
                row.number("a"), row.number("b")
            )
            for row in table.rows
        }
    return Scale(interval, levels, transforms)


# --- The step `transform`: annotators mapped to the supervisor, and the value of every level (Eq. 2) ---

_USED_BY = "cyst"
"""The interval that uses a and b; also a column of the table, so that nobody takes them for more."""

_OF_TRANSFORM = ("reader", "confidence", "cysts", "mean", "variance", "a", "b", "used_by_interval")
_OF_LEVEL = ("confidence", "cysts", "mean", "variance", "pooled_with", "value")


def write_transforms(work: Path) -> dict[str, object]:
    """Fit every annotator's transform to the supervisor's distinctions; return the report's section."""
    distinctions: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    with organiser_table(work / DISTINCTIONS, ("reader", "confidence", "distinction")) as table:
        for row in table.rows:
            confidence = row.whole("confidence", 1, CONFIDENCES[-1])
            distinctions[row.cells["reader"]][confidence].append(row.number("distinction"))
    if SUPERVISOR not in distinctions:
        raise PhaseError(f"{work / DISTINCTIONS}: expected cysts of the supervisor, found none")
    supervisor = supervisor_of(distinctions[SUPERVISOR])
    rows = []
    for annotator in sorted(distinctions):
        for c in CONFIDENCES:
            moments = moments_of(distinctions[annotator][c])
            # The others are mapped to the supervisor, who has the identity.
            map_to = Transform(1.0, 0.0) if annotator == SUPERVISOR else fit(moments, supervisor.moments[c])
            rows.append((annotator, c, *astuple(moments), *astuple(map_to), _USED_BY))
    write_rows(work / TRANSFORMS, _OF_TRANSFORM, rows)
    levels = [
        (c, *astuple(moments), supervisor.sharing(c), supervisor.levels[c])
        for c, moments in supervisor.moments.items()
    ]
    write_rows(work / LEVELS, _OF_LEVEL, levels)
    return {"warnings": warnings_of(supervisor)}


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
