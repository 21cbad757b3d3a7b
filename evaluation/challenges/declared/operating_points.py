"""How well a number tells two classes apart at one threshold: the best one under a condition."""

from typing import Literal

from evaluation.challenges.declared.scalars import check_classes
from evaluation.challenges.declared.scores import ScoreMetric, decimal_of, score_columns
from evaluation.challenges.declared.tables import FieldComparison, FieldTable, Measure
from evaluation.core import class_estimators as estimators
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.keys import Key
from evaluation.core.metric import Metric

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

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        estimator = estimators.SensitivityAtSpecificity(
            *score_columns(field_name), decimal_of(self.specificity)
        )
        return self.score_measure(name, field_name, table, estimator, 1, 0)


class SpecificityAtSensitivity(ScoreMetric):
    """Oracle: scikit-learn, `roc_curve`."""

    metric: Literal["specificity_at_sensitivity"]
    common = _EXACT
    sensitivity: float = Key(description="The sensitivity that is required.", ge=0, le=1)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the specificity: the sensitivity for the absence of the condition."""
        check_classes(table)
        negated, absent = f"{field_name}_negated", f"{field_name}_absent"
        estimator = estimators.SensitivityAtSpecificity(negated, absent, decimal_of(self.sensitivity))

        def row(comparison: FieldComparison) -> Row:
            return {negated: -comparison.submitted, absent: 1.0 - comparison.reference}

        def worst_row(references: Values) -> Row:
            return {absent: 1.0 - references[field_name]}

        return Measure((Metric(name, self.title_of(name), estimator, 1, 0),), row, worst_row)
