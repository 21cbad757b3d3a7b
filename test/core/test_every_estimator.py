"""Every estimator: its figure under weights, what it makes of a missing case, its strata and its interval.

Each class below `Estimator` has an example in `EXAMPLES`: columns of a few cases, and what is to come of
them, by a loop, by arithmetic or by another library, never by the estimator. Without one this file fails.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from evaluation.core import estimator as estimators
from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.class_estimators import (
    Agreement,
    AveragePrecision,
    CalibrationError,
    Concordance,
    ConfusionFigure,
    Determination,
    MacroRocArea,
    MeanOfClasses,
    PartialRocArea,
    PresenceF1,
    RocArea,
    SensitivityAtSpecificity,
)
from evaluation.core.estimator import Curve, Decision, Estimator
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.confusion import accuracy_of_confusion, balanced_accuracy_of_confusion
from evaluation.metrics.regression import weighted_pearson_correlation
from evaluation.stats.bootstrap import UnitWeights
from evaluation.stats.columns import weighted_mean
from test.repository import REPOSITORY

NAN, INF = math.nan, math.inf
Row = Mapping[str, Any]
Value = Callable[[list[Row]], float]
"""The figure of some rows, among which one is as often as it is drawn."""


@dataclass(frozen=True)
class Example:
    """An estimator of a metric from ``worst`` to ``best``, columns of some cases, and what it makes of them.

    ``strata``: by default one of all cases. ``methods``: of the interval of a bounded metric, and of an
    unbounded one. ``missing``: the position of a case, and the columns that it has without a result.
    ``with_unseen``: what is added to the cases for the value that a sample may lack; ``corrected``: values
    without the bias of a bootstrap, true for the figure itself. ``ends``: of a figure of sums, the lowest and
    the highest value with one case more. ``decisive``: the cases whose number decides. ``views``: what else
    differs from an `Estimator` (`VIEWS`).
    """

    estimator: Estimator
    columns: Mapping[str, Sequence[Any]]
    value: Value
    strata: Sequence[int] = ()
    methods: tuple[str, str] = ("Wilson-bootstrap", "percentile")
    worst: float = 0.0
    best: float = 1.0
    missing: tuple[int, Row] | None = None
    with_unseen: list[Row] | None = None
    corrected: list[float] | bool = False
    ends: tuple[float, float] | None = None
    decisive: Sequence[int] | None = None
    views: Mapping[str, Any] = field(default_factory=dict)
    weighted: Callable[[list[Row], np.ndarray], float] | None = None
    """The figure of rows and how often each is drawn, where it is not that of the repeated rows."""
    of_groups: Value | None = None
    """The mean over groups, where it is not that of the figure of each."""

    @property
    def rows(self) -> list[Row]:
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]

    @property
    def table(self) -> CaseTable:
        return table_of(self.rows)

    def under(self, times: np.ndarray) -> float:
        """Return the figure of the cases drawn so many times, by the example's own computation."""
        if self.weighted:
            return self.weighted(self.rows, times)
        return self.value([row for row, number in zip(self.rows, times, strict=True) for _ in range(number)])


def table_of(rows: list[Row]) -> CaseTable:
    return CaseTable([f"C{number}" for number in range(len(rows))], rows)


# --- Figures of rows by loops and other libraries ---


def numbers(rows: list[Row], column: str = "value") -> list[float]:
    return [row[column] for row in rows if not math.isnan(row[column])]


def mean(rows: list[Row], column: str = "value") -> float:
    found = numbers(rows, column)
    return sum(found) / len(found) if found else NAN


def mean_of(figures: Sequence[float]) -> float:
    found = [one for one in figures if not math.isnan(one)]
    return sum(found) / len(found) if found else NAN


def limit_of(found: Sequence[float]) -> float:
    return statistics.mean(found) + 1.96 * statistics.stdev(found) if len(found) > 1 else NAN


def limit_with(unseen: float) -> float:
    """Return the limit of five values with one more, whose variance is as uncertain as that of five."""
    values = [1.0, 5.0, 2.0, 7.0, 0.0, unseen]
    return statistics.mean(values) + 1.96 * math.sqrt(statistics.pvariance(values) * 5 / 4)


