"""Metrics of numbers that tell two classes apart: areas, operating points, calibration."""

import math
from abc import ABC
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from evaluation.challenges.declared.scalars import NumberField
from evaluation.challenges.declared.tables import FieldComparison, FieldTable, Measure, MetricTable
from evaluation.core import class_estimators as estimators
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.estimator import Estimator, Mean, RatioOfSums
from evaluation.core.form import CaseForm
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.metrics.classification import PrecisionReading

_FARTHEST = {1.0: -math.inf, 0.0: math.inf}


class ScoreMetric(MetricTable, ABC):
    """A metric of a number with one of two classes as reference."""

    kinds = (NumberField,)

    def score_measure(
        self, name: str, field_name: str, table: FieldTable, estimator: Estimator, best: float, worst: float
    ) -> Measure:
        """Return the figure of an estimator of the columns that `score_columns` names."""
        score, label = score_columns(field_name)
        check_classes(table)

        def row(number: float | None, present: float) -> Row:
            return {score: _FARTHEST.get(present, math.nan) if number is None else number, label: present}

        metric = Metric(name, self.title_of(name), estimator, best, worst)
        return Measure.of_values(metric, field_name, row, missing=None)


class AreaUnderCurve(ScoreMetric):
    """Area under the ROC curve: how well a number separates two classes.

    From 0 to 1, higher is better; ties count half. It needs a case of each class. A case without a result is
    ranked below all others if it is positive, and above them if it is negative.

    Oracle: scikit-learn, `roc_auc_score`. Source: Hanley and McNeil, Radiology 143:29, 1982.
    """

    metric: Literal["auc"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the area. Raises ValueError for a field without classes."""
        return self.score_measure(
            name, field_name, table, estimators.RocArea(*score_columns(field_name)), 1, 0
        )


class PartialAreaUnderCurve(ScoreMetric):
    """Area under the ROC curve between two specificities, points joined by straight lines.

    From 0 to the difference of the specificities, higher is better. Standardised (McClish), a useless number
    has 0.5 and a perfect one 1; values below 0.5 are worse than chance. It needs a case of each class. A case
    without a result is ranked below all others if it is positive, and above them if it is negative.

    Oracle: scikit-learn, `roc_auc_score` with `max_fpr`. Source: McClish, Medical Decision Making 9:190,
    1989.
    """

    metric: Literal["partial_auc"]
    min_specificity: float = Key(description="Smallest specificity.", ge=0, lt=1)
    max_specificity: float = Key(default=1.0, description="Largest specificity.", gt=0, le=1)
    standardised: bool = Key(
        default=True, description="Whether the area is mapped so that chance is 0.5 and the best 1."
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the area. Raises ValueError for a field without classes and specificities out of order."""
        low, high = _decimal(self.min_specificity), _decimal(self.max_specificity)
        if low >= high:
            raise ValueError(
                f"expected min_specificity < max_specificity, found {float(low):g} and {float(high):g}"
            )
        area = estimators.PartialRocArea(*score_columns(field_name), low, high, self.standardised)
        width, chance = float(high - low), float((1 - low) ** 2 - (1 - high) ** 2) / 2
        best, worst = (1.0, 0.5 * (1 - chance / (width - chance))) if self.standardised else (width, 0.0)
        return self.score_measure(name, field_name, table, area, best, worst)


class ScoreSensitivityAtSpecificity(ScoreMetric):
    """Highest sensitivity over all thresholds with at least a given specificity.

    From 0 to 1, higher is better. Cases of equal numbers are never separated; specificities are compared
    exactly. It needs a case of each class. A positive case without a result is detected at no threshold, a
    negative one is a false positive at every threshold.

    Oracle: scikit-learn, `roc_curve`.
    """

    metric: Literal["sensitivity_at_specificity"]
    specificity: float = Key(description="The specificity that is required.", ge=0, le=1)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the sensitivity. Raises ValueError for a field without classes."""
        estimator = estimators.SensitivityAtSpecificity(
            *score_columns(field_name), _decimal(self.specificity)
        )
        return self.score_measure(name, field_name, table, estimator, 1, 0)


class SpecificityAtSensitivity(ScoreMetric):
    """Highest specificity over all thresholds with at least a given sensitivity.

    From 0 to 1, higher is better. Cases of equal numbers are never separated; sensitivities are compared
    exactly. It needs a case of each class. A negative case without a result is a false positive at every
    threshold, a positive one is detected at none.

    Oracle: scikit-learn, `roc_curve`.
    """

    metric: Literal["specificity_at_sensitivity"]
    sensitivity: float = Key(description="The sensitivity that is required.", ge=0, le=1)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the specificity: the sensitivity for the absence of the condition."""
        check_classes(table)
        negated, absent = f"{field_name}_negated", f"{field_name}_absent"
        estimator = estimators.SensitivityAtSpecificity(negated, absent, _decimal(self.sensitivity))

        def row(comparison: FieldComparison) -> Row:
            return {negated: -comparison.submitted, absent: 1.0 - comparison.reference}

        def worst_row(case: CaseForm, references: Values) -> Row:
            return {absent: 1.0 - references[field_name]}

        return Measure((Metric(name, self.title_of(name), estimator, 1, 0),), row, worst_row)


class ScoreAveragePrecision(ScoreMetric):
    """Average precision: precision at every threshold, weighted by the recall that is gained.

    From 0 to 1, higher is better; not interpolated; chance is the share of positive cases. It needs a
    positive case. A positive case without a result is never found, a negative one comes before all others.

    Oracle: scikit-learn, `average_precision_score`.
    """

    metric: Literal["average_precision"]
    reading: PrecisionReading = Key(
        default="step",
        description="`step`: precision weighted by gained recall. `trapezoid`: the area below straight lines "
        "between the points of precision and recall, which is too kind where there are few thresholds.",
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the average precision. Raises ValueError for a field without classes."""
        estimator = estimators.AveragePrecision(*score_columns(field_name), self.reading)
        return self.score_measure(name, field_name, table, estimator, 1, 0)


class ScoreSensitivityAtPrecision(ScoreMetric):
    """Highest sensitivity over all thresholds with at least a given precision.

    From 0 to 1, higher is better; 0 if no threshold has that precision. Cases of equal numbers are never
    separated; precisions are compared exactly. It needs a positive case. A positive case without a result is
    detected at no threshold, a negative one is a false positive at every threshold.

    Oracle: scikit-learn, `precision_recall_curve`.
    """

    metric: Literal["sensitivity_at_precision"]
    precision: float = Key(description="The precision that is required.", gt=0, le=1)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the sensitivity. Raises ValueError for a field without classes."""
        estimator = estimators.SensitivityAtPrecision(*score_columns(field_name), _decimal(self.precision))
        return self.score_measure(name, field_name, table, estimator, 1, 0)


class NetBenefit(ScoreMetric):
    """Net benefit of treating all cases above a threshold: true positives minus false ones, by the positives.

    The odds of the threshold weigh a false positive: at 0.2 it costs a quarter of what a true one gains. At
    most 1, higher is better; 0 is to treat nobody. Not `standardised`, the difference is by all cases; its
    best value is then the share of positive cases, so that it cannot rank. The field is a probability, with
    `minimum = 0` and `maximum = 1`. A positive case without a result is not treated, a negative one is.

    Oracle: shares of true and false positives by hand. Source: Vickers and Elkin, Medical Decision Making
    26:565, 2006; Kerr et al., J. Clin. Oncol. 34:2534, 2016, for the standardised one.
    """

    metric: Literal["net_benefit"]
    threshold: float = Key(description="Probability from which on a case is treated.", gt=0, lt=1)
    standardised: bool = Key(
        default=True, description="Whether it is divided by the share of positive cases."
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the benefit. Raises ValueError for a field that is no probability of a class."""
        check_probability(table)
        cost, label = self.threshold / (1 - self.threshold), f"{name}_positive"

        def row(true: float, treated: bool) -> Row:
            return {name: math.nan if math.isnan(true) else (1.0 if true else -cost) * treated, label: true}

        if self.standardised:
            benefit = RatioOfSums(name, label, is_share=False, of_failure=-cost)
            metric = Metric(name, self.title_of(name), benefit, 1, -math.inf)
        else:
            metric = Metric(name, self.title_of(name), Mean(name), 1, -cost, ordered=False)
        return Measure(
            (metric,),
            lambda comparison: row(comparison.reference, comparison.submitted >= self.threshold),
            lambda case, references: row(references[field_name], not references[field_name]),
        )


class ScoreCalibrationError(ScoreMetric):
    """Expected calibration error: mean distance of predicted from observed shares in bins of equal width.

    From 0 to 1, lower is better. Each bin counts with its share of the cases. The field is a probability,
    with `minimum = 0` and `maximum = 1`. A case without a result counts 1.

    Oracle: arithmetic by hand. Source: Naeini et al., AAAI 2015, p. 2901.
    """

    metric: Literal["calibration_error"]
    bins: int = Key(default=10, description="Number of bins.", ge=1, le=1000)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the error. Raises ValueError for a field that is no probability of a class."""
        check_probability(table)
        columns = score_columns(field_name)
        metric = estimators.calibration_metric(name, self.title_of(name), [columns], columns[1], self.bins)
        found = self.score_measure(name, field_name, table, metric.estimator, metric.best, metric.worst)
        return replace(found, metrics=(metric,))


def score_columns(field_name: str) -> tuple[str, str]:
    """Return the names of the columns of a number and of its class (1, 0, or NaN: left out)."""
    return f"{field_name}_score", f"{field_name}_class"


def check_probability(table: FieldTable) -> None:
    """Raise ValueError unless a field is a probability of one of two classes."""
    check_classes(table)
    if not isinstance(table, NumberField) or (table.minimum, table.maximum) != (0, 1):
        raise ValueError("expected a probability: a field with minimum = 0 and maximum = 1")


def check_classes(table: FieldTable) -> None:
    """Raise ValueError for a field with a number as reference."""
    if isinstance(table, NumberField) and table.two_classes is None:
        raise ValueError("expected a field whose reference is a class: positive and negative cells")


def _decimal(number: float) -> Fraction:
    """Return a number as the decimal that it is written as: 0.95 of 20 cases are exactly 19."""
    return Fraction(repr(float(number)))
