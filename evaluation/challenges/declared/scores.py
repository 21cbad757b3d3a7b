"""A number against one of two classes: areas below curves, points on them, and calibration."""

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar, Literal

from evaluation.challenges.declared.scalars import NumberField, check_classes, check_probability
from evaluation.challenges.declared.tables import FieldTable, Measure, MetricTable
from evaluation.core import class_estimators as estimators
from evaluation.core.case_table import Row
from evaluation.core.keys import Key
from evaluation.core.metric import Metric

_RANKED_LAST = (
    "It needs a case of each class. A case without a result is ranked below all others if it is positive, "
    "and above them if it is negative."
)
_FARTHEST = {1.0: -math.inf, 0.0: math.inf}


class ScoreMetric(MetricTable, ABC):
    """A metric of a number with one of two classes as reference."""

    kinds = (NumberField,)
    of_absence: ClassVar[bool] = False
    """Whether it is a figure of the absence of the condition, for which the negative of a number speaks."""

    @abstractmethod
    def figure(self, name: str, score: str, label: str) -> Metric:
        """Return the figure of the columns of a number and of its class (1, 0, or NaN: left out)."""

    def columns(self, field_name: str) -> tuple[str, str]:
        """Return the names of the columns of a number and of its class."""
        return f"{field_name}_score", f"{field_name}_class"

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        score, label = self.columns(field_name)
        check_classes(table)

        def row(number: float | None, present: float) -> Row:
            present = 1.0 - present if self.of_absence else present
            if number is None:
                return {score: _FARTHEST.get(present, math.nan), label: present}
            return {score: -number if self.of_absence else number, label: present}

        return Measure.of_values(self.figure(name, score, label), field_name, row, missing=None)


class AreaUnderCurve(ScoreMetric):
    """Oracle: scikit-learn, `roc_auc_score`."""

    metric: Literal["auc"]
    common = _RANKED_LAST

    def figure(self, name: str, score: str, label: str) -> Metric:
        return Metric(name, self.title_of(name), estimators.RocArea(score, label), 1, 0)


class PartialAreaUnderCurve(ScoreMetric):
    """Standardised (McClish), a useless number has 0.5 and a perfect one 1.

    Values below 0.5 are then worse than chance.

    Oracle: scikit-learn, `roc_auc_score` with `max_fpr`.
    """

    metric: Literal["partial_auc"]
    common = _RANKED_LAST
    min_specificity: float = Key(description="Smallest specificity.", ge=0, lt=1)
    max_specificity: float = Key(default=1.0, description="Largest specificity.", gt=0, le=1)
    standardised: bool = Key(
        default=True, description="Whether the area is mapped so that chance is 0.5 and the best 1."
    )

    def figure(self, name: str, score: str, label: str) -> Metric:
        low, high = decimal_of(self.min_specificity), decimal_of(self.max_specificity)
        if low >= high:
            raise ValueError(
                f"expected min_specificity < max_specificity, found {float(low):g} and {float(high):g}"
            )
        area = estimators.PartialRocArea(score, label, low, high, self.standardised)
        width, chance = float(high - low), float((1 - low) ** 2 - (1 - high) ** 2) / 2
        best, worst = (1.0, 0.5 * (1 - chance / (width - chance))) if self.standardised else (width, 0.0)
        return Metric(name, self.title_of(name), area, best, worst)


class ScoreAveragePrecision(ScoreMetric):
    """It needs a positive case.

    A positive case without a result is never found, a negative one comes before all others.

    Oracle: scikit-learn, `average_precision_score`.
    """

    metric: Literal["average_precision"]

    def figure(self, name: str, score: str, label: str) -> Metric:
        return Metric(name, self.title_of(name), estimators.AveragePrecision(score, label), 1, 0)


_EXACT = (
    "Cases of equal numbers are never separated; shares are compared exactly. It needs a case of each class. "
    "A positive case without a result is detected at no threshold, a negative one is a false positive at "
    "every threshold."
)


class ScoreSensitivityAtSpecificity(ScoreMetric):
    """Oracle: scikit-learn, `roc_curve`."""

    metric: Literal["sensitivity_at_specificity"]
    common = _EXACT
    specificity: float = Key(description="The specificity that is required.", ge=0, le=1)

    def figure(self, name: str, score: str, label: str) -> Metric:
        estimator = estimators.SensitivityAtSpecificity(score, label, decimal_of(self.specificity))
        return Metric(name, self.title_of(name), estimator, 1, 0)


class SpecificityAtSensitivity(ScoreMetric):
    """Oracle: scikit-learn, `roc_curve`."""

    metric: Literal["specificity_at_sensitivity"]
    common = _EXACT
    of_absence = True
    sensitivity: float = Key(description="The sensitivity that is required.", ge=0, le=1)

    def figure(self, name: str, score: str, label: str) -> Metric:
        # It is the sensitivity for the absence of the condition.
        estimator = estimators.SensitivityAtSpecificity(score, label, decimal_of(self.sensitivity))
        return Metric(name, self.title_of(name), estimator, 1, 0)

    def columns(self, field_name: str) -> tuple[str, str]:
        return f"{field_name}_negated", f"{field_name}_absent"


class ScoreCalibrationError(ScoreMetric):
    """Bins have equal width and count with their shares of the cases.

    The field is a probability, with `minimum = 0` and `maximum = 1`. A case without a result counts 1.

    Oracle: arithmetic by hand.
    """

    metric: Literal["calibration_error"]
    bins: int = Key(default=10, description="Number of bins.", ge=1, le=1000)

    def figure(self, name: str, score: str, label: str) -> Metric:
        return estimators.calibration_metric(name, self.title_of(name), [(score, label)], label, self.bins)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        check_probability(table)
        return super().measure(name, field_name, table)


def decimal_of(number: float) -> Fraction:
    """Return a number as the decimal that it is written as: 0.95 of 20 cases are exactly 19."""
    return Fraction(repr(float(number)))