def ratio(rows: list[Row]) -> float:
    above, below = sum(numbers(rows, "above")), sum(numbers(rows, "below"))
    if below:
        return above / below
    return 7.0 if numbers(rows, "below") else NAN


def labelled(rows: list[Row]) -> tuple[list[float], list[float]]:
    """Return scores and labels of the cases that have a label; infinite ones are very large."""
    chosen = [row for row in rows if not math.isnan(row["label"])]
    return [float(np.clip(row["score"], -1e9, 1e9)) for row in chosen], [row["label"] for row in chosen]


def both(figure: Callable[[list[float], list[float]], float]) -> Value:
    """Return a figure of scores and labels, which needs both classes."""

    def value(rows: list[Row]) -> float:
        scores, labels = labelled(rows)
        return float(figure(labels, scores)) if len(set(labels)) == 2 else NAN

    return value


def thresholds(rows: list[Row]) -> Iterator[tuple[int, int, int, int]]:
    """Yield positives and negatives that are called, and all of them, at each threshold, and with no call."""
    scores, labels = labelled(rows)
    for threshold in (INF, *sorted(set(scores))):
        called = [label for score, label in zip(scores, labels, strict=True) if score >= threshold]
        yield called.count(1), called.count(0), labels.count(1), labels.count(0)


def sensitivity_at_specificity(rows: list[Row]) -> float:
    found = [
        hits / all_of for hits, alarms, all_of, none in thresholds(rows) if all_of and 3 * alarms <= none
    ]
    return max(found) if {0.0, 1.0} <= set(labelled(rows)[1]) else NAN


def average_precision(label: str, score: str) -> Value:
    def value(rows: list[Row]) -> float:
        labels = [row[label] for row in rows]
        scores = [min(row[score], 1e9) for row in rows]
        return float(sklearn_metrics.average_precision_score(labels, scores)) if any(labels) else NAN

    return value


def macro_area(rows: list[Row]) -> float:
    found = []
    for one in range(3):
        true = [row["true"] == one for row in rows if not math.isnan(row["true"])]
        scores = [row[f"p{one}"] for row in rows if not math.isnan(row["true"])]
        if any(true) and not all(true):
            found.append(float(sklearn_metrics.roc_auc_score(true, scores)))
    return mean_of(found)


def presence(rows: list[Row]) -> float:
    hits = sum(row["predicted"] and row["present"] for row in rows)
    made = sum(row["predicted"] + row["present"] for row in rows)
    return 2 * hits / made if made else 1.0


def accuracy(rows: list[Row]) -> float:
    return mean_of([float(row["predicted"] == row["true"]) for row in rows if not math.isnan(row["true"])])


def balanced_accuracy(rows: list[Row]) -> float:
    return mean_of([accuracy([row for row in rows if row["true"] == one]) for one in (0, 1)])


def calibration(rows: list[Row]) -> float:
    """The mean over two columns of probabilities; two bins, and a case without a probability counts 1."""
    given = [row for row in rows if not math.isnan(row["label"])]
    apart = 0.0
    for column in ("score", "other"):
        apart += sum(math.isinf(row[column]) for row in given)
        for low in (False, True):
            members = [row for row in given if not math.isinf(row[column]) and (row[column] < 0.5) == low]
            apart += abs(sum(row[column] - row["label"] for row in members))
    return apart / 2 / len(given) if given else NAN


def determination(rows: list[Row]) -> float:
    true, predicted = [row["true"] for row in rows], [row["predicted"] for row in rows]
    return float(sklearn_metrics.r2_score(true, predicted)) if len(set(true)) > 1 else NAN


def correlation(rows: list[Row]) -> float:
    given = [row for row in rows if not math.isnan(row["true"])]
    true, made = [row["true"] for row in given], [row["predicted"] for row in given]
    if len(set(true)) < 2:
        return NAN
    if np.isnan(made).any():
        return -1.0
    return statistics.correlation(made, true) if len(set(made)) > 1 else 0.0


