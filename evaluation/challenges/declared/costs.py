"""What decisions are worth to whom they are made for: predictive value, likelihood ratios, costs."""

from __future__ import annotations

from abc import ABC
from dataclasses import replace
from typing import ClassVar, Literal

from evaluation.challenges.declared.classes import Costs, DecisionMetric, OneClassMetric, cost_matrix
from evaluation.challenges.declared.tables import FieldTable, Measure
from evaluation.core.keys import Key
from evaluation.metrics.confusion import (
    expected_cost_of_confusion,
    likelihood_ratio_of_confusion,
    negative_predictive_value_of_confusion,
)


class NegativePredictiveValue(OneClassMetric):
    """Negative predictive value of a class: share of other cases among those that are not assigned to it.

    From 0 to 1, higher is better; 0 if all cases are assigned to the class. It needs a case of another class.
    A case of the class without a result counts as not assigned to it, a case of another class does not.

    Oracle: scikit-learn, `precision_score` of the absence of the class.
    """

    metric: Literal["negative_predictive_value"]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the share."""
        of = self.class_index(name, field_name, table)
        return self.figure(
            name, field_name, table, lambda cases: negative_predictive_value_of_confusion(cases, of)
        )


class _LikelihoodRatio(OneClassMetric, ABC):
    most: float = Key(
        default=1000.0,
        description="The largest ratio that counts, also where nothing but the denominator is 0.",
        gt=1,
        allow_inf_nan=False,
    )
    positive: ClassVar[bool]

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the ratio."""
        of = self.class_index(name, field_name, table)
        best, worst = (self.most, 0.0) if self.positive else (0.0, self.most)
        found = self.figure(
            name,
            field_name,
            table,
            lambda cases: likelihood_ratio_of_confusion(cases, self.positive, self.most, of),
            worst,
            best,
        )
        return _without_interval(found, "its denominator may be 0: see sensitivity and specificity")


class PositiveLikelihoodRatio(_LikelihoodRatio):
    """Positive likelihood ratio of a class: sensitivity by the share of other cases that are taken for it.

    From 0 to `most`, higher is better; 1 says nothing, and is the value where no case is taken for the class.
    It needs a case of the class and another one. A case without a result is decided wrongly.

    Oracle: scikit-learn, `class_likelihood_ratios`. Source: Deeks and Altman, BMJ 329:168, 2004.
    """

    metric: Literal["positive_likelihood_ratio"]
    positive: ClassVar[bool] = True


class NegativeLikelihoodRatio(_LikelihoodRatio):
    """Negative likelihood ratio of a class: share of its cases that are missed by the specificity.

    From 0 to `most`, lower is better; 1 says nothing, and is the value where all cases are taken for the
    class. It needs a case of the class and another one. A case without a result is decided wrongly.

    Oracle: scikit-learn, `class_likelihood_ratios`. Source: Deeks and Altman, BMJ 329:168, 2004.
    """

    metric: Literal["negative_likelihood_ratio"]
    positive: ClassVar[bool] = False


class ExpectedCost(DecisionMetric):
    """Expected cost: mean cost of the decisions, given a cost for each true and decided class.

    From 0 to the highest cost, lower is better. `normalised` by the cost of the best answer that is the same
    for every case: 1 is then no better than that. A case without a result has the dearest answer.

    Oracle: NumPy, `average`, of the costs of the cases. Source: Ferrer, arXiv:2209.05355, 2022.
    """

    metric: Literal["expected_cost"]
    costs: Costs = Key(
        description="A row for each true class, with the cost of each decided class: `[[0, 1], [5, 0]]` if a "
        "missed positive case costs five times a false alarm."
    )
    normalised: bool = Key(
        default=False, description="Whether the cost is divided by that of the best constant answer."
    )

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the cost. Raises ValueError for costs that do not fit the classes."""
        costs = cost_matrix(self.costs, len(self.decided(name, field_name, table).classes), "costs")
        worst = float("inf") if self.normalised else float(costs.max())
        found = self.figure(
            name,
            field_name,
            table,
            lambda cases: expected_cost_of_confusion(cases, costs, self.normalised),
            worst,
            0.0,
        )
        return _without_interval(found, "no largest value") if self.normalised else found


def _without_interval(found: Measure, reason: str) -> Measure:
    """Return a figure of which no interval holds where no case of a sample is decided wrongly."""
    metrics = (replace(metric, no_interval=reason) for metric in found.metrics)
    return replace(found, metrics=tuple(metrics))
