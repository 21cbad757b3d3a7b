"""The number of decimals of each published figure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from evaluation.core.aggregation import ConfidenceInterval, Estimate, Estimates
from evaluation.phase.config import PhaseConfig


@dataclass(frozen=True)
class Digits:
    """The numbers of decimals of a metric's value, and of its intervals and its spread over the cases."""

    value: int
    spread: int


def digits_of(config: PhaseConfig, name: str) -> Digits:
    """Return the decimals of a metric ("task.metric") or composite."""
    value = config.digits.get(name, config.value_digits)
    return Digits(value, min(config.spread_digits, value))


def rounded_estimates(estimates: Estimates, config: PhaseConfig) -> Estimates:
    """Return the figures of all tasks, rounded for publication."""
    return {
        task: {
            name: _rounded_estimate(figures, digits_of(config, f"{task}.{name}"))
            for name, figures in metrics.items()
        }
        for task, metrics in estimates.items()
    }


def rounded_values(values: dict[str, float], task: str, config: PhaseConfig) -> dict[str, float]:
    """Return values of a task's metrics, by name, rounded for publication."""
    return {name: round(value, digits_of(config, f"{task}.{name}").value) for name, value in values.items()}


def _rounded_estimate(estimate: Estimate, digits: Digits) -> Estimate:
    spread = {
        name: _rounded(figure, digits.spread) for name, figure in vars(estimate).items() if name != "value"
    }
    return replace(estimate, value=round(estimate.value, digits.value), **spread)


def _rounded(figure: Any, digits: int) -> Any:
    """Return a number, an interval or several by name, rounded to ``digits`` decimals.

    An interval is rounded outwards, so that it contains its value.
    """
    if isinstance(figure, float):
        return round(figure, digits)
    if isinstance(figure, dict):
        return {name: _rounded(item, digits) for name, item in figure.items()}
    if isinstance(figure, ConfidenceInterval):
        lower, upper = -_rounded_up(-figure.lower, digits), _rounded_up(figure.upper, digits)
        # Half of the published length: the exact one would reveal more digits of both ends.
        return replace(figure, lower=lower, upper=upper, half_width=round((upper - lower) / 2, digits))
    return figure


def _rounded_up(value: float, digits: int) -> float:
    # The error of a binary fraction is no reason for another step.
    rounded: float = math.ceil(round(value * 10**digits, 6)) / 10**digits
    return rounded