def concordance(rows: list[Row]) -> float:
    won, pairs = 0.0, 0
    for one in rows:
        for other in rows:
            if one["event"] and one["time"] < other["time"]:
                pairs += 1
                risks = one["risk"], other["risk"]
                lost = math.isnan(risks[0]) or math.isnan(risks[1])
                won += 0 if lost else (risks[0] > risks[1]) + (risks[0] == risks[1]) / 2
    return won / pairs if pairs else NAN


def by_group(value: Value) -> Callable[[list[Row], np.ndarray], float]:
    """Return the mean over groups, each as often as that one of its cases that is drawn most often."""

    def weighted(rows: list[Row], times: np.ndarray) -> float:
        total = number = 0.0
        for group in sorted({row["group"] for row in rows} - {""}):
            members = [position for position, row in enumerate(rows) if row["group"] == group]
            found = value([rows[position] for position in members for _ in range(times[position])])
            if not math.isnan(found):
                drawn = int(times[members].max())
                total, number = total + drawn * found, number + drawn
        return total / number if number else NAN

    return weighted


def both_classes(rows: list[Row]) -> float:
    return mean_of([average_precision("a", "sa")(rows), average_precision("b", "sb")(rows)])


# --- The examples ---

VALUES = {"value": [1.0, 5.0, 2.0, NAN, 7.0, 0.0]}
ONES = {"one": [1.0, 0.0, 1.0, NAN, 0.0, 1.0]}
TWO = {"a": [1.0, 5.0, NAN, NAN, 3.0, 0.0], "b": [2.0, NAN, NAN, NAN, 8.0, 2.0]}
SUMS = {"above": [3.0, 1.0, 0.0, NAN, 2.0, 1.0], "below": [4.0, 1.0, 0.0, NAN, 4.0, 1.0]}
GROUPS = {**VALUES, "group": [*"abbaa", ""]}
SCORES = {
    "score": [0.9, 0.8, 0.8, 0.3, 0.1, 0.7, 0.2, 0.6, -INF],
    "label": [1.0, 0.0, 1.0, 1.0, 0.0, NAN, 0.0, 1.0, 1.0],
}
OF_SCORES = [1, 0, 1, 1, 0, -1, 0, 1, 1]
POSITIVES = [0, 2, 3, 7, 8]
FARTHEST = {"score": -INF, "label": 1.0}
"""A positive without a result is below all others."""
ABOVE_ALL = [{"score": INF, "label": 0.0}] * 2
"""Two negatives that a sample may lack."""
LABELS = {"a": [1, 0, 1, 0, 0, 1], "sa": [0.9, 0.8, 0.3, 0.2, 0.7, 0.7], "b": [0, 1, 0, 0, 1, 0]}
LABELS |= {"sb": [0.1, 0.3, 0.3, 0.9, 0.8, 0.2], "group": [*"xxxyyy"]}
CLASSES = {
    "true": [0.0, 0.0, 1.0, 1.0, 2.0, NAN],
    "p0": [0.7, 0.2, 0.3, 0.1, 0.1, 0.5],
    "p1": [0.2, 0.5, 0.6, 0.1, 0.2, 0.5],
    "p2": [0.1, 0.3, 0.1, 0.8, 0.7, 0.0],
}
DECIDED = {"predicted": [0.0, 1.0, 1.0, NAN, 0.0, 1.0], "true": [0.0, 0.0, 1.0, 1.0, NAN, 1.0]}
PRESENT = {"predicted": [1.0, 1.0, 0.0, 0.0, 1.0, 0.0], "present": [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]}
PAIRS = {"predicted": [1.0, 4.0, 2.5, 8.0, 5.0], "true": [2.0, 3.0, 1.0, 9.0, NAN]}
WHOLE_PAIRS = {"predicted": [1.0, 4.0, 2.5, 8.0], "true": [2.0, 3.0, 1.0, 9.0]}
TIMES = {
    "risk": [0.9, 0.5, 0.5, NAN, 0.1],
    "time": [1.0, 2.0, 3.0, 4.0, 5.0],
    "event": [1.0, 0.0, 1.0, 1.0, 0.0],
}

