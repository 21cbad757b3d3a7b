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
            *score_columns(field_name), decimal_of(self.specificity)
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
        estimator = estimators.SensitivityAtSpecificity(negated, absent, decimal_of(self.sensitivity))

        def row(comparison: FieldComparison) -> Row:
            return {negated: -comparison.submitted, absent: 1.0 - comparison.reference}

        def worst_row(references: Values) -> Row:
            return {absent: 1.0 - references[field_name]}

        return Measure((Metric(name, self.title_of(name), estimator, 1, 0),), row, worst_row)
