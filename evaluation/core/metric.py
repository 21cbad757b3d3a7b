"""Metrics: how per-case columns are aggregated to one number, with its range and direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.metrics import classification
from evaluation.metrics.arrays import Floats, weighted_mean
from evaluation.metrics.bootstrap import UnitWeights
from evaluation.metrics.confusion import weighted_f1_score
from evaluation.metrics.intervals import Interval, wilson_interval
from evaluation.metrics.operating_points import (
    sensitivity_at_first_kept_point,
    sensitivity_between_kept_points,
    weighted_interpolated_sensitivity,
    weighted_sensitivity_at_specificity,
)

if TYPE_CHECKING:
    from evaluation.metrics.detection import DetectionTable
    from evaluation.metrics.froc import Candidates


@dataclass(frozen=True)
class Resolution:
    """The number of values that a figure of one submission can take (None: too many to count)."""

    positives: int
    negatives: int
    values: int | None


def resolution_of(label: str, values: Callable[[int, int], int | None]) -> Callable[[CaseTable], Resolution]:
    """Return the resolution of a figure whose number of values follows from the two class sizes."""

    def resolution_of_table(table: CaseTable) -> Resolution:
        labels = table[label]
        positives, negatives = (int(np.count_nonzero(labels == value)) for value in (1, 0))
        return Resolution(positives, negatives, values(positives, negatives))

    return resolution_of_table


def strata_of_labels(table: CaseTable, label: str) -> NDArray[np.int64]:
    """Return one stratum for each class of a 0/1 label column, −1 where it is NaN."""
    labels = table[label]
    return np.where(np.isnan(labels), -1, labels).astype(np.int64)


def one_stratum(table: CaseTable) -> NDArray[np.int64]:
    """Return the same stratum for every case."""
    return np.zeros(len(table), dtype=np.int64)


def strata_of_column(table: CaseTable, column: str) -> NDArray[np.int64]:
    """Return one stratum for the cases for which a column is defined, −1 for the others."""
    return np.where(np.isnan(table[column]), -1, 0)


def roc_table_of(table: CaseTable, score: str, label: str) -> classification.RocTable:
    """Return the sorted cases that have a label, made once for a table."""

    def build(table: CaseTable) -> classification.RocTable:
        labelled = ~np.isnan(table[label])
        return classification.roc_table(table[score][labelled], table[label][labelled] > 0)

    return table.derive(("roc", score, label), build)


def labelled_weights(cases: WeightedCases, label: str) -> NDArray[np.number]:
    """Return the weights of the cases that have a label."""
    labelled = ~np.isnan(cases.table[label])
    return cases.weights if labelled.all() else cases.weights[:, labelled]


def roc_counts_of(cases: WeightedCases, score: str, label: str) -> classification.WeightedCounts:
    """Return the sums of weights that every figure of a ROC curve needs, made once for a table."""

    def count(cases: WeightedCases) -> classification.WeightedCounts:
        table = roc_table_of(cases.table, score, label)
        if not isinstance(cases.given, UnitWeights):
            return classification.weighted_counts(table, labelled_weights(cases, label))
        labelled = ~np.isnan(cases.table[label])
        return classification.weighted_counts(
            table, cases.given if labelled.all() else cases.given.among(labelled)
        )

    return cases.derive(("roc", score, label), count)


Strata = NDArray[np.int64]
IntervalMethod = Literal[
    "logit-DeLong",
    "studentised",
    "Wilson",
    "Wilson-bootstrap",
    "Wilson-jackknife",
    "Fisher-studentised",
    "percentile",
    "calibration-band",
]
"""How a confidence interval is computed, see `core.intervals`."""


@dataclass(frozen=True)
class MethodInterval:
    """A confidence interval and its method."""

    interval: Interval
    method: IntervalMethod


SensitivityAtSpecificity = Literal["step", "interpolated", "first_kept_point", "between_kept_points"]


@dataclass(frozen=True)
class Curve:
    """The columns of a ROC curve: the score, whose order counts, and the 0/1 label (NaN: left out).

    ``is_area``: the metric is the area under the curve, not a point on it. ``specificity``: the lower bound
    at which the point has the highest sensitivity.
    """

    score: str
    label: str
    is_area: bool
    specificity: Fraction | None = None


@dataclass(frozen=True)
class Decision:
    """The 0/1 columns of a decision and of the correct decision (NaN: left out)."""

    predicted: str
    present: str


@dataclass(frozen=True)
class CaseFigure:
    """The difficulty of a case, for a metric that is no mean over cases.

    ``values`` returns a figure of each case, NaN where it has none; higher is better.
    """

    name: str
    values: Callable[[CaseTable], Floats]


@dataclass(frozen=True)
class DetectionCurves:
    """The detections that a figure is computed from, for curves of them.

    ``candidates``: the detections of all classes together; ``hit`` defines a hit in a sentence. ``matched``:
    the detections of each of the ``classes`` at several IoU thresholds, if there are several.
    """

    candidates: Callable[[CaseTable], Candidates]
    hit: str
    matched: Callable[[CaseTable], DetectionTable] | None = None
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mean:
    """How a figure follows from the mean of a value of each case (NaN: left out), for its interval.

    ``values``: of the cases, shape (cases,). ``figure``: of the mean and the number of cases, increasing.
    ``unseen``: the value of a case that fails, if it follows from the cases and not from the metric's worst
    value.
    """

    values: Callable[[CaseTable], Floats]
    figure: Callable[[float, int], float] = lambda mean, cases: mean
    unseen: Callable[[CaseTable], float] | None = None


@dataclass(frozen=True)
class Aggregate:
    """A function of weighted cases to one value per row of weights.

    ``strata`` returns for every case the stratum within which it is resampled, −1 if the case does not enter.
    It depends on the reference only, so all teams of a phase have the same resamples. Tests between teams and
    the difficulty of cases use the columns: ``spread_column`` if this is the mean of a column,
    ``share_column`` or ``count_column`` if it is the share or number of ones in a column of zeros and ones,
    ``curve`` or ``decision`` otherwise. Without any of these, ``case_figure`` tells the difficulty.
    ``detections``: the detections from which the first figure of a detection metric is computed. Above
    ``max_cases`` cases an interval is computed only if the phase asks for it. ``resolution`` tells how much a
    figure of 0/1 labels reveals about them.

    For intervals: ``mean`` of a figure of a mean over cases. ``is_share``: a mean of shares of cases.
    ``decisive``: the cases whose number decides how certain the figure is, from the reference only, shape
    (cases,); by default those of the smallest stratum. ``influence`` returns the derivative of the figure by
    each case's weight; ``weighted_influence``, of a correlation, by its share of a row's weight, shape
    (rows, cases). ``optimism``: by how much the figure may be too high since a sample lacks rare false
    positives, or since it is read from an envelope. ``drawn_together``: the shares of the strata are no part
    of the design, so that all cases are drawn together. ``rare_failures``: so few cases are worst that a
    sample may hold none.
    """

    values: Callable[[WeightedCases], Floats]
    strata: Callable[[CaseTable], Strata]
    spread_column: str | None = None
    share_column: str | None = None
    count_column: str | None = None
    max_cases: int | None = None
    curve: Curve | None = None
    decision: Decision | None = None
    detections: DetectionCurves | None = None
    resolution: Callable[[CaseTable], Resolution] | None = None
    case_figure: CaseFigure | None = None
    mean: Mean | None = None
    is_share: bool = False
    decisive: Callable[[CaseTable], NDArray[np.bool_]] | None = None
    influence: Callable[[CaseTable], Floats] | None = None
    weighted_influence: Callable[[WeightedCases], Floats] | None = None
    optimism: Callable[[CaseTable], float] | None = None
    drawn_together: bool = False
    rare_failures: bool = False


@dataclass(frozen=True)
class Metric:
    """One figure of a task; ``best`` and ``worst`` bound it, and their order says which way is better.

    ``worst`` may be infinite (a distance). ``no_interval``: why there is no confidence interval;
    ``fixed_intervals`` returns further intervals by name, from the cases and the seed of the phase.
    ``ordered`` is false if the value alone does not separate good submissions from useless ones (a spread, a
    difference, a number of false objects), or if it compares with another reference than the task's.
    ``unit`` is empty for a plain number. ``reached`` is false if no submission need have the best value, as
    a case has several references. If the reference leaves nothing to average, the metric does not exist: its
    value is NaN and it is omitted from all output.
    """

    name: str
    title: str
    aggregate: Aggregate
    best: float
    worst: float
    fixed_intervals: Callable[[CaseTable, int], dict[str, MethodInterval]] | None = None
    no_interval: str | None = None
    ordered: bool = True
    unit: str = ""
    reached: bool = True

    @property
    def better(self) -> Literal["higher", "lower"]:
        """Which direction is better."""
        return "higher" if self.best > self.worst else "lower"


def mean_metric(
    name: str, title: str, best: float, worst: float, ordered: bool = True, unit: str = ""
) -> Metric:
    """Return the metric that is the mean of the column of its own name."""
    return Metric(name, title, mean_of(name), best, worst, ordered=ordered, unit=unit)


def mean_of(column: str) -> Aggregate:
    """Return the mean of a column over the cases for which it is defined."""
    return Aggregate(
        values=lambda cases: weighted_mean(cases.table[column], cases.weights),
        strata=lambda table: strata_of_column(table, column),
        spread_column=column,
        mean=Mean(lambda table: table[column]),
        rare_failures=True,
    )


def sum_of(column: str) -> Aggregate:
    """Return the sum of a column over the cases for which it is defined; NaN where it is for none."""

    def values(cases: WeightedCases) -> Floats:
        column_values = cases.table[column]
        if np.isnan(column_values).all():
            return np.full(len(cases.weights), np.nan)
        return np.asarray(cases.weights @ np.nan_to_num(column_values), dtype=np.float64)

    return Aggregate(
        values,
        strata=lambda table: strata_of_column(table, column),
        mean=Mean(lambda table: table[column], figure=lambda mean, cases: mean * cases),
    )


def count_of(column: str) -> Aggregate:
    """Return the number of ones in a column of zeros and ones (NaN: left out)."""
    return replace(sum_of(column), count_column=column)


def proportion_of(column: str) -> Aggregate:
    """Return the share of ones in a column of zeros and ones (NaN: left out)."""
    return replace(
        mean_of(column),
        spread_column=None,
        share_column=column,
        mean=None,
        is_share=True,
        rare_failures=False,
    )


def wilson_at_threshold(
    sensitivity: Aggregate, label: str
) -> Callable[[CaseTable, int], dict[str, MethodInterval]]:
    """Return the Wilson interval of a sensitivity as if its threshold were given, not found on the cases."""

    def intervals(table: CaseTable, seed: int) -> dict[str, MethodInterval]:
        positives = int(np.count_nonzero(table[label] == 1))
        cases = WeightedCases(table, np.ones((1, len(table)), dtype=np.int64))
        detected = round(float(sensitivity.values(cases)[0]) * positives)
        interval = MethodInterval(wilson_interval(detected, positives), "Wilson")
        return {"wilson_threshold_held_fixed": interval}

    return intervals


def auc_of(score: str, label: str) -> Aggregate:
    """Return the area under the ROC curve of a score column against a 0/1 label column (NaN: left out)."""
    return Aggregate(
        values=lambda cases: classification.weighted_auc(
            roc_table_of(cases.table, score, label), roc_counts_of(cases, score, label)
        ),
        strata=lambda table: strata_of_labels(table, label),
        curve=Curve(score, label, is_area=True),
        # Halves of a pair: 0, ½, 1, … of positives × negatives.
        resolution=resolution_of(label, lambda positives, negatives: 2 * positives * negatives + 1),
    )


def sensitivity_at_specificity_of(
    score: str, label: str, target: Fraction, definition: SensitivityAtSpecificity = "step"
) -> Aggregate:
    """Return the sensitivity of a score column at a specificity of at least ``target``.

    definition: "step" (at a threshold), "interpolated" (on the curve), or the definition of a public script
    in `evaluation.metrics.operating_points`.
    """

    def values(cases: WeightedCases) -> Floats:
        table = roc_table_of(cases.table, score, label)
        if definition == "step":
            return weighted_sensitivity_at_specificity(table, roc_counts_of(cases, score, label), target)
        if definition == "interpolated":
            return weighted_interpolated_sensitivity(table, roc_counts_of(cases, score, label), target)
        weights = labelled_weights(cases, label)
        if definition == "first_kept_point":
            return sensitivity_at_first_kept_point(table, weights, target)
        return sensitivity_between_kept_points(table, weights, target)

    def possible(positives: int, negatives: int) -> int | None:
        return positives + 1 if definition in {"step", "first_kept_point"} else None

    return Aggregate(
        values=values,
        strata=lambda table: strata_of_labels(table, label),
        curve=Curve(score, label, is_area=False, specificity=target if definition == "step" else None),
        is_share=True,
        decisive=lambda table: table[label] > 0,
        resolution=resolution_of(label, possible),
    )


def f1_of_presence_of(predicted: str, present: str) -> Aggregate:
    """Return the F1 of a structure's detection from two 0/1 columns, over all cases."""
    return Aggregate(
        values=lambda cases: weighted_f1_score(
            cases.table[predicted] > 0, cases.table[present] > 0, cases.weights
        ),
        strata=one_stratum,
        decision=Decision(predicted, present),
        decisive=lambda table: table[present] > 0,
        # The number of predicted structures is the submission's own; only the true positives are not.
        resolution=resolution_of(present, lambda positives, negatives: min(positives, negatives) + 1),
    )