ENTERING = [0, 0, 0, -1, 0, 0]
OF_SUMS = ("BCa", "BCa")
AREA = Curve("score", "label", is_area=True)
_APS = (AveragePrecision("sa", "a"), AveragePrecision("sb", "b"))

EXAMPLES = [
    Example(
        estimators.FunctionOfCases(
            lambda cases: weighted_mean(cases.table["value"], cases.weights), of_envelope=False
        ),
        VALUES,
        mean,
        best=10.0,
    ),
    Example(
        # Less 1 for each case: whole −4, halves −2. A bias of 2 by √2 − 1 of itself.
        estimators.FunctionOfCases(lambda cases: -1.0 * cases.weights.sum(axis=1), of_envelope=True),
        {"value": [0.0] * 4},
        lambda rows: -float(len(rows)),
        worst=-10.0,
        best=0.0,
        corrected=[-4 - 2 / (math.sqrt(2) - 1)],
    ),
    Example(
        estimators.Mean("value"),
        VALUES,
        mean,
        ENTERING,
        OF_SUMS,
        best=10.0,
        missing=(1, {"value": 0.0}),
        ends=(15 / 6, 25 / 6),  # the mean of 1, 5, 2, 7 and 0 with a 0 or a 10
        views={"mean_column": "value", "case_column": "value", "is_mean": True},
    ),
    Example(
        estimators.Share("one"),
        ONES,
        lambda rows: mean(rows, "one"),
        ENTERING,
        ("Wilson", "Wilson"),
        missing=(0, {"one": 0.0}),
        ends=(3 / 6, 4 / 6),
        views={
            "share_column": "one",
            "case_column": "one",
            "is_mean": True,
            "is_share": True,
            "possible_values": 6,
        },
    ),
    Example(
        # Five values from 0 to 7, as is one more. The sum is that of five again.
        estimators.Sum("value"),
        VALUES,
        lambda rows: sum(numbers(rows)),
        ENTERING,
        OF_SUMS,
        worst=100.0,
        best=0.0,
        ends=(5 * 15 / 6, 5 * (15 + 7) / 6),
    ),
    Example(
        # One more is 0 or 1.
        estimators.Count("one"),
        ONES,
        lambda rows: sum(numbers(rows, "one")),
        ENTERING,
        OF_SUMS,
        worst=100.0,
        best=0.0,
        ends=(5 * 3 / 6, 5 * 4 / 6),
        views={"possible_values": 6},
    ),
    Example(
        # The squares of 1, 5, 2, 7 and 0 sum to 79.
        estimators.RootMeanSquare("value"),
        VALUES,
        lambda rows: math.sqrt(mean([{"value": row["value"] ** 2} for row in rows])),
        ENTERING,
        OF_SUMS,
        worst=10.0,
        best=0.0,
        ends=(math.sqrt(79 / 6), math.sqrt(179 / 6)),
    ),
    Example(
        estimators.LimitOfAgreement("value", upper=True, largest=10.0),
        VALUES,
        lambda rows: limit_of(numbers(rows)),
        ENTERING,
        OF_SUMS,
        worst=INF,
        best=0.0,
        ends=(min(map(limit_with, (-10, 3, 10))), max(map(limit_with, (-10, 3, 10)))),
    ),
    Example(
        estimators.LimitOfAgreement("value", upper=False, largest=10.0),
        {"value": [-value for value in VALUES["value"]]},
        lambda rows: -limit_of([-value for value in numbers(rows)]),
        ENTERING,
        OF_SUMS,
        worst=INF,
        best=0.0,
        ends=(-max(map(limit_with, (-10, 3, 10))), -min(map(limit_with, (-10, 3, 10)))),
    ),
    Example(
        estimators.MeanOfFigures((estimators.Mean("a"), estimators.Quantile("b", 0.5))),
        TWO,
        lambda rows: mean_of([mean(rows, "a"), float(np.median(numbers(rows, "b") or [NAN]))]),
        [0, 0, -1, -1, 0, 0],
        best=10.0,
        views={"is_mean": True},
    ),
    Example(
        estimators.MeanOfFigures((estimators.Mean("a"), estimators.Sum("b")), by_reference=False),
        TWO,
        # Without a case a sum is 0, and a mean is not.
        lambda rows: mean_of([mean(rows, "a"), sum(numbers(rows, "b"))]),
        best=100.0,
    ),
    Example(
        # The means of 1, 5, 3 and 0 and of 2, 8 and 2; one more is 0 in both, or 10.
        estimators.MeanOfMeans(("a", "b"), by_reference=True),
        TWO,
        lambda rows: mean_of([mean(rows, "a"), mean(rows, "b")]),
        [0, 0, -1, -1, 0, 0],
        OF_SUMS,
        best=10.0,
        ends=((9 / 5 + 12 / 4) / 2, (19 / 5 + 22 / 4) / 2),
        views={"is_mean": True},
    ),
    Example(
        # One more case has the mean denominator, 10 of six rows, and from nothing to the largest numerator.
        estimators.RatioOfSums("above", "below", of_nothing=7.0),
        SUMS,
        ratio,
        ENTERING,
        ("Wilson", "BCa"),
        ends=(7 / (10 + 10 / 6), (7 + 3) / (10 + 10 / 6)),
        views={"is_share": True},
    ),
    Example(
        estimators.Quantile("value", 0.25),
        VALUES,
        lambda rows: float(np.quantile(numbers(rows) or [NAN], 0.25)),
        ENTERING,
        ("order-statistics",) * 2,
        best=10.0,
        missing=(1, {"value": 0.0}),
        views={"case_column": "value", "is_mean": True},
    ),
    Example(
        estimators.ByGroup(estimators.Mean("value"), "group"),
        GROUPS,
        mean,
        [0, 0, 0, -1, 0, -1],
        OF_SUMS,
        best=10.0,
        missing=(1, {"value": 0.0}),
        views={
            "group_column": "group",
            "case_column": "value",
            "is_mean": True,
            "groups": [0, 1, 1, 0, 0, -1],
        },
        weighted=by_group(mean),
    ),
    Example(
        RocArea("score", "label"),
        SCORES,
        both(sklearn_metrics.roc_auc_score),
        OF_SCORES,
        ("logit-DeLong",) * 2,
        missing=(0, FARTHEST),
        with_unseen=ABOVE_ALL,
        views={"curve": AREA, "label_column": "label", "possible_values": 2 * 5 * 3 + 1},
    ),
    Example(
        PartialRocArea("score", "label", Fraction(1, 2), Fraction(1), standardised=True),
        SCORES,
        both(lambda labels, scores: sklearn_metrics.roc_auc_score(labels, scores, max_fpr=0.5)),
        OF_SCORES,
        missing=(0, FARTHEST),
        with_unseen=ABOVE_ALL,
    ),
    Example(
        SensitivityAtSpecificity("score", "label", Fraction(2, 3)),
        SCORES,
        sensitivity_at_specificity,
        OF_SCORES,
        missing=(0, FARTHEST),
        with_unseen=ABOVE_ALL,
        decisive=POSITIVES,
        views={
            "curve": Curve("score", "label", is_area=False, specificity=Fraction(2, 3)),
            "label_column": "label",
            "is_share": True,
            "possible_values": 6,
        },
    ),
    Example(
        AveragePrecision("score", "label"),
        # A positive without a result is found at no threshold: another threshold for scikit-learn.
        {name: column[:-1] for name, column in SCORES.items()},
        lambda rows: average_precision("label", "score")(
            [row for row in rows if not math.isnan(row["label"])]
        ),
        OF_SCORES[:-1],
        missing=(0, FARTHEST),
        with_unseen=ABOVE_ALL,
        decisive=POSITIVES[:-1],
        views={"drawn_together": True},
    ),
    Example(
        MeanOfClasses(_APS),
        LABELS,
        both_classes,
        with_unseen=[{"a": 0, "sa": INF, "b": 0, "sb": INF, "group": "x"}] * 2,
        # Of each class the mean over the groups: in "y" both have one, in "x" too.
        of_groups=lambda rows: mean_of(
            [
                mean_of(
                    [average_precision(*of)([row for row in rows if row["group"] == one]) for one in "xy"]
                )
                for of in (("a", "sa"), ("b", "sb"))
            ]
        ),
    ),
    Example(
        MeanOfClasses(_APS).by_group("group"),
        LABELS,
        both_classes,
        views={"group_column": "group", "groups": [0, 0, 0, 1, 1, 1]},
        weighted=lambda rows, times: mean_of(
            [by_group(average_precision(*of))(rows, times) for of in (("a", "sa"), ("b", "sb"))]
        ),
    ),
    Example(MacroRocArea(("p0", "p1", "p2"), "true"), CLASSES, macro_area, [0, 0, 1, 1, 2, -1]),
    Example(
        # Two hits among six that are predicted or present; one more of them is wrong or right.
        PresenceF1("predicted", "present"),
        PRESENT,
        presence,
        (),
        ("Wilson", "Wilson"),
        missing=(0, {"predicted": 0.0, "present": 1.0}),
        ends=(4 / 7, 6 / 8),
        decisive=[0, 2, 4],
        views={
            "decision": Decision("predicted", "present"),
            "label_column": "present",
            "possible_values": 4,
        },
    ),
    Example(
        # Three of five are right; one more is wrong or right.
        ConfusionFigure("predicted", "true", 2, accuracy_of_confusion),
        DECIDED,
        accuracy,
        [0, 0, 1, 1, -1, 1],
        ("Wilson", "BCa"),
        ends=(3 / 6, 4 / 6),
        views={"drawn_together": True},
    ),
    Example(
        # One of two and two of three; one more is worst in the class of two: 1 of 3, or 2 of 3.
        ConfusionFigure("predicted", "true", 2, balanced_accuracy_of_confusion, by_class=True),
        DECIDED,
        balanced_accuracy,
        [0, 0, 1, 1, -1, 1],
        ("Wilson", "BCa"),
        ends=((1 / 3 + 2 / 3) / 2, (2 / 3 + 2 / 3) / 2),
        decisive=[0, 1, 2, 3, 5],
        views={"is_share": True},
    ),
    Example(
        CalibrationError((("score", "label"), ("other", "label")), "label", bins=2),
        {**SCORES, "other": [0.5, 0.25, 0.25, 0.75, 0.5, 0.5, 0.0, 1.0, 0.5]},
        calibration,
        OF_SCORES,
        worst=1.0,
        best=0.0,
    ),
    Example(Determination("predicted", "true"), WHOLE_PAIRS, determination, worst=-9.0),
    Example(
        Agreement("predicted", "true", weighted_pearson_correlation, absolute=False),
        PAIRS,
        correlation,
        [0, 0, 0, 0, -1],
        ("Fisher", "percentile"),
        worst=-1.0,
        corrected=True,
    ),
    Example(
        Agreement("predicted", "true", weighted_pearson_correlation),
        {**PAIRS, "predicted": [NAN, 4.0, 2.5, 8.0, NAN]},
        correlation,
        [0, 0, 0, 0, -1],
        worst=-1.0,
        corrected=True,
    ),
    Example(
        Concordance("risk", "time", "event", risk=True),
        TIMES,
        concordance,
        [1, 0, 1, 1, 0],
        ("Wilson", "percentile"),
        decisive=[0, 2, 3],
        views={"max_cases": 20_000},
    ),
]
NAMES = [f"{type(one.estimator).__name__}-{number}" for number, one in enumerate(EXAMPLES)]
each = pytest.mark.parametrize("example", EXAMPLES, ids=NAMES)


