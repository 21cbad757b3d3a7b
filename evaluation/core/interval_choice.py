"""The choice of a method for the confidence interval of a metric.

The defaults were chosen by simulated coverage (`python -m benchmarks.coverage`; docs/intervals.md).

logit-DeLong      areas under a ROC curve: DeLong's standard error on the logit scale, by Obuchowski's where
                  cases belong together
studentised       means over cases: bootstrap of the studentised mean ("bootstrap-t")
Wilson            shares of cases: Wilson's score interval
Wilson-bootstrap  sensitivities at a specificity, and shares where cases belong together: Wilson's score
                  interval with the variance of the bootstrap
percentile        any other metric: the percentiles of its bootstrap values
"""

from __future__ import annotations

from evaluation.core.metric import IntervalMethod, Metric


def default_method(metric: Metric, clustered: bool) -> IntervalMethod:
    """Return the default interval method of a metric."""
    aggregate = metric.aggregate
    if aggregate.curve:
        return "logit-DeLong" if aggregate.curve.is_area else "Wilson-bootstrap"
    if aggregate.share_column:
        return "Wilson-bootstrap" if clustered else "Wilson"
    return "studentised" if aggregate.spread_column else "percentile"


def possible_methods(metric: Metric, clustered: bool) -> tuple[IntervalMethod, ...]:
    """Return the methods that a phase may choose for a metric, the default first."""
    default = default_method(metric, clustered)
    others: tuple[IntervalMethod, ...] = ("percentile",)
    if metric.aggregate.share_column and not clustered:
        others = ("Wilson-bootstrap", "percentile")
    return tuple(dict.fromkeys((default, *others)))
