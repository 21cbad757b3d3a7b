"""What the probability of a class is worth: its calibration, and the benefit of acting on it."""

from dataclasses import replace
from typing import Literal

from evaluation.challenges.declared.scalars import check_probability
from evaluation.challenges.declared.scores import ScoreMetric, score_columns
from evaluation.challenges.declared.tables import FieldTable, Measure
from evaluation.core import class_estimators as estimators
from evaluation.core.keys import Key


class ScoreCalibrationError(ScoreMetric):
    """Bins have equal width and count with their shares of the cases.

    The field is a probability, with `minimum = 0` and `maximum = 1`. A case without a result counts 1.

    Oracle: arithmetic by hand.
    """

    metric: Literal["calibration_error"]
    bins: int = Key(default=10, description="Number of bins.", ge=1, le=1000)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        check_probability(table)
        columns = score_columns(field_name)
        metric = estimators.calibration_metric(name, self.title_of(name), [columns], columns[1], self.bins)
        found = self.score_measure(name, field_name, table, metric.estimator, metric.best, metric.worst)
        return replace(found, metrics=(metric,))