# --- What is held of each ---


def estimator_names() -> set[str]:
    """Return the names of the classes of the package that are below `Estimator`, but for private ones."""
    texts = [path.read_text(encoding="utf-8") for path in (REPOSITORY / "evaluation").rglob("*.py")]
    classes = re.findall(r"^class (\w+)\(([\w., ]*)\)", "\n".join(texts), re.MULTILINE)
    found = {"Estimator"}
    while below := {name for name, bases in classes if found & {*re.findall(r"\w+", bases)}} - found:
        found |= below
    return {name for name in found - {"Estimator"} if not name.startswith("_")}


def test_every_estimator_has_an_example():
    names = estimator_names()
    assert len(names) > 20
    assert sorted(names - {type(one.estimator).__name__ for one in EXAMPLES}) == []


@each
def test_the_figure_under_weights_is_that_of_the_repeated_cases(example):
    cases = len(example.rows)
    weights = np.random.default_rng(cases).integers(0, 4, (6, cases))
    weights[0], weights[1] = 1, 0
    found = example.estimator.values(WeightedCases(example.table, weights))
    assert found.shape == (6,)
    assert found.tolist() == pytest.approx([example.under(row) for row in weights], nan_ok=True)
    assert not math.isnan(found[0])
    # Units of two cases each, as drawn persons are.
    units = np.arange(cases) // 2
    drawn = UnitWeights(weights[:, : units[-1] + 1], units)
    found = example.estimator.values(WeightedCases(example.table, drawn))
    expected = [example.under(row) for row in drawn.of_cases.astype(int)]
    assert found.tolist() == pytest.approx(expected, nan_ok=True)


