"""What the probability of a class is worth: its calibration, and the benefit of acting on it."""

import math
from dataclasses import replace
from typing import Literal

from evaluation.challenges.declared.scalars import check_probability
from evaluation.challenges.declared.scores import ScoreMetric, score_columns
from evaluation.challenges.declared.tables import FieldTable, Measure
from evaluation.core import class_estimators as estimators
from evaluation.core.case_table import Row
from evaluation.core.estimator import Mean, RatioOfSums
from evaluation.core.keys import Key
from evaluation.core.metric import Metric


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
            lambda references: row(references[field_name], not references[field_name]),
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