@each
def test_strata_follow_from_the_reference(example):
    expected = list(example.strata) or [0] * len(example.rows)
    assert example.estimator.strata(example.table).tolist() == expected


@each
def test_a_case_without_a_result_takes_the_place_of_the_worst(example):
    if example.missing is None:
        assert example.estimator.missing(example.worst, example.rows[0]) == {}
        return
    position, expected = example.missing
    known = {
        name: value for name, value in example.rows[position].items() if name in ("label", "present", "group")
    }
    row = example.estimator.missing(example.worst, known)
    assert row == expected
    before, after = (
        float(example.estimator.values(WeightedCases(table_of(rows), np.ones((1, len(rows)), np.int64)))[0])
        for rows in (
            example.rows,
            [example.rows[i] | row if i == position else example.rows[i] for i in range(len(example.rows))],
        )
    )
    assert (after < before) == (example.best > example.worst)


@each
def test_the_method_of_the_interval_and_an_interval_around_the_figure(example):
    assert tuple(map(example.estimator.interval_method, (True, False))) == example.methods
    metric = Metric("m", "M", example.estimator, example.best, example.worst)
    found = intervals({"t.m": metric}, [example.table], Resampling(1, 60, interval_minimum=1)).found
    value = example.under(np.ones(len(example.rows), np.int64))
    bounded = math.isfinite(example.worst) and math.isfinite(example.best)
    ((figure,),) = found.values()
    unseen = figure.with_unseen_failures
    if (unseen.lower, unseen.upper) != (figure.lower, figure.upper):
        assert figure.method == example.methods[0 if bounded else 1]
    assert (unseen.lower is None) == (example.estimator.no_unseen(example.worst) is not None)
    for one in (figure, unseen):
        if one.lower is not None:
            assert one.lower <= value + 1e-9
            assert one.upper >= value - 1e-9
    if unseen.lower is not None:
        assert unseen.lower <= figure.lower <= figure.upper <= unseen.upper


@each
def test_cases_that_a_sample_may_lack(example):
    estimator, table = example.estimator, example.table
    expected = [example.value([*example.rows, *example.with_unseen])] if example.with_unseen else []
    assert list(estimator.with_unseen(table)) == pytest.approx(expected)
    corrected = example.corrected
    if corrected is True:
        corrected = [example.value(example.rows)]
    assert list(estimator.corrected(table)) == pytest.approx(corrected or [])
    if example.ends is None:
        return
    sums = estimator.of_sums(table, example.worst, example.best)
    whole = sums.columns.sum(axis=1)
    ends = float(sums.figure(whole + sums.lowest).min()), float(sums.figure(whole + sums.highest).max())
    assert ends == pytest.approx(example.ends)
    times = np.arange(len(example.rows)) % 3 + 1
    if not isinstance(estimator, estimators.Sum | estimators.LimitOfAgreement):
        assert float(sums.figure(sums.columns @ times)) == pytest.approx(example.under(times))
    assert float(sums.figure(whole)) == pytest.approx(example.under(np.ones_like(times)))


@each
def test_a_mean_over_groups_is_that_of_the_figure_of_each(example):
    if example.estimator.group_column is not None:
        return
    names = example.columns.get("group") or [*"ab"] * 9
    rows = [{**row, "group": group} for row, group in zip(example.rows, names, strict=False)]
    found = example.estimator.by_group("group")
    cases = WeightedCases(table_of(rows), np.ones((1, len(rows)), np.int64))
    of_groups = example.of_groups or (
        lambda rows: by_group(example.value)(rows, np.ones(len(rows), np.int64))
    )
    assert float(found.values(cases)[0]) == pytest.approx(of_groups(rows), nan_ok=True)
    assert found.group_column == "group"


VIEWS = (
    *("mean_column", "is_mean", "group_column", "share_column", "curve", "decision"),
    *("case_column", "label_column", "is_share", "drawn_together", "max_cases"),
)


@each
def test_views_that_reports_and_rankings_ask_for(example):
    estimator, table = example.estimator, example.table
    groups, decisive = estimator.groups(table), estimator.decisive(table)
    found = {name: getattr(estimator, name) for name in VIEWS} | {
        "possible_values": estimator.possible_values(table),
        "groups": None if groups is None else groups.tolist(),
    }
    usual: dict[str, Any] = {name: getattr(Estimator(), name) for name in VIEWS}
    usual |= {"possible_values": None, "groups": None}
    assert found == usual | dict(example.views)
    assert (None if decisive is None else np.flatnonzero(decisive).tolist()) == example.decisive


@each
def test_influences_are_derivatives_of_the_figure_by_weights(example):
    """By a small step of each weight; figures of steps have none."""
    kept = np.flatnonzero(example.estimator.strata(example.table) >= 0)
    table, step = example.table.take(kept), 1e-6
    found = example.estimator.influence(table, example.worst, example.best)
    if found is None or isinstance(example.estimator, estimators.ByGroup | estimators.Sum):
        return
    assert found.sum() == pytest.approx(0, abs=1e-8)
    weights = np.vstack([np.ones(len(kept)), np.ones((len(kept), len(kept))) + step * np.eye(len(kept))])
    whole, *others = example.estimator.values(WeightedCases(table, weights))
    slopes = (np.array(others) - whole) / step
    if not isinstance(example.estimator, estimators.LimitOfAgreement):  # whose variance counts the weights
        np.testing.assert_allclose(found, slopes, atol=2e-5)


def test_a_column_that_the_labels_tell_is_no_worse_for_a_case_without_a_result():
    assert math.isnan(estimators.Mean("value").missing(0.0, {"value": NAN})["value"])
    assert estimators.Sum("value").missing(0.0, {}) == {}


def test_each_mean_has_another_estimator_of_its_columns():
    quantile = lambda column: estimators.Quantile(column, 0.5)  # noqa: E731
    table = table_of(Example(estimators.Mean("a"), TWO, mean, (), OF_SUMS).rows)
    cases = WeightedCases(table, np.ones((1, 6), np.int64))
    assert estimators.Mean("a").of_each(quantile).values(cases).tolist() == [2.0]  # of 0, 1, 3 and 5
    both_columns = estimators.MeanOfMeans(("a", "b"), by_reference=True)
    assert both_columns.of_each(quantile).values(cases).tolist() == [2.0]  # and 2 of 2, 2 and 8
    mixed = estimators.MeanOfFigures((estimators.Mean("a"), estimators.Mean("b")), by_reference=False)
    assert mixed.of_each(quantile).values(cases).tolist() == [2.0]
    with pytest.raises(ValueError, match="mean"):
        estimators.Share("a").of_each(quantile)
